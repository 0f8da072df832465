"""Tables of data beside this module: tab-separated, ``#`` begins a comment; each names its source."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Value = TypeVar("Value")
_UNSPACED = "\u2e80-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff"
"""CJK and Hangul, whose words stand without blanks between them; as a class of a pattern."""
_HEAD = 3
"""Letters by which most words are told apart from all that begin a phrase."""
_ENDINGS = 4
"""Letters that may decline a word, and one."""


def table_rows(name: str) -> list[list[str]]:
    """The rows of a table by its name, without ending."""
    path = os.path.join(os.path.dirname(__file__), f"{name}.tsv")
    with open(path, encoding="utf-8") as stream:
        return [line.rstrip("\n").split("\t") for line in stream if line.strip() and line[0] != "#"]


@cache
def _words() -> re.Pattern[str]:
    """Words; where those of a script without blanks touch others, they are words of their own."""
    return re.compile(rf"[^\W\d_{_UNSPACED}]+|[{_UNSPACED}]+")


class Phrases(Generic[Value]):
    """Finds which of many phrases may stand in a text, by the words that they begin with.

    Args:
        phrases: Folded, with what each stands for, in order.
    """

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._all = list(phrases)
        self._by_first: dict[str, list[int]] = {}
        self._anywhere: list[int] = []
        for number, (phrase, _) in enumerate(self._all):
            first = _words().search(phrase)
            assert first is not None, phrase
            if first.group()[0] >= _UNSPACED[0]:
                self._anywhere.append(number)
            else:
                self._by_first.setdefault(first.group(), []).append(number)
        self._heads = {first[:_HEAD] for first in self._by_first}

    def within(self, folded: str) -> list[tuple[str, Value]]:
        """Those that stand there, in their order.

        In a script without blanks a phrase may begin anywhere; elsewhere a word begins with it.
        """
        known = self._by_first
        found = {
            number
            for word in {*_words().findall(folded)}
            if word[:_HEAD] in self._heads or word[:2] in known
            for size in range(len(word), max(0, len(word) - _ENDINGS), -1)
            for number in known.get(word[:size], ())
        }
        if not folded.isascii() and max(folded) >= _UNSPACED[0]:
            found.update(self._anywhere)
        chosen = (self._all[number] for number in sorted(found))
        return [(phrase, value) for phrase, value in chosen if phrase in folded]


def phrase_places(folded: str, words: str) -> Iterator[int]:
    """Where some words stand in a text."""
    place = folded.find(words)
    while place >= 0:
        yield place
        place = folded.find(words, place + len(words))
