"""Calendar periods as half-open intervals of days: ``(first, until)``, without ``until``.

Units, seasons, and holidays by name: fixed days, weekdays of a month, and days relative to Easter
(western, Gregorian).

Whole days only, so daylight saving time cannot shift a result. Weeks start on Monday (ISO 8601); seasons are
the meteorological ones of the northern hemisphere.
"""

from calendar import monthrange
from datetime import date, timedelta
from functools import cache

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import table_rows

Period = tuple[date, date]  # first day, and the day after the last

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # first months
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS = {"day": 1, "week": 7, "weekend": 7, "fortnight": 14}
SATURDAY = 5


def add_months(day: date, count: int) -> date:
    """Move a day by whole months; to the month's last day if it is shorter.

    >>> add_months(date(2024, 3, 31), -1)
    datetime.date(2024, 2, 29)
    """
    year, month = divmod(day.year * 12 + day.month - 1 + count, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def days(first: date, count: int = 1) -> Period:
    """``count`` days from ``first`` on."""
    return first, first + timedelta(days=count)


def unit(name: str, day: date) -> Period:
    """The day, week, weekend, month, quarter, year or decade that contains a day.

    >>> [str(each) for each in unit("quarter", date(2026, 5, 9))]
    ['2026-04-01', '2026-07-01']
    """
    if name in _MONTHS:
        length = _MONTHS[name]
        year, month = divmod((day.year * 12 + day.month - 1) // length * length, 12)
        first = date(year, month + 1, 1)
        return first, add_months(first, length)
    monday = day - timedelta(days=day.weekday())
    if name == "weekend":
        return days(monday + timedelta(days=SATURDAY), 2)
    return days(monday, 7) if name == "week" else days(day)


def shift(day: date, name: str, count: int) -> date:
    """Move a day by ``count`` units; also by fortnights."""
    if name in _MONTHS:
        return add_months(day, count * _MONTHS[name])
    return day + timedelta(days=count * _DAYS[name])


def month(day: date) -> Period:
    """The calendar month that contains a day."""
    return unit("month", day)


def season(name: str, number: int) -> Period:
    """The season that *begins* in a year; winter ends in the next.

    >>> season("winter", 2025)
    (datetime.date(2025, 12, 1), datetime.date(2026, 3, 1))
    """
    first = date(number, SEASONS[name], 1)
    return first, add_months(first, 3)


def weekday_before(day: date, weekday: int) -> date:
    """The last of a weekday (Monday 0) before a day."""
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def weekday_from(day: date, weekday: int) -> date:
    """The first of a weekday on or after a day.

    >>> weekday_from(date(2026, 2, 24), 1), weekday_before(date(2026, 2, 24), 1)
    (datetime.date(2026, 2, 24), datetime.date(2026, 2, 17))
    """
    return day + timedelta(days=(weekday - day.weekday()) % 7)


def nth_weekday(whole: Period, weekday: int, number: int) -> date:
    """The n-th of a weekday in a period, or beyond a shorter one; −1 for the last.

    >>> nth_weekday(month(date(2025, 5, 1)), 0, -1)
    datetime.date(2025, 5, 26)
    """
    if number < 0:
        return weekday_before(whole[1], weekday)
    return weekday_from(whole[0], weekday) + timedelta(days=7 * (number - 1))


def iso_period(period: Period) -> str:
    """Write a period in its shortest exact ISO form.

    >>> [iso_period(unit(name, date(2023, 6, 9))) for name in ("month", "year", "week")]
    ['2023-06', '2023', '2023-06-05 to 2023-06-11']
    """
    first, until = period
    last = until - timedelta(days=1)
    if first == last:
        return first.isoformat()
    if period == month(first):
        return first.isoformat()[:7]
    if (first.day, first.month, last.day, last.month, last.year) == (1, 1, 31, 12, first.year):
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
    """All holidays by name, in the order of the file."""
    rows = table_rows("time/holidays")
    return {
        name: Holiday(name, kind, [*map(int, cells.split())], *more)
        for name, kind, cells, *more in rows
    }


def holiday(name: str, year: int) -> Period:
    """The days of a holiday in a year.

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
        number, day, length = numbers
        first = date(year, number, day)
    elif kind == "weekday":
        number, *place, after = numbers
        first = nth_weekday(month(date(year, number, 1)), *place) + timedelta(days=after)
    else:
        after, length = numbers
        first = easter(year) + timedelta(days=after)
    return days(first, length)


def easter(year: int) -> date:
    """Easter Sunday, by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, 8).

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
