"""The grammar of time expressions: one row a form, a pattern and what its words mean.

A resolver gets the named groups of the match (lower-case, single blanks, only those that took
part), the day of speaking, and whether the words before it look ahead (True), back (False) or
neither (None); it returns a period of days.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text import periods

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clsm_cli.text.periods import Period

    Groups = Mapping[str, str]
    Resolver = Callable[[Groups, date, bool | None], Period]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6,
    "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
}  # fmt: skip


class Rule(NamedTuple):
    """One form of time expression.

    Attributes:
        pattern: a regular expression, case-sensitive unless it says otherwise.
        resolve: from groups, day of speaking and looking ahead to the period meant.
        precise: whether the words fix the bounds.
        relative: whether the period depends on the day of speaking.
        guess: whether only the words around it can tell if it lies behind or ahead.
        only_ahead: whether it means no time at all where the words around it look back.
    """

    pattern: str
    resolve: Resolver
    precise: bool = True
    relative: bool = True
    guess: bool = False
    only_ahead: bool = False


def _month_of(groups: Groups) -> int:
    return _MONTHS.index(groups["month"][:3]) + 1


def _iso_day(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    return periods.days(date(int(groups["year"]), int(groups["number"]), int(groups["day"])))


def _iso_month(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    return periods.month(date(int(groups["year"]), int(groups["number"]), 1))


def _month_and_year(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    return periods.month(date(int(groups["year"]), _month_of(groups), 1))


def _year(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    return periods.year(int(groups["year"]))


def _season_and_year(groups: Groups, _at: date, _ahead: bool | None) -> Period:
    return periods.season(groups["season"], int(groups["year"]))


def _date(groups: Groups, at: date, ahead: bool | None) -> Period:
    """Resolve a day, or a range of days, of a month; without a year the nearest one."""
    month, day = _month_of(groups), int(groups["day"])
    if "year" in groups:
        first = date(int(groups["year"]), month, day)
    else:
        first = _nearest(month, day, at, groups.get("weekday", ""), ahead=ahead)
    last = first.replace(day=int(groups["to"])) if "to" in groups else first
    return first, max(first, last) + timedelta(days=1)


def _nearest(month: int, day: int, at: date, weekday: str, *, ahead: bool | None) -> date:
    """The day that is meant: on the weekday that is named, else behind or ahead.

    What lies much nearer ahead than behind is ahead, whatever the words.
    """
    # A 29 February lies at most eight years away.
    years = [at.year + step for step in range(-8, 9)]
    found = [date(year, month, day) for year in years if _is_day(year, month, day)]
    if weekday:
        number = _WEEKDAYS.index(weekday[:3])
        near = [each for each in found if each.weekday() == number and _years(each, at) < 2]
        if near:
            return min(near, key=lambda each: (abs((each - at).days), each))
    behind = max((each for each in found if each <= at), default=None)
    coming = min((each for each in found if each >= at), default=None)
    if behind is None or coming is None:
        raise ValueError(f"no day {day} in month {month}")
    is_near = (
        ahead is None
        and (coming - at).days <= _SOON
        and _NEARER * (coming - at).days < (at - behind).days
    )
    return coming if ahead or is_near else behind


_NEARER = 4
"""How many times nearer the coming day must be."""
_SOON = 60
"""Days ahead, at most."""


def _is_day(year: int, month: int, day: int) -> bool:
    return 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _years(day: date, at: date) -> int:
    return abs(day.year - at.year)


def _month(groups: Groups, at: date, ahead: bool | None) -> Period:
    which, first = groups["which"], date(at.year, _month_of(groups), 1)
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


def _weekday(groups: Groups, at: date, ahead: bool | None) -> Period:
    which = groups.get("which", "")
    offset = _WEEKDAYS.index(groups["weekday"][:3]) - at.weekday()
    if which == "this":
        return periods.days(at + timedelta(days=offset))
    if which in {"next", "coming", "this coming"} or (not which and ahead):
        return periods.days(at + timedelta(days=(offset - 1) % 7 + 1))
    return periods.days(at + timedelta(days=offset % 7 - 7))


def _which_unit(groups: Groups, at: date, _ahead: bool | None) -> Period:
    which, unit = groups["which"], groups["unit"]
    if which == "past" and unit != "weekend":
        return periods.moved(at, unit, -1), at + timedelta(days=1)
    step = {"this": 0, "last": -1, "past": -1, "this past": -1}.get(which, 1)
    return periods.unit(unit, periods.moved(at, unit, step))


def _half_of_unit(groups: Groups, at: date, _ahead: bool | None) -> Period:
    first, until = periods.unit(groups["unit"], at)
    return (first, at + timedelta(days=1)) if groups["half"] == "earlier" else (at, until)


def _season(groups: Groups, at: date, _ahead: bool | None) -> Period:
    name, which = groups["season"], groups["which"]
    if which == "this":
        return periods.season(name, at.year - (name == "winter" and at.month < 3))
    if which in {"next", "coming", "this coming"}:
        found = periods.season(name, at.year)
        return found if found[0] > at else periods.season(name, at.year + 1)
    ended = (periods.season(name, at.year - back) for back in (0, 1, 2))
    return next(period for period in ended if period[1] <= at)


def _count(groups: Groups) -> tuple[int, int]:
    """Return the least and the most that a number word means."""
    word = groups["count"]
    if "few" in word or word == "several":
        return 2, 5
    if "couple" in word:
        return 2, 2
    number = int(word) if word.isdigit() else _NUMBERS.get(word, 1)
    return number, number


def _ago(groups: Groups, at: date, _ahead: bool | None) -> Period:
    (least, most), unit = _count(groups), groups["unit"]
    first = periods.unit(unit, periods.moved(at, unit, -most))[0]
    return first, periods.unit(unit, periods.moved(at, unit, -least))[1]


def _hence(groups: Groups, at: date, _ahead: bool | None) -> Period:
    (least, most), unit = _count(groups), groups["unit"]
    first = periods.unit(unit, periods.moved(at, unit, least))[0]
    return first, periods.unit(unit, periods.moved(at, unit, most))[1]


def _stretch(groups: Groups, at: date, _ahead: bool | None) -> Period:
    most, unit = _count(groups)[1], groups["unit"]
    if groups["which"] in {"next", "coming"}:
        return at, periods.moved(at, unit, most) + timedelta(days=1)
    return periods.moved(at, unit, -most), at + timedelta(days=1)


def _offset(first: int, until: int) -> Resolver:
    """Return a resolver for fixed days, counted from the day of speaking."""
    return lambda _groups, at, _ahead: (at + timedelta(days=first), at + timedelta(days=until))


# "may", "march" and "mar" are months only with a capital: they are common words.
_MONTH = (
    r"(?P<month>[Jj]an(?:uary)?|[Ff]eb(?:ruary)?|Mar(?:ch)?|[Aa]pr(?:il)?|May|[Jj]une?|[Jj]uly?|"
    r"[Aa]ug(?:ust)?|[Ss]ept?(?:ember)?|[Oo]ct(?:ober)?|[Nn]ov(?:ember)?|[Dd]ec(?:ember)?)\b"
    r"(?:(?<=\b[A-Za-z]{3})(?<!May)\.|(?<=Sept)\.)?"
)
_MONTH_NAME = (
    r"(?P<month>[Jj]anuary|[Ff]ebruary|March|[Aa]pril|May|[Jj]une|[Jj]uly|[Aa]ugust|[Ss]eptember|"
    r"[Oo]ctober|[Nn]ovember|[Dd]ecember)\b(?!\s[0-9])"
)
_NUMBER = r"(?:0?[1-9]|[12][0-9]|3[01])"
_DAY = (
    rf"(?P<day>{_NUMBER})(?:st|nd|rd|th)?"
    rf"(?:\s?(?:-|\u2013|to|and)\s?(?P<to>{_NUMBER})(?:st|nd|rd|th)?)?"
)
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?![0-9])"
_NO_YEAR = r"(?!,?\s(?:19|20)[0-9]{2}(?![0-9]))(?!\w)"
# A bare number that goes on, or counts something, is no day and no year.
_NO_COUNT = (
    r"(?![\w%]|[.,:][0-9]|-\w|\s(?:tokens?|words?|people|steps?|lines?|items?|notes?|files?|hours?|"
    r"days?|years?|minutes?|km|kg|ms|dollars|euros|pieces|nodes|passages|pages|times|miles)\b)"
)
_WEEKDAY = r"(?P<weekday>(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b"
_SEASON = r"(?P<season>(?i:spring|summer|autumn|fall|winter))\b"
_LEFT = (
    r"(?<![\w.:-])(?:(?P<weekday>(?i:(?:mon|tues|wednes|thurs|fri|satur|sun)day)),?\s(?:the\s)?)?"
)
_PART = r"(?:\s(?:morning|afternoon|evening|night)\b)?"
_SOME = r"[0-9]{1,4}|an?\scouple(?:\sof)?|an?\sfew|several"
_COUNT = rf"(?P<count>(?i:{_SOME}|an?|{'|'.join(_NUMBERS)}))"
_PLURAL = r"(?P<unit>(?i:day|weekend|week|month|year))s?\b"
_UNIT = r"(?P<unit>(?i:weekend|week|month|year))\b"
_WHICH = r"\b(?P<which>(?i:this\spast|this\scoming|last|this|next|past|coming))\s"

RULES: tuple[Rule, ...] = (
    Rule(
        r"(?<![\w.-])(?P<year>\d{4})(?P<mark>[-/])(?P<number>\d{2})(?P=mark)(?P<day>\d{2})(?!\d|[-/]\d)",
        _iso_day,
        relative=False,
    ),
    Rule(rf"(?<![\w./-]){_YEAR}-(?P<number>0[1-9]|1[0-2])(?![\w-])", _iso_month, relative=False),
    Rule(rf"{_LEFT}{_DAY}\s(?:of\s)?{_MONTH},?\s{_YEAR}", _date, relative=False),
    Rule(rf"{_LEFT}{_MONTH}\s(?:the\s)?{_DAY},?\s{_YEAR}", _date, relative=False),
    Rule(rf"{_LEFT}{_DAY}\s(?:of\s)?{_MONTH}{_NO_YEAR}", _date),
    Rule(rf"{_LEFT}{_MONTH}\s(?:the\s)?{_DAY}{_NO_COUNT}{_NO_YEAR}", _date),
    Rule(rf"\b{_MONTH},?\s(?:of\s)?{_YEAR}", _month_and_year, relative=False),
    Rule(rf"\b{_SEASON}\s(?:of\s)?{_YEAR}", _season_and_year, precise=False, relative=False),
    Rule(
        rf"\b(?i:in|of|by|since|during|until|year|early|late|before|after)\s{_YEAR}{_NO_COUNT}",
        _year,
        relative=False,
    ),
    Rule(
        r"\b(?P<which>(?i:in|during|since|until|last|next|this|early|late|mid))[\s-]" + _MONTH_NAME,
        _month,
    ),
    Rule(rf"\b(?i:the\sday\sbefore\syesterday){_PART}", _offset(-2, -1)),
    Rule(rf"\b(?i:the\sday\safter\stomorrow){_PART}", _offset(2, 3)),
    Rule(rf"\b(?i:yesterday){_PART}|\b(?i:last\snight)\b", _offset(-1, 0)),
    Rule(
        r"\b(?i:(?:earlier\s|later\s)?today|tonight|this\s(?:morning|afternoon|evening))\b",
        _offset(0, 1),
    ),
    Rule(rf"\b(?i:tomorrow){_PART}", _offset(1, 2)),
    Rule(r"\b(?i:the\sother\s(?:day|night|evening))\b", _offset(-7, 0), precise=False),
    Rule(r"\b(?i:recently|lately)\b", _offset(-14, 1), precise=False),
    Rule(rf"{_WHICH}{_UNIT}", _which_unit),
    Rule(rf"\b(?P<half>(?i:earlier|later))\s(?i:this)\s{_UNIT}", _half_of_unit),
    Rule(rf"{_WHICH}{_WEEKDAY}{_PART}", _weekday),
    Rule(
        rf"(?<!\bevery\s)(?<!\beach\s)(?<![\w-])(?!(?:Good|Black)\s){_WEEKDAY}{_PART}",
        _weekday,
        guess=True,
    ),
    Rule(rf"{_WHICH}{_SEASON}", _season, precise=False),
    Rule(rf"(?<![\w.-]){_COUNT}\s{_PLURAL}\s(?i:ago|back)\b", _ago),
    Rule(rf"\b(?i:in)\s{_COUNT}\s{_PLURAL}(?!\s(?i:ago|of|back))", _hence, only_ahead=True),
    Rule(rf"(?<![\w.-]){_COUNT}\s{_PLURAL}\s(?i:from\s(?:now|today))\b", _hence),
    Rule(
        rf"\b(?P<which>(?i:last|past|next|coming))\s(?P<count>(?i:couple(?:\sof)?|few|"
        rf"[0-9]{{1,3}}|{'|'.join(_NUMBERS)}))\s{_PLURAL}",
        _stretch,
    ),
)
"""All forms; where two match at one place the longer text wins."""
