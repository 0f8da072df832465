r"""Markdown cut into blocks with their lines: a scanner of the outermost structure only.

A block is a paragraph, a list item with everything nested in it, a fenced or indented code block, a table
or a block quote. Of a paragraph with a statement to a line, each line is one, as in a diary. The inside
of a block is never parsed, so one pass over the lines suffices, nesting costs nothing, and hostile text
takes no longer than any other.

Why not markdown-it-py, which Rich depends on: it builds tokens for everything nested (a megabyte of short
list items takes 6 s and about a gigabyte), drops link definitions, and counts a lone ``\r`` as a line. The
tests compare the cuts with its own on the sample memory.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from clsm_cli.config import MAX_BLOCKS
from clsm_cli.text.sentences import begins_anew

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*\Z")
_QUOTE = re.compile(r" {0,3}>")
ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])(?=[ \t]|\Z)", re.ASCII)
_EMPTY_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]*(?:\[[ xX]\][ \t]*)?", re.ASCII)
_COLUMN = re.compile(r"[ \t]*:?-+:?[ \t]*\Z")
# Every block carries its headings, which would multiply a long one.
_MAX_TITLE = 200
_STATED = re.compile(r"[.!\u2026\u3002\uff01]\W{0,4}\Z")
_RULE = re.compile(r" {0,3}(?:(?:-\s*+){3,}+|(?:\*\s*+){3,}+|(?:_\s*+){3,}+)\Z")
_CONFLICT = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


@dataclass(frozen=True, slots=True)
class BlockLines:
    """Lines ``start`` to ``end`` (from 0, half-open) of one block, and the headings above it."""

    start: int
    end: int
    heading: tuple[str, ...]


@dataclass(slots=True)
class _Scan:
    lines: Sequence[str]
    blank: Sequence[bool]
    comment_ends: Sequence[int]
    spans: list[BlockLines] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)

    def add(self, start: int, end: int) -> int:
        while self.blank[end - 1]:
            end -= 1
        self.spans.append(BlockLines(start, end, tuple(title for _, title in self.headings)))
        return end

    def add_heading(self, level: int, title: str) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        title = title[:_MAX_TITLE]
        if title:
            self.headings.append((level, title))


def scan(lines: Sequence[str], start: int = 0, title: str = "") -> list[BlockLines]:
    """The blocks of ``lines`` from ``start`` on, at most ``MAX_BLOCKS`` + 1: a note has no more.

    ``title`` stands above them like a first heading, until one of the first level.

    >>> spans = scan(["# Pets", "- Juno, a cat", "  fourteen", "- Rex", "", "Both sleep."])
    >>> [(span.start, span.end) for span in spans]
    [(1, 3), (3, 4), (5, 6)]
    """
    blank = [not line.strip() for line in lines]
    comment_ends = [number for number in range(start, len(lines)) if "-->" in lines[number]]
    state = _Scan(lines, blank, comment_ends)
    state.add_heading(1, title)
    place = start
    while place < len(lines) and len(state.spans) <= MAX_BLOCKS:
        place = place + 1 if blank[place] else _block(state, place)
    return state.spans


def conflict_marks(lines: Sequence[str], start: int = 0) -> list[int]:
    """Lines of git's markers of complete conflicts."""
    marks: list[int] = []
    group: list[int] = []
    for number in range(start, len(lines)):
        mark = lines[number][:7]
        if mark not in _CONFLICT or lines[number][7:8] not in {"", " "}:
            continue
        if mark == _CONFLICT[0]:
            group = [number]
        elif group:
            group.append(number)
            if mark == _CONFLICT[3]:
                middle = any(lines[number] == _CONFLICT[2] for number in group)
                marks += group if middle else []
                group = []
    return marks


def _block(state: _Scan, place: int) -> int:
    line = state.lines[place]
    heading = _HEADING.match(line)
    if heading:
        state.add_heading(len(heading.group(1)), _heading_text(line[heading.end() :]))
        return place + 1
    if _RULE.match(line):
        return place + 1
    after = _comment_end(state, place)
    if after:
        return after
    fence = _FENCE.match(line)
    if fence:
        end = _fence_end(state, place, fence.group(1))
    elif ITEM.match(line):
        end = _item_end(state, place)
    elif _indent(line) >= 4:
        end = _end(state, place, lambda n: state.blank[n] or _indent(state.lines[n]) >= 4)
    elif _QUOTE.match(line):
        end = _end(state, place, lambda n: _goes_on_quote(state, n))
    else:
        return _paragraph(state, place)
    return end if _holds_nothing(state, place, end) else state.add(place, end)


def _holds_nothing(state: _Scan, place: int, end: int) -> bool:
    """Whether a block is only a pair of fences, or the marker of a list item."""
    line = state.lines[place]
    if _FENCE.match(line):
        return not any(line.strip(" \t`~") for line in state.lines[place + 1 : end])
    return _EMPTY_ITEM.fullmatch(line) is not None and all(state.blank[place + 1 : end])


def _paragraph(state: _Scan, place: int) -> int:
    table = _is_table(state, place)
    end = place + 1
    while end < len(state.lines) and not state.blank[end]:
        underline = _UNDERLINE.match(state.lines[end])
        # Several lines above a rule are text, although Markdown makes them one long heading: people
        # write so, and their text must not vanish into a heading.
        if underline and end == place + 1 and not table:
            state.add_heading(1 if underline.group(1)[0] == "=" else 2, state.lines[place].strip())
            return end + 1
        if _interrupts(state, end, paragraph=True):
            break
        end += 1
    return state.add(place, end) if table else _add_lines(state, place, end)


def _add_lines(state: _Scan, start: int, end: int) -> int:
    """Add a paragraph; one that was not wrapped is cut behind each line that ends a statement.

    A question stays with what is below it, which may be its answer.
    """
    lines, numbers = state.lines, range(start + 1, end)
    width = max(map(len, lines[start:end]))
    if any(begins_anew(lines[number], lines[number - 1], width) for number in numbers):
        for number in numbers:
            is_cut = _STATED.search(lines[number - 1][-5:]) and begins_anew(
                lines[number], "", width
            )
            if is_cut and len(state.spans) <= MAX_BLOCKS:
                start = state.add(start, number)
    return state.add(start, end)


def _end(state: _Scan, place: int, goes_on: Callable[[int], bool]) -> int:
    rest = range(place + 1, len(state.lines))
    return next((number for number in rest if not goes_on(number)), len(state.lines))


def _goes_on_quote(state: _Scan, place: int) -> bool:
    is_quoted = _QUOTE.match(state.lines[place]) is not None
    return not state.blank[place] and (is_quoted or not _interrupts(state, place, paragraph=False))


def _closes(line: str, fence: str) -> bool:
    body = line.strip(" \t")
    return len(body) >= len(fence) and not body.strip(fence[0])


def _fence_end(state: _Scan, place: int, fence: str) -> int:
    lines = state.lines
    end = _end(state, place, lambda n: not _closes(lines[n], fence) or _indent(lines[n]) >= 4)
    return min(end + 1, len(lines))


def _item_end(state: _Scan, place: int) -> int:
    """End of a list item: lines indented as far as its own text, and lazy continuation lines."""
    width = _item_width(state.lines[place])
    end, fence = place + 1, _nested_fence(state.lines[place].lstrip(" *+-.)0123456789"), "")
    while end < len(state.lines):
        line = state.lines[end]
        if not state.blank[end]:
            inside = _indent(line) >= width
            lazy = not state.blank[end - 1] and not fence
            if not inside and (not lazy or _interrupts(state, end, paragraph=False)):
                break
            fence = _nested_fence(line, fence) if inside else fence
        end += 1
    return end


def _nested_fence(line: str, fence: str) -> str:
    if fence:
        return "" if _closes(line, fence) else fence
    match = _FENCE.match(line.lstrip(" \t"))
    return match.group(1) if match else ""


def _item_width(line: str) -> int:
    marker = ITEM.match(line)
    end = marker.end() if marker else 0
    spaces = _indent(line[end:], end) - end if line[end:].strip(" \t") else 1
    return end + (spaces if spaces <= 4 else 1)


def _interrupts(state: _Scan, place: int, *, paragraph: bool) -> bool:
    """Whether a line starts another block, rather than continuing the text before it."""
    line = state.lines[place]
    if _indent(line) >= 4:
        return False
    item = ITEM.match(line)
    if item and paragraph:
        # "1986." at the start of a wrapped line is no list, nor is a lone dash.
        ordered = item.group(2)[:-1]
        return bool(line[item.end() :].strip()) and ordered in {"", "1"}
    return bool(
        item
        or _QUOTE.match(line)
        or _HEADING.match(line)
        or _FENCE.match(line)
        or _RULE.match(line)
        or _comment_end(state, place)
        or _is_table(state, place)
    )


def _is_table(state: _Scan, place: int) -> bool:
    if "|" not in state.lines[place] or place + 1 >= len(state.lines):
        return False
    dashes = state.lines[place + 1].strip().removeprefix("|").removesuffix("|")
    return all(_COLUMN.match(cell) for cell in dashes.split("|")) and "|" in state.lines[place + 1]


def _comment_end(state: _Scan, place: int) -> int:
    """The line after an HTML comment that starts at ``place`` and has nothing after it; else 0."""
    line = state.lines[place]
    if not line.lstrip(" ").startswith("<!--") or _indent(line) >= 4:
        return 0
    at = line.find("-->", line.index("<!--") + 2)
    end = place
    if at < 0:
        index = bisect_right(state.comment_ends, place)
        if index == len(state.comment_ends):
            return 0
        end = state.comment_ends[index]
        at = state.lines[end].index("-->")
    return 0 if state.lines[end][at + 3 :].strip() else end + 1


def _heading_text(text: str) -> str:
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else text


def _indent(line: str, column: int = 0) -> int:
    """Columns before the first character; a tab advances to the next multiple of four."""
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    return len((" " * column + lead).expandtabs(4))
