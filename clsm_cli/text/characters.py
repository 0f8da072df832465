"""Escape characters that a terminal or a file cannot take as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

Ranges = tuple[tuple[int, int], ...]
"""Code points, first and last of each range."""

SURROGATES = (0xD800, 0xDFFF)
"""Half pairs: no encoding of text can hold one alone."""


class Escapes(dict[int, str | int]):
    r"""A table for ``str.translate`` that escapes the characters of some ranges.

    It looks at each different character once, when it first meets it. A regular expression of the
    same class takes 10 to 20 ms to compile, more than most commands have text to filter.

    >>> "a\x1bb".translate(Escapes(((0x00, 0x1F),), lambda code: f"<{code:x}>"))
    'a<1b>b'
    """

    def __init__(self, ranges: Ranges, escape: Callable[[int], str]) -> None:
        """Escape what lies in ``ranges``; ``escape`` takes a code point."""
        self._ranges = ranges
        self._escape = escape

    def __missing__(self, code: int) -> str | int:
        """What a character becomes: itself, or its escape."""
        hit = any(first <= code <= last for first, last in self._ranges)
        self[code] = self._escape(code) if hit else code
        return self[code]


_LONE = Escapes((SURROGATES,), lambda _: "\ufffd")


def replace_lone(text: str) -> str:
    r"""Half surrogate pairs as U+FFFD, which every encoding can hold.

    >>> replace_lone("a\ud800b") == "a\ufffdb"
    True
    """
    return text if text.isascii() else text.translate(_LONE)
