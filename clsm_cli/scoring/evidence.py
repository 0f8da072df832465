"""How strongly each sign speaks for a boundary between two turns, and what they say together.

Every sign gives a probability e in 0 … 1 that a boundary lies here, judged by itself; independent
signs combine to 1 − Π(1 − e). The constants are calibrated on LoCoMo (see each).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clsm_cli.config import BoundarySettings

USUAL_COHERENCE = 0.48
"""Cosine of a turn to the mean of the three before it: mean over LoCoMo's sessions."""
USUAL_DEVIATION = 0.13
"""Its standard deviation within a session there."""
PRIOR_TURNS = 8.0
"""Weight of those two against the segment's own figures, in turns."""
COHERENCE_MOST = 0.55
"""What a drop of coherence says at most: too little to fire alone, or with intent and entities."""
SURPRISE_LEAST, SURPRISE_MOST = 0.5, 0.65
"""What surprise says just above μ + γσ, and from one deviation above that on."""


def combined(evidence: Iterable[float]) -> float:
    """Probability that at least one of independent signs is right: 1 − Π(1 − e).

    >>> combined([0.5, 0.5]), combined([]), combined([0.2, 1.0])
    (0.75, 0.0, 1.0)
    """
    return 1.0 - math.prod(1.0 - e for e in evidence)


def gap_evidence(minutes: float | None, new_day: bool, settings: BoundarySettings) -> float:
    """What a silence says: 0 up to ``gap_ignored``, ½ at ``gap_half``, 1 from ``gap_certain`` on.

    Between them e is linear in log(minutes), for silences are spread over orders of magnitude:
    e = ½ · ln(t/ignored) / ln(half/ignored), and ½ + ½ · ln(t/half) / ln(certain/half) above.
    A change of date counts 1, but only after ``gap_half``: a talk may well pass midnight. A gap
    that is unknown (None) or negative says nothing.

    >>> from clsm_cli.config import BoundarySettings
    >>> s = BoundarySettings()
    >>> [round(gap_evidence(t, False, s), 3) for t in (None, -9, 5, 30, 60, 240)]
    [0.0, 0.0, 0.0, 0.5, 0.667, 1.0]
    >>> gap_evidence(20, True, s) < 0.5, gap_evidence(31, True, s)
    (True, 1.0)
    """
    if minutes is None or minutes <= settings.gap_ignored:
        return 0.0
    if minutes >= settings.gap_certain or (new_day and minutes >= settings.gap_half):
        return 1.0
    if minutes < settings.gap_half:
        return 0.5 * _share(minutes, settings.gap_ignored, settings.gap_half)
    return 0.5 + 0.5 * _share(minutes, settings.gap_half, settings.gap_certain)


def _share(value: float, low: float, high: float) -> float:
    """Where ``value`` lies between ``low`` (0) and ``high`` (1) on a logarithmic scale."""
    low = max(low, 1e-3)
    return math.log(value / low) / math.log(high / low)


def coherence_evidence(cosine: float, past: Sequence[float]) -> float:
    """What it says that a turn is this close to the three before it.

    z = (μ − cosine)/σ with the segment's own figures, shrunk towards the usual ones:
    μ = (Σ past + n₀μ₀)/(n + n₀),  σ² = (Σ (past − μ)² + n₀σ₀²)/(n + n₀),  σ ≥ σ₀/2.
    e rises linearly from 0 at z = 0 to ``COHERENCE_MOST`` at z = 1½. The prior keeps the first
    turns of a segment, and the floor a very even one, from firing on noise.

    With no past, z = (0.48 − 0.09)/0.13 = 3, so e is at its most; and 0.35 is at z = 1:

    >>> coherence_evidence(0.09, []), round(coherence_evidence(0.35, []), 4)
    (0.55, 0.3667)

    Eight turns at 0.30 bring the mean down to 0.39, so 0.40 is no drop at all:

    >>> coherence_evidence(0.40, [0.3] * 8)
    0.0
    """
    weight = len(past) + PRIOR_TURNS
    mean = (sum(past) + PRIOR_TURNS * USUAL_COHERENCE) / weight
    squares = sum((x - mean) ** 2 for x in past) + PRIOR_TURNS * USUAL_DEVIATION**2
    deviation = max(math.sqrt(squares / weight), USUAL_DEVIATION / 2)
    z = (mean - cosine) / deviation
    return COHERENCE_MOST * min(1.0, max(0.0, z / 1.5))


def surprise_evidence(z: float, gamma: float) -> float:
    """What it says that a turn's surprise lies ``z`` deviations above the mean of its window.

    Nothing up to γ (CMA: surprise > μ + γσ); then from ``SURPRISE_LEAST``, in one deviation, to
    ``SURPRISE_MOST``.

    >>> surprise_evidence(1.0, 1.0), round(surprise_evidence(1.5, 1.0), 3)
    (0.0, 0.575)
    >>> surprise_evidence(9.0, 1.0)
    0.65
    """
    if z <= gamma:
        return 0.0
    return SURPRISE_LEAST + (SURPRISE_MOST - SURPRISE_LEAST) * min(1.0, z - gamma)
