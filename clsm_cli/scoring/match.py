"""How well a passage matches a question: BM25 with Lucene's idf, late interaction, dates, and their sum.

Late interaction finds the passage whose words come nearest to each word of the question:

    maxsim(q, d) = Σᵢ wᵢ · max over tokens t of d of cos(qᵢ, t)  /  Σᵢ wᵢ

after Khattab and Zaharia 2020 (ColBERT), with the inverse document frequency of the question's
words as weights w, and tokens of MiniLM's last layer as they are, without any training.

Days are proleptic ordinals.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Period = tuple[int, int]


def idf(documents: int, containing: int) -> float:
    """How much a term tells: ln(1 + (N − n + ½) / (n + ½)), never negative (Lucene's BM25).

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
    """Add a term's share of BM25 to the score of every passage that holds it.

        idf · tf / (tf + k1 · (1 − b + b · length / average))

    Lucene leaves out the constant factor k1 + 1 as well; the order is the same.

    Args:
        scores: Passage → score so far; changed in place.
        postings: Passage, occurrences of the term, terms of the passage.

    >>> scores = {7: 1.0}
    >>> add_bm25(scores, [(7, 1, 10), (8, 1, 10)], 2.0, 10.0, k1=0.9, b=0.3)
    >>> {passage: round(score, 4) for passage, score in scores.items()}
    {7: 2.0526, 8: 1.0526}
    """
    known = scores.get
    fixed, slope = k1 * (1 - b), k1 * b / average_length
    for passage, tf, length in postings:
        scores[passage] = known(passage, 0.0) + idf * tf / (tf + fixed + slope * length)


def token_shares(
    products: Sequence[Sequence[float]],
    spans: Mapping[int, tuple[int, int]],
    weights: Sequence[float],
) -> dict[int, list[float]]:
    """Share of each token of a question in ``maxsim``, for every passage.

    Args:
        products: cos of question token i (row) to the tokens of all passages (columns), or to the
            nearest of each few of them.
        spans: Passage → its first column, and the one after its last.
        weights: wᵢ, not negative, not all 0.

    Returns:
        Passage → for each i, wᵢ · max cos / Σ w; a passage without tokens is left out.

    >>> token_shares([[0.1, 0.9, 0.3]], {7: (0, 2), 8: (2, 3), 9: (3, 3)}, [2.0])
    {7: [0.9], 8: [0.3]}
    """
    whole = sum(weights)
    rows = list(zip((weight / whole for weight in weights), products, strict=True))
    return {
        passage: [weight * max(row[start:end]) for weight, row in rows]
        for passage, (start, end) in spans.items()
        if end > start
    }


def maxsim_over(rows: Sequence[Sequence[float]]) -> float:
    """``maxsim`` of several passages taken as one text, from their shares.

    >>> maxsim_over([[0.8, 0.1], [0.2, 0.5]]), maxsim_over([[0.25, 0.5]]), maxsim_over([])
    (1.3, 0.75, 0.0)
    """
    if not rows:
        return 0.0
    best: Iterable[float] = map(max, *rows) if len(rows) > 1 else rows[0]
    return sum(best)


LONGER = 0.35
"""Match with a period of several days: much more is told in one than on a single day, so it says less,
as a frequent word does."""
SOON = 7
"""Days after a period in which it is still talked about."""
SOON_DAY = 0.14
"""Match of a passage told within ``SOON`` days after a day that is asked about."""
SOON_LONGER = 0.1
"""The same after a longer period, which is less likely to be what the passage looks back on."""
VAGUE = 35
"""Days; a longer period in a passage says little, unless the question's is as long."""
NARROW = 7
"""Days; a longer period in a passage does not speak of one day."""


def period_match(asked: Sequence[Period], told: int | None, meant: Sequence[Period]) -> float:
    """How well a passage fits the periods of a question.

    1 if the passage was told on a single day that is asked about or speaks of it; ``LONGER`` if that
    holds of a longer period; else, when it was told within ``SOON`` days after one, ``SOON_DAY`` or
    ``SOON_LONGER``; else 0.

    Args:
        asked: Periods the question names: first day, and the day after the last.

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
        spoken = [end - start for start, end in meant if start < until and first < end]
        if told is not None and first <= told < until:
            spoken.append(1)
        if is_day and any(length <= NARROW for length in spoken):
            return 1.0
        if any(length <= max(VAGUE, until - first) for length in spoken):
            best = max(best, LONGER)
        elif told is not None and until <= told < until + SOON:
            best = max(best, SOON_DAY if is_day else SOON_LONGER)
    return best


def spread(values: Sequence[float]) -> list[float]:
    """Min-max normalisation: (v − min) / (max − min), 0 … 1.

    Where nothing differs everything is the best there is: 1, or 0 if that is nothing.

    >>> spread([2.0, 4.0, 3.0]), spread([5.0, 5.0]), spread([0.0])
    ([0.0, 1.0, 0.5], [1.0, 1.0], [0.0])
    """
    low, high = min(values, default=0.0), max(values, default=0.0)
    width = high - low
    if not width:
        return [float(high > 0)] * len(values)
    return [(value - low) / width for value in values]


def filled(instead: Sequence[float], measured: Sequence[float | None]) -> list[float]:
    """Measured values, min-max; other values where nothing is measured.

    >>> filled([0.5, 0.2, 0.0], [0.1, None, 0.3])
    [0.0, 0.2, 1.0]
    """
    shares = iter(spread([value for value in measured if value is not None]))
    pairs = zip(instead, measured, strict=True)
    return [other if value is None else next(shares) for other, value in pairs]


def weighted(signals: Sequence[float], weights: Sequence[float]) -> float:
    """Linear fusion Σ wᵢ · sᵢ.

    >>> weighted((0.5, 1.0), (2.0, -0.5))
    0.5
    """
    return sum(w * s for w, s in zip(weights, signals, strict=True))
