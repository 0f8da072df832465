"""How sure a rule is: a habit, a preference or a correction that sessions show again and again."""

from __future__ import annotations

import math
from datetime import date
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HALF = 2.0
"""Observations at which a rule is as likely as not to hold (own choice, as the next four)."""
HALF_CORRECTION = 1.0
"""The same of a correction: people seldom say twice what they had to correct once."""
SAME_DAY = 0.5
"""What a further session of one day counts: it is no independent observation."""
SPACED, SPACED_DAYS = 0.5, 30.0
"""Largest bonus for sessions that lie apart, and the span in days from which it is given whole."""
CONTRADICTION = 0.15
"""What a contradiction takes."""
FADING = 0.01
"""What a day takes on which nothing shows a rule (Smriti: its decay rate)."""


def confidence(
    days: Sequence[str], *, contradictions: int = 0, is_correction: bool = False
) -> float:
    """How sure a rule is, 0 … 1, from the days of the sessions that show it.

        n = (D + ½ · (S − D)) · (1 + ½ · min(1, span / 30))
        confidence = n / (n + k) − 0.15 · contradictions,  k = 2, of a correction 1

    S sessions on D distinct days, the last ``span`` days after the first.

    Args:
        days: ISO date of every distinct session that shows it, in any order.
        contradictions: Turns that say otherwise.
        is_correction: The person corrected the agent.

    Raises:
        ValueError: A day is no ISO date.

    Two sessions, on one day (n = 1½), 15 days apart (n = 2 · 1¼), a month apart (n = 3):

    >>> round(confidence(["2026-03-01", "2026-03-01"]), 3)
    0.429
    >>> round(confidence(["2026-03-01", "2026-03-16"]), 3)
    0.556
    >>> round(confidence(["2026-03-01", "2026-03-31"]), 3)
    0.6
    >>> round(confidence(["2026-03-31", "2026-03-01"], contradictions=2), 3)
    0.3
    >>> confidence(["2026-03-01"], is_correction=True), confidence([])
    (0.5, 0.0)
    """
    distinct = sorted({date.fromisoformat(day) for day in days})
    if not distinct:
        return 0.0
    observed = len(distinct) + SAME_DAY * (len(days) - len(distinct))
    span = (distinct[-1] - distinct[0]).days
    n = observed * (1 + SPACED * min(1.0, span / SPACED_DAYS))
    half = HALF_CORRECTION if is_correction else HALF
    return min(1.0, max(0.0, n / (n + half) - CONTRADICTION * contradictions))


def faded(sure: float, days: float) -> float:
    """How sure a rule still is, some days after it was last shown.

        max(0, confidence − 0.01 · days)

    From the last time it was shown, whenever and however often that is worked out: Smriti's own code
    takes the days since then again in every run, so a rule that was sure is gone after 13 of them.

    Args:
        sure: Its confidence from the evidence, see ``confidence``.
        days: Since it was last shown; one that lies ahead counts as today.

    >>> [round(faded(0.5, days), 2) for days in (-3, 0, 30, 40, 90)]
    [0.5, 0.5, 0.2, 0.1, 0.0]
    """
    return max(0.0, sure - FADING * max(days, 0.0))


def holds_for(sure: float, floor: float) -> int:
    """Whole days after it was last shown on which a rule is at least as sure as ``floor``; −1: none.

    >>> holds_for(0.5, 0.1), holds_for(0.105, 0.1), holds_for(0.05, 0.1)
    (40, 0, -1)
    """
    return max(-1, math.floor((sure - floor) / FADING + _ROUNDING))


_ROUNDING = 1e-9
"""What (0.5 − 0.1) / 0.01 lacks of 40 in binary."""
