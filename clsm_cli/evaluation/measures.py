"""Rankings of every question by every system, and their figures."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.evaluation.ranking.asking import Asked
    from clsm_cli.evaluation.ranking.runs import Run
    from clsm_cli.evaluation.ranking.systems import System

    Floats = NDArray[np.float64]

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens that an agent may have to spare for its memory."""
REDUCTION = 0.965
"""Share of a conversation that is left out in the figure ``reduced`` (CLS-M reports 96.5 %)."""


@dataclass(frozen=True, eq=False)
class Ranking:
    """One question's items by one system.

    Attributes:
        places: For each piece of gold the places from 0 of the items that hold it, ascending; empty
            where none was returned.
        costs: Tokens of the items, best first.
        whole: Tokens of the whole conversation.
    """

    places: list[list[int]]
    costs: list[int]
    whole: int

    @property
    def ranks(self) -> list[float]:
        """Place from 1 of the first item that holds each piece of gold, ``inf`` without one."""
        return [places[0] + 1.0 if places else inf for places in self.places]

    def in_budget(self, budget: int) -> float:
        """Share of the gold that fits a budget in rank order."""
        kept = set(metrics.within_budget(self.costs, budget))
        return sum(not kept.isdisjoint(places) for places in self.places) / len(self.places)


def _first(k: int) -> Callable[[Ranking], float]:
    return lambda r: metrics.recall(r.ranks, k)


def _fitting(budget: int) -> Callable[[Ranking], float]:
    return lambda r: r.in_budget(budget)


TURNS: dict[str, Callable[[Ranking], float]] = {
    **{f"recall@{k}": _first(k) for k in (5, 10, 20, 50)},
    "hit@10": lambda r: metrics.hit(r.ranks, 10),
    "all@10": lambda r: metrics.whole(r.ranks, 10),
    "ndcg@10": lambda r: metrics.ndcg(r.ranks, 10),
    "mrr": lambda r: metrics.reciprocal_rank(r.ranks),
    **{f"tokens@{budget}": _fitting(budget) for budget in BUDGETS},
    "reduced": lambda r: r.in_budget(int((1 - REDUCTION) * r.whole)),
}
"""Measures of LoCoMo."""
DAYS: dict[str, Callable[[Ranking], float]] = {
    "recall@1": _first(1),
    "recall@3": _first(3),
    "hit@1": lambda r: metrics.hit(r.ranks, 1),
    "mrr": lambda r: metrics.reciprocal_rank(r.ranks),
}
"""Measures of GVD, over days."""
QUOTES: dict[str, Callable[[Ranking], float]] = {
    name: TURNS[name]
    for name in ("recall@5", "recall@10", "recall@20", "hit@10", "all@10", "mrr", "tokens@1000")
}
"""Measures of an agent's notes, over quotes of evidence."""


@dataclass(frozen=True, eq=False)
class Scored:
    """All questions ranked by one system.

    Attributes:
        values: Measure → float64 [questions].
        ranks: Places of the gold units of each question.
    """

    name: str
    values: dict[str, Floats]
    ranks: tuple[list[float], ...]


def score(
    system: System, asked: Sequence[Asked], measures: Mapping[str, Callable[[Ranking], float]]
) -> Scored:
    """Rank every question by a system and measure the rankings."""
    return measured(
        system.name, [ranking(a, system.scores(a.run, a.conversation)) for a in asked], measures
    )


def measured(
    name: str,
    rankings: Sequence[Ranking],
    measures: Mapping[str, Callable[[Ranking], float]],
) -> Scored:
    """The figures of some rankings."""
    import numpy as np

    values = {
        key: np.array([measure(each) for each in rankings]) for key, measure in measures.items()
    }
    return Scored(name, values, tuple(each.ranks for each in rankings))


def ranking(asked: Asked, scores: Floats) -> Ranking:
    """Units by their best candidate."""
    order = ordered(asked.run, scores)
    place = {unit: at for at, unit in enumerate(asked.run.units[order].tolist())}
    places = [[place[unit]] if unit in place else [] for unit in asked.gold]
    return Ranking(places, asked.run.costs[order].tolist(), asked.whole)


def ordered(run: Run, scores: Floats) -> NDArray[np.int64]:
    """Places of the candidates, best first, one for each unit; equal scores in order of time."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > -inf]
    _, firsts = np.unique(run.units[order], return_index=True)
    chosen: NDArray[np.int64] = order[np.sort(firsts)]
    return chosen


def means(scored: Scored, keep: Iterable[int]) -> dict[str, float]:
    """Mean of each measure over some questions, by their places; empty without any."""
    places = list(keep)
    if not places:
        return {}
    return {name: float(array[places].mean()) for name, array in scored.values.items()}
