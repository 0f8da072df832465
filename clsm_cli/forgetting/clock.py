"""Check the clock of this machine: a wrong one must not make a memory fade.

A machine without a battery starts in 1970, one whose battery died in another year. What the store
wrote down itself tells what time it is at least: the newest of its days that is reached from a known
one without a gap of more than 60 days. A day beyond such a gap is no witness, it may be the wrong
clock's own.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

AHEAD = 60
"""Days by which the clock may be ahead of the newest day that the store knows."""
BEHIND = 1
"""Days by which it may be behind."""


class Clock(NamedTuple):
    """What day it is, and whether that can be.

    Attributes:
        today: As the clock has it (UTC).
        newest: The newest day that is reached from a known one; None for a store without any.
        future: Days beyond both, in order; what is stamped so counts as today.
    """

    today: date
    newest: date | None
    is_believed: bool
    future: tuple[date, ...]


def clock_corrections(days: Iterable[date], today: date) -> dict[date, date]:
    """Days that a clock gave which was behind, each with the day that it was at least.

    A machine writes its ledger in the order of time, so a run was not made before the one above it:
    what a night in "1970" wrote down is as old as what was written before that night.

    Args:
        days: Of a machine's runs, in the order of its ledger.
        today: In UTC; days after it tell nothing, they may be a wrong clock's own.

    >>> days = [date(2026, 3, 1), date(1970, 1, 1), date(2068, 1, 1), date(2026, 3, 2)]
    >>> {str(day): str(least) for day, least in clock_corrections(days, date(2026, 4, 1)).items()}
    {'1970-01-01': '2026-03-01'}
    """
    found: dict[date, date] = {}
    least = date.min
    for day in days:
        if day + timedelta(BEHIND) < least:
            found[day] = least
        elif day <= today:
            least = max(least, day)
    return found


def check_clock(today: date, stamps: Iterable[date], known: date | None, *, is_told: bool) -> Clock:
    """Compare the clock with the days that the store wrote down.

    Args:
        today: As the clock, or the user, has it (UTC).
        stamps: Days on which something was recorded or logged.
        known: A day that was believed before; None takes the oldest stamp.

    >>> from datetime import date
    >>> days = [date(2026, 2, 24), date(2026, 3, 10), date(2068, 1, 1)]
    >>> clock = check_clock(date(2026, 4, 1), days, None, is_told=False)
    >>> str(clock.newest), clock.is_believed, [str(day) for day in clock.future]
    ('2026-03-10', True, ['2068-01-01'])

    61 days later, two days back, and said by the user:

    >>> [check_clock(day, days, None, is_told=told).is_believed for day, told in
    ...  [(date(2026, 5, 10), False), (date(2026, 3, 8), False), (date(2026, 5, 10), True)]]
    [False, False, True]
    """
    days = sorted(set(stamps))
    newest = known if known is not None else min(days, default=None)
    for day in days:
        if newest is not None and newest < day <= newest + timedelta(AHEAD):
            newest = day
    if newest is None:
        return Clock(today, None, True, ())
    is_near = newest - timedelta(BEHIND) <= today <= newest + timedelta(AHEAD)
    future = tuple(day for day in days if day > max(today, newest))
    return Clock(today, newest, is_told or is_near, future)
