"""Relevance of concepts to a question: a fitted probability, and where to cut the ranked list.

    p = 1 / (1 + exp(−(Σ weight · evidence + bias)))

The weights are one logistic regression over the concepts of all labelled questions: of LoCoMo, of the
sample memory and of four workspaces of strangers (``scripts/fit_concepts.py``; docs/experiments.md has
their figures on held-out sets). The threshold is a probability, as a share of the best score means
something else in every graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from clsm_cli.startup.records import NamedTuple

SHARPNESS = 8.0
"""How fast a passage's weight falls with its score: e^(8 · (share − 1)), share = score / best score."""
MIN_TOP_PROBABILITY = 0.5
"""Probability of the best concept below which no likely concept is cut: the best is then more likely wrong
than right.
"""
MIN_PROBABILITY = 0.01
"""Probability from which a concept is returned then, or for a cue."""


class ConceptEvidence(NamedTuple):
    """The evidence for a node; also its weights, in the same order.

    Attributes:
        mentioned: 1 if one of the best passages mentions it.
        best: Score of the best passage that does, as a share of the best score of all; 0 … 1.
        mass: Share of the best passages that do, weighted by ``passage_weight``; 0 … 1.
        meaning: Cosine of the node's text to the question; 0 without a vector.
        common: ln(1 + turns that mention it).
        note_meaning: ``meaning`` again if ``best`` is from a block of a note, else 0. A block
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


WEIGHTS = ConceptEvidence(
    mentioned=-4.30,
    best=8.37,
    mass=4.24,
    meaning=0.99,
    common=0.31,
    note_meaning=2.78,
    note_common=-0.69,
)
BIAS = -6.27
NAMED_PROBABILITY = 0.66
"""Lower bound for a node that the question names: on LoCoMo, two in three of these are relevant."""


def passage_weight(share: float) -> float:
    """Weight of a passage whose score is ``share`` of the best score.

    >>> passage_weight(1.0), round(passage_weight(0.5), 4)
    (1.0, 0.0183)
    """
    return exp(SHARPNESS * (share - 1))


def concept_probability(
    evidence: ConceptEvidence,
    weights: ConceptEvidence = WEIGHTS,
    bias: float = BIAS,
    *,
    is_named: bool,
) -> float:
    """Probability that a node is relevant to the question; at least ``NAMED_PROBABILITY`` if it is named.

    >>> clear = ConceptEvidence(1.0, 1.0, 0.6, 0.5, 2.0, 0.0, 0.0)
    >>> round(concept_probability(clear, is_named=False), 2)
    0.81
    >>> concept_probability(ConceptEvidence(*[0.0] * 7), is_named=True)
    0.66
    """
    odds = sum([w * e for w, e in zip(weights, evidence, strict=True)]) + bias
    p = 1 / (1 + exp(-odds))
    return max(p, NAMED_PROBABILITY) if is_named else p


def cut_size(probabilities: Sequence[float], limit: int, beta: float) -> int:
    """How many of the best concepts to return: the size with the highest expected F_β.

        F_β(k) ≈ (1 + β²) Σ_{i ≤ k} p_i / (k + β² Σ p_i)

    the ratio of expectations, the usual approximation (Lewis 1995; Ye et al. 2012). If even the best is
    below ``MIN_TOP_PROBABILITY``, the expectation is unreliable and all from ``MIN_PROBABILITY`` on are
    returned.

    Args:
        probabilities: In descending order.
        limit: Concepts to return at most.
        beta: How many times as much recall counts as precision.

    >>> cut_size([0.99, 0.9, 0.1, 0.01], 10, 2.5), cut_size([0.3] + [0.1] * 20, 10, 2.5), cut_size([], 10, 2.5)
    (2, 10, 0)
    >>> cut_size([0.3, 0.1, 0.002], 10, 2.5), cut_size([0.002], 10, 2.5)
    (2, 0)
    >>> cut_size([0.99, 0.9, 0.1, 0.01], 10, 1000)
    4
    """
    total = sum(probabilities)
    if probabilities and probabilities[0] < MIN_TOP_PROBABILITY:
        return sum(p >= MIN_PROBABILITY for p in probabilities[:limit])
    found_mass, best, size = 0.0, 0.0, 0
    for place, p in enumerate(probabilities[:limit], 1):
        found_mass += p
        expected = found_mass / (place + beta * beta * total)
        if expected > best:
            best, size = expected, place
    return size
