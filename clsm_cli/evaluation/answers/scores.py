"""An answer against the right one, word by word."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARKS = re.compile(r"[^\w\s]")
_LITTLE = frozenset({"a", "an", "the", "and"})


def f1(answer: str, right: str, *, is_list: bool = False) -> float:
    """F1 of the words of an answer, as LoCoMo scores it (Maharana et al. 2024).

    Case, marks and articles do not count; words are compared by their Porter stems. A right answer
    of several parts, separated by commas, is scored part by part: the mean of the best F1 of any
    part of the answer.

    Args:
        answer: Of the model.
        right: The label.
        is_list: The question asks for several things (LoCoMo: multi-hop).

    >>> f1("In the old harbour", "the harbour")
    0.5
    >>> f1("apples, a kite", "kites, pears", is_list=True)
    0.5
    """
    if not is_list:
        return _overlap(_words(answer), _words(right))
    found = [_words(part) for part in answer.split(",")]
    wanted = [_words(part) for part in right.split(",")]
    return sum(max(_overlap(one, part) for one in found) for part in wanted) / len(wanted)


def bleu1(answer: str, right: str) -> float:
    """BLEU-1: clipped unigram precision times the brevity penalty (Papineni et al. 2002).

    >>> bleu1("the old harbour", "the harbour")
    0.6666666666666666
    >>> round(bleu1("harbour", "the old harbour"), 4)
    0.1353
    """
    found, wanted = _plain(answer), _plain(right)
    if not found:
        return 0.0
    shared = Counter(found) & Counter(wanted)
    penalty = 1.0 if len(found) >= len(wanted) else exp(1 - len(wanted) / len(found))
    return penalty * shared.total() / len(found)


def _overlap(found: Sequence[str], wanted: Sequence[str]) -> float:
    shared = (Counter(found) & Counter(wanted)).total()
    return 2 * shared / (len(found) + len(wanted)) if shared else 0.0


def _plain(text: str) -> list[str]:
    return _MARKS.sub(" ", text.casefold()).split()


def _words(text: str) -> list[str]:
    return [_stem(word) for word in _plain(text.replace(",", "")) if word not in _LITTLE]


@cache
def _stem(word: str) -> str:
    import snowballstemmer

    stemmed: str = snowballstemmer.stemmer("porter").stemWord(word)
    return stemmed
