"""Time expressions that count or choose units: "last week", "three days ago", "the next two months".

Resolvers as in ``timex_forms``.
"""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.text import periods
from clsm_cli.text.timex_forms import STEPS, WEEKDAYS, ended

if TYPE_CHECKING:
    from clsm_cli.text.periods import Period
    from clsm_cli.text.timex_forms import Groups, Resolver

NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
    "fourteen": 14, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "ninety": 90,
}  # fmt: skip


def which_unit(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "last week", "this month", "the past year"."""
    which, name = groups["which"], groups["unit"]
    if name == "fortnight" and which in {"next", "coming"}:
        return at, moved(at, name, 1) + timedelta(days=1)
    if (which == "past" and name != "weekend") or name == "fortnight":
        return moved(at, name, -1), at + timedelta(days=1)
    return unit(name, moved(at, name, STEPS.get(which, 1)))


def before_last(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "the weekend before last", "the summer before last", "the week after next"."""
    step = -2 if groups["side"].startswith("before") else 2
    name = groups["unit"]
    if name in periods.SEASONS:
        last = ended(name, at)[0].year
        coming = last + 1 if periods.season(name, last + 1)[0] > at else last + 2
        return periods.season(name, last - 1 if step < 0 else coming + 1)
    if name[:3] in WEEKDAYS:
        offset = WEEKDAYS.index(name[:3]) - at.weekday()
        nearer = offset % 7 - 7 if step < 0 else (offset - 1) % 7 + 1
        return periods.days(at + timedelta(days=nearer + (-7 if step < 0 else 7)))
    if name == "night":
        return periods.days(at + timedelta(days=step))
    return unit(name, moved(at, name, step))


def the_weekend(_groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "over the weekend": the one that began last, today excluded, or the coming one."""
    saturday = periods.weekend(at)[0]
    if ahead:
        return periods.days(saturday if saturday >= at else saturday + timedelta(days=7), 2)
    return periods.days(saturday if saturday < at else saturday - timedelta(days=7), 2)


def half_of_unit(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "earlier this week", "later this year"."""
    first, until = unit(groups["unit"], at)
    return (first, at + timedelta(days=1)) if groups["half"] == "earlier" else (at, until)


def unit(name: str, day: date) -> Period:
    """Return the unit that holds a day: those of ``periods``, a quarter or a decade."""
    if name == "quarter":
        first = date(day.year, 1 + (day.month - 1) // 3 * 3, 1)
        return first, periods.add_months(first, 3)
    if name == "decade":
        return date(day.year // 10 * 10, 1, 1), date(day.year // 10 * 10 + 10, 1, 1)
    return periods.unit(name, day)


def moved(day: date, name: str, count: int) -> date:
    """Move a day by ``count`` units."""
    if name == "fortnight":
        return periods.moved(day, "week", 2 * count)
    if name in {"quarter", "decade"}:
        return periods.add_months(day, count * (3 if name == "quarter" else 120))
    return periods.moved(day, name, count)


def _count(groups: Groups) -> tuple[int, int]:
    """Return the least and the most that a number word, or two of them, mean."""
    word = groups["count"]
    if "few" in word or word == "several":
        return 2, 5
    if "couple" in word:
        return 2, 2
    number = int(word) if word.isdigit() else NUMBERS.get(word, 1)
    more = groups.get("most", "")
    most = int(more) if more.isdigit() else number + 1 if more == "so" else NUMBERS.get(more, 0)
    return number, max(number, most)


def ago(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "two weeks ago", "a day or two ago"."""
    (least, most), name = _count(groups), groups["unit"]
    held = "week" if name == "fortnight" else name
    first = unit(held, moved(at, name, -most))[0]
    return first, unit(held, moved(at, name, -least))[1]


def hence(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "in two weeks", "three days from now"."""
    (least, most), name = _count(groups), groups["unit"]
    held = "week" if name == "fortnight" else name
    first = unit(held, moved(at, name, least))[0]
    return first, unit(held, moved(at, name, most))[1]


def stretch(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "the last two weeks", "the next few days"."""
    most, name = _count(groups)[1], groups["unit"]
    if groups["which"] in {"next", "coming"}:
        return at, moved(at, name, most) + timedelta(days=1)
    return moved(at, name, -most), at + timedelta(days=1)


def recent(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "in recent weeks": five of them."""
    return moved(at, groups["unit"], -5), at + timedelta(days=1)


def hours(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "two hours ago", "in the last 48 hours" to the days that they touch at most."""
    most = _count(groups)[1] * (1 if groups["unit"] == "hour" else 1 / 60)
    back = 0 if most < 12 else int(most + 23) // 24
    return at - timedelta(days=back), at + timedelta(days=1)


def same_day(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "two weeks ago today", and "this time last year": the day, and a week on either side."""
    day = moved(at, groups["unit"], -_count(groups)[1] if "count" in groups else -1)
    side = 0 if "ago" in groups else 7 if groups["unit"] in {"month", "year"} else 1
    return day - timedelta(days=side), day + timedelta(days=side + 1)


def weekday_of_week_ago(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "on Tuesday two weeks ago": the Tuesday of that week."""
    day = moved(at, "week", -_count(groups)[1])
    return periods.days(day + timedelta(days=WEEKDAYS.index(groups["weekday"][:3]) - at.weekday()))


def numbered_day(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "on the 14th": of this month or the last one that has such a day, or a coming one."""
    number = int(groups["day"])
    step = timedelta(days=1 if ahead else -1)
    day = at
    while day.day != number:
        day += step
    return periods.days(day)


def offset(first: int, until: int) -> Resolver:
    """Return a resolver for fixed days, counted from the day of speaking."""
    return lambda _groups, at, _ahead: (at + timedelta(days=first), at + timedelta(days=until))
