"""How well a day fits the days that a question asks about. Days are proleptic ordinals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Period = tuple[int, int]

LONGER = 0.35
"""Match with a period of several days: much more is told in one than on a single day, so it says less,
as a frequent word does."""
SOON = 7
"""Days after a period in which it is still talked about."""
SOON_DAY = 0.14
"""Match of a passage told within ``SOON`` days after a day that is asked about."""
SOON_LONGER = 0.1
"""The same after a longer period, which is less likely to be what the passage looks back on."""
VAGUE = 35
"""Days; a longer period in a passage says little, unless the question's is as long."""
NARROW = 7
"""Days; a longer period in a passage does not speak of one day."""


def match(asked: Sequence[Period], told: int | None, meant: Sequence[Period]) -> float:
    """How well a passage fits the periods of a question.

    1 if the passage was told on a single day that is asked about or speaks of it; ``LONGER`` if that
    holds of a longer period; else, when it was told within ``SOON`` days after one, ``SOON_DAY`` or
    ``SOON_LONGER``; else 0.

    Args:
        asked: Periods the question names: first day, and the day after the last.
        told: Day of the passage.
        meant: Periods the passage names.

    >>> match([(100, 101)], 100, []), match([(100, 101)], 200, [(95, 102)])
    (1.0, 1.0)
    >>> match([(90, 120)], 100, []), match([(100, 101)], 200, [(90, 120)])
    (0.35, 0.35)
    >>> match([(100, 101)], 103, []), match([(70, 100)], 103, []), match([(100, 101)], 300, [])
    (0.14, 0.1, 0.0)
    """
    best = 0.0
    for first, until in asked:
        is_day = until - first == 1
        spoken = [end - start for start, end in meant if start < until and first < end]
        if told is not None and first <= told < until:
            spoken.append(1)
        if is_day and any(length <= NARROW for length in spoken):
            return 1.0
        if any(length <= max(VAGUE, until - first) for length in spoken):
            best = max(best, LONGER)
        elif told is not None and until <= told < until + SOON:
            best = max(best, SOON_DAY if is_day else SOON_LONGER)
    return best
