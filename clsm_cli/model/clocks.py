"""The two clocks of a record: when it was true, and when the store held it.

``valid_from`` and ``valid_until`` say when it was true, ``recorded_at`` and ``superseded_at`` when it
was believed (bi-temporal, docs/format.md §6). Both intervals are half-open, and a missing time
bounds nothing. Times are ISO 8601 with an offset; a bare date is the interval of that day, on the
clock of what it is compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from typing import TypeGuard

_DATE = 10
"""Characters of a bare date."""


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
        row: With the two clocks.
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
    start, end = row.valid_from, row.valid_until
    return _within(start, at, end) and not (len(at) == _DATE and _is_empty(start, end))


def has_begun(start: str, at: str) -> bool:
    """Whether a time had come by another; of a bare date any part of it.

    >>> has_begun("2026-02-20T08:00:00Z", "2026-02-20"), has_begun("2026-02-21", "2026-02-20")
    (True, False)
    """
    return not (_is_time(start) and _is_before(at, start))


def has_ended(row: Clocked, at: str) -> bool:
    """Whether a row had ceased to be true by a time, recorded or not; see ``holds``."""
    return _is_time(row.valid_until) and _has_come(row.valid_until, at)


def is_believed(row: Clocked, known_at: str | None = None) -> bool:
    """Whether the store held a row at a time, true or not; None: now. See ``holds``.

    What was withdrawn at an unknown time counts as never believed.
    """
    withdrawn = getattr(row, "withdrawn", False)
    if known_at is None:
        return row.superseded_at is None and not withdrawn
    start, end = row.recorded_at, row.superseded_at
    if withdrawn and not end:
        return False
    return _within(start, known_at, end) and not (len(known_at) == _DATE and _is_empty(start, end))


def end_of_day(day: str, zone: tzinfo) -> str:
    """The last instant of a bare date: what was known on a day is what was known at its end.

    >>> from datetime import UTC
    >>> end_of_day("2026-02-20", UTC)
    '2026-02-20T23:59:59.999999+00:00'

    Raises:
        ValueError: It is no date.
    """
    from datetime import date, datetime, time

    return datetime.combine(date.fromisoformat(day), time.max, zone).isoformat()


def _within(start: str | None, at: str, end: str | None) -> bool:
    return (start is None or has_begun(start, at)) and not (_is_time(end) and _has_come(end, at))


def _is_empty(start: str | None, end: str | None) -> bool:
    """Whether nothing lies between two bounds; an instant cannot lie there, but a day may seem to."""
    return _is_time(start) and _is_time(end) and _has_come(end, start)


def _is_time(text: str | None) -> TypeGuard[str]:
    """Whether there is a bound; a hand-written text that is no date bounds nothing."""
    return text is not None and text[4:5] == text[7:8] == "-"


def _is_before(at: str, start: str) -> bool:
    """Whether all of ``at`` lies before a start."""
    if len(at) == _DATE or len(start) == _DATE:
        return at[:_DATE] < start[:_DATE]
    return _compared(at, start) == -1


def _has_come(end: str, at: str) -> bool:
    """Whether all of ``at`` lies at or after an end."""
    if len(end) == _DATE:
        return end <= at[:_DATE]
    if len(at) == _DATE:
        return end[:_DATE] < at or (end[:_DATE] == at and _is_midnight(end))
    return _compared(end, at) in (-1, 0)


def _is_midnight(text: str) -> bool:
    moment = _instant(text)
    return moment is not None and moment == moment.replace(
        hour=0, minute=0, second=0, microsecond=0
    )


def _compared(one: str, other: str) -> int | None:
    """-1, 0 or 1 as an instant lies before, at or after another; None if one of them is no time.

    To the second and with one offset they compare as text; only others are worth parsing.
    """
    if (one[10:11], one[16:17], one[19:]) == (other[10:11], ":", other[19:]):
        return (one > other) - (one < other)
    moments = _instant(one), _instant(other)
    if moments[0] is None or moments[1] is None:
        return None
    return (moments[0] > moments[1]) - (moments[0] < moments[1])


def _instant(text: str) -> datetime | None:
    """The instant that a text names; without an offset in UTC, None if it is none."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
