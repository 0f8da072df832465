"""What the best passages lead to: others with a rare name that these bring in.

"What does Mara's husband do for a living?" takes two memories, and only the first shares anything with
the question: it names him, and his name is the key to the second. So a passage speaks for those that
share a name with it which the question does not have; the rarer the name, the more. That is one step
of spreading activation (Collins and Loftus 1975) from passage to passage, over words instead of the
edges of the graph: it needs no night. Weight, number of passages and rarity: docs/experiments.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.scoring import bm25
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.reader import Index

SEEDS = 3
"""Passages that lead to others; five are no better."""
MOST = 16
"""Passages with a name above which it leads to none: it would lead anywhere."""


def reached(index: Index, question: Question, rows: Iterable[int]) -> set[int]:
    """The visible passages that share a rare name with some others.

    Args:
        index: Fresh.
        question: Whose own words lead nowhere new.
        rows: Passages that lead to others.
    """
    names = index.names_in(sorted(set(rows)))
    terms = {term for labels in names.values() for term in _keys(question, labels)}
    return {row for term in sorted(terms) for row in _holding(index, term)}


def signals(
    index: Index,
    question: Question,
    seeds: Mapping[int, float],
    names: Mapping[int, Sequence[str]],
) -> dict[int, float]:
    """How strongly the best passages lead to others.

        max over seeds s and names n of both, not of the question: score(s) · idf(n) / idf of one

    Args:
        index: Fresh.
        question: Whose own words lead nowhere new.
        seeds: The best passages, with their scores as shares of the range of all.
        names: The names that passages mention.

    Returns:
        Row → 0 … 1; what nothing leads to is left out.
    """
    count, _ = index.size()
    most = bm25.idf(count, 1)
    found: dict[int, float] = {}
    for seed, score in seeds.items():
        for term in _keys(question, names.get(seed, ())):
            held = _holding(index, term)
            worth = score * bm25.idf(count, len(held)) / most
            for row in held:
                if row != seed:
                    found[row] = max(found.get(row, 0.0), worth)
    return found


def _keys(question: Question, labels: Iterable[str]) -> Iterator[str]:
    """The terms of names that the question does not have."""
    for label in labels:
        yield from (term for term in tokens.stems(label) if term not in question.terms)


def _holding(index: Index, term: str) -> list[int]:
    """The passages with a term; none where there are many."""
    held = [row for row, _, _ in index.postings(term)]
    return held if len(held) <= MOST else []
