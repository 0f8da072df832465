"""Match of a passage with a question: BM25 with Lucene's idf, late interaction, dates, linear fusion.

Late interaction finds the passage whose words come nearest to each word of the question:

    maxsim(q, d) = Σᵢ wᵢ · max over tokens t of d of cos(qᵢ, t)  /  Σᵢ wᵢ

after Khattab and Zaharia 2020 (ColBERT), with the inverse document frequency of the question's
words as weights w, and token vectors of MiniLM's last layer without further training.

Days are proleptic ordinals.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Period = tuple[int, int]


def idf(documents: int, containing: int) -> float:
    """Inverse document frequency of a term: ln(1 + (N − n + ½) / (n + ½)), never negative (Lucene's BM25).

    >>> round(idf(10, 1), 4), round(idf(10, 10), 4)
    (1.9924, 0.0465)
    """
    return log(1 + (documents - containing + 0.5) / (containing + 0.5))


def add_bm25(
    scores: dict[int, float],
    postings: Iterable[tuple[int, int, int]],
    idf: float,
    average_length: float,
    *,
    k1: float,
    b: float,
) -> None:
    """Add a term's BM25 to the score of every passage that contains it.

        idf · tf / (tf + k1 · (1 − b + b · length / average))

    As in Lucene, without the constant factor k1 + 1, which does not change the order.

    Args:
        scores: Passage → score so far; changed in place.
        postings: Passage, occurrences of the term, terms of the passage.

    >>> scores = {7: 1.0}
    >>> add_bm25(scores, [(7, 1, 10), (8, 1, 10)], 2.0, 10.0, k1=0.9, b=0.3)
    >>> {passage: round(score, 4) for passage, score in scores.items()}
    {7: 2.0526, 8: 1.0526}
    """
    score_of = scores.get
    fixed, slope = k1 * (1 - b), k1 * b / average_length
    for passage, tf, length in postings:
        scores[passage] = score_of(passage, 0.0) + idf * tf / (tf + fixed + slope * length)


def cosine_at(cosines: Sequence[float], vector: int) -> float | None:
    """The cosine at a vector's row; None for −1 (no vector)."""
    return cosines[vector] if 0 <= vector < len(cosines) else None


def token_shares(
    products: Sequence[Sequence[float]],
    spans: Mapping[int, tuple[int, int]],
    weights: Sequence[float],
) -> dict[int, list[float]]:
    """Each question token's share of ``maxsim``, for every passage.

    Args:
        products: Cosines of question token i (row) to the tokens of all passages (columns), or their
            maximum over each block of tokens.
        spans: Passage → its first column, and the one after its last.
        weights: wᵢ, not negative, not all 0.

    Returns:
        Passage → for each i, wᵢ · max cos / Σ w; passages without tokens are left out.

    >>> token_shares([[0.1, 0.9, 0.3]], {7: (0, 2), 8: (2, 3), 9: (3, 3)}, [2.0])
    {7: [0.9], 8: [0.3]}
    """
    total = sum(weights)
    rows = list(zip((weight / total for weight in weights), products, strict=True))
    return {
        passage: [weight * max(row[start:end]) for weight, row in rows]
        for passage, (start, end) in spans.items()
        if end > start
    }


def maxsim_over(rows: Sequence[Sequence[float]]) -> float:
    """``maxsim`` of several passages taken as one text, from their token shares.

    >>> maxsim_over([[0.8, 0.1], [0.2, 0.5]]), maxsim_over([[0.25, 0.5]]), maxsim_over([])
    (1.3, 0.75, 0.0)
    """
    if not rows:
        return 0.0
    best: Iterable[float] = map(max, *rows) if len(rows) > 1 else rows[0]
    return sum(best)


LONG_PERIOD_MATCH = 0.35
"""Match with a period of several days: more is told in one than on a single day, so it is less specific,
as a frequent word is.
"""
AFTER_DAYS = 7
"""Days after a period in which people still talk about it."""
AFTER_DAY_MATCH = 0.14
"""Match of a passage told within ``AFTER_DAYS`` after a single day asked about."""
AFTER_PERIOD_MATCH = 0.1
"""The same after a longer period, to which the passage less likely looks back."""
VAGUE_DAYS = 35
"""Days; a longer period in a passage matches only a question's period that is as long."""
NARROW_DAYS = 7
"""Days; a longer period in a passage does not refer to a single day."""


def period_match(asked: Sequence[Period], day: int | None, mentioned: Sequence[Period]) -> float:
    """How well a passage fits the periods of a question.

    1 if the passage was told on a single day asked about, or mentions it; ``LONG_PERIOD_MATCH`` if so
    for a longer period; else ``AFTER_DAY_MATCH`` or ``AFTER_PERIOD_MATCH`` if it was told within
    ``AFTER_DAYS`` after one; else 0.

    Args:
        asked: Periods that the question names: first day, and the day after the last.
        day: Day on which the passage was told.
        mentioned: Periods that the passage mentions.

    >>> period_match([(100, 101)], 100, []), period_match([(100, 101)], 200, [(95, 102)])
    (1.0, 1.0)
    >>> period_match([(90, 120)], 100, []), period_match([(100, 101)], 200, [(90, 120)])
    (0.35, 0.35)
    >>> period_match([(100, 101)], 103, []), period_match([(70, 100)], 103, []), period_match([(100, 101)], 300, [])
    (0.14, 0.1, 0.0)
    """
    best = 0.0
    for first, until in asked:
        is_day = until - first == 1
        lengths = [end - start for start, end in mentioned if start < until and first < end]
        if day is not None and first <= day < until:
            lengths.append(1)
        if is_day and any(length <= NARROW_DAYS for length in lengths):
            return 1.0
        if any(length <= max(VAGUE_DAYS, until - first) for length in lengths):
            best = max(best, LONG_PERIOD_MATCH)
        elif day is not None and until <= day < until + AFTER_DAYS:
            best = max(best, AFTER_DAY_MATCH if is_day else AFTER_PERIOD_MATCH)
    return best


def min_max(values: Sequence[float]) -> list[float]:
    """Min-max normalisation: (v − min) / (max − min), 0 … 1.

    If all values are equal: 1 for each, or 0 if they are not positive.

    >>> min_max([2.0, 4.0, 3.0]), min_max([5.0, 5.0]), min_max([0.0])
    ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0])
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = high - low
    if not width:
        return [float(high > 0)] * len(values)
    return [(value - low) / width for value in values]


def min_max_or(fallback: Sequence[float], measured: Sequence[float | None]) -> list[float]:
    """Min-max normalised measurements; the fallback value where there is none.

    >>> min_max_or([0.5, 0.2, 0.0], [0.1, None, 0.3])
    [0.0, 0.2, 1.0]
    """
    shares = iter(min_max([value for value in measured if value is not None]))
    pairs = zip(fallback, measured, strict=True)
    return [other if value is None else next(shares) for other, value in pairs]


def weighted(signals: Sequence[float], weights: Sequence[float]) -> float:
    """Linear fusion Σ wᵢ · sᵢ.

    >>> weighted((0.5, 1.0), (2.0, -0.5))
    0.5
    """
    return sum(w * s for w, s in zip(weights, signals, strict=True))
