"""Compare systems over many queries."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import LabelledQuery
from clsm_cli.evaluation.result import (
    AbstentionResult,
    Difference,
    Figures,
    Interval,
    Pair,
    SystemResult,
)
from clsm_cli.model.grouping import grouped
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

HEADLINES = ("f1", "recall", "coverage", "recall@1", "recall@10", "tokens@1000", "reduced", "reach")
"""Measures that have intervals and are compared in pairs, where a set has them."""


Key = tuple[str, str]  # a query: its case and its id


class Measured(NamedTuple):
    """One query of a case by one system: figures (none without an answer), and if anything came."""

    query: LabelledQuery
    case: str
    figures: Figures
    confidence: float | None
    is_answered: bool

    @property
    def key(self) -> Key:
        """Which query of which case."""
        return self.case, self.query.id


NONE = Difference(difference=0.0, interval=(0.0, 0.0), p=1.0)  # of queries without the measure


def mean_figures(measured: Sequence[Measured]) -> Figures:
    """Mean of each measure over the queries for which it is defined; None where it is for none."""
    names = dict.fromkeys(name for each in measured for name in each.figures)
    values = {name: list(defined(measured, name).values()) for name in names}
    return {name: fmean(found) if found else None for name, found in values.items()}


def defined(measured: Sequence[Measured], measure: str) -> dict[Key, float]:
    """The queries for which a measure is defined, and its values."""
    found = ((each.key, each.figures.get(measure)) for each in measured)
    return {key: value for key, value in found if value is not None}


def system_result(name: str, measured: Sequence[Measured], seed: int) -> SystemResult:
    """All figures of one system on a set."""
    found = {measure: defined(measured, measure) for measure in HEADLINES}
    intervals = {measure: _interval(values, seed) for measure, values in found.items() if values}
    categories = grouped((each.query.category, each) for each in measured)
    groups = {category: mean_figures(rows) for category, rows in sorted(categories.items())}
    return SystemResult(
        name=name,
        figures=mean_figures(measured),
        intervals=intervals,
        groups={"category": groups} if len(groups) > 1 else {},
    )


def _interval(values: Mapping[Key, float], seed: int) -> Interval:
    return cluster_interval(list(values.values()), [case for case, _ in values], seed)


def compare_pairs(
    answers: Mapping[str, Sequence[Measured]], ours: str, seed: int
) -> Iterator[Pair]:
    """What one system has more than each other, query by query."""
    for other, theirs in answers.items():
        for measure in HEADLINES if other != ours else ():
            found = paired(answers[ours], theirs, measure, seed)
            if found is not None:
                yield Pair(measure=measure, against=other, **found)


def paired(
    ours: Sequence[Measured], theirs: Sequence[Measured], measure: str, seed: int
) -> Difference | None:
    """What one system has more than another on the queries for which both have a measure; None without any."""
    known = defined(theirs, measure)
    gained = {key: own - known[key] for key, own in defined(ours, measure).items() if key in known}
    if not gained:
        return None
    values, interval = list(gained.values()), _interval(gained, seed)
    return Difference(difference=fmean(values), interval=interval, p=sign_flip(values, seed))


def abstention(
    answers: Mapping[str, Sequence[Measured]], silent: Mapping[str, Sequence[Measured]]
) -> Iterator[AbstentionResult]:
    """How well the confidence of each system tells queries with an answer from those without."""
    for name, measured in silent.items():
        positive = [each.confidence for each in answers[name] if each.confidence is not None]
        for kind, found in sorted(grouped((e.query.negative, e) for e in measured).items()):
            negative = [each.confidence for each in found if each.confidence is not None]
            truths = [True] * len(positive) + [False] * len(negative)
            if positive and negative:
                yield AbstentionResult(
                    system=name,
                    negative=kind,
                    queries=len(found),
                    auroc=auroc(positive + negative, truths),
                    refused=sum(not each.is_answered for each in found) / len(found),
                )


EXACT_FLIPS = 16  # pairs that differ up to which all 2ⁿ sign flips are tried; beyond it a sample
_AT_ONCE = 1 << 20  # numbers drawn at once, for the sake of memory


def auroc(scores: ArrayLike, truths: ArrayLike) -> float:
    """Probability that a true one scores above a false one; a tie counts one half (Mann-Whitney U / nm).

    >>> auroc([0.9, 0.5, 0.5, 0.1], [True, True, False, False])
    0.875
    """
    import numpy as np

    true = np.asarray(truths, bool)
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    n = int(true.sum())
    return float((ranks[true].sum() - n * (n + 1) / 2) / (n * (len(true) - n)))


def cluster_interval(
    values: Sequence[float], clusters: Sequence[Hashable], seed: int, draws: int = 2000
) -> tuple[float, float]:
    """95 % bootstrap interval of a mean over questions that come in clusters.

    Conversations are drawn with replacement, and inside each drawn one its questions, for questions of
    one conversation resemble each other: drawing these alone would make the interval too narrow. With
    one cluster it is the plain bootstrap.

    >>> cluster_interval([0.5] * 4, ["a", "a", "b", "b"], seed=0)
    (0.5, 0.5)
    """
    import numpy as np

    members = grouped(zip(clusters, values, strict=True)).values()
    array = np.concatenate([np.asarray(each, np.float64) for each in members])
    sizes = np.array([len(each) for each in members])
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
