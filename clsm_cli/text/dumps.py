"""Find dumps in a long text: logs, data, code and other machine output.

Nobody wrote them to be remembered by what they mean, and a megabyte of them costs as much to embed as
a book. So of a dump the beginning is read like any text, and the rest is found by its words alone.
Told window by window: text that repeats itself or is hardly made of words. The time is linear in the
length of the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from clsm_cli.text.sentences import Span

MIN_DUMP_CHARS = 8192
"""Characters of a dump at least; a shorter text is read whole."""
HEAD_CHARS = 2048
"""Characters of each dump, at most, that are read like any text."""
_WINDOW_CHARS = 4096
_MAX_REPETITIVE_RATIO = 0.36
"""Bytes a character to which a window of a dump shrinks (zlib, level 1). LoCoMo, GVD and this project's
pages have .42 or more, one tutorial in 32 languages .38 or more (its Chinese .9), logs .12 to .36."""
_MIN_RANDOM_RATIO = 0.70
"""Share of its bytes from which on it hardly shrinks: base64 has .76, no prose more than .60."""
_MIN_LETTER_SHARE = 0.70
"""Share of what is neither digit nor ASCII mark below which a window is no prose: prose .84 to .97,
logs .47 to .68."""
_MIN_PROSE_SHARE = 0.85
"""From here on a line before or behind a dump is prose; code has .57 to .80."""
_NON_LETTERS = {number: None for number in range(0x21, 0x7F) if not chr(number).isalpha()}


def find_dumps(text: str) -> list[Span]:
    r"""The parts of a text that are found by their words alone, in order.

    >>> log = "".join(f"10:{i // 60:02}:{i % 60:02} GET /a/{i * 7919} 200\n" for i in range(600))
    >>> [(text[:9], len(text) - end) for text in [log] for start, end in find_dumps(log)]
    [('10:00:00 ', 1)]
    >>> find_dumps("It rained. " * 10)
    []
    """
    if len(text) < MIN_DUMP_CHARS:
        return []
    found: list[Span] = []
    for start, end in _windows(text):
        if _is_machine_output(text[start:end]):
            first = found.pop().start if found and found[-1].end == start else start
            found.append(Span(first, end))
    rests = [
        _without_head(text, start, end) for start, end in found if end - start >= MIN_DUMP_CHARS
    ]
    return [rest for rest in rests if rest.start < rest.end]


def without_dumps(text: str) -> str:
    """A text without the parts that ``find_dumps`` names."""
    found = find_dumps(text)
    if not found:
        return text
    starts, ends = [0, *(end for _, end in found)], [*(start for start, _ in found), len(text)]
    return "\n".join(text[a:b].rstrip() for a, b in zip(starts, ends, strict=True) if a < b)


def _without_head(text: str, start: int, end: int) -> Span:
    """A dump without its beginning, which ends with a line or else a word; lines of prose are none of it."""
    # Prose before it stands in its first window; no window is longer than two, so behind it in the last.
    most, least = start + _WINDOW_CHARS, end - 2 * _WINDOW_CHARS
    while (line := text.find("\n", start, most)) >= 0 and _is_prose(text[start : line + 1]):
        start = line + 1
    limit = start + HEAD_CHARS
    cut = text.rfind("\n", start + 1, limit) + 1 or text.rfind(" ", start + 1, limit) + 1 or limit
    while (line := text.rfind("\n", max(cut, least), end)) >= 0 and _is_prose(text[line:end]):
        end = line
    return Span(cut, end)


def _windows(text: str) -> Iterator[Span]:
    """Windows that end with a line where they can; what is left at the end joins the last."""
    start = 0
    while start < len(text):
        cut = start + _WINDOW_CHARS
        if cut + _WINDOW_CHARS // 2 >= len(text):
            cut = len(text)
        else:
            cut = text.rfind("\n", start + _WINDOW_CHARS // 2, cut) + 1 or cut
        yield Span(start, cut)
        start = cut


def _is_machine_output(window: str) -> bool:
    import zlib

    data = window.encode()
    shrunk = len(zlib.compress(data, 1))
    if shrunk < _MAX_REPETITIVE_RATIO * len(window) or shrunk > _MIN_RANDOM_RATIO * len(data):
        return True
    return _letter_share(window) < _MIN_LETTER_SHARE


def _is_prose(line: str) -> bool:
    return _letter_share(line) >= _MIN_PROSE_SHARE


def _letter_share(text: str) -> float:
    return len(text.translate(_NON_LETTERS)) / len(text)
