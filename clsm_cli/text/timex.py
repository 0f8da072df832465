"""Time expressions of English text, resolved to days, and relative ones made absolute.

What names no year, or only a weekday, is the nearest in the past, unless the words before it in the
same clause look ahead ("we will meet on Friday"). A question looks back unless its words plainly
look ahead. Only days are resolved, so the caller decides, in
the store's time zone, which day it is; an hour of the day says nothing here.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.text import timex_parts
from clsm_cli.text import timex_units as units
from clsm_cli.text.periods import shown
from clsm_cli.text.timex_asked import ASKED
from clsm_cli.text.timex_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clsm_cli.text.timex_rules import Rule


class TimeExpression(NamedTuple):
    """A stretch of text that says when.

    Attributes:
        start: its first character.
        end: the character after its last.
        text: the expression as written.
        first: first day of the period meant.
        until: the day after its last.
        precise: false where the words leave the bounds open ("recently", "a few days ago").
        relative: true where the period depends on the day of speaking.
        certain: false where nothing says whether a bare weekday lies behind or ahead ("the plumber
            comes on Friday"): the nearest past one is then no more than a guess.
    """

    start: int
    end: int
    text: str
    first: date
    until: date
    precise: bool
    relative: bool
    certain: bool = True


_AHEAD = (
    r"(?i)\b(?:will|won't|shall|gonna|going\sto|upcoming|due|deadline|scheduled)\b"
    r"|\w['\u2019]ll\b"
)
_MAY_LOOK_AHEAD = (
    r"(?i)\b(?:plan(?:s|ning)?|hop(?:e|es|ing)\sto|looking\sforward|can't\swait|want\sto)\b|"
    r"\b(?:until|by)\s(?:the\s|this\s|next\s)?\0"
)
_BEHIND = (
    r"(?i)\b(?:was|were|had|did|didn't|went|came|said|told|met|saw|got|made|took|gave|found|bought|"
    r"left|sent|wrote|read|spent|felt|began|ran|ate|brought|kept|lost|last|ago|since|\w{2,30}ed)\b"
)
_VAGUE = re.compile(
    r"few|several|couple|(?:weeks?|fortnights?|months?|years?)\s+ago\b(?!\s+today)|this\s+time",
    re.IGNORECASE,
)
_ANNOTATED = re.compile(r"(?:['\u2019]s\b)?\s{0,3}\((?:\d{4}|[A-Z][a-z]+ \d)")
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_SAME_TIME = re.compile(
    r"(?:['\u2019]s)?[\s,:()\u2013-]{0,4}(?:(?:is|was|on|the|of)\s){0,3}\(?", re.IGNORECASE
)
"""What may stand between a day and the same day, told again."""
_IN = " in "
"""Months and years need a preposition to be found."""
_REACH = 60
"""Characters before a match that may tell where it lies, and in which a part's period is looked for."""
_THE_UNIT = re.compile(
    r"(week|month|quarter|year|decade)\b(?!-|\s(?:before|after)\b)", re.IGNORECASE
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find(text: str, at: date | datetime, *, asked: bool = False) -> list[TimeExpression]:
    """Return the time expressions of a text in order, without overlaps.

    Args:
        text: English prose or a question.
        at: when it was said, in the time zone of who said it.
        asked: whether it is a question to a memory.

    >>> [found] = find("We met two weeks ago.", date(2023, 6, 16))
    >>> found.text, found.first.isoformat(), found.until.isoformat(), found.precise
    ('two weeks ago', '2023-05-29', '2023-06-05', False)
    """
    day = at.date() if isinstance(at, datetime) else at
    found = [*_parts(text, day, asked=asked), *_all(text, day, asked=asked)]
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[TimeExpression] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def behind(text: str, start: int, at: date) -> TimeExpression | None:
    """The longest time expression of a question that begins at a place behind a preposition of time.

    >>> behind("since March", 6, date(2026, 2, 24)).first.isoformat()
    '2025-03-01'
    """
    window, lead = _window(text, start)
    found = [*_all(window, at, asked=True), *_parts(window, at, asked=True)]
    return _placed(found, text, start, lead)


def _inside(text: str, start: int, at: date, *, asked: bool) -> TimeExpression | None:
    """The period that a part is of, named behind it.

    In what is told it must have its year, or stand by its own words: "blocked until the end of
    March" does not say which March.
    """
    window, lead = _window(text, start)
    found = _all(window, at, asked=asked)
    sure = (each for each in found if asked or not each.relative or each.start == lead)
    return _placed(sure, text, start, lead)


def _window(text: str, start: int) -> tuple[str, int]:
    """What stands around a place, with a preposition put there, and where that ends."""
    lead = text[max(0, start - _REACH) : start] + _IN
    return lead + text[start : start + _REACH], len(lead)


def _placed(
    found: Iterable[TimeExpression], text: str, start: int, lead: int
) -> TimeExpression | None:
    """The longest of the expressions at the end of a lead, as it stands in the text itself."""
    here = [each for each in found if lead - len(_IN) < each.start <= lead < each.end]
    if not here:
        return None
    best = max(here, key=lambda each: each.end)
    end = start + best.end - lead
    return best._replace(start=start, end=end, text=text[start:end])


def absolutise(text: str, at: date | datetime) -> str:
    """Insert after each relative expression the days it means, where that is certain.

    Absolute expressions, those that already have a date in brackets, and those whose date stands
    beside them stay as they are; so doing it twice is doing it once.

    >>> absolutise("I went there yesterday, not last week.", date(2023, 6, 16))
    'I went there yesterday (2023-06-15), not last week (2023-06-05 to 2023-06-11).'
    >>> absolutise("It is done today, 16 June.", date(2023, 6, 16))
    'It is done today (2023-06-16), 16 June.'
    """
    pieces: list[str] = []
    done = 0
    found = find(text, at)
    dated: TimeExpression | None = None
    for each, after in zip_longest(found, found[1:]):
        if (
            not each.relative
            or _ANNOTATED.match(text, each.end)
            or (dated and _repeats(text, dated, each))
            or (after and not after.relative and _repeats(text, each, after))
        ):
            dated = each
        elif each.certain:
            owner = _POSSESSIVE.match(text, each.end)
            if owner and not text[owner.end() :].lstrip(" ")[:1].isalnum():
                continue  # "which page is yesterday's": nothing of that day is named
            end = owner.end() if owner else each.end
            pieces += text[done:end], f" ({shown((each.first, each.until))})"
            done, dated = end, each
    return "".join([*pieces, text[done:]])


def _repeats(text: str, each: TimeExpression, after: TimeExpression) -> bool:
    """Whether an expression names the same day as the one right before it."""
    same = (each.first, each.until) == (after.first, after.until)
    is_day = (each.until - each.first).days == 1
    return same and is_day and _SAME_TIME.fullmatch(text, each.end, after.start) is not None


def _all(text: str, at: date, *, asked: bool) -> Iterator[TimeExpression]:
    """The expressions of all forms, overlaps included."""
    folded = text.lower()
    for rules in (ASKED, RULES) if asked else (RULES,):
        for rule in rules:
            if any(cue in folded for cue in rule.needs) and (
                not rule.also or any(cue in folded for cue in rule.also)
            ):
                yield from _matches(rule, text, at, asked=asked)


def _parts(text: str, at: date, *, asked: bool) -> Iterator[TimeExpression]:
    """Parts of periods, and what is counted from them."""
    if not any(cue in text.lower() for cue in timex_parts.CUES):
        return
    for part in timex_parts.find(text):
        named = _THE_UNIT.match(text, part.end)
        whole: TimeExpression | None
        if (
            asked
            and named
            and "side" not in part.words
            and text[: part.end].lower().endswith("the ")
        ):
            first, until = units.unit(named[1].lower(), at)
            whole = TimeExpression(*named.span(), named[0], first, until, True, True)
        else:
            whole = _inside(text, part.end, at, asked=asked)
        if whole is None:
            continue
        try:
            first, until = timex_parts.of(part.words, (whole.first, whole.until))
        except (ValueError, OverflowError):
            continue
        yield whole._replace(
            start=part.start,
            text=text[part.start : whole.end],
            first=first,
            until=until,
            precise=whole.precise and part.is_precise,
        )


def _matches(rule: Rule, text: str, at: date, *, asked: bool) -> Iterator[TimeExpression]:
    for match in _compiled(rule.pattern).finditer(text):
        groups = {
            name.rstrip("2"): " ".join(value.lower().split())
            for name, value in match.groupdict().items()
            if value
        }
        try:
            ahead = _direction(match, asked=asked) if rule.relative else None
            if rule.only_ahead and ahead is False and not (asked and _says(_AHEAD, match)):
                continue  # "nobody had tried in four months"
            first, until = rule.resolve(groups, at, ahead)
        except (ValueError, OverflowError):
            continue  # 31 June, or a day outside the years 1 to 9999
        precise = rule.precise and not _VAGUE.search(match.group())
        certain = asked or not rule.guess or ahead is True or _says(_BEHIND, match, after=60)
        relative = rule.relative or groups.get("year", "").endswith("year")
        yield TimeExpression(*match.span(), match.group(), first, until, precise, relative, certain)


def _direction(match: re.Match[str], *, asked: bool) -> bool | None:
    """Whether the words before a match look ahead (True), back (False), or neither (None).

    A question looks back, unless it plainly looks ahead, or may and nothing in it looks back.
    """
    if _says(_AHEAD, match):
        return True
    if _says(_MAY_LOOK_AHEAD, match) and not (asked and _says(_BEHIND, match)):
        return True
    return False if asked or _says(_BEHIND, match) else None


def _says(cue: str, match: re.Match[str], *, after: int = 0) -> bool:
    """Whether a cue stands in the clause before a match, or in the ``after`` characters behind."""
    before = match.string[max(0, match.start() - _REACH) : match.start()]
    behind = match.string[match.end() : match.end() + after]
    clause = re.split(r"[.!?;\n]", before)[-1] + "\0" + re.split(r"[.!?;\n]", behind)[0]
    return _compiled(cue).search(clause) is not None
