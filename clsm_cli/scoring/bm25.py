"""BM25 with Lucene's idf."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def idf(documents: int, containing: int) -> float:
    """How much a term tells: ln(1 + (N − n + ½) / (n + ½)), never negative (Lucene's BM25).

    Args:
        documents: N, passages in the store.
        containing: n, those with the term.

    >>> round(idf(10, 1), 4), round(idf(10, 10), 4)
    (1.9924, 0.0465)
    """
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


def weight(tf: int, length: int, average_length: float, *, k1: float, b: float) -> float:
    """Saturated term frequency: tf / (tf + k1 · (1 − b + b · length / average)), 0 … 1.

    Lucene leaves out the constant factor k1 + 1 as well; the order is the same.

    Args:
        tf: Occurrences of the term in the passage.
        length: Terms of the passage.
        average_length: Terms of the mean passage.
        k1: Saturation.
        b: Length normalisation, 0 … 1.

    >>> round(weight(1, 10, 10.0, k1=0.9, b=0.3), 4)
    0.5263
    """
    return tf / (tf + k1 * (1 - b + b * length / average_length))


def add(
    scores: dict[int, float],
    postings: Iterable[tuple[int, int, int]],
    idf: float,
    average_length: float,
    *,
    k1: float,
    b: float,
) -> None:
    """Add a term's share, idf · ``weight``, to the score of every passage that holds it.

    Args:
        scores: Passage → score so far; changed in place.
        postings: Passage, occurrences of the term, terms of the passage.
        idf: Of the term.
        average_length: Terms of the mean passage.
        k1: As for ``weight``.
        b: As for ``weight``.

    >>> scores = {7: 1.0}
    >>> add(scores, [(7, 1, 10), (8, 1, 10)], 2.0, 10.0, k1=0.9, b=0.3)
    >>> {passage: round(score, 4) for passage, score in scores.items()}
    {7: 2.0526, 8: 1.0526}
    """
    known = scores.get
    fixed, slope = k1 * (1 - b), k1 * b / average_length
    for passage, tf, length in postings:
        scores[passage] = known(passage, 0.0) + idf * tf / (tf + fixed + slope * length)
