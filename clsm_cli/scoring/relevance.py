"""Relevance of concepts to a question: a fitted probability, and how many of the best to return.

    p = 1 / (1 + exp(−(Σ weight · evidence + bias)))

The weights are one logistic regression over the concepts of all labelled questions: of LoCoMo, of the
sample memory and of four workspaces of strangers (``scripts/fit_concepts.py``; docs/experiments.md has
what they are worth on what is left out). A share of the best score is no threshold: it means another
thing in every graph. A probability does not.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARPNESS = 8.0
"""How fast a passage counts less than the best one: by e^(8 · (share − 1)), share of its score."""
UNSURE = 0.5
"""Probability of the best below which nothing likely is cut: it is likelier wrong than right."""
LEAST = 0.01
"""Probability of what is still likely enough to be shown then, or to belong to what a cue names."""


class Evidence(NamedTuple):
    """What speaks for a node; also the weights of it, in the same order.

    Attributes:
        mentioned: 1 if one of the best passages mentions it.
        best: Score of the best passage that does, as a share of the best score of all; 0 … 1.
        mass: Share of the best passages that do, each weighed by ``passage_weight``; 0 … 1.
        meaning: Cosine of the node's text to the question; 0 without a vector.
        common: ln(1 + turns that mention it).
        note_meaning: ``meaning`` again if that best passage is a block of a note, else 0. A block
            mentions many things; it is about those that are near in meaning and rare.
        note_common: ``common``, likewise.
    """

    mentioned: float
    best: float
    mass: float
    meaning: float
    common: float
    note_meaning: float
    note_common: float


WEIGHTS = Evidence(-4.30, 8.37, 4.24, 0.99, 0.31, 2.78, -0.69)
BIAS = -6.27
NAMED = 0.66
"""Of a node whose name stands in the question, at least: on LoCoMo two in three of them are right."""


def passage_weight(share: float) -> float:
    """What a passage counts whose score is ``share`` of the best.

    >>> passage_weight(1.0), round(passage_weight(0.5), 4)
    (1.0, 0.0183)
    """
    return exp(SHARPNESS * (share - 1))


def probability(
    evidence: Evidence, weights: Evidence = WEIGHTS, bias: float = BIAS, *, is_named: bool
) -> float:
    """That a node belongs to the question, 0 … 1; at least ``NAMED`` if it is named.

    >>> clear = Evidence(1.0, 1.0, 0.6, 0.5, 2.0, 0.0, 0.0)
    >>> round(probability(clear, is_named=False), 2)
    0.81
    >>> probability(Evidence(*[0.0] * 7), is_named=True)
    0.66
    """
    odds = sum([w * e for w, e in zip(weights, evidence, strict=True)]) + bias
    found = 1 / (1 + exp(-odds))
    return max(found, NAMED) if is_named else found


def cut_size(probabilities: Sequence[float], most: int, beta: float) -> int:
    """How many of the best to return: where F_β is expected to be highest.

        F_β(k) ≈ (1 + β²) Σ_{i ≤ k} p_i / (k + β² Σ p_i)

    the ratio of expectations, the usual approximation (Lewis 1995; Ye et al. 2012). Where even the best
    is below ``UNSURE``, how the rest falls off says little: then all from ``LEAST`` on are returned.

    Args:
        beta: By how much more recall counts than precision.

    >>> cut_size([0.99, 0.9, 0.1, 0.01], 10, 2.5), cut_size([0.3] + [0.1] * 20, 10, 2.5), cut_size([], 10, 2.5)
    (2, 10, 0)
    >>> cut_size([0.3, 0.1, 0.002], 10, 2.5), cut_size([0.002], 10, 2.5)
    (2, 0)
    >>> cut_size([0.99, 0.9, 0.1, 0.01], 10, 1000)
    4
    """
    total = sum(probabilities)
    if probabilities and probabilities[0] < UNSURE:
        return sum(p >= LEAST for p in probabilities[:most])
    held, best, kept = 0.0, 0.0, 0
    for place, p in enumerate(probabilities[:most], 1):
        held += p
        expected = held / (place + beta * beta * total)
        if expected > best:
            best, kept = expected, place
    return kept
