"""How well a day fits the days that a question asks about. Days are proleptic ordinals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Period = tuple[int, int]

SOON = 7
"""Days after a period in which it is still talked about."""
SOON_DAY = 0.4
"""Match of a passage told within ``SOON`` days after a day that is asked about."""
SOON_LONGER = 0.3
"""The same after a longer period, which is less likely to be what the passage looks back on."""
VAGUE = 35
"""Days; a longer period in a passage says little, unless the question's is as long."""


def match(asked: Sequence[Period], told: int | None, meant: Sequence[Period]) -> float:
    """How well a passage fits the periods of a question.

    1 if the passage was told in one of them or speaks of one; else, when it was told within
    ``SOON`` days after one, ``SOON_DAY`` or ``SOON_LONGER``; else 0.

    Args:
        asked: Periods the question names: first day, and the day after the last.
        told: Day of the passage.
        meant: Periods the passage names.

    >>> match([(100, 101)], 100, []), match([(100, 101)], 200, [(95, 102)])
    (1.0, 1.0)
    >>> match([(100, 101)], 103, []), match([(70, 100)], 103, []), match([(100, 101)], 300, [])
    (0.4, 0.3, 0.0)
    """
    best = 0.0
    for first, until in asked:
        longest = max(VAGUE, until - first)
        if told is not None and first <= told < until:
            return 1.0
        if any(start < until and first < end and end - start <= longest for start, end in meant):
            return 1.0
        if told is not None and until <= told < until + SOON:
            best = max(best, SOON_DAY if until - first == 1 else SOON_LONGER)
    return best
