"""Time expressions of English text, resolved to days, and relative ones made absolute.

What names no year, or only a weekday, is the nearest in the past, unless the words before it in the
same clause look ahead ("we will meet on Friday"). Only days are resolved, so the caller decides, in
the store's time zone, which day it is; an hour of the day says nothing here.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.text.periods import shown
from clsm_cli.text.timex_rules import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    r"(?i)\b(?:will|won't|shall|gonna|going\sto|plan(?:s|ning)?|hop(?:e|es|ing)\sto|upcoming|due|"
    r"deadline|looking\sforward|can't\swait|scheduled|want\sto)\b|\w['\u2019]ll\b|"
    r"\b(?:until|by)\s(?:the\s|this\s|next\s)?\0"
)
_BEHIND = (
    r"(?i)\b(?:was|were|had|did|didn't|went|came|said|told|met|saw|got|made|took|gave|found|bought|"
    r"left|sent|wrote|read|spent|felt|began|ran|ate|brought|kept|lost|last|ago|since|\w{2,30}ed)\b"
)
_VAGUE = re.compile(r"few|several|couple|weeks?\s+ago|months?\s+ago|years?\s+ago", re.IGNORECASE)
_ANNOTATED = re.compile(r"(?:['\u2019]s\b)?\s{0,3}\((?:\d{4}|[A-Z][a-z]+ \d)")
_POSSESSIVE = re.compile(r"['\u2019]s\b")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def find(text: str, at: date | datetime) -> list[TimeExpression]:
    """Return the time expressions of a text in order, without overlaps.

    Args:
        text: English prose or a question.
        at: when it was said, in the time zone of who said it.

    >>> [found] = find("We met two weeks ago.", date(2023, 6, 16))
    >>> found.text, found.first.isoformat(), found.until.isoformat(), found.precise
    ('two weeks ago', '2023-05-29', '2023-06-05', False)
    """
    day = at.date() if isinstance(at, datetime) else at
    found = [expression for rule in RULES for expression in _matches(rule, text, day)]
    found.sort(key=lambda each: (each.start, -each.end))
    kept: list[TimeExpression] = []
    for each in found:
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
    return kept


def absolutise(text: str, at: date | datetime) -> str:
    """Insert after each relative expression the days it means, where that is certain.

    Absolute expressions, and those that already have a date in brackets, stay as they are; so doing
    it twice is doing it once.

    >>> absolutise("I went there yesterday, not last week.", date(2023, 6, 16))
    'I went there yesterday (2023-06-15), not last week (2023-06-05 to 2023-06-11).'
    """
    pieces: list[str] = []
    done = 0
    for each in find(text, at):
        if each.relative and each.certain and not _ANNOTATED.match(text, each.end):
            owner = _POSSESSIVE.match(text, each.end)
            if owner and not text[owner.end() :].lstrip(" ")[:1].isalnum():
                continue  # "which page is yesterday's": nothing of that day is named
            end = owner.end() if owner else each.end
            pieces += text[done:end], f" ({shown((each.first, each.until))})"
            done = end
    return "".join([*pieces, text[done:]])


def _matches(rule: Rule, text: str, at: date) -> Iterator[TimeExpression]:
    for match in _compiled(rule.pattern).finditer(text):
        groups = {
            name: " ".join(value.lower().split())
            for name, value in match.groupdict().items()
            if value
        }
        try:
            ahead = _says(_AHEAD, match, after=0)
            behind = not ahead and _says(_BEHIND, match, after=0)
            if rule.only_ahead and behind:
                continue  # "nobody had tried in four months"
            first, until = rule.resolve(groups, at, True if ahead else False if behind else None)
        except (ValueError, OverflowError):
            continue  # 31 June, or a day outside the years 1 to 9999
        precise = rule.precise and not _VAGUE.search(match.group())
        certain = not rule.guess or ahead or _says(_BEHIND, match, after=60)
        yield TimeExpression(
            *match.span(), match.group(), first, until, precise, rule.relative, certain
        )


def _says(cue: str, match: re.Match[str], *, after: int) -> bool:
    """Whether a cue stands in the clause before a match, or in the ``after`` characters behind."""
    before = match.string[max(0, match.start() - 60) : match.start()]
    behind = match.string[match.end() : match.end() + after]
    clause = re.split(r"[.!?;\n]", before)[-1] + "\0" + re.split(r"[.!?;\n]", behind)[0]
    return _compiled(cue).search(clause) is not None
