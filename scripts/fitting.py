"""Shared by the scripts that fit a head: logistic regression, layers fitted by Adam, classifiers as JSON."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from clsm_cli.heads.classifier import Classifier

    Floats = NDArray[np.float64]


def pack(classifier: Classifier) -> dict[str, Any]:
    """A classifier as JSON for ``classifier.unpack``: each matrix column is quantised to int8 with its own scale."""
    matrices = []
    for matrix in classifier.layers:
        columns = np.atleast_2d(matrix)
        scales = np.array([float(f"{value:.6g}") for value in np.abs(columns).max(0) / 127])
        scales[scales == 0] = 1.0
        codes = np.rint(columns / scales).astype(np.int8)
        matrices.append(
            {"scales": scales.tolist(), "codes": base64.b64encode(codes.tobytes()).decode()}
        )
    return {
        "inputs": list(classifier.inputs),
        "groups": {name: list(outputs) for name, outputs in classifier.groups.items()},
        "mean": [round(float(value), 4) for value in classifier.mean],
        "scale": [round(float(value), 4) for value in classifier.scale],
        "layers": matrices,
    }


RIDGE = 1e-2
"""Pull of the weights to 0; keeps an input that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about ten are needed."""


def logistic(
    table: Floats, labels: Floats, counts: Floats | None = None, ridge: ArrayLike = RIDGE
) -> Floats:
    """Logistic regression by Newton's method: the weights w and, last, the bias.

    L(w) = Σ c (y log p + (1 − y) log(1 − p)) − ½ · ridge · |w|²,  p = 1 / (1 + exp(−w·x)), is concave,
    so there is one maximum.

    Args:
        table: float64 [samples, evidence].
        labels: float64 [samples], 0 or 1.
        counts: float64 [samples], what each counts; None: 1.
        ridge: Pull of the weights to 0, or of each of them and the bias.

    >>> import numpy as np
    >>> weights = logistic(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 0.0, 0.0, 1.0]))
    >>> bool(weights[0] > 1 and weights[1] < -1)
    True
    """
    rows = np.hstack([table, np.ones((len(table), 1))])
    pull = np.asarray(ridge)
    each = np.ones(len(table)) if counts is None else counts
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        chances = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (each * (labels - chances)) - pull * weights
        curvature = (rows * (each * chances * (1 - chances))[:, None]).T @ rows
        step = np.linalg.solve(curvature + pull * np.eye(len(weights)), gradient)
        weights = weights + step
        if np.abs(step).max() < 1e-8:
            break
    return weights


def layers(
    rows: Any,
    out: int,
    errors: Callable[[Any], Any],
    *,
    hidden: int,
    decay: float,
    rounds: int,
    rate: float,
    dropped: float = 0.0,
) -> list[Any]:
    """Weights and offsets of a network, by Adam over all rows, with dropout in front of each layer.

    Half as many inputs are dropped as hidden units. The same rows give the same bytes.

    Args:
        rows: Standardised inputs, [n, d].
        out: Numbers that the network gives.
        errors: Their scores [n, out] → the slope of the loss in them.
        hidden: Units of its hidden layer of tanh; 0: one layer, and nothing is dropped.
        decay: Of the weights.
        rounds: Steps.
        rate: Of the first step; that of the others falls as the root of what is left.
        dropped: Share of the hidden units that a step leaves out.

    Returns:
        Weights, offset and, with a hidden layer, its outer weights and offset.
    """
    chance = np.random.default_rng(0)
    width = rows.shape[1]
    if hidden:
        found = [
            chance.normal(0, width**-0.5, (width, hidden)),
            np.zeros(hidden),
            chance.normal(0, hidden**-0.5, (hidden, out)),
            np.zeros(out),
        ]
    else:
        found = [np.zeros((width, out)), np.zeros(out)]
    means = [np.zeros_like(layer) for layer in found]
    squares = [np.zeros_like(layer) for layer in found]
    for step in range(1, rounds + 1):
        slopes = _slopes(rows, errors, found, decay, dropped, chance)
        pace = rate * (1 - step / (rounds + 1)) ** 0.5
        for place, slope in enumerate(slopes):
            means[place] += 0.1 * (slope - means[place])
            squares[place] += 0.001 * (slope * slope - squares[place])
            root = np.sqrt(squares[place] / (1 - 0.999**step)) + 1e-8
            found[place] -= pace * (means[place] / (1 - 0.9**step)) / root
    return found


def _slopes(
    rows: Any,
    errors: Callable[[Any], Any],
    found: list[Any],
    decay: float,
    dropped: float,
    chance: np.random.Generator,
) -> list[Any]:
    if len(found) == 2:
        weights, offset = found
        slope = errors(rows @ weights + offset)
        return [rows.T @ slope + decay * weights, slope.sum(0)]
    first, bias, second, offset = found
    seen = rows * (chance.random(rows.shape) > dropped / 2) / (1 - dropped / 2)
    inner = np.tanh(seen @ first + bias)
    mask = (chance.random(inner.shape) > dropped) / (1 - dropped)
    slope = errors((inner * mask) @ second + offset)
    back = (slope @ second.T) * mask * (1 - inner * inner)
    return [
        seen.T @ back + decay * first,
        back.sum(0),
        (inner * mask).T @ slope + decay * second,
        slope.sum(0),
    ]


def shares(scores: Any) -> Any:
    """The softmax of each row."""
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def every_eighth(memories: Iterable[str]) -> set[str]:
    """The memories that the fit of statements leaves out.

    >>> sorted(every_eighth("ihgfedcba"))
    ['a', 'i']
    """
    return set(sorted({*memories})[::8])


def scale(columns: Any) -> Any:
    """The deviation of each column; 1 for one that is constant."""
    found = columns.std(0)
    found[found < 1e-6] = 1.0
    return found
