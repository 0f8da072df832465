"""Cut prose and Markdown into sentences, by rules and in linear time.

Blocks first: a fenced code block, a heading, a table row is one unit; a list item or a paragraph is
cut into sentences. A full stop ends a sentence unless it belongs to an abbreviation, an initial, a
number, a code span or an address.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import word_list

if TYPE_CHECKING:
    from collections.abc import Iterator


class Span(NamedTuple):
    """A piece of a text, in characters: ``text[start:end]``."""

    start: int
    end: int


_TITLES = frozenset(word_list("before a name"))
_SHORT = frozenset(word_list("abbreviations"))
_NUMBERED = frozenset({"no", "nos", "nr", "art", "p", "par", "ver"})  # "No. 5", "he said no. Then"

_CLOSERS = "\"')\\]}*_\u00bb\u201d\u2019"
# The look-behind keeps a long run of marks from being tried again from each of its characters.
_END = re.compile(
    rf"(?<![.!?\u2026])[.!?\u2026]++[{_CLOSERS}]*+(?=\s)"
    "|[\u3002\uff01\uff1f\uff61]++[\u300d\u300f\u201d\u2019\uff09\u3011]*+"
)
_CODE = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,4}[.)])[ \t]+")
_ALONE = re.compile(r" {0,3}(?:#{1,6}[ \t]|\||(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*$)")


def split(text: str) -> list[Span]:
    """Return the spans of the sentences of a text, in order.

    Every character that is not blank lies in exactly one span; no span starts or ends with a blank.

    >>> [text[a:b] for text in ["Dr. Wu left. Why? See v1.2."] for a, b in split(text)]
    ['Dr. Wu left.', 'Why?', 'See v1.2.']
    """
    spans: list[Span] = []
    for start, end, prose in _blocks(text):
        spans += _sentences(text, start, end) if prose else _trimmed(text, start, end)
    return spans


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, as they stand in it."""
    return [text[start:end] for start, end in split(text)]


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    start = position = 0
    fence = ""
    for line in text.split("\n"):
        end = position + len(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                yield start, end, False
                start, fence = end, ""
        elif opened := _FENCE.match(line):
            yield start, position, True
            start, fence = position, opened.group(1)
        elif _ALONE.match(line):
            yield start, position, True
            yield position, end, False
            start = end
        elif _ITEM.match(line) or not line.strip():
            yield start, position, True
            start = position
        position = end + 1
    yield start, len(text), not fence


def _trimmed(text: str, start: int, end: int) -> list[Span]:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = start + len(piece.strip())
    return [Span(start, end)] if start < end else []


def _sentences(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    marker = _ITEM.match(text, start, end)
    code = deque(match.span() for match in _CODE.finditer(text, start, end))
    for match in _END.finditer(text, marker.end() if marker else start, end):
        while code and code[0][1] <= match.start():
            code.popleft()
        inside = bool(code) and code[0][0] < match.start()
        if not inside and _is_end(text, match, start, end):
            spans += _trimmed(text, start, match.end())
            start = match.end()
    return spans + _trimmed(text, start, end)


_LAST_WORD = re.compile(r"[^\W_][\w.]*$")


def _is_end(text: str, match: re.Match[str], start: int, end: int) -> bool:
    mark = match.group()
    if mark[0] in "\u3002\uff01\uff1f\uff61":
        return True
    following = text[match.end() : min(end, match.end() + 40)].lstrip()[:2]
    lower = following[:1].islower()
    if mark[-1] in "\"')]}\u00bb\u201d\u2019" and lower:
        return False  # "Really?" he said.
    if mark.startswith(("..", "\u2026")):
        # A pause, unless a new sentence plainly starts; "I" is always a capital.
        return following[:1].isupper() and following not in {"I ", "I'", "I\u2019"}
    if mark[0] != ".":
        return True
    if text[start : match.start()][:8].strip("*_(> ").isdigit() and match.start() - start <= 6:
        return False  # the number of a point, as in "**1. Point**"
    before = _LAST_WORD.search(text[max(start, match.start() - 20) : match.start()])
    return before is None or _stops(before.group(), following, lower=lower)


def _stops(word: str, following: str, *, lower: bool) -> bool:
    """Whether a full stop after ``word`` ends the sentence."""
    folded = word.lower()
    if folded in _TITLES or (len(word) == 1 and word.isupper() and word != "I"):
        return False
    if folded in _NUMBERED:
        return not following[:1].isdigit()
    if folded in _SHORT:
        return not lower and not following[:1].isdigit()
    if lower and "." in word and any(c.isdigit() for c in word):
        return False  # "v1.2. of the firmware"
    initials = "." in word and all(len(part) == 1 for part in word.split("."))
    return not (initials and word[0].isalpha())
