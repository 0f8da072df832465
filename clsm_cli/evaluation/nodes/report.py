"""What the node benchmark says: data only, rendered elsewhere; and how one answer is measured."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.evaluation import metrics
from clsm_cli.evaluation.report import grouped
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.report import Figures

K = 10
"""Concepts of a ranking that are looked at."""
HEADLINE = "f1"
EVERYTHING = "all"


class Posed(NamedTuple):
    """A question with its gold nodes, by id.

    Attributes:
        gold: Nodes in the turns of its evidence or in its answer.
        told: Those of the answer that the question does not name.
    """

    id: str
    conversation: str
    category: str
    gold: frozenset[str]
    told: frozenset[str]


@dataclass(frozen=True, slots=True)
class SystemFigures:
    """One ranking of nodes.

    Attributes:
        figures: Group (``all``, a category, a conversation) → measure → mean over its questions.
        interval: 95 % bootstrap interval of F1, conversations as clusters.
    """

    system: str
    figures: dict[str, Figures]
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class QuestionFigures:
    """One question, and what each system returned for it."""

    id: str
    conversation: str
    category: str
    gold: tuple[str, ...]
    told: tuple[str, ...]
    returned: dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The result of the node benchmark.

    Attributes:
        data: What the set held.
        weights: Of the fitted probability: the shipped ones, and those fitted without each
            conversation.
    """

    data: dict[str, int]
    systems: tuple[SystemFigures, ...]
    weights: dict[str, dict[str, float]]
    questions: tuple[QuestionFigures, ...]


def measures(
    posed: Posed, returned: Sequence[str], hubs: frozenset[str]
) -> dict[str, float | None]:
    """The figures of one answer; ``answer`` is None where the answer names no further node.

    >>> posed = Posed("1", "a", "b", frozenset({"x", "y"}), frozenset({"y"}))
    >>> measures(posed, ["x", "h"], frozenset({"h"}))
    {'precision': 0.5, 'recall': 0.5, 'f1': 0.5, 'coverage': 1.0, 'answer': 0.0, 'hubs': 0.5, 'returned': 2}
    """
    first = returned[:K]
    found = len(posed.gold.intersection(first))
    precision, recall, f1 = metrics.precision_recall_f1(found, len(first), len(posed.gold))
    told = len(posed.told.intersection(first)) / len(posed.told) if posed.told else None
    return {
        "precision": precision,
        "recall": recall,
        HEADLINE: f1,
        "coverage": float(found > 0),
        "answer": told,
        "hubs": len(hubs.intersection(first)) / len(first) if first else None,
        "returned": len(first),
    }


def figures(
    system: str,
    posed: Sequence[Posed],
    measured: Sequence[dict[str, float | None]],
    seed: int,
) -> SystemFigures:
    """The means of a system over all questions, and over those of each category and conversation."""
    everything = range(len(posed))
    groups = {EVERYTHING: list(everything)}
    groups |= grouped([each.category for each in posed], everything)
    groups |= grouped([each.conversation for each in posed], everything)
    f1 = [float(each[HEADLINE] or 0.0) for each in measured]
    return SystemFigures(
        system,
        {name: _means([measured[at] for at in places]) for name, places in groups.items()},
        metrics.cluster_interval(f1, [each.conversation for each in posed], seed),
    )


def _means(measured: Sequence[dict[str, float | None]]) -> Figures:
    """Over what has a value; 0 where nothing has."""
    return {
        name: fmean(known)
        if (known := [v for m in measured if (v := m[name]) is not None])
        else 0.0
        for name in measured[0]
    }
