"""Resolve the time expressions of English text to days, and make relative ones absolute.

An expression without a year, or a bare weekday, gives the interval that ``placement`` thinks likelier for
search, and is ``certain`` only if that is nearly sure of it; without evidence nothing is written down. A
question looks back unless its words clearly look ahead. Expressions resolve to days only, so the caller passes
the current day of the store's time zone; times of day are ignored.
"""

import itertools
import re
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Literal

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import compiled, pattern
from clsm_cli.text.time import forms, parts, periods, placement
from clsm_cli.text.time.forms import Groups, Rule
from clsm_cli.text.time.placement import Chances

Direction = Literal["past", "plan"]
Kind = Literal["date", "relative", "past", "plan", "recurring", "unknown"]
"""``date``: has its year; ``relative``: counted from the day of speaking; ``past`` and ``plan``: placed by
the words around it; ``recurring``: comes again and again; ``unknown``: undecided.
"""

LEAST_P, LIKELY_P = 0.94, 0.75
"""Probabilities from which a day is placed, and from which the other side is not searched (own choices, see
``scripts/fit_days.py``).
"""

MAX_PAST_DAYS = 92  # for a past event without its year: the same day ahead is nine months away
MAX_MISSED_DAYS = 45  # age in days up to which a planned day may be one just missed

_YEAR = re.compile(r"(?<![\w.,:/#-])(?:19|20)\d\d(?![\w%/]|[.,:-]\d)")
_YEAR_REACH = 400  # characters around a day in which to look for another year
_YEAR_DAYS, _MONTH_DAYS = 365, 31
_SENTENCE_END, _PARAGRAPH_END = re.compile(r"[.!?]\s+(?=[^\Wa-z])|\n"), re.compile(r"\n\s*\n")
_NUMBER, _WORD = re.compile(r"\d+"), re.compile(r"[^\W\d_]+")
_INEXACT_COUNTS = ("few", "several", "couple")
_DIRECTION_WORDS = frozenset({"last", "past", "this past", "this", "next", "coming", "this coming"})
_ORDINALS = ("last", "next")
_OF = re.compile(r"\bof\s(?:the\s)?$", re.IGNORECASE)  # "the notes of Monday" are of the past
_CUE_REACH = 60  # characters before an expression in which to look for its direction


class TimeExpression(NamedTuple):
    """A span of text that says when; an uncertain one serves search and is never written down."""

    start: int
    end: int
    text: str
    first: date  # first day of the period; if uncertain, of the nearest one
    until: date  # day after the last
    precise: bool  # false if the bounds are vague ("recently", "a few days ago")
    relative: bool  # true if the period depends on the day of speaking
    kind: Kind  # evidence for where it lies
    certain: bool  # whether text and day of speaking leave no other period
    chances: Chances | None = None  # of a day without a year, where it lies

    @property
    def day(self) -> date | None:
        """The single day meant, if it is certain."""
        return self.first if self.certain and (self.until - self.first).days == 1 else None


_VAGUE = re.compile(
    r"few|several|couple|(?:weeks?|fortnights?|months?|years?)\s+ago\b(?!\s+today)|this\s+time",
    re.IGNORECASE,
)
_ANNOTATED = re.compile(r"(?:['\u2019]s\b)?\s{0,3}\((?:\d{4}|\d\d? [A-Z]|[A-Z][a-z]+ \d)")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_IN = " in "  # preposition that months and years need to be found
_PART_REACH = 60  # characters around an offset in which to look for the period of a part
_THE_UNIT = re.compile(
    r"(week|month|quarter|year|decade)\b(?!-|\s(?:before|after)\b)", re.IGNORECASE
)


class _Mode(NamedTuple):
    """How to read a text, see ``find_expressions``."""

    at: date
    is_question: bool = False
    direction: Direction | None = None


def find_expressions(
    text: str, at: date | datetime, *, is_question: bool = False, direction: Direction | None = None
) -> list[TimeExpression]:
    """Return the time expressions of an English text in order, without overlaps.

    It was said ``at`` that time of the speaker's time zone, and may be a question to a memory. ``direction``
    is where its days lie, if the kind of text decides it: a task lies ahead.

    >>> [found] = find_expressions("We met two weeks ago.", date(2023, 6, 16))
    >>> found.text, found.first.isoformat(), found.until.isoformat(), found.precise
    ('two weeks ago', '2023-05-29', '2023-06-05', False)
    """
    mode = _Mode(at.date() if isinstance(at, datetime) else at, is_question, direction)
    found = [*_by_parts(text, mode), *_by_rules(text, mode)]
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[TimeExpression] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    if is_question:
        return kept
    return [
        each._replace(certain=False)
        if each.certain and each.kind in {"plan", "past"} and is_beside_other_year(text, each, kept)
        else each
        for each in _doubt_reversed_ranges(text, kept)
    ]


def is_beside_other_year(text: str, day: TimeExpression, found: Iterable[TimeExpression]) -> bool:
    """Whether a day without a year may be of another one, which its sentence names.

    What is told as past may also be of a year that its paragraph named before ("In 2024 we moved. On 9
    February we got the keys."); a plan's is not that of a complete date ("signed on 3 May 2019, it expires
    on 30 October"). ``found`` has the expressions of the text.

    >>> [is_beside_other_year(text, days[-1], days) for text in ("In 2024 it began on 9 May", "It is on 9 May")
    ...  if (days := find_expressions(text, date(2026, 3, 9)))]
    [True, False]
    """
    if not has_month(day.text):
        return False
    is_plan = day.kind == "plan"
    starts = (_SENTENCE_END if is_plan else _PARAGRAPH_END).finditer(
        text, max(0, day.start - _YEAR_REACH), day.start
    )
    begin = max((each.end() for each in starts), default=max(0, day.start - _YEAR_REACH))
    stop = _SENTENCE_END.search(text, day.end, day.end + _YEAR_REACH)
    end = stop.start() if stop else day.end + _YEAR_REACH
    near = [each for each in found if begin <= each.start < end]
    dated = [each for each in near if is_plan and (each.until - each.first).days <= _MONTH_DAYS]
    years = {each.first.year for each in near if (each.until - each.first).days >= _YEAR_DAYS}
    years |= {
        int(year.group())
        for year in _YEAR.finditer(text, begin, end)
        if not any(each.start <= year.start() < each.end for each in dated)
    }
    return not years <= {day.first.year, (day.until - timedelta(days=1)).year}


def has_month(expression: str) -> bool:
    """Whether an expression names a month."""
    return any(month in expression.lower() for month in forms.MONTHS)


def _doubt_reversed_ranges(text: str, found: list[TimeExpression]) -> list[TimeExpression]:
    """Mark both ends of a range as uncertain if it would end before it begins."""
    for place, (one, other) in enumerate(itertools.pairwise(found)):
        if (
            one.certain
            and other.certain
            and one.first > other.first
            and {one.kind, other.kind} & {"plan", "past"}
            and (join := pattern("bounds.join").fullmatch(text, one.end, other.start))
            and (join["word"] or "to").lower() != "and"
        ):
            found[place : place + 2] = one._replace(certain=False), other._replace(certain=False)
    return found


def expression_after(text: str, start: int, at: date) -> TimeExpression | None:
    """The longest time expression of a question that starts at an offset, after a preposition of time."""
    mode = _Mode(at, is_question=True)
    window, lead = _window(text, start)
    return _longest_at([*_by_rules(window, mode), *_by_parts(window, mode)], text, start, lead)


def _period_after(text: str, start: int, mode: _Mode) -> TimeExpression | None:
    """The period after the words for a part.

    Outside questions it must have its year, or be complete by itself: "blocked until the end of March" does
    not say which March.
    """
    window, lead = _window(text, start)
    found = _by_rules(window, mode)
    sure = (each for each in found if mode.is_question or not each.relative or each.start == lead)
    return _longest_at(sure, text, start, lead)


def _window(text: str, start: int) -> tuple[str, int]:
    """The text around an offset with a preposition inserted there, and the offset after it."""
    lead = text[max(0, start - _PART_REACH) : start] + _IN
    return lead + text[start : start + _PART_REACH], len(lead)


def _longest_at(
    found: Iterable[TimeExpression], text: str, start: int, lead: int
) -> TimeExpression | None:
    """The longest of the expressions at the end of a lead, with offsets in the original text."""
    here = [each for each in found if lead - len(_IN) < each.start <= lead < each.end]
    if not here:
        return None
    best = max(here, key=lambda each: each.end)
    end = start + best.end - lead
    return best._replace(start=start, end=end, text=text[start:end])


def absolutise(text: str, at: date | datetime) -> str:
    """Insert after each relative expression the days it means.

    For narratives, which say who said what and when; a statement keeps its words. Calendar days, with or
    without a year, and expressions followed by a date in brackets stay unchanged, so the function is
    idempotent.

    >>> absolutise("I went there yesterday, not last week.", date(2023, 6, 16))
    'I went there yesterday (2023-06-15), not last week (2023-06-05 to 2023-06-11).'
    """
    pieces: list[str] = []
    done = 0
    for each in find_expressions(text, at):
        if not (each.relative and each.certain and each.kind == "relative"):
            continue
        owner = _POSSESSIVE.match(text, each.end)
        is_alone = owner is not None and not text[owner.end() :].lstrip(" ")[:1].isalnum()
        if is_alone or _ANNOTATED.match(text, each.end):
            continue  # "which page is yesterday's" has no noun for that day
        end = owner.end() if owner else each.end
        pieces += text[done:end], f" ({periods.iso_period((each.first, each.until))})"
        done = end
    return "".join([*pieces, text[done:]])


def same_days(a: str, at: date, b: str, then: date) -> bool:
    """Whether the relative expressions of two sentences, each said on its day, mean the same days."""
    one, other = (
        [each[3:5] for each in find_expressions(*said) if each.relative and each.certain]
        for said in ((a, at), (b, then))
    )
    return one == other


def _by_rules(text: str, mode: _Mode) -> Iterator[TimeExpression]:
    folded = text.lower()
    for rule in forms.rules(is_question=mode.is_question):
        has_cues = any(map(folded.__contains__, rule.needs))
        if has_cues and (not rule.also or any(map(folded.__contains__, rule.also))):
            yield from _apply_rule(rule, text, mode)


def _by_parts(text: str, mode: _Mode) -> Iterator[TimeExpression]:
    for start, end, words in parts.find_parts(text):
        whole: TimeExpression | None
        is_the = mode.is_question and "side" not in words and text[:end].lower().endswith("the ")
        try:
            if is_the and (named := _THE_UNIT.match(text, end)):
                days = periods.unit(named[1].lower(), mode.at)
                span = named.span()
                whole = TimeExpression(*span, named[0], *days, True, True, "relative", True)
            else:
                whole = _period_after(text, end, mode)
            if whole is None:
                continue
            first, until = parts.part_of_period(words, (whole.first, whole.until))
        except (ValueError, OverflowError):
            continue
        yield whole._replace(
            start=start,
            text=text[start : whole.end],
            first=first,
            until=until,
            precise=whole.precise and parts.is_precise(words),
        )


def _apply_rule(rule: Rule, text: str, mode: _Mode) -> Iterator[TimeExpression]:
    for match in compiled(rule.pattern).finditer(text):
        groups = {
            name.rstrip("2"): " ".join(value.lower().split())
            for name, value in match.groupdict().items()
            if value
        }
        try:
            kind, ahead, chances = _placement(rule, groups, match, mode)
            if (
                rule.only_ahead
                and ahead is False
                and not (mode.is_question and _has_cue("ahead", match))
            ):
                continue  # "nobody had tried in four months"
            first, until = rule.resolve(groups, mode.at, ahead)
        except (ValueError, OverflowError):
            continue  # 31 June, or a day outside the years 1 to 9999
        precise = rule.precise and not _VAGUE.search(match.group())
        relative = rule.relative or groups.get("year", "").endswith("year")
        is_given = mode.direction is not None
        certain = mode.is_question or (
            rule.precise
            and not _is_ordinal(match, groups)
            and _is_certain(kind, groups, first, mode.at, is_given=is_given)
        )
        yield TimeExpression(
            *match.span(), match.group(), first, until, precise, relative, kind, certain, chances
        )


class _Placement(NamedTuple):
    """The evidence for where a match lies, and whether that is ahead (True), past (False), or unknown."""

    kind: Kind
    ahead: bool | None = None
    chances: Chances | None = None


def _placement(rule: Rule, groups: Groups, match: re.Match[str], mode: _Mode) -> _Placement:
    """Return where a match lies.

    Without certainty, the direction is the likelier one, for search. A question looks back, unless it clearly
    looks ahead or asks what is, or may look ahead and nothing in it looks back.
    """
    if not rule.relative:
        return _Placement("relative" if groups.get("year", "").endswith("year") else "date")
    kind: Kind = "relative"
    if groups.keys() >= {"weekday", "day"}:
        # Of the months or years near it is on that weekday in one, unless the words tell of another.
        kind = "unknown" if _is_elsewhere(rule, groups, match, mode) else "date"
    elif rule.guess and "year" not in groups and groups.get("which", "in") not in _DIRECTION_WORDS:
        if not mode.is_question:
            return _evidence(rule, groups, match, mode)
        if forms.is_foreign(match.group()):
            return _Placement(kind)  # verbs are English
        if _is_asked_ahead(match, groups):
            return _Placement(kind, True)
    return _Placement(kind, _direction(match, mode))


def _evidence(rule: Rule, groups: Groups, match: re.Match[str], mode: _Mode) -> _Placement:
    """Where a match without a year lies by the direction of the text, or by the words around it."""
    if rule.only_ahead:  # "in three days" may tell how long something takes
        direction = _direction(match, mode)
        is_plan = mode.direction == "plan" or (direction and _has_cue("ahead", match))
        return _Placement("plan" if is_plan else "unknown", direction)
    coming, last = (rule.resolve(groups, mode.at, side)[0] for side in (True, False))
    away = (coming - mode.at).days, (mode.at - last).days
    chances = placement.chances(match.string, *match.span(), away)
    ahead, behind, recurs, none = chances
    if mode.direction is not None:
        return _Placement(mode.direction, mode.direction == "plan", chances)
    kind: Kind = "recurring" if recurs > max(ahead, behind, none) else "unknown"
    if max(ahead, behind) >= LEAST_P:
        kind = "plan" if ahead > behind else "past"
    side = ahead > behind if max(ahead, behind) >= LIKELY_P else None
    return _Placement(kind, side, chances)


def _is_elsewhere(rule: Rule, groups: Groups, match: re.Match[str], mode: _Mode) -> bool:
    """Whether the words around a day with its weekday place it on the other side of today, or on no one day."""
    if mode.is_question or mode.direction is not None:
        return False
    first, _ = rule.resolve(groups, mode.at, None)
    undated = {name: word for name, word in groups.items() if name != "weekday"}
    chances = _evidence(rule, undated, match, mode).chances
    own = {"ahead": first >= mode.at, "behind": first <= mode.at}
    return chances is not None and any(
        chance > 0.5 and not own.get(place) for place, chance in chances._asdict().items()
    )


def _is_asked_ahead(match: re.Match[str], groups: Groups) -> bool:
    """Whether a question asks what will be: its last verb before the day is a present one, and none a past."""
    start = match.start("month") if "which" in groups else match.start()  # "was May"
    before, after = match.string[:start], match.string[match.end() :]
    verbs = list(pattern("time.asked verb").finditer(before))
    is_present = bool(verbs) and verbs[-1]["ahead"] is not None
    if not verbs and "?" in after:  # "anything on Friday?"
        is_present = not any(
            pattern(f"time.{each}").search(after) for each in ("asked verb", "done")
        )
    return is_present and not pattern("time.done").search(before) and not _OF.search(before)


def _direction(match: re.Match[str], mode: _Mode) -> bool | None:
    if _has_cue("ahead", match):
        return True
    if _has_cue("may look ahead", match) and not (mode.is_question and _has_cue("behind", match)):
        return True
    return False if mode.is_question or _has_cue("behind", match) else None


def _has_cue(cue: str, match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _CUE_REACH) : match.start()]
    return pattern(f"time.{cue}").search(re.split(r"[.!?;\n]", before)[-1] + "\0") is not None


def _is_certain(kind: Kind, groups: Groups, first: date, at: date, *, is_given: bool) -> bool:
    """Whether an expression can mean no other period than the one found.

    A past event lies at most ``MAX_PAST_DAYS`` back. A planned day is refused if the same day of the previous
    year lies at most ``MAX_MISSED_DAYS`` back; a weekday that is also today's always. If the kind of text gives
    the direction (``is_given``), the day may lie far back.

    >>> from datetime import date
    >>> at, day = date(2026, 3, 9), {"month": "may", "day": "2"}
    >>> [_is_certain(kind, day, date(*when), at, is_given=False) for kind, when in
    ...  (("plan", (2026, 10, 30)), ("plan", (2027, 3, 1)), ("past", (2026, 1, 9)), ("past", (2025, 6, 7)))]
    [True, False, True, False]
    """
    if kind == "relative":
        is_loose = any(word in groups.get("count", "") for word in _INEXACT_COUNTS)
        return not is_loose and _is_unambiguous(groups, first, at)
    if kind == "date":
        named = "" if "year" in groups else groups.get("weekday", "")
        return f"{first:%A}".lower().startswith(named)
    if kind in {"recurring", "unknown"}:
        return False
    distance = (first - at).days
    if "weekday" in groups:
        return distance % 7 != 0
    if kind == "plan":
        # with a count: "we will leave in three days"
        return "count" in groups or 0 <= distance < 365 - MAX_MISSED_DAYS
    return distance <= 0 and (is_given or -distance <= MAX_PAST_DAYS)


def _is_ordinal(match: re.Match[str], groups: Groups) -> bool:
    """Whether "last" or "next" may count within something else: "the last week of July", "the next Friday"."""
    before = match.string[: match.start()].lower()
    return groups.get("which") in _ORDINALS and before.endswith("the ")


def _is_unambiguous(groups: Groups, first: date, at: date) -> bool:
    """Whether both readings of "last" and "next" agree.

    They mean the nearest, or the one of the adjacent week (weekdays) or year (parts of the year). On a
    Wednesday "next Friday" may be in two days or in nine; on a Sunday it is in five.
    """
    which = groups.get("which", "")
    step = {"last": -1, "next": 1}.get(which)
    if step is None:
        return which != "this" or "weekday" not in groups or first >= at
    if groups.get("unit") == "weekend":
        return step == -1 or at.weekday() >= periods.SATURDAY
    if groups.keys() & {"month", "season", "holiday"}:
        return first.year == at.year + step
    if "weekday" in groups:
        week, this = (periods.unit("week", day)[0] for day in (first, at))
        return week == this + timedelta(days=7 * step)
    return True


@lru_cache(maxsize=1024)
def is_day(title: str, of: str | None = None) -> bool:
    """Whether a heading is only a day: in English, or in any language the day ``of`` its note.

    >>> is_day("2 March 2026, Monday"), is_day("March rent")
    (True, False)
    >>> is_day("Samstag, 14. März", "2026-03-14"), is_day("2026-03-14 form data", "2026-03-14")
    (True, False)
    """
    rest = title
    for found in find_expressions(title, date(2000, 1, 1)):
        rest = rest.replace(found.text, "")
    return not any(map(str.isalpha, rest)) or (of is not None and _is_own_day(title, of))


def names_time(name: str) -> bool:
    """Whether a string is the name of a time, possibly a recurring one.

    >>> [each for each in ("March", "Fridays", "Q3", "Friday Club", "Will") if names_time(each)]
    ['March', 'Fridays', 'Q3']
    """
    for form in {name, name.removesuffix("s")}:
        asked = f"in {form}"
        found = find_expressions(asked, date(2000, 1, 1), is_question=True)
        if [each.end for each in found] == [len(asked)] and found[0].start <= len("in "):
            return True
    return False


def _is_own_day(title: str, day: str) -> bool:
    """Whether a heading has the numbers of a day, and at most one word each for weekday and month."""
    numbers = set(map(int, _NUMBER.findall(title)))
    own = [int(part) for part in _NUMBER.findall(day[:10])]
    if len(own) < 3 or own[2] not in numbers or not numbers <= {*own}:
        return False
    return len(_WORD.findall(title)) <= (1 if own[1] in numbers else 2)
