"""Calendar periods as half-open intervals of days: ``(first, until)``, ``until`` not included.

Whole days only, so that no change of summer time can shift a result. Weeks start on Monday
(ISO 8601); seasons are the meteorological ones of the northern hemisphere.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

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


def moved(day: date, name: str, count: int) -> date:
    """Move a day by ``count`` days, weeks (or weekends), months or years."""
    if name in {"month", "year"}:
        return add_months(day, count * (12 if name == "year" else 1))
    return day + timedelta(days=count * (1 if name == "day" else 7))


def shown(period: Period) -> str:
    """Write a period in the shortest ISO form that says it exactly.

    >>> shown(month(date(2023, 5, 8))), shown(year(2022)), shown(week(date(2023, 6, 9)))
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
