"""Find dumps in a long text: logs, data, code and other machine output.

Nobody wrote them to be remembered by what they mean, and a megabyte of them costs as much to embed as
a book. So of a dump the beginning is read like any text, and the rest is found by its words alone.
Told by structure: long fences of code, paragraphs that nobody types, text that repeats itself or is
hardly made of words. The time is linear in the length of the text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text.sentences import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

LEAST = 8192
"""Characters of a dump at least; a shorter text is read whole."""
BEGINNING = 2048
"""Characters of each dump, at most, that are read like any text."""
LONGEST_PARAGRAPH = 65_536
"""Characters without a blank line from which a paragraph is a dump: eleven thousand words."""
_WINDOW = 4096
_REPEATED = 0.36
"""Bytes a character to which a window of a dump shrinks (zlib, level 1). LoCoMo, GVD and this project's
pages have .42 or more, one tutorial in 32 languages .38 or more (its Chinese .9), logs .12 to .36."""
_SCRAMBLED = 0.70
"""Share of its bytes from which on it hardly shrinks: base64 has .76, no prose more than .60."""
_WORDS = 0.70
"""Share of what is neither digit nor ASCII mark below which a window is no prose: prose .84 to .97,
logs .47 to .68."""
_PROSE = 0.85
"""From here on a line behind a dump, and a whole fence, is prose; code has .57 to .80."""
_NO_WORDS = {number: None for number in range(0x21, 0x7F) if not chr(number).isalpha()}

_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")


def find_dumps(text: str) -> list[Span]:
    r"""The parts of a text that are found by their words alone, in order.

    >>> log = "".join(f"10:{i // 60:02}:{i % 60:02} GET /a/{i * 7919} 200\n" for i in range(600))
    >>> [(text[:9], len(text) - end) for text in [log] for start, end in find_dumps(log)]
    [('10:00:00 ', 1)]
    >>> find_dumps("It rained. " * 10)
    []
    """
    if len(text) < LEAST:
        return []
    found: list[tuple[Span, bool]] = []
    for part, is_marked in _dumped(text):
        start = part.start
        if found and not text[found[-1][0].end : start].strip():
            start = found.pop()[0].start
        found.append((Span(start, part.end), is_marked))
    return [
        _rest(text, part, ends_sharply=is_marked)
        for part, is_marked in found
        if part.end - part.start >= LEAST
    ]


def without_dumps(text: str) -> str:
    """A text without the parts that ``find_dumps`` names."""
    found = find_dumps(text)
    if not found:
        return text
    starts, ends = [0, *(end for _, end in found)], [*(start for start, _ in found), len(text)]
    return "\n".join(text[a:b].rstrip() for a, b in zip(starts, ends, strict=True) if a < b)


def _rest(text: str, dump: Span, *, ends_sharply: bool) -> Span:
    """A dump without its beginning, which ends with a line or else a word.

    Where only a window tells its end, lines of prose there are none of it.
    """
    start, limit = dump.start, dump.start + BEGINNING
    cut = text.rfind("\n", start + 1, limit) + 1 or text.rfind(" ", start + 1, limit) + 1 or limit
    if ends_sharply:
        return Span(cut, dump.end)
    end = dump.end
    least = max(cut, end - 2 * _WINDOW)  # no window is longer: behind it stands a dump for sure
    while (line := text.rfind("\n", least, end)) >= 0 and _share_of_words(text[line:end]) >= _PROSE:
        end = line
    return Span(cut, end)


def _dumped(text: str) -> Iterator[tuple[Span, bool]]:
    """Fences and paragraphs (marked: they end where they end) and windows that are dumps, in order."""
    for part, is_dump in _parts(text):
        if is_dump:
            yield part, True
        else:
            for window in _windows(text, part):
                if _is_printed(text[window.start : window.end]):
                    yield window, False


def _parts(text: str) -> Iterator[tuple[Span, bool]]:
    """Long fences and paragraphs, which are dumps, and what stands between them."""
    begin = block = place = 0
    fence = ""
    for line in text.split("\n"):
        end = min(place + len(line) + 1, len(text))
        body = line.strip()
        is_mark = bool(fence) and body.startswith(fence) and not body.strip(fence[0])
        opened = None if fence else _FENCE.match(line)
        if opened or is_mark or (not body and not fence):
            cut = end if is_mark else place
            if _is_long(text, block, cut, fenced=bool(fence)):
                yield Span(begin, block), False
                yield Span(block, cut), True
                begin = cut
            block, fence = cut, opened.group(1) if opened else ""
        place = end
    if _is_long(text, block, len(text), fenced=bool(fence)):
        yield Span(begin, block), False
        yield Span(block, len(text)), True
    else:
        yield Span(begin, len(text)), False


def _is_long(text: str, start: int, end: int, *, fenced: bool) -> bool:
    """Whether a fence, or else a paragraph, is a dump by its length; prose in a fence is prose."""
    if not fenced:
        return end - start >= LONGEST_PARAGRAPH
    return end - start >= LEAST and _share_of_words(text[start:end]) < _PROSE


def _windows(text: str, part: Span) -> Iterator[Span]:
    """A part in windows that end with a line where they can; what is left at the end joins the last."""
    start, end = part
    while start < end:
        cut = start + _WINDOW
        if cut + _WINDOW // 2 >= end:
            cut = end
        else:
            cut = text.rfind("\n", start + _WINDOW // 2, cut) + 1 or cut
        yield Span(start, cut)
        start = cut


def _is_printed(window: str) -> bool:
    import zlib

    data = window.encode()
    shrunk = len(zlib.compress(data, 1))
    if shrunk < _REPEATED * len(window) or shrunk > _SCRAMBLED * len(data):
        return True
    return _share_of_words(window) < _WORDS


def _share_of_words(text: str) -> float:
    return len(text.translate(_NO_WORDS)) / len(text)
