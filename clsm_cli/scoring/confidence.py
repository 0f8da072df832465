"""How sure an item is: a probability from evidence that does not depend on the rest of the store."""

from __future__ import annotations

from math import exp
from typing import NamedTuple


class Evidence(NamedTuple):
    """What speaks for a passage in itself, whatever else the store holds.

    Attributes:
        bm25: Raw, 0 without a common word.
        coverage: Share of the question's idf that its words hold, 0 … 1.
        cosine: Of its sentence vector, −1 … 1; None without one.
        maxsim: Of its window, 0 … 1; None without token vectors.
    """

    bm25: float
    coverage: float
    cosine: float | None
    maxsim: float | None


def of(evidence: Evidence) -> float:
    """Probability of relevance."""
    if evidence.maxsim is None or evidence.cosine is None:
        return evidence.coverage
    return 1 / (1 + exp(-(10 * evidence.maxsim + 4 * evidence.cosine + evidence.coverage - 8)))
