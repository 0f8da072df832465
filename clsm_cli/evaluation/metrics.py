"""Ranking metrics and statistics: numbers in, numbers out.

``ranks`` are the places of a question's gold units in its ranking, from 1; ``inf`` where a unit was
not returned. Means over questions are taken by the caller.
"""

from __future__ import annotations

from itertools import product
from math import log2
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

EXACT_FLIPS = 16
"""Pairs that differ up to which all 2ⁿ sign flips are tried; beyond it a sample."""
_AT_ONCE = 1 << 20
"""Numbers drawn at once, for the sake of memory."""


def recall(ranks: Sequence[float], k: int) -> float:
    """Share of the gold among the first ``k``.

    >>> recall([2, 11], 10)
    0.5
    """
    return sum(rank <= k for rank in ranks) / len(ranks)


def ndcg(ranks: Sequence[float], k: int) -> float:
    """Normalised discounted cumulative gain: Σ 1/log2(rank + 1) over the best possible such sum.

    Binary gains, cut at ``k`` (Järvelin & Kekäläinen 2002).

    >>> ndcg([1, 2], 10), round(ndcg([2], 10), 4)
    (1.0, 0.6309)
    """
    gained = sum(1 / log2(rank + 1) for rank in ranks if rank <= k)
    return gained / sum(1 / log2(place + 1) for place in range(1, min(len(ranks), k) + 1))


def reciprocal_rank(ranks: Sequence[float]) -> float:
    """One over the place of the first gold unit; 0 when none was returned.

    >>> reciprocal_rank([4, 2])
    0.5
    """
    return 1 / min(ranks)


def within_budget(costs: Sequence[int], budget: int) -> list[int]:
    """Places, from 0, of the items that fit a budget: in rank order, skipping what does not fit.

    >>> within_budget([60, 50, 30, 20], 100)
    [0, 2]
    """
    kept: list[int] = []
    left = budget
    for place, cost in enumerate(costs):
        if cost <= left:
            kept.append(place)
            left -= cost
            if left == 0:
                break
    return kept


def auroc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive scores above a negative; a tie counts one half.

    The Mann-Whitney U over n·m, from mid-ranks, so O((n + m) log(n + m)).

    >>> auroc([0.9, 0.5], [0.5, 0.1])
    0.875
    """
    import numpy as np

    scores = np.concatenate([positive, negative])
    _, codes, counts = np.unique(scores, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    n, m = len(positive), len(negative)
    return float((middle[codes[:n]].sum() - n * (n + 1) / 2) / (n * m))


def cluster_interval(
    values: Sequence[float], clusters: Sequence[Hashable], seed: int, draws: int = 2000
) -> tuple[float, float]:
    """95 % bootstrap interval of a mean over questions that come in clusters.

    Conversations are drawn with replacement, and inside each drawn one its questions with
    replacement; the mean is over all drawn questions. Questions of one conversation resemble each
    other, so drawing questions alone would make the interval too narrow. With one cluster it is the
    plain bootstrap.

    >>> cluster_interval([0.5] * 4, ["a", "a", "b", "b"], seed=0)
    (0.5, 0.5)
    """
    import numpy as np

    places: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        places.setdefault(cluster, []).append(value)
    array = np.concatenate([np.asarray(held, np.float64) for held in places.values()])
    sizes = np.array([len(held) for held in places.values()])
    starts = np.cumsum(sizes) - sizes
    generator = np.random.default_rng(seed)
    means: list[float] = []
    while len(means) < draws:
        some = min(draws - len(means), max(1, _AT_ONCE // len(array)))
        chosen = generator.integers(len(sizes), size=(some, len(sizes)))
        counts = sizes[chosen]
        drawn = generator.random(counts.sum()) * np.repeat(counts, counts.ravel())
        picked = array[np.repeat(starts[chosen], counts.ravel()) + drawn.astype(np.int64)]
        totals = counts.sum(axis=1)
        means += (np.add.reduceat(picked, np.cumsum(totals) - totals) / totals).tolist()
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def sign_flip(differences: Sequence[float], seed: int, draws: int = 20_000) -> float:
    """Two-sided p-value of a paired difference: how often random signs give as large a mean.

    Exact over all 2ⁿ sign patterns of the n pairs that differ when n ≤ 16, else from a sample, where
    (hits + 1) / (draws + 1) keeps it above 0 (Phipson & Smyth 2010).

    >>> sign_flip([1.0, 1.0, 1.0, 0.0], seed=0)
    0.25
    """
    import numpy as np

    array = np.asarray([each for each in differences if each != 0], dtype=np.float64)
    if not len(array):
        return 1.0
    observed = abs(float(array.sum())) - 1e-9  # sums that are equal but for rounding count
    if len(array) <= EXACT_FLIPS:
        signs = np.array(list(product((-1.0, 1.0), repeat=len(array))))
        return float((np.abs(signs @ array) >= observed).mean())
    generator = np.random.default_rng(seed)
    width = (len(array) + 7) // 8
    hits = done = 0
    while done < draws:
        some = min(draws - done, max(1, _AT_ONCE // len(array)))
        drawn = np.frombuffer(generator.bytes(some * width), np.uint8).reshape(some, width)
        positive = np.unpackbits(drawn, axis=1, count=len(array))
        sums = 2 * (positive @ array) - array.sum()
        hits += int((np.abs(sums) >= observed).sum())
        done += some
    return (hits + 1) / (draws + 1)


def paired(
    ours: Sequence[float], theirs: Sequence[float], clusters: Sequence[Hashable], seed: int
) -> tuple[float, tuple[float, float], float]:
    """What one system has more than another on the same questions.

    Mean difference, its interval (``cluster_interval``), its p-value (``sign_flip``).

    >>> paired([1.0, 0.5, 1.0], [0.0, 0.5, 0.0], ["a", "a", "a"], seed=0)[::2]
    (0.6666666666666666, 0.5)
    """
    gained = [our - their for our, their in zip(ours, theirs, strict=True)]
    interval = cluster_interval(gained, clusters, seed)
    return fmean(gained), interval, sign_flip(gained, seed)


def precision_recall_f1(found: int, returned: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean.

    >>> precision_recall_f1(2, 4, 2)
    (0.5, 1.0, 0.6666666666666666)
    >>> precision_recall_f1(0, 0, 3)
    (0.0, 0.0, 0.0)
    """
    precision = found / returned if returned else 0.0
    share = found / gold if gold else 0.0
    total = precision + share
    return precision, share, 2 * precision * share / total if total else 0.0
