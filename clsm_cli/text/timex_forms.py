"""What the words of a time expression mean: from the groups of a match to a period of days.

A resolver gets the named groups of the match (lower-case, single blanks, only those that took
part), the day of speaking, and whether the words before it look ahead (True), back (False) or
neither (None). It raises ``ValueError`` or ``OverflowError`` where there is no such day.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.text import periods

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clsm_cli.text.periods import Period

    Groups = Mapping[str, str]
    Resolver = Callable[[Groups, date, bool | None], Period]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
    "eighteenth", "nineteenth", "twentieth", "twenty-first", "twenty-second", "twenty-third",
    "twenty-fourth", "twenty-fifth", "twenty-sixth", "twenty-seventh", "twenty-eighth",
    "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
DECADES = (
    "twenties",
    "thirties",
    "forties",
    "fifties",
    "sixties",
    "seventies",
    "eighties",
    "nineties",
)
STEPS = {"this": 0, "last": -1, "past": -1, "this past": -1}
"""Units from the present one; "next" and its like are the others."""
_NEARER = 4
"""How many times nearer the coming day must be."""
_SOON = 60
"""Days ahead, at most."""


def month_of(groups: Groups) -> int:
    """The number of a month from its name."""
    return MONTHS.index(groups["month"][:3]) + 1


def year_of(groups: Groups, at: date) -> int:
    """The number of a year, also of "last year", "this year" and "next year"."""
    words = groups["year"].split()
    if words[-1].isdigit():
        return int(words[-1])
    return at.year + {"last": -1, "this": 0, "next": 1}[words[-2]]


def iso_day(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve 2026-02-24."""
    return periods.days(date(int(groups["year"]), int(groups["number"]), int(groups["day"])))


def numeric_day(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve 24.02.2026 and, where only one order is a date, 24/2/2026 or 2/24/2026."""
    day, month = int(groups["day"]), int(groups["number"])
    if groups["mark"] == "/" and month > 12:
        day, month = month, day
    elif groups["mark"] == "/" and day <= 12 and day != month:
        raise ValueError("day and month may stand in either order")
    return periods.days(date(int(groups["year"]), month, day))


def iso_month(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve 2026-02."""
    return periods.month(date(int(groups["year"]), int(groups["number"]), 1))


def month_and_year(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "February 2026", "March to May 2024"."""
    first = periods.month(date(year_of(groups, at), month_of(groups), 1))
    if "start" not in groups:
        return first
    begin = date(first[0].year, MONTHS.index(groups["start"][:3]) + 1, 1)
    return begin if begin < first[0] else begin.replace(year=begin.year - 1), first[1]


def year(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "in 2025", "2019-2021"."""
    first, until = periods.year(year_of(groups, at))
    if "start" in groups:
        first = date(int(groups["start"]), 1, 1)
    if first >= until:
        raise ValueError("the years stand in the wrong order")
    return first, until


def season_and_year(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "summer 2025"."""
    return periods.season(groups["season"], year_of(groups, at))


def day_of_month(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve a day, or a range of days, of a month; without a year the nearest one."""
    month = month_of(groups)
    day = ORDINALS.index(groups["ordinal"]) + 1 if "ordinal" in groups else int(groups["day"])
    if "year" in groups:
        first = date(year_of(groups, at), month, day)
    else:
        first = _nearest(month, day, at, groups.get("weekday", ""), ahead=ahead)
    last = first.replace(day=int(groups["to"])) if "to" in groups else first
    return first, max(first, last) + timedelta(days=1)


def _nearest(month: int, day: int, at: date, weekday: str, *, ahead: bool | None) -> date:
    """The day that is meant: on the weekday that is named, else behind or ahead.

    What lies much nearer ahead than behind is ahead, whatever the words.
    """
    # A 29 February lies at most eight years away.
    found = [each for step in range(-8, 9) if (each := _day(at.year + step, month, day))]
    if weekday:
        number = WEEKDAYS.index(weekday[:3])
        near = [e for e in found if e.weekday() == number and abs(e.year - at.year) < 2]
        if near:
            return min(near, key=lambda each: (abs((each - at).days), each))
    return nearest(found, at, ahead=ahead)


def nearest(found: list[date], at: date, *, ahead: bool | None) -> date:
    """Of some days the one that is meant: the last behind or the next ahead.

    Raises:
        ValueError: They do not lie on both sides.
    """
    behind = max((each for each in found if each <= at), default=None)
    coming = min((each for each in found if each >= at), default=None)
    if behind is None or coming is None:
        raise ValueError("there is no such day")
    is_near = (
        ahead is None
        and (coming - at).days <= _SOON
        and _NEARER * (coming - at).days < (at - behind).days
    )
    return coming if ahead or is_near else behind


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def month(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "in May", "last June"."""
    which, first = groups["which"], date(at.year, month_of(groups), 1)
    this = at.replace(day=1)
    if ahead is None:
        ahead = which == "in" and 0 < (first - this).days <= _SOON
    if which != "this":
        if which == "next" or (which != "last" and ahead and first != this):
            step = int(first <= this)
        else:
            step = -int(first > this or (first == this and which == "last"))
        first = first.replace(year=at.year + step)
    return periods.month(first)


def weekday(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "last Friday", "on Friday"."""
    which = groups.get("which", "")
    offset = WEEKDAYS.index(groups["weekday"][:3]) - at.weekday()
    if which == "this":
        return periods.days(at + timedelta(days=offset))
    if which in {"next", "coming", "this coming"} or (not which and ahead):
        return periods.days(at + timedelta(days=(offset - 1) % 7 + 1))
    return periods.days(at + timedelta(days=offset % 7 - 7))


def weekday_of_week(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "Tuesday of last week"."""
    step = 7 * STEPS.get(groups["which"], 1)
    offset = WEEKDAYS.index(groups["weekday"][:3]) - at.weekday()
    return periods.days(at + timedelta(days=offset + step))


def season(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "last summer", "in the spring"."""
    name, which = groups["season"], groups.get("which", "")
    this = periods.season(name, at.year - (name == "winter" and at.month < 3))
    if which == "this":
        return this
    if which in {"next", "coming", "this coming"} or (not which and ahead and this[0] > at):
        found = periods.season(name, at.year)
        return found if found[0] > at else periods.season(name, at.year + 1)
    if not which and this[0] <= at:
        return this
    return ended(name, at)


def ended(name: str, at: date) -> Period:
    """The season of a name that was over last."""
    found = (periods.season(name, at.year - back) for back in (0, 1, 2))
    return next(period for period in found if period[1] <= at)


def quarter(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "Q2 2024", "H1 2025", "Q3": a part of a year, without one the last that began."""
    kind, number = groups["quarter"][0], int(groups["quarter"][1:])
    length = 3 if kind == "q" else 6
    if "year" in groups:
        first = date(year_of(groups, at), 1 + length * (number - 1), 1)
    else:
        first = date(at.year, 1 + length * (number - 1), 1)
        first = first if first <= at or ahead else first.replace(year=at.year - 1)
    return first, periods.add_months(first, length)


def decade(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve "the 1990s", "the nineties", "the early 2000s"; two digits from 30 on are the 1900s."""
    if "name" in groups:
        first = 1920 + 10 * DECADES.index(groups["name"])
    else:
        first = int(groups["year"])
        first += 0 if first > 99 else 1900 if first >= 30 else 2000
    return date(first, 1, 1), date(first + 10, 1, 1)


def holiday(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "at Christmas", "Easter 2025"."""
    name, which = groups["holiday"], groups.get("which", "")
    if "year" in groups:
        return periods.holiday(name, year_of(groups, at))
    near = [periods.holiday(name, at.year + step) for step in (-2, -1, 0, 1, 2)]
    if which in {"last", "this past"}:
        return next(each for each in reversed(near) if each[1] <= at)
    if which in {"next", "coming", "this coming"}:
        return next(each for each in near if each[0] > at)
    if which == "this":
        return min(near, key=lambda each: (abs((each[0] - at).days), each))
    first = nearest([each[0] for each in near], at, ahead=ahead)
    return next(each for each in near if each[0] == first)
