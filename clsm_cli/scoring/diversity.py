"""Maximal marginal relevance: the best items first, each judged by what it adds to those before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LAMBDA = 0.7
"""Share of relevance against novelty (Smriti)."""


def mmr(
    scores: Sequence[float],
    similarity: Callable[[int, int], float],
    lambda_: float = LAMBDA,
    *,
    k: int,
    floor: float = 0.0,
) -> list[int]:
    """Positions of the best ``k`` items, in the order in which they add most.

        r(i) = max(0, (score(i) − floor) / (highest score − floor))            0 … 1
        next = argmax r(i) · (λ − (1 − λ) · max similarity to what is chosen)

    After Carbonell and Goldstein 1998, with two differences. Scores are brought to 0 … 1 first: on
    fused ranks (about 1/60) the similarity would decide alone. And what an item repeats is taken
    off in proportion to its own relevance, not as a fixed amount, which would let something
    irrelevant pass a copy of relevance below (1 − λ) / λ. So a copy falls behind any item with
    more than (2λ − 1) / λ of its relevance (λ 0.7: 57 %), and never behind one with less, let
    alone none; this holds for λ ≥ ½.

    Ties go to the earlier item. Cost: k · n similarities.

    Args:
        scores: Of the items, in any order and scale.
        similarity: Of two items by position, up to 1; below 0 counts as 0.
        lambda_: From ½ to 1; 1 is the order of the scores.
        k: How many at most.
        floor: Score of something irrelevant, as of a document that is last in every fused list.
            Not simply the least score: the weakest of three good items is still good.

    Raises:
        ValueError: λ is outside ½ … 1.

    The second is a copy of the first; the third is another relevant item, the last irrelevant.
    After the first the second is worth 0.9 · (0.7 − 0.3) = 0.36, the third 0.8 · 0.7 = 0.56:

    >>> mmr([1.0, 0.9, 0.8, 0.1], lambda i, j: float({i, j} == {0, 1}), k=4)
    [0, 2, 1, 3]
    """
    if not 0.5 <= lambda_ <= 1:
        raise ValueError(f"lambda must be from 0.5 to 1, not {lambda_}")
    width = max(scores, default=0.0) - floor
    relevance = [max(0.0, (score - floor) / width) if width > 0 else 0.0 for score in scores]
    repeated = [0.0] * len(relevance)
    left = sorted(range(len(relevance)), key=lambda i: -scores[i])
    chosen: list[int] = []
    while left and len(chosen) < k:
        if not chosen or relevance[left[0]] == 0.0:
            best = left[0]  # where nothing is relevant the scores decide
        else:
            best = max(
                left, key=lambda i: (relevance[i] * (lambda_ - (1 - lambda_) * repeated[i]), -i)
            )
        chosen.append(best)
        left.remove(best)
        for i in left:
            repeated[i] = max(repeated[i], min(1.0, similarity(best, i)))
    return chosen
