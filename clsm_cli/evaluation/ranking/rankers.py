"""The order of single passages, in reading order: ask, weigh, rank.

What ``recall`` makes of a ranking, windows and statements, is left out here: this is how well the
signals alone put the evidence first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.ranking import runs, weighing
from clsm_cli.evaluation.ranking.asking import ask_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.ranking.asking import Asked
    from clsm_cli.evaluation.ranking.weighing import Weights
    from clsm_cli.evaluation.retrieved import Retrieved

SHIPPED, CONTENT = "clsm ranking", "clsm content"
REFIT, REFIT_CONTENT = "clsm refit", "clsm content refit"
ABOUT = {
    SHIPPED: "single passages of the store as ingested, by the shipped weights",
    CONTENT: "the same without the signals of who, when and the form of a sentence",
    REFIT: "weights fitted on the other cases: conditional logit, leave one case out",
    REFIT_CONTENT: "the same without the signals of who, when and the form of a sentence",
}
"""Each system in a line."""


def rank(
    benches: Sequence[Bench], queries: Sequence[Sequence[Query]]
) -> dict[str, list[list[Retrieved]]]:
    """The single passages of each store for each query, by each weighing.

    A turn counts once, by its best part; where days are asked for, a day by its best turn. Two
    hundred at most; none for a query without evidence, whose confidence alone is of use.

    Args:
        benches: All cases of a set.
        queries: What each is asked.

    Returns:
        System → by case, by query; the refits only where two cases or more have evidence.
    """
    return ranked(ask_all(benches, queries))


def ranked(asked: Sequence[Asked]) -> dict[str, list[list[Retrieved]]]:
    """``rank`` for cases that were asked already."""
    return {name: by(asked, weights) for name, weights in _systems(asked).items()}


def by(asked: Sequence[Asked], weights: Weights) -> list[list[Retrieved]]:
    """The rankings of all queries by some weights, by case."""
    return [
        [
            run.ranked(weights[each.bench.case.name]) if query.gold else run.nothing()
            for query, run in each.pairs()
        ]
        for each in asked
    ]


def weights(asked: Sequence[Asked]) -> dict[str, dict[str, float]]:
    """The shipped weights, and those fitted without each case in the same size: only ratios rank.

    Args:
        asked: The cases.

    Returns:
        ``shipped`` or ``without CASE`` → signal → weight.
    """
    first = next(iter(weighing.shipped(asked).values()))
    size = float(abs(first).sum())
    named = {"shipped": first.tolist()}
    for case, found in weighing.leave_one_out(asked).items():
        scale = size / (float(abs(found).sum()) or 1.0)
        named[f"without {case}"] = [round(each * scale, 4) for each in found.tolist()]
    return {name: dict(zip(runs.SIGNALS, values, strict=True)) for name, values in named.items()}


def _systems(asked: Sequence[Asked]) -> dict[str, Weights]:
    found = {
        SHIPPED: weighing.shipped(asked),
        CONTENT: weighing.shipped(asked, runs.NOT_CONTENT),
        REFIT: weighing.leave_one_out(asked),
        REFIT_CONTENT: weighing.leave_one_out(asked, runs.NOT_CONTENT),
    }
    return {name: weights for name, weights in found.items() if weights}
