"""Forms of time expressions: ``rules.tsv``, one form per row, and the resolvers that its rows name.

A resolver takes the named groups of a match (lower-case, single blanks, only those that matched), the day of
speaking, and whether the words before it look ahead (True), back (False) or neither (None). It returns a
period of days, and raises ``ValueError`` or ``OverflowError`` if there is no such day.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from functools import cache, partial

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import number_words, table_rows, word_list
from clsm_cli.text.time import periods
from clsm_cli.text.time.periods import Period

Groups = Mapping[str, str]
Resolver = Callable[[Groups, date, bool | None], Period]

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
ORDINALS = word_list("ordinals")
_DECADES = word_list("decades")
NUMBERS = {word: number for word, number in number_words().items() if number}
_STEPS = {"this": 0, "last": -1, "past": -1, "this past": -1}
"""Units from the present one; all other words, such as "next", mean 1."""
_NEXT_WORDS = frozenset({"next", "coming", "this coming"})
_NEAR_RATIO = 4  # a coming day counts if it is this many times nearer than the past one
_NEAR_DAYS = 60  # maximum days ahead for that


class Rule(NamedTuple):
    """One form of time expression, see ``rules.tsv``."""

    pattern: str
    resolve: Resolver
    needs: tuple[str, ...]  # cues; a lower-cased text without any has no such expression
    also: tuple[str, ...]  # a second set of cues, of which it needs one as well
    precise: bool  # whether the words fix the bounds
    relative: bool  # whether the period depends on the day of speaking
    guess: bool  # whether, without a year or "last", only the words around it show where it lies
    only_ahead: bool  # whether it is no time expression if the words around it look back


@cache
def rules(*, is_question: bool) -> tuple[Rule, ...]:
    """The forms for any text; a question to a memory, which looks back, has its own forms first.

    Of two matches at one place the longer wins.
    """
    general, own = ([r for kind, r in _table() if kind == where] for where in ("told", "asked"))
    return (*own, *general) if is_question else (*general,)


@cache
def holiday_cues() -> tuple[str, ...]:
    """Words of which each name of a holiday contains one."""
    return tuple(dict.fromkeys(each.cue for each in periods.holidays().values()))


@cache
def part_pattern() -> re.Pattern[str]:
    """Pattern for words that select a part of the following period; see ``parts``."""
    return re.compile(next(row[1] for row in _rows() if row[0] == "part"))


@cache
def _rows() -> list[list[str]]:
    return table_rows(
        "time/rules",
        NUMBER_WORD="|".join(NUMBERS),
        ORDINAL="|".join(sorted(ORDINALS, key=len, reverse=True)),
        DECADE="|".join(_DECADES),
        HOLIDAY_NAME="|".join(each.pattern for each in periods.holidays().values()),
    )


@cache
def _table() -> list[tuple[str, Rule]]:
    cues = {"@holiday": holiday_cues(), "@other": tuple(_other_months())}
    found: list[tuple[str, Rule]] = []
    for kind, name, *row in _rows():
        if kind == "cues":
            cues[f"@{name}"] = tuple(row[0].split("|"))
        if len(row) < 4:
            continue
        flags, (function, *numbers) = row[0].split(), name.split()
        marks = "loose" not in flags, "fixed" not in flags, "guess" in flags, "ahead" in flags
        needs, also = (cues.get(e) or tuple(filter(None, e.split("|"))) for e in row[1:3])
        resolve: Resolver = partial(globals()[function], *map(int, numbers))
        found.append((kind, Rule(row[3], resolve, needs, also, *marks)))
    return found


@cache
def _other_months() -> dict[str, int]:
    """Months by their names in other languages."""
    found: dict[str, int] = {}
    for _, *row in table_rows("time/months"):
        for month, names in enumerate(row, 1):
            found |= dict.fromkeys(names.split("|") if names else (), month)
    return found


_SHARED = frozenset({"april", "august", "september", "november", "december"})
"""Names of months that English shares with other languages."""


def is_foreign(words: str) -> bool:
    """Whether a date is written as in another language than English.

    >>> [is_foreign(each) for each in ("17. April", "5 mars 2026", "17 April", "24.02.2026")]
    [True, True, False, False]
    """
    named = _other_months().keys() & {*re.findall(r"[^\W\d_]+", words.lower())}
    return bool(named - _SHARED or (named and "." in words))


def _month(groups: Groups) -> int:
    """The month of a match, by its number, its name in another language, or its English name."""
    if "number" in groups:
        return int(groups["number"])
    if "other" in groups:
        return _other_months().get(groups["other"], 0)  # there is no month 0
    return MONTHS.index(groups["month"][:3]) + 1


def _weekday(groups: Groups) -> int:
    return WEEKDAYS.index(groups["weekday"][:3])


def _year(groups: Groups, at: date) -> int:
    words = groups["year"].split()
    if words[-1].isdigit():
        return int(words[-1])
    return at.year + {"last": -1, "this": 0, "next": 1}[words[-2]]


def numeric_day(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve 2026-02-24, 24.02.2026 and, where only one order is a date, 24/2/2026 or 2/24/2026."""
    day, month = int(groups["day"]), int(groups["number"])
    if groups.get("mark") == "/" and month > 12:
        day, month = month, day
    elif groups.get("mark") == "/" and day <= 12 and day != month:
        raise ValueError("day and month may stand in either order")
    return periods.days(date(int(groups["year"]), month, day))


def iso_month(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve 2026-02."""
    return periods.month(date(int(groups["year"]), int(groups["number"]), 1))


def month_and_year(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "February 2026", "March to May 2024"."""
    first, until = periods.month(date(_year(groups, at), _month(groups), 1))
    if "start" not in groups:
        return first, until
    begin = date(first.year, _month({"month": groups["start"]}), 1)
    return begin if begin < first else begin.replace(year=begin.year - 1), until


def year(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "in 2025", "2019-2021"."""
    first, until = periods.unit("year", date(_year(groups, at), 1, 1))
    if "start" in groups:
        first = date(int(groups["start"]), 1, 1)
    if first >= until:
        raise ValueError("the years stand in the wrong order")
    return first, until


def day_of_month(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve a day, or a range of days, of a month; without a year the nearest one."""
    month = _month(groups)
    day = ORDINALS.index(groups["ordinal"]) + 1 if "ordinal" in groups else int(groups["day"])
    if "year" in groups:
        first = date(_year(groups, at), month, day)
    else:
        first = _nearest_of_years(month, day, at, groups, ahead=ahead)
    last = first.replace(day=int(groups["to"])) if "to" in groups else first
    return first, max(first, last) + timedelta(days=1)


def _nearest_of_years(
    month: int, day: int, at: date, groups: Groups, *, ahead: bool | None
) -> date:
    """The day in the year that fits its weekday, else the nearest past or coming one."""
    # A 29 February lies at most eight years away.
    found = [each for step in range(-8, 9) if (each := _day(at.year + step, month, day))]
    return _on_weekday(found, at, groups) or _nearest(found, at, ahead=ahead)


def _on_weekday(found: list[date], at: date, groups: Groups) -> date | None:
    """The nearest of some days on the weekday named, in the years beside this one; None if there is none."""
    number = _weekday(groups) if "weekday" in groups else None
    near = [e for e in found if e.weekday() == number and abs(e.year - at.year) < 2]
    return min(near, key=lambda each: (abs((each - at).days), each), default=None)


def _nearest(found: list[date], at: date, *, ahead: bool | None) -> date:
    """The last of some days in the past, or the next one ahead.

    Without a direction, a day that is much nearer ahead than in the past counts as ahead.
    """
    behind = max((each for each in found if each <= at), default=None)
    coming = min((each for each in found if each >= at), default=None)
    if behind is None or coming is None:
        raise ValueError("there is no such day")
    to_come = (coming - at).days
    is_near = ahead is None and to_come <= _NEAR_DAYS and _NEAR_RATIO * to_come < (at - behind).days
    return coming if ahead or is_near else behind


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def numbered_week(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "2026-W11", "week 11": in the named year, else the last such week that has begun."""
    number, this = int(groups["number"]), at.isocalendar()
    year = int(groups.get("year", this.year - (number > this.week)))
    return periods.days(date.fromisocalendar(year, number, 1), 7)


def month(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "in May", "last June"."""
    which, first = groups["which"], date(at.year, _month(groups), 1)
    this = at.replace(day=1)
    if ahead is None:
        ahead = which == "in" and 0 < (first - this).days <= _NEAR_DAYS
    if which != "this":
        if which == "next" or (which != "last" and ahead and first != this):
            step = int(first <= this)
        else:
            step = -int(first > this or (first == this and which == "last"))
        first = first.replace(year=at.year + step)
    return periods.month(first)


def weekday(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "last Friday", "on Friday"."""
    which, number = groups.get("which", ""), _weekday(groups)
    if which == "this":
        return periods.days(at + timedelta(days=number - at.weekday()))
    if which in _NEXT_WORDS or (not which and ahead):
        return periods.days(periods.weekday_from(at + timedelta(days=1), number))
    return periods.days(periods.weekday_before(at, number))


def weekday_of_week(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "Tuesday of last week", "on Tuesday two weeks ago": the Tuesday of that week."""
    weeks = -_count(groups)[1] if "count" in groups else _STEPS.get(groups["which"], 1)
    return periods.days(at + timedelta(days=_weekday(groups) - at.weekday() + 7 * weeks))


def season(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "last summer", "in the spring", "summer 2025"."""
    name, which = groups["season"], groups.get("which", "")
    if "year" in groups:
        return periods.season(name, _year(groups, at))
    this = periods.season(name, at.year - (name == "winter" and at.month < 3))
    if which in _NEXT_WORDS or (not which and ahead and this[0] > at):
        found = periods.season(name, at.year)
        return found if found[0] > at else periods.season(name, at.year + 1)
    return this if which == "this" or (not which and this[0] <= at) else _last_season(name, at)


def _last_season(name: str, at: date) -> Period:
    found = (periods.season(name, at.year - back) for back in (0, 1, 2))
    return next(period for period in found if period[1] <= at)


def quarter(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "Q2 2024", "H1 2025", "Q3"; without a year the last one that began."""
    kind, number = groups["quarter"][0], int(groups["quarter"][1:])
    length = 3 if kind == "q" else 6
    named = _year(groups, at) if "year" in groups else at.year
    first = date(named, 1 + length * (number - 1), 1)
    if "year" not in groups and first > at and not ahead:
        first = first.replace(year=at.year - 1)
    return first, periods.add_months(first, length)


def decade(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    """Resolve "the 1990s", "the nineties", "the early 2000s"; two digits from 30 on are the 1900s."""
    if "name" in groups:
        first = 1920 + 10 * _DECADES.index(groups["name"])
    else:
        first = int(groups["year"])
        first += 0 if first > 99 else 1900 if first >= 30 else 2000
    return periods.unit("decade", date(first, 1, 1))


def holiday(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "at Christmas", "Easter 2025"."""
    name, which = groups["holiday"], groups.get("which", "")
    if "year" in groups:
        return periods.holiday(name, _year(groups, at))
    near = [periods.holiday(name, at.year + step) for step in (-2, -1, 0, 1, 2)]
    if which in {"last", "this past"}:
        return next(each for each in reversed(near) if each[1] <= at)
    if which in _NEXT_WORDS:
        return next(each for each in near if each[0] > at)
    if which == "this":
        return min(near, key=lambda each: (abs((each[0] - at).days), each))
    first = _nearest([each[0] for each in near], at, ahead=ahead)
    return next(each for each in near if each[0] == first)


def which_unit(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "last week", "this month", "the past year"."""
    which, name = groups["which"], groups["unit"]
    if name == "fortnight" and which in {"next", "coming"}:
        return at, periods.shift(at, name, 1) + timedelta(days=1)
    if (which == "past" and name != "weekend") or name == "fortnight":
        return periods.shift(at, name, -1), at + timedelta(days=1)
    return periods.unit(name, periods.shift(at, name, _STEPS.get(which, 1)))


def before_last(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "the weekend before last", "the summer before last", "the week after next"."""
    step = -2 if groups["side"].startswith("before") else 2
    name = groups["unit"]
    if name in periods.SEASONS:
        last = _last_season(name, at)[0].year
        coming = last + 1 if periods.season(name, last + 1)[0] > at else last + 2
        return periods.season(name, last - 1 if step < 0 else coming + 1)
    if name[:3] in WEEKDAYS:
        number, week = WEEKDAYS.index(name[:3]), timedelta(days=7)
        if step < 0:
            return periods.days(periods.weekday_before(at, number) - week)
        return periods.days(periods.weekday_from(at + timedelta(days=1), number) + week)
    return periods.unit(name, periods.shift(at, name, step))


def the_weekend(_groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "over the weekend": the one that began last, today excluded, or the coming one."""
    find = periods.weekday_from if ahead else periods.weekday_before
    return periods.days(find(at, periods.SATURDAY), 2)


def half_of_unit(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "earlier this week", "later this year"."""
    first, until = periods.unit(groups["unit"], at)
    return (first, at + timedelta(days=1)) if groups["half"] == "earlier" else (at, until)


def _count(groups: Groups) -> tuple[int, int]:
    word = groups["count"]
    if "few" in word or word == "several":
        return 2, 5
    if "couple" in word:
        return 2, 2
    number = number_of(word)
    more = groups.get("most", "")
    most = number + 1 if more == "so" else number_of(more, 0)
    return number, max(number, most)


def number_of(word: str, default: int = 1) -> int:
    """A number in digits or in a word."""
    return int(word) if word.isdigit() else NUMBERS.get(word, default)


def ago(side: int, groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "two weeks ago", "a day or two ago" (-1), "in two weeks", "three days from now" (1)."""
    name, counts = groups["unit"], sorted(side * count for count in _count(groups))
    unit = "week" if name == "fortnight" else name
    first, last = (periods.unit(unit, periods.shift(at, name, count)) for count in counts)
    return first[0], last[1]


def offset(first: int, until: int, _groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "yesterday", "the other day": days counted from the day of speaking."""
    return at + timedelta(days=first), at + timedelta(days=until)


def stretch(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "the last two weeks", "the next few days", and "in recent weeks" (five)."""
    most, name = _count(groups)[1] if "count" in groups else 5, groups["unit"]
    if groups.get("which") in {"next", "coming"}:
        return at, periods.shift(at, name, most) + timedelta(days=1)
    return periods.shift(at, name, -most), at + timedelta(days=1)


def hours(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "two hours ago", "in the last 48 hours" to all days that they may touch."""
    most = _count(groups)[1] * (1 if groups["unit"] == "hour" else 1 / 60)
    back = 0 if most < 12 else int(most + 23) // 24
    return at - timedelta(days=back), at + timedelta(days=1)


def same_day(groups: Groups, at: date, _ahead: bool | None) -> Period:
    """Resolve "two weeks ago today" to the day, and "this time last year" with a week on either side."""
    count = -_count(groups)[1] if "count" in groups else -1
    day = periods.shift(at, groups["unit"], count)
    side = 0 if "ago" in groups else 7 if groups["unit"] in {"month", "year"} else 1
    return day - timedelta(days=side), day + timedelta(days=side + 1)


def numbered_day(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve "on the 14th": the last such day, or the next if it looks ahead; "Friday the 14th": the nearest."""
    span = (at + timedelta(days=n) for n in range(-_NEAR_DAYS, _NEAR_DAYS + 1))
    found = [day for day in span if day.day == int(groups["day"])]
    return periods.days(_on_weekday(found, at, groups) or _nearest(found, at, ahead=ahead))
