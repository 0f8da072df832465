"""The probability of a concept, fitted: what speaks for each node of a question, and a logistic fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.retrieval import concepts
from clsm_cli.scoring import relevance
from clsm_cli.scoring.relevance import Evidence

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.retrieval.ranking import Ranked
    from clsm_cli.store.index.reader import Index

    Floats = NDArray[np.float64]

SHIPPED = (*relevance.WEIGHTS, relevance.BIAS)
"""Weights of the evidence in its order, then the bias."""
NAMES = (*Evidence._fields, "bias")
RIDGE = 1e-2
"""Pull of the weights to 0; keeps evidence that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about ten are needed."""


class Weighed(NamedTuple):
    """A node that something in a question speaks for."""

    id: str
    evidence: Evidence
    is_named: bool


def weigh(index: Index, question: str, ranked: Ranked) -> list[Weighed]:
    """What recall weighs for a question, in order of ids; every confidence counts.

    Args:
        index: As ``ranked`` left it.
        question: What is asked.
        ranked: The passages that were found for it.
    """
    found = concepts.weigh(index, question, ranked.candidates, ranked.cosines)
    return sorted(
        Weighed(each.node.id, each.evidence, each.seed in concepts.BY_NAME) for each in found
    )


def first(weighed: Sequence[Weighed], weights: Sequence[float], most: int) -> list[str]:
    """The likeliest nodes under some weights."""
    return [node for _, node in _ordered(weighed, weights)[:most]]


def returned(
    weighed: Sequence[Weighed], weights: Sequence[float], most: int, beta: float
) -> list[str]:
    """What is returned under some weights: the likeliest nodes, cut as recall cuts them.

    Args:
        weighed: What speaks for each node.
        weights: Of the evidence, then the bias.
        most: Nodes at most.
        beta: By how much more recall counts than precision (``relevance.cut``).
    """
    found = _ordered(weighed, weights)
    return [node for _, node in found[: relevance.cut([-p for p, _ in found], most, beta)]]


def _ordered(weighed: Sequence[Weighed], weights: Sequence[float]) -> list[tuple[float, str]]:
    """Negative probability and id, likeliest first."""
    fitted, bias = Evidence(*weights[:-1]), weights[-1]
    return sorted(
        (-relevance.probability(each.evidence, fitted, bias, is_named=each.is_named), each.id)
        for each in weighed
    )


def fit(weighed: Sequence[Sequence[Weighed]], gold: Sequence[frozenset[str]]) -> list[float]:
    """The weights under which the gold nodes of some questions are likeliest.

    A gold node that nothing speaks for is left out: nothing could be learnt from it.

    Args:
        weighed: Of each question.
        gold: Its gold nodes.
    """
    import numpy as np

    table = [each.evidence for found in weighed for each in found]
    labels = [each.id in ids for found, ids in zip(weighed, gold, strict=True) for each in found]
    found = logistic(np.asarray(table, np.float64), np.asarray(labels, np.float64))
    return [float(weight) for weight in found]


def logistic(table: Floats, labels: Floats, counts: Floats | None = None) -> Floats:
    """Logistic regression by Newton's method: the weights w and, last, the bias.

    L(w) = Σ c (y log p + (1 − y) log(1 − p)) − ½ · ridge · |w|²,  p = 1 / (1 + exp(−w·x)), is concave,
    so there is one maximum.

    Args:
        table: float64 [samples, evidence].
        labels: float64 [samples], 0 or 1.
        counts: float64 [samples], what each counts; None: 1.

    >>> import numpy as np
    >>> weights = logistic(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 0.0, 1.0]))
    >>> bool(weights[0] > 1 and weights[1] < -1)
    True
    """
    import numpy as np

    rows = np.hstack([table, np.ones((len(table), 1))])
    each = np.ones(len(table)) if counts is None else counts
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (each * (labels - chances)) - RIDGE * weights
        curvature = (rows * (each * chances * (1 - chances))[:, None]).T @ rows
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(weights)), gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights
