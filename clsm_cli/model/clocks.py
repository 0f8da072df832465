"""The two clocks of a record: when it was true, and when the store held it.

``valid_from`` and ``valid_until`` say when it was true, ``recorded_at`` and ``superseded_at`` when it
was believed (bi-temporal, docs/format.md §6). Both intervals are half-open, and a missing time
bounds nothing. Times are ISO 8601 with an offset; a bare date is the interval of that day, on the
clock of what it is compared with.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Protocol, TypeVar

Day = TypeVar("Day", int, date)
_DATE = 10  # characters of a bare date
FIRST_YEAR, LAST_YEAR = 2, 9998
"""Years of days that one can reckon from: with those beside them there is a day before and after each.

The first year is also how Go and .NET write that there is no time, the last how many write "never".
"""


class Clocked(Protocol):
    """A statement, an edge, or a row of the index with the same four times.

    A statement may also be ``withdrawn``: someone took it back.
    """

    @property
    def valid_from(self) -> str | None:
        """When it became true."""

    @property
    def valid_until(self) -> str | None:
        """When it stopped."""

    @property
    def recorded_at(self) -> str | None:
        """When the store recorded it."""

    @property
    def superseded_at(self) -> str | None:
        """When the store superseded it."""


def holds(row: Clocked, at: str, known_at: str | None = None) -> bool:
    """Whether a row was true at one time as far as it was known at another.

        valid_from ≤ at < valid_until   and   recorded_at ≤ known_at < superseded_at

    Without ``known_at`` what is known now counts: rows that are neither superseded nor withdrawn
    (Smriti's as-of query).

    Args:
        at: An instant; or a bare date, which asks whether the row was true at any time of that day.
        known_at: The same for the other clock. A day of the store's zone has to come as an instant,
            since records are dated in UTC, see ``end_of_day``.

    >>> from clsm_cli.model.graph import Edge
    >>> leeds = Edge(id="g-1", rev=(1, "pi"), valid_from="2026-02-10", valid_until="2026-02-20")
    >>> [holds(leeds, day) for day in ("2026-02-09", "2026-02-10", "2026-02-19", "2026-02-20")]
    [False, True, True, False]
    >>> holds(leeds, "2026-02-19T23:59:59+01:00"), holds(leeds, "2026-02-20T00:00:00+01:00")
    (True, False)
    """
    return is_true(row, at) and is_believed(row, known_at)


def is_true(row: Clocked, at: str) -> bool:
    """Whether a time lies in a row's validity, recorded or not; see ``holds``."""
    return _within(row.valid_from, at, row.valid_until)


def has_begun(start: str | None, at: str) -> bool:
    """Whether some of ``at`` is not before a start.

    >>> has_begun("2026-02-20T08:00:00Z", "2026-02-20"), has_begun("2026-02-21", "2026-02-20")
    (True, False)
    """
    if not start:
        return True
    ours, theirs = instants(start, at), instants(at, start)
    return ours is None or theirs is None or theirs[1] >= ours[0]


def has_ended(end: str | None, at: str) -> bool:
    """Whether all of ``at`` lies at or after an end."""
    if not end:
        return False
    ours, theirs = instants(end, at), instants(at, end)
    return ours is not None and theirs is not None and theirs[0] >= ours[0]


def is_believed(row: Clocked, known_at: str | None = None) -> bool:
    """Whether the store held a row at a time, true or not; None: now. See ``holds``.

    What was withdrawn at an unknown time counts as never believed.
    """
    withdrawn = getattr(row, "withdrawn", False)
    if known_at is None:
        return row.superseded_at is None and not withdrawn
    if withdrawn and not row.superseded_at:
        return False
    return _within(row.recorded_at, known_at, row.superseded_at)


def end_of_day(day: str, zone: tzinfo) -> str:
    """The last instant of a bare date: what was known on a day is what was known at its end.

    >>> from datetime import UTC
    >>> end_of_day("2026-02-20", UTC)
    '2026-02-20T23:59:59.999999+00:00'
    """
    return datetime.combine(date.fromisoformat(day), time.max, zone).isoformat()


def day_of(time: str | None, zone: tzinfo | None = None) -> date | None:
    """The day of a time by the clock of a zone; of a bare date itself, of none or of no time None.

    Without a zone by the clock that the time itself was told by. None too outside of the years that one can
    reckon from.

    >>> from datetime import UTC
    >>> late = "2026-02-20T23:30:00-05:00"
    >>> str(day_of(late, UTC)), str(day_of(late)), day_of("noon", UTC)
    ('2026-02-21', '2026-02-20', None)
    """
    try:
        if zone is None:
            day = date.fromisoformat((time or "")[:_DATE])
        else:
            at = datetime.fromisoformat(time or "")
            day = (at.astimezone(zone) if at.tzinfo else at).date()
    except (ValueError, OverflowError):
        return None
    return day if FIRST_YEAR <= day.year <= LAST_YEAR else None


def on_clock(time: str, zone: tzinfo) -> str:
    """An instant as the clock of a zone shows it; a bare date, or what is no time, as it is.

    >>> from datetime import UTC
    >>> on_clock("2026-02-20T23:30:00-05:00", UTC), on_clock("2026-02-20", UTC)
    ('2026-02-21T04:30:00+00:00', '2026-02-20')
    """
    moment = instant(time)
    if moment is None:
        return time
    try:
        shown = moment.astimezone(zone)
    except OverflowError:  # in the first or the last hours of the calendar
        return time
    return shown.isoformat(timespec="milliseconds" if shown.microsecond else "seconds")


def local_time(time: str | None, zone: tzinfo) -> str:
    """A time in the store's zone, to the minute; a bare date as it is.

    >>> from datetime import UTC
    >>> local_time("2026-02-20T08:15:00Z", UTC), local_time("2026-02-20", UTC), local_time(None, UTC)
    ('2026-02-20 08:15', '2026-02-20', '')
    """
    if time is None or len(time) == _DATE:
        return time or ""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    moment = moment.astimezone(zone) if moment.tzinfo else moment
    return moment.replace(tzinfo=None).isoformat(" ", "minutes")


def is_after(time: str | None, other: str | None, zone: tzinfo) -> bool:
    """Whether a time is certainly after another; a bare date is some time of that day in a zone.

    Nothing is after what is no time, nor the other way round.

    >>> from datetime import UTC
    >>> is_after("2026-02-20T23:15:00+01:00", "2026-02-20T22:30:00Z", UTC)
    False
    >>> [is_after("2026-02-20T09:00:00Z", day, UTC) for day in ("2026-02-20", "2026-02-19")]
    [False, True]
    """
    ours, theirs = span(time, zone), span(other, zone)
    return ours is not None and theirs is not None and ours[0] > theirs[1]


def seconds(time: str | None, zone: tzinfo) -> float:
    """Seconds since 1970 at which a time begins, to put times in order; of no time the first of all.

    A bare date begins with its day in a zone, so what is told of that day comes behind it.

    >>> from datetime import UTC
    >>> seconds("1970-01-02", UTC), seconds("1970-01-01T01:00:10+01:00", UTC), seconds(None, UTC)
    (86400.0, 10.0, -inf)
    """
    found = span(time, zone)
    return float("-inf") if found is None else found[0].timestamp()


def _within(start: str | None, at: str, end: str | None) -> bool:
    """Whether some instant of ``at`` is not before the start and before the end."""
    if not has_begun(start, at) or has_ended(end, at):
        return False
    return len(at) > _DATE or not (start and has_ended(end, start))  # a day may seem to lie there


@lru_cache(maxsize=4096)
def instants(text: str, other: str = "") -> tuple[datetime, datetime] | None:
    """The first and the last instant of a time; a bare date is a day on the other's clock.

    None for a hand-written text that is no time: it bounds nothing. Without an offset it is in UTC.

    >>> [int(each.timestamp()) for each in instants("1970-01-01")], instants("noon")
    ([0, 86399], None)
    """
    beside = span(other, UTC) if len(text) <= _DATE < len(other) else None
    return span(text, (beside and beside[0].tzinfo) or UTC)


@lru_cache(maxsize=4096)
def span(text: str | None, zone: tzinfo) -> tuple[datetime, datetime] | None:
    """The first and the last instant of a time; of a bare date, those of that day in a zone.

    None for what is no time. What has no offset is on the zone's clock too.
    """
    try:
        moment = datetime.fromisoformat(text or "")
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        is_day = len(text or "") <= _DATE
        return moment, moment + timedelta(days=1, microseconds=-1) if is_day else moment
    except (ValueError, OverflowError):
        return None


def instant(time: str | None) -> datetime | None:
    """The instant of a time, without an offset in UTC; None for a bare date or no time.

    >>> instant("2026-02-24T08:15:00+01:00").hour, instant("2026-02-24")
    (8, None)
    """
    found = instants(time or "") if len(time or "") > _DATE else None
    return None if found is None else found[0]


def utc_text(now: datetime) -> str:
    """The record axis: UTC, seconds, always the same form.

    >>> utc_text(datetime(20, 2, 3, tzinfo=UTC))  # strftime pads no year
    '0020-02-03T00:00:00Z'
    """
    return now.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def united(periods: Iterable[tuple[Day, Day]]) -> list[tuple[Day, Day]]:
    """Periods in order, those that touch made one.

    >>> united([(5, 7), (1, 3), (3, 4)])
    [(1, 4), (5, 7)]
    """
    found: list[tuple[Day, Day]] = []
    for first, until in sorted(periods):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(until, found[-1][1])
        else:
            found.append((first, until))
    return found
