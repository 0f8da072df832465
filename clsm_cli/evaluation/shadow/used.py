"""Whether a conversation used what was loaded: a rule that a person can check by reading two texts.

A text is *used* when a later turn takes up one of its sentences. Words are stems, each weighed by its
rarity in the store, 1 for a word that one passage alone holds. Of the sentence's words the turn
shares at least two, figures not counted; they are at least ``SHARE`` of its weight and weigh at least
``RARE`` together. Where both hold figures, they share one: another figure is another fact. Words of
the prompt that the text was fetched for do not count, they would come back in any answer. So a name
alone is no use, nor are words that everybody says.

It is a measure of likeness, not of cause, and the same for every source; how often it is right on
the sample memory is told in docs/evaluation.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.scoring import bm25
from clsm_cli.store.index import postings
from clsm_cli.text import sentences, tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

SHARE = 0.4
"""Part of a sentence's weight that a turn has to share."""
RARE = 1.3
"""Weight of what is shared, in words that one passage alone holds."""
LEAST = 2
"""Words that are shared, numbers not counted."""
HELD = 2 / 3
"""Part of a sentence's weight from which another text says the same."""

Words = frozenset[str]


class Claim(NamedTuple):
    """A sentence or list item of a text: its words, and its size in estimated word pieces."""

    words: Words
    tokens: int


def words(text: str) -> Words:
    """The distinct stems of a text; of a name with an underscore its parts do not count again.

    >>> sorted(words("The memory_v2 of Margaret, 61.4 cm"))
    ['4', '61', 'cm', 'margaret', 'memory_v2']
    """
    found = set(tokens.stems(text))
    for name in [each for each in found if "_" in each]:
        found -= set(tokens.stems(name.replace("_", " ")))
    return frozenset(found)


def claims(text: str) -> tuple[Claim, ...]:
    """The sentences and list items of a text, but for those without a word.

    >>> [sorted(each.words) for each in claims("The password is lost. It was on a tin.")]
    [['lost', 'password'], ['tin']]
    """
    parts = [text[start:end] for start, end in sentences.split(text)]
    found = (Claim(words(part), tokens.count_tokens(part)) for part in parts)
    return tuple(each for each in found if each.words)


class Rarity:
    """How rare words are in a store: idf(n) / idf(1) of a word that n passages hold."""

    def __init__(self, connection: sqlite3.Connection, passages: int) -> None:
        """Count in an open index of so many passages."""
        self._connection = connection
        self._passages = max(2, passages)
        self._known: dict[str, float] = {}

    def __call__(self, found: Iterable[str]) -> float:
        """The weight of some words together."""
        return sum(self._of(word) for word in sorted(found))

    def _of(self, word: str) -> float:
        if word not in self._known:
            holding = max(1, min(self._passages, postings.count(self._connection, word)))
            once = bm25.idf(self._passages, 1)
            self._known[word] = bm25.idf(self._passages, holding) / once
        return self._known[word]


def used(
    text: Sequence[Claim], turns: Sequence[Words], asked: Words, rarity: Rarity
) -> tuple[Claim, ...]:
    """The sentences of a text that a turn takes up.

    Args:
        text: Its ``claims``.
        turns: Words of each turn that comes after it was loaded.
        asked: Words of the prompt that it was loaded for.
        rarity: Weighs words.
    """
    return tuple(each for each in text if _is_taken_up(each.words - asked, turns, rarity))


def _is_taken_up(said: Words, turns: Sequence[Words], rarity: Rarity) -> bool:
    figures, whole = _figures(said), rarity(said)
    for turn in turns:
        shared = said & turn
        same = _figures(shared)
        if len(shared) - len(same) < LEAST or (figures and not same and _figures(turn)):
            continue
        weight = rarity(shared)
        if weight >= RARE and weight >= SHARE * whole:
            return True
    return False


def _figures(found: Words) -> Words:
    return frozenset(word for word in found if word.isdigit())


def held(claim: Claim, texts: Iterable[Words], rarity: Rarity) -> bool:
    """Whether one of some texts says what a sentence says."""
    whole = rarity(claim.words)
    return any(rarity(claim.words & text) >= HELD * whole for text in texts)
