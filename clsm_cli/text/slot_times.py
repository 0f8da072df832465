"""From and until when a sentence says that something holds."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.slot_values import number
from clsm_cli.text.time import expressions
from clsm_cli.text.time.evidence import RECENT, is_event_day

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.text.time.expressions import TimeExpression


class Bounds(NamedTuple):
    """ISO dates of an interval as far as it is told, half-open.

    Attributes:
        since: its first day.
        until: the first day no longer in it.
        is_over: whether the words say that it lies behind the day of speaking.
    """

    since: str | None
    until: str | None
    is_over: bool


_SINCE = re.compile(
    r"\b(?:since|from|as\sof|starting|beginning|effective|with\seffect\sfrom|as\sfrom)\s"
    r"(?:about\s|around\s)?(?:\d{1,2}[:.]\d\d\s)?(?:on\s)?",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:from\snow\son|from\stoday|as\sof\s(?:now|today)|starting\s(?:now|today)|effective\simmediately|"
    r"from\sthis\s(?:morning|day)\son|is\snow|are\snow|am\snow|has\snow|have\snow|now\s(?:on|at|in)|"
    r"no\slonger|any\s?more|not\sany\slonger|as\sof\sthis\s(?:morning|evening))\b",
    re.IGNORECASE,
)
_UNTIL_BEFORE = re.compile(r"\b(?:until|till|through|up to|by|before) (?:the )?$", re.IGNORECASE)
_WEEKDAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?!,? (?:the )?\d)", re.IGNORECASE
)
_HOUR = re.compile(r"\b[Ss]ince \d{1,2}[:.]\d\d\b(?! (?:yesterday|on|last))")
_UNTIL = re.compile(r"\b(?:until|till|through|up\sto)\s(?:the\send\sof\s)?", re.IGNORECASE)
_FOR_MORE = re.compile(
    r"\bfor\s(?:another\s)?([\w-]{1,12})\s(?:more\s)?(day|week|month)s?\b", re.IGNORECASE
)
_LASTED = re.compile(
    r"\b(?:after|(?:ran|run|lived|lasted|been\sup|in\sservice)\sfor)\s([\w-]{1,12})\s(day|week)s?\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:the\s)?(\d{1,2})(?:st|nd|rd|th)\b(?!\s(?:of|century|floor))")
_BARE_DAY = re.compile(r"(?<![\w.-])(\d{1,2})(?=,|\sand|\sthen|\sto\b|\))")
_MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
_HALF_DATE = re.compile(
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day,?\s)?(?:the\s)?(?:"
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month>{_MONTH})\b"
    rf"|(?P<month_first>{_MONTH})\s(?:the\s)?(?P<day_last>\d{{1,2}})(?:st|nd|rd|th)?\b)(?!,?\s\d{{4}})"
)
# A day in the far past to read what depends on no day: only absolute expressions are then kept.
_NO_DAY = date(2000, 1, 1)
_ISO_DAY = len("2000-01-01")


def day_at(text: str, at: date | None, *, ahead: bool) -> tuple[str, int]:
    """Return the single day that a text begins with, and where its expression ends.

    Where the year is not certain, a day and a month are given as such: "2 March".

    Args:
        text: what follows "due on", "since", "until".
        at: day of speaking.
        ahead: whether a day without month or year is meant to come, or to have been.

    >>> day_at("Friday 27 February, since", date(2026, 2, 16), ahead=True)
    ('2026-02-27', 18)
    >>> day_at("2 March.", None, ahead=True), day_at("Easter", date(2026, 2, 16), ahead=True)
    (('2 March', 7), ('', 0))
    """
    for each in expressions.find(text[:60], at or _NO_DAY, lies="plan" if ahead else "past"):
        if each.start > 3 or (each.start and "on" not in text[:3]):
            continue
        if (at is None and each.relative) or not each.certain:
            break
        return (each.day.isoformat(), each.end) if each.day else ("", 0)
    if half := _HALF_DATE.match(text):
        number, month = half["day"] or half["day_last"], half["month"] or half["month_first"]
        return f"{int(number)} {month}", half.end()
    ordinal = _ORDINAL.match(text) if at else None
    found = _nearest(int(ordinal.group(1)), at, ahead=ahead) if at and ordinal else None
    return (found.isoformat(), ordinal.end()) if ordinal and found else ("", 0)


def _nearest(day: int, at: date, *, ahead: bool) -> date | None:
    """Return the nearest day of that number on or after ``at``, or on or before it."""
    for step in range(62):
        candidate = at + timedelta(days=step if ahead else -step)
        if candidate.day == day:
            return candidate
    return None


def earlier_days(text: str, value: str) -> tuple[str, ...]:
    """Return the days named by bare numbers and dates that held before the day of ``value`` did.

    A bare number takes month and year of the next date in the list, or of ``value``; a date without
    a year is the nearest one, if that is near.

    >>> earlier_days("20, then 27 February", "2026-03-02")
    ('2026-02-20', '2026-02-27')
    """
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return ()
    at = date.fromisoformat(value)
    dates = [_nearer(*pair, at) for pair in _both_ways(text, at)]
    found: list[tuple[int, date | int]] = [(each.start, each.day) for each in dates if each.day]
    for pattern in (_BARE_DAY, _ORDINAL):
        found += [
            (match.start(), int(match.group(1)))
            for match in pattern.finditer(text)
            if not any(each.start <= match.start() < each.end for each in dates)
        ]
    days: list[str] = []
    frame = at
    for _, each_day in sorted(found, key=lambda pair: pair[0], reverse=True):
        if isinstance(each_day, date):
            frame = each_day
        else:
            nearest = _nearest(each_day, frame, ahead=False)
            if nearest is None:
                continue
            frame = nearest
        days.append(frame.isoformat())
    return tuple(reversed(days))


def bounds(clause: str, at: date | None, *, change: bool, is_past: bool = False) -> Bounds:
    """Return from and until when a clause says that its fact holds.

    Args:
        clause: the words around the fact, up to the next semicolon, colon or bracket.
        at: day of speaking.
        change: whether its verb tells of an event ("moved", "went live"): a day anywhere in the
            clause is then its day.
        is_past: whether it tells of what was: "until Friday" then lies behind.

    >>> bounds("from today the bell comes every hour", date(2026, 2, 20), change=False)
    Bounds(since='2026-02-20', until=None, is_over=False)
    >>> bounds("until yesterday it was coffee", date(2026, 2, 18), change=False)
    Bounds(since=None, until='2026-02-18', is_over=True)
    """
    since = _since(clause, at, change=change)
    until = _until(clause, at, ahead=not is_past)
    is_over = until is not None and at is not None and until <= at.isoformat()
    return Bounds(since, until, is_over)


def _since(clause: str, at: date | None, *, change: bool) -> str | None:
    if at is not None and _HOUR.search(clause):
        return at.isoformat()
    for match in _SINCE.finditer(clause):
        if match.group().lower().startswith("from") and re.match(
            r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\sto\b",
            clause[match.end() :],
            re.IGNORECASE,
        ):
            continue
        found = _start(clause[match.end() :], at, word=match.group().split()[0].lower())
        if found:
            return found
    if at is None:
        return None
    day = _event_day(clause, at) if change else None
    if day is not None:
        return day.isoformat()
    return at.isoformat() if _NOW.search(clause) else None


def _event_day(clause: str, at: date) -> date | None:
    """Return the day of the change that a clause tells."""
    for each in expressions.find(clause, at):
        if each.day and not _UNTIL_BEFORE.search(clause, 0, each.start):
            return each.day
    for each in expressions.find(clause, at, lies="past"):
        if is_event_day(clause, each.start, (each.first, each.until), at):
            return each.first
    return None


def _both_ways(text: str, at: date) -> Iterator[tuple[TimeExpression, TimeExpression]]:
    """The time expressions of a text, as if what they are of lay behind, and ahead."""
    return zip(
        expressions.find(text, at, lies="past"),
        expressions.find(text, at, lies="plan"),
        strict=True,
    )


def _nearer(behind: TimeExpression, ahead: TimeExpression, at: date) -> TimeExpression:
    """The nearer of two readings; what is near on neither side is not certain."""
    best = min((behind, ahead), key=lambda each: abs((each.first - at).days))
    is_near = best.kind not in {"past", "plan"} or abs((best.first - at).days) <= RECENT
    return best._replace(certain=best.certain and is_near)


def _start(text: str, at: date | None, *, word: str) -> str:
    """Return the first day of the period that a text begins with.

    "Since May" lies behind; "from May" is the nearer of the two, "from Monday" the next, "as of Monday" may be today.
    """
    today = _WEEKDAY.match(text)
    if word == "as" and at and today and today.group().lower() == f"{at:%A}".lower():
        return at.isoformat()
    behind = _first_day(text, at, ahead=False)
    if word == "since" or at is None:
        return behind
    ahead = _first_day(text, at, ahead=True)
    if not behind or not ahead or _WEEKDAY.match(text):
        return ahead or behind
    distance, day = min((abs((date.fromisoformat(day) - at).days), day) for day in (ahead, behind))
    return day if distance <= RECENT else ""


def _first_day(text: str, at: date | None, *, ahead: bool) -> str:
    found, _ = day_at(text, at, ahead=ahead)
    if len(found) == _ISO_DAY:
        return found
    for each in expressions.find(
        f"in {text[:40]}", at or _NO_DAY, lies="plan" if ahead else "past"
    ):
        if each.start <= len("in ") and each.certain and (at is not None or not each.relative):
            return each.first.isoformat()
    return ""


def _until(clause: str, at: date | None, *, ahead: bool) -> str | None:
    for match in _UNTIL.finditer(clause):
        rest = clause[match.end() :]
        if at is not None and re.match(r"yesterday\b|last\snight\b", rest, re.IGNORECASE):
            return at.isoformat()
        found, _ = day_at(rest, at, ahead=ahead)
        if len(found) == _ISO_DAY:
            return found
    more = _FOR_MORE.search(clause) if " more " in clause or " another " in clause else None
    if more and at is not None and (count := number(more.group(1))).isdigit():
        step = {"day": 1, "week": 7, "month": 30}[more.group(2).lower()]
        return (at + timedelta(days=int(count) * step)).isoformat() if step < 30 else None
    return None


def lasted(text: str, until: str | None) -> str | None:
    """Return the first day of what lasted so long that it ended on a day.

    >>> lasted("The mill was switched off today, after 47 days.", "2026-02-14")
    '2025-12-29'
    """
    match = _LASTED.search(text) if until else None
    count = number(match.group(1)) if match else ""
    if match is None or until is None or not count.isdigit() or len(count) > 4:
        return None
    days = int(count) * {"day": 1, "week": 7}[match.group(2).lower()]
    return (date.fromisoformat(until) - timedelta(days=days)).isoformat()
