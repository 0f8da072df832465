"""Where a day without a year lies, from the words around it, and whether that is certain.

"3 August", "in May" or a bare "Friday" names a day of every year or week. Its words place it: what
expires, is due, booked or planned lies ahead; what a verb tells as done lies behind; what recurs has
no year at all. Only closed classes of English words count as evidence (auxiliaries, prepositions,
what falls due, what recurs); where they are missing or at odds, nothing is known.
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Literal

from clsm_cli.text.time import periods

if TYPE_CHECKING:
    from datetime import date

    from clsm_cli.text.time.forms import Groups, Rule
    from clsm_cli.text.time.periods import Period

Kind = Literal["date", "relative", "past", "plan", "recurring", "unknown"]
"""``date``: names its year; ``relative``: counted from the day of speaking; ``past`` and ``plan``:
placed by the words around it; ``recurring``: comes again and again; ``unknown``: nothing tells."""
Lies = Literal["past", "plan"]

RECENT = 92
"""Days behind up to which a past event needs no year: the same day ahead is then nine months away."""
MISSED = 45
"""Days behind up to which a planned day may as well be the one just missed."""

_AHEAD = (
    r"(?i)\b(?:will|won't|shall|gonna|going\sto|upcoming|due|deadline|scheduled)\b"
    r"|\w['\u2019]ll\b"
)
_MAY_LOOK_AHEAD = (
    r"(?i)\b(?:plan(?:s|ning)?|hop(?:e|es|ing)\sto|looking\sforward|can't\swait|want\sto)\b|"
    r"\b(?:until|by)\s(?:the\s|this\s|next\s)?\0"
)
_PASTS = (
    r"was|were|had|did|arose|ate|awoke|became|began|bent|bit|bled|blew|bore|bought|"
    r"bound|bred|broke|brought|built|burnt|came|caught|chose|clung|crept|dealt|drank|"
    r"dreamt|drew|drove|dug|fed|fell|felt|fled|flew|flung|forbade|forgave|forgot|"
    r"fought|found|froze|gave|got|grew|ground|heard|held|hid|hung|kept|knelt|knew|"
    r"laid|lay|leant|leapt|learnt|led|left|lent|lit|lost|made|meant|met|overcame|"
    r"paid|ran|rang|rode|rose|said|sang|sank|sat|saw|sent|shone|shook|shot|shrank|"
    r"slept|slid|slung|smelt|sold|sought|spelt|spent|spilt|spoilt|spoke|sprang|sprung|"
    r"spun|stank|stole|stood|strode|struck|strove|stuck|stung|swam|swept|swore|swung|"
    r"taught|thought|threw|told|took|tore|trod|undertook|understood|undid|upheld|went|"
    r"wept|withdrew|woke|won|wore|wound|wove|wrote|didn['\u2019]t"
)
"""Simple pasts of irregular verbs that are no other form of the verb (Quirk et al., A Comprehensive
Grammar of the English Language, 1985, 3.11-3.20)."""
_BEHIND = rf"(?i)\b(?:{_PASTS}|last|ago|since|\w{{2,30}}ed)\b"
_FALLS_DUE = (
    r"(?i)\b(?:will|won['\u2019]t|shall|gonna|(?:going|about)\sto|due|deadline|upcoming|expir(?:es?|y|ing|ation)|valid|lapses?|runs?\sout|renews?|"
    r"appointment|(?:re)?scheduled?|planned|book(?:ed|ing)?|reserv(?:ed|ations?)|tickets?|postponed|"
    r"no\slater\sthan)\b|\w['\u2019]ll\b"
)
_LIMIT_BEFORE = r"(?i)\b(?:until|till|by|before)\s(?:the\s|next\s|this\s)?$"
_PUT_OFF_BEFORE = (
    r"(?i)\b(?:moved|shifted|pushed|postponed|rescheduled|delayed|slipped|extended|renewed|brought\sforward)\b"
    r"[^,;]{0,60}\b(?:to|until|till)\s(?:the\s)?$"
)
_IS_ON_BEFORE = r"(?i)\b(?:is|are)\s(?:now\s|again\s)?on\s(?:the\s)?$"
_RECURS = (
    r"(?i)\b(?:every|each|annual(?:ly)?|yearly|monthly|weekly|birthdays?|born|anniversary|name\sday|"
    r"always|usually|normally|often|sometimes|whenever|from\snow\son|no\slonger|any\s?more|"
    r"used\sto|founded|established|married|died)\b"
)
_OPEN = r"(?i)\b(?:if|whether|unless|would|could|should|might|maybe|perhaps|instead|rather|(?-i:may))\b|\?"
_DONE = (
    rf"(?i)(?<!to\s)\b(?:{_PASTS}|"
    r"(?<!\bis\s)(?<!\bare\s)(?<!\bbe\s)(?<!\bbeen\s)(?<!\bbeing\s)(?<!\bget\s)(?<!\bgets\s)"
    r"(?<!\bhave\s)(?<!\bhas\s)\w{2,30}ed)\b"
)
_ASIDE = r"(?i)\b(?:for|to|about|until|till|by|before|from|through|between|and|but|not|of)\s"
_ON_BEFORE = r"(?i)(?:\bon|\bin)\s(?:the\s)?$"
_SINCE_BEFORE = r"(?i)\bsince\s(?:the\s)?$"
_LABEL = r":\**\s*$"
"""A label tells of its value: "Deadline: 1 October"."""
_ENDS = r"[.!?;:\n]"
_LOOSE = r"few|several|couple"
_CHOOSES = frozenset({"last", "past", "this past", "this", "next", "coming", "this coming"})
_SATURDAY = 5
_REACH = 80
"""Characters on either side that may make a day certain."""
_BEFORE = 60
"""Characters before it that may tell where it more likely lies."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def placement(
    rule: Rule, groups: Groups, match: re.Match[str], *, asked: bool, lies: Lies | None
) -> tuple[Kind, bool | None]:
    """Return what places a match, and whether that is ahead (True), behind (False), or not told (None).

    Where nothing is certain, the direction is the likelier one, to search by. A question looks back,
    unless it plainly looks ahead, or may and nothing in it looks back.
    """
    if not rule.relative:
        return "relative" if groups.get("year", "").endswith("year") else "date", None
    kind: Kind = "relative"
    if groups.keys() >= {"weekday", "month"}:
        kind = "date"  # of the years near it is on that weekday in one
    elif rule.guess and not _is_chosen(groups):
        if lies is not None:
            return lies, lies == "plan"
        kind = "relative" if asked else evidence_kind(match, groups)
        if kind in {"plan", "past"}:
            return kind, kind == "plan"
    if looks_ahead(match):
        return kind, True
    if _says(_MAY_LOOK_AHEAD, match) and not (asked and _says(_BEHIND, match)):
        return kind, True
    return kind, False if asked or _says(_BEHIND, match) else None


def looks_ahead(match: re.Match[str]) -> bool:
    """Whether the words before a match plainly look ahead."""
    return _says(_AHEAD, match)


def _says(cue: str, match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    return _compiled(cue).search(re.split(r"[.!?;\n]", before)[-1] + "\0") is not None


def evidence_kind(match: re.Match[str], groups: Groups) -> Kind:
    """Return where a day lies by the words of its clause.

    Of its groups, ``month`` tells a day of the calendar from a bare weekday: "choir is on Thursday"
    tells of every Thursday.

    >>> pattern, may = re.compile("2 May"), {"month": "may"}
    >>> told = "it expires on 2 May", "we met on 2 May", "born on 2 May", "the file of 2 May"
    >>> [evidence_kind(pattern.search(each), may) for each in told]
    ['plan', 'past', 'recurring', 'unknown']
    """
    text, end = match.string, match.end()
    start = match.start("month") if groups.get("which") else match.start()
    lead = text[max(0, start - _REACH) : start]
    before = _compiled(_ENDS).split(_compiled(_LABEL).sub(" ", lead))[-1]
    after = text[end : end + _REACH]
    stop = _compiled(_ENDS).search(after)
    is_asked = stop is not None and stop.group() == "?"
    after = after[: stop.start()] if stop else after
    clause = f"{before}\0{after}"
    if _compiled(_RECURS).search(clause):
        return "recurring"
    if is_asked or _compiled(_OPEN).search(clause):
        return "unknown"
    signs = [_compiled(_FALLS_DUE).search(clause), _compiled(_LIMIT_BEFORE).search(before)]
    if "month" in groups:
        signs += [
            _compiled(_PUT_OFF_BEFORE).search(before),
            _compiled(_IS_ON_BEFORE).search(before),
        ]
    is_plan, is_past = any(signs), _is_past(before, after)
    if is_plan == is_past:
        return "unknown"
    return "plan" if is_plan else "past"


def _is_past(before: str, after: str) -> bool:
    """Whether a verb that tells what was done has the day as its own time."""
    if _compiled(_SINCE_BEFORE).search(before):
        return True
    if not before.strip() or _compiled(_ON_BEFORE).fullmatch(before.strip() + " "):
        return _compiled(_DONE).search(after) is not None  # "On 6 January we took the tree down"
    verbs = list(_compiled(_DONE).finditer(before))
    if not verbs or not _compiled(_ON_BEFORE).search(before):
        return False
    return _compiled(_ASIDE).search(before[verbs[-1].end() :]) is None


def is_certain(kind: Kind, groups: Groups, found: Period, at: date, *, is_told: bool) -> bool:
    """Whether an expression has no other period than the one found.

    A past event lies at most ``RECENT`` days back. A planned day is refused where the same day of
    the year before lies at most ``MISSED`` days back; a weekday that is also today's always.

    Args:
        groups: Named groups of its match.
        is_told: Whether what it is of places it, rather than its clause: then it may lie far back.

    >>> from datetime import date
    >>> at, day = date(2026, 3, 9), {"month": "may", "day": "2"}
    >>> [is_certain(kind, day, periods.days(date(*when)), at, is_told=False) for kind, when in
    ...  (("plan", (2026, 10, 30)), ("plan", (2027, 3, 1)), ("past", (2026, 1, 9)), ("past", (2025, 6, 7)))]
    [True, False, True, False]
    """
    if kind == "relative":
        return not _compiled(_LOOSE).search(groups.get("count", "")) and _agree(
            groups, found[0], at
        )
    if kind == "date":
        named = "" if "year" in groups else groups.get("weekday", "")
        return named in {"", f"{found[0]:%A}".lower()}
    if kind in {"recurring", "unknown"}:
        return False
    distance = (found[0] - at).days
    if "weekday" in groups:
        return distance % 7 != 0
    if kind == "plan":
        return "count" in groups or 0 <= distance < 365 - MISSED  # "we will leave in three days"
    return distance <= 0 and (is_told or -distance <= RECENT)


def _agree(groups: Groups, first: date, at: date) -> bool:
    """Whether both readings of "last" and "next" are the same.

    They are the nearest, and that of the next week (of a weekday) or year (of a part of the year). On
    a Wednesday "next Friday" may be in two days or in nine; on a Sunday it is in five.
    """
    which = groups.get("which", "")
    step = {"last": -1, "next": 1}.get(which)
    if step is None:
        return which != "this" or "weekday" not in groups or first >= at
    if groups.get("unit") == "weekend":
        return step == -1 or at.weekday() >= _SATURDAY
    if groups.keys() & {"month", "season", "holiday"}:
        return first.year == at.year + step
    if "weekday" in groups:
        return periods.week(first)[0] == periods.week(at)[0] + timedelta(days=7 * step)
    return True


def _is_chosen(groups: Groups) -> bool:
    return "year" in groups or groups.get("which", "in") in _CHOOSES
