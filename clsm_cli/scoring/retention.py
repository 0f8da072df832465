"""Retention: how much of a memory is left, from when it was used. Computed on demand, never stored.

    R = (1 + t/S)^−d                                       (Wickelgren 1974; Wixted & Ebbesen 1991)

t is the age of the last use, S the stability, both in days; d is the decay exponent. An age below 0, a
time that lies ahead, counts as now: R = 1. Forgetting slows with age, which an exponential cannot show.
"""

from __future__ import annotations

from math import log2

EXPONENT = 0.5
"""ACT-R's d."""
DORMANT = 0.15
"""Retention below which a memory is dormant; after 43 S."""
ARCHIVE = 0.10
"""Retention below which what stays so may be archived; after 99 S."""
STREAM_DAYS = {"flow": 1.0, "tasks": 3.0, "projects": 10.0, "identity": 30.0}
"""Stability of what was never used again, in days: who we are stays longer than what went by."""
SURVIVAL = {"flow": 0.30, "tasks": 0.70, "projects": 0.80, "identity": 0.95}
"""Share of a stream's tokens that is never archived (Smriti's preservation ratios)."""
MOST_GROWTH = 8.0
"""By how much spaced use can lengthen a stability: reached with the 127th day of use."""


def retention(days: float, stability: float) -> float:
    """Share of a memory that is left, 0 … 1.

    Args:
        days: Since the last use; recording it counts as the first.
        stability: S in days, above 0.

    >>> [round(retention(days, 1.0), 2) for days in (0, 1, 7, 30, 365)]
    [1.0, 0.71, 0.35, 0.18, 0.05]

    When it falls below the two limits, in multiples of S:

    >>> [round(limit ** (-1 / EXPONENT) - 1) for limit in (DORMANT, ARCHIVE)]
    [43, 99]
    """
    return float((1 + max(days, 0.0) / stability) ** -EXPONENT)


def stability(base_days: float, spaced_uses: int) -> float:
    """Days that a memory lasts, grown by use on different days.

        S = S_0 · min(8, 1 + log₂(1 + n))

    Use spread over days makes a memory last, use within one day hardly does: the spacing effect
    (Cepeda et al. 2006). Each further repetition adds less to a memory that already lasts, as in
    FSRS, whose gain falls with S; the logarithm is the simplest such law, and the bound keeps what
    is looked at daily able to fade.

    Args:
        base_days: S_0, see ``STREAM_DAYS``.
        spaced_uses: n, the number of different days on which it was used after its recording.

    >>> [stability(10.0, n) for n in (0, 1, 3, 7, 127, 1000)]
    [10.0, 20.0, 30.0, 40.0, 80.0, 80.0]
    """
    return base_days * min(MOST_GROWTH, 1 + log2(1 + max(spaced_uses, 0)))


def days_until(left: float, stability: float) -> float:
    """Days after its last use until a memory that is not used again falls to a retention.

    The inverse of ``retention``: S · (R^(−1/d) − 1).

    Args:
        left: R, above 0 and at most 1.
        stability: S in days, as in ``retention``.

    >>> [round(days_until(limit, 3.0), 6) for limit in (ARCHIVE, 0.5, 1.0)]
    [297.0, 9.0, 0.0]
    """
    return float(stability * (left ** (-1 / EXPONENT) - 1))
