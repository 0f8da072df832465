"""Calendar periods as half-open intervals of days: ``(first, until)``, ``until`` not included.

Units, seasons, and holidays by name: fixed days, weekdays of a month, and what follows Easter
(western, Gregorian).

Whole days only, so that no change of summer time can shift a result. Weeks start on Monday
(ISO 8601); seasons are the meteorological ones of the northern hemisphere.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from functools import cache

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import table_rows

Period = tuple[date, date]
"""First day, and the first day no longer in it."""

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""Season → its first month."""


def add_months(day: date, count: int) -> date:
    """Move a day by whole months, to the month's last day where it has no such day.

    >>> add_months(date(2024, 3, 31), -1)
    datetime.date(2024, 2, 29)
    """
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def days(first: date, count: int = 1) -> Period:
    """Return ``count`` days from ``first`` on."""
    return first, first + timedelta(days=count)


def week(day: date) -> Period:
    """Return the week, Monday to Sunday, that holds a day."""
    return days(day - timedelta(days=day.weekday()), 7)


def weekend(day: date) -> Period:
    """Return Saturday and Sunday of the week that holds a day."""
    return days(week(day)[0] + timedelta(days=5), 2)


def month(day: date) -> Period:
    """Return the calendar month that holds a day."""
    first = day.replace(day=1)
    return first, add_months(first, 1)


def year(number: int) -> Period:
    """Return a calendar year."""
    return date(number, 1, 1), date(number + 1, 1, 1)


def season(name: str, number: int) -> Period:
    """Return the season that *begins* in a year; winter ends in the next.

    >>> season("winter", 2025)
    (datetime.date(2025, 12, 1), datetime.date(2026, 3, 1))
    """
    first = date(number, SEASONS[name], 1)
    return first, add_months(first, 3)


def unit(name: str, day: date) -> Period:
    """Return the day, week, weekend, month, or year that holds a day."""
    if name == "year":
        return year(day.year)
    if name == "month":
        return month(day)
    return weekend(day) if name == "weekend" else week(day) if name == "week" else days(day)


def shift(day: date, name: str, count: int) -> date:
    """Move a day by ``count`` days, weeks (or weekends), months or years."""
    if name in {"month", "year"}:
        return add_months(day, count * (12 if name == "year" else 1))
    return day + timedelta(days=count * (1 if name == "day" else 7))


def iso_period(period: Period) -> str:
    """Write a period in the shortest ISO form that says it exactly.

    >>> iso_period(month(date(2023, 5, 8))), iso_period(year(2022)), iso_period(week(date(2023, 6, 9)))
    ('2023-05', '2022', '2023-06-05 to 2023-06-11')
    """
    first, until = period
    last = until - timedelta(days=1)
    if first == last:
        return first.isoformat()
    if period == month(first):
        return first.isoformat()[:7]
    if (
        first.day == first.month == 1
        and until.day == until.month == 1
        and until.year == first.year + 1
    ):
        return f"{first.year:04}"
    return f"{first} to {last}"


class Holiday(NamedTuple):
    """A row of ``holidays.tsv``."""

    name: str
    kind: str
    numbers: list[int]
    cue: str
    pattern: str


@cache
def holidays() -> dict[str, Holiday]:
    """All of them by name, in the order of the file."""
    rows = table_rows("time/holidays")
    return {
        name: Holiday(name, kind, [*map(int, told.split())], *more)
        for name, kind, told, *more in rows
    }


def holiday(name: str, year: int) -> Period:
    """Return the days of a holiday in a year.

    Raises:
        ValueError: The year is not between 1583 and 9998.

    >>> holiday("thanksgiving", 2025), holiday("christmas", 2025)[0].isoformat()
    ((datetime.date(2025, 11, 27), datetime.date(2025, 11, 28)), '2025-12-24')
    """
    if not 1583 <= year <= 9998:
        raise ValueError("the Gregorian calendar begins in 1583")
    name = name.replace("'", "").replace("\u2019", "")
    _, kind, numbers, *_ = holidays()[name]
    length = 1
    if kind == "fixed":
        month, day, length = numbers
        first = date(year, month, day)
    elif kind == "weekday":
        *place, after = numbers
        first = nth_weekday(year, *place) + timedelta(days=after)
    else:
        after, length = numbers
        first = easter(year) + timedelta(days=after)
    return first, first + timedelta(days=length)


def nth_weekday(year: int, month: int, weekday: int, number: int) -> date:
    """Return the n-th of a weekday in a month; −1 for the last.

    >>> nth_weekday(2025, 5, 0, -1)
    datetime.date(2025, 5, 26)
    """
    if number > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7)


def easter(year: int) -> date:
    """Return Easter Sunday, by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, 8).

    >>> easter(2024), easter(2025)
    (datetime.date(2024, 3, 31), datetime.date(2025, 4, 20))
    """
    golden = year % 19
    century, rest = divmod(year, 100)
    leap, odd = divmod(century, 4)
    shift = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leap - shift + 15) % 30
    weekday = (32 + 2 * odd + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return date(year, month, day + 1)
