"""Compare systems over many queries: means by group, intervals, paired differences, abstention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics
from clsm_cli.evaluation.result import AbstentionResult, Pair, SystemResult
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.result import Figures

HEADLINES = ("f1", "recall", "coverage", "recall@1", "recall@10", "tokens@1000", "reduced", "reach")
"""Measures that have intervals and are compared in pairs, where a set has them."""


class Measured(NamedTuple):
    """One query by one system.

    Attributes:
        figures: Empty for a query without an answer.
        ranks: Place from 1 of the first item that holds each piece of gold; None: not returned.
        is_answered: Anything was returned.
    """

    figures: Figures
    ranks: tuple[int | None, ...]
    confidence: float | None
    is_answered: bool


if TYPE_CHECKING:
    Answers = Mapping[str, Sequence[Measured]]


class Asked(NamedTuple):
    """The queries of a set that have an answer, in the order of the cases, and the case of each."""

    queries: Sequence[Query]
    cases: Sequence[str]


def group_places(names: Sequence[str]) -> dict[str, list[int]]:
    """Places by the name that stands at them, names sorted.

    >>> group_places(["b", "a", "b"])
    {'a': [1], 'b': [0, 2]}
    """
    return {
        name: [at for at, each in enumerate(names) if each == name] for name in sorted({*names})
    }


def mean_figures(measured: Sequence[Measured], places: Sequence[int]) -> Figures:
    """Mean of each measure over the queries for which it is defined; None where it is for none."""
    names = dict.fromkeys(name for at in places for name in measured[at].figures)
    found: Figures = {}
    for name in names:
        values = [value for at in places if (value := measured[at].figures.get(name)) is not None]
        found[name] = sum(values) / len(values) if values else None
    return found


def system_result(
    name: str, about: str, measured: Sequence[Measured], asked: Asked, seed: int
) -> SystemResult:
    """All figures of one system on a set."""
    intervals = {}
    for measure in HEADLINES:
        defined = [
            (value, case)
            for each, case in zip(measured, asked.cases, strict=True)
            if (value := each.figures.get(measure)) is not None
        ]
        if defined:
            values, cases = zip(*defined, strict=True)
            intervals[measure] = metrics.cluster_interval(values, cases, seed)
    categories = {
        category: mean_figures(measured, places)
        for category, places in group_places([each.category for each in asked.queries]).items()
    }
    return SystemResult(
        name=name,
        about=about,
        figures=mean_figures(measured, range(len(measured))),
        intervals=intervals,
        groups={"category": categories} if len(categories) > 1 else {},
    )


def compare_pairs(answers: Answers, ours: str, asked: Asked, seed: int) -> Iterator[Pair]:
    """What one system has more than each other, query by query."""
    figures = {name: [each.figures for each in found] for name, found in answers.items()}
    mine = figures.pop(ours)
    for other, theirs in figures.items():
        for measure in HEADLINES:
            found = compare_pair(mine, theirs, measure, asked.cases, seed)
            if found is not None:
                yield Pair(measure, other, *found)


def compare_pair(
    ours: Sequence[Figures],
    theirs: Sequence[Figures],
    measure: str,
    cases: Sequence[str],
    seed: int,
) -> tuple[float, tuple[float, float], float] | None:
    """Mean difference, its interval and its p over the queries that have the measure in both.

    None where there are no such queries.
    """
    found = [
        (one, two, case)
        for mine, other, case in zip(ours, theirs, cases, strict=True)
        if (one := mine.get(measure)) is not None and (two := other.get(measure)) is not None
    ]
    if not found:
        return None
    mine_values, their_values, clusters = zip(*found, strict=True)
    return metrics.paired(mine_values, their_values, clusters, seed)


def abstention(
    answers: Answers, negatives: Mapping[str, Sequence[Measured]], queries: Sequence[Query]
) -> Iterator[AbstentionResult]:
    """How well the confidence of each system tells queries with an answer from those without."""
    kinds = group_places([query.negative for query in queries])
    for name, silent in negatives.items():
        positive = [each.confidence for each in answers[name] if each.confidence is not None]
        for kind, places in kinds.items():
            found = [silent[at] for at in places]
            negative = [each.confidence for each in found if each.confidence is not None]
            if positive and negative:
                refused = sum(not each.is_answered for each in found) / len(found)
                auroc = metrics.auroc(positive, negative)
                yield AbstentionResult(name, kind, len(found), auroc, refused)
