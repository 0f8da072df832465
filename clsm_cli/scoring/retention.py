"""Retention of a memory, from its uses. Computed on demand, never stored.

    R = (1 + t/S)^−d                                       (Wickelgren 1974; Wixted & Ebbesen 1991)

t is the age of the last use, S the stability, both in days; d is the decay exponent. A negative age (a
time in the future) counts as 0: R = 1. Forgetting slows with age, which an exponential does not model.
"""

from __future__ import annotations

from math import log2

EXPONENT = 0.5
"""ACT-R's d."""
DORMANT_RETENTION = 0.15
"""Retention below which a memory is dormant; reached after 43 S."""
ARCHIVE_RETENTION = 0.10
"""Retention below which a memory may be archived; reached after 99 S."""
STREAM_DAYS = {"flow": 1.0, "tasks": 3.0, "projects": 10.0, "identity": 30.0}
"""Stability in days of a memory that was never used again, by stream: identity lasts longest."""
SURVIVAL = {"flow": 0.30, "tasks": 0.70, "projects": 0.80, "identity": 0.95}
"""Share of a stream's tokens that is never archived (Smriti's preservation ratios)."""
MAX_GROWTH = 8.0
"""Factor by which spaced use lengthens the stability at most; reached with the 127th day of use."""


def retention(days: float, stability: float) -> float:
    """Retention R, 0 … 1.

    Args:
        days: Since the last use; recording it counts as the first.
        stability: S in days, above 0.

    >>> [round(retention(days, 1.0), 2) for days in (0, 1, 7, 30, 365)]
    [1.0, 0.71, 0.35, 0.18, 0.05]

    When it falls below the two thresholds, in multiples of S:

    >>> [round(limit ** (-1 / EXPONENT) - 1) for limit in (DORMANT_RETENTION, ARCHIVE_RETENTION)]
    [43, 99]
    """
    return float((1 + max(days, 0.0) / stability) ** -EXPONENT)


def stability(base_days: float, spaced_uses: int) -> float:
    """Stability of a memory in days, which grows with use on different days.

        S = S_0 · min(8, 1 + log₂(1 + n))

    Use on different days lengthens it, repeated use within a day hardly does: the spacing effect
    (Cepeda et al. 2006). Each further use adds less, as in FSRS, whose gain falls with S; the
    logarithm is the simplest such law. The bound lets even a memory of daily use fade.

    Args:
        base_days: S_0, see ``STREAM_DAYS``.
        spaced_uses: n, the number of different days on which it was used after its recording.

    >>> [stability(10.0, n) for n in (0, 1, 3, 7, 127, 1000)]
    [10.0, 20.0, 30.0, 40.0, 80.0, 80.0]
    """
    return base_days * min(MAX_GROWTH, 1 + log2(1 + max(spaced_uses, 0)))


def days_until(target: float, stability: float) -> float:
    """Days from the last use until retention falls to ``target``, without further use.

    The inverse of ``retention``: S · (R^(−1/d) − 1).

    Args:
        target: R, above 0, at most 1.
        stability: S in days, as in ``retention``.

    >>> [round(days_until(limit, 3.0), 6) for limit in (ARCHIVE_RETENTION, 0.5, 1.0)]
    [297.0, 9.0, 0.0]
    """
    return float(stability * (target ** (-1 / EXPONENT) - 1))
