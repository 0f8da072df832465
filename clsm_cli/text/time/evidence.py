"""Where a day without a year lies, from the words around it, and whether that is certain.

"3 August", "in May" or a bare "Friday" names a day of every year or week. Its words place it: what
expires, is due, booked or planned lies ahead; what a verb tells as done lies behind; what recurs has
no year at all. Only closed classes of English words count as evidence (auxiliaries, prepositions,
what falls due, what recurs); where they are missing or at odds, nothing is known.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from clsm_cli.text.language_data import pattern
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

_LABEL = re.compile(r":\**\s*$")
"""A label tells of its value: "Deadline: 1 October"."""
_ENDS = re.compile(r"[.!?;:\n]")
_LOOSE = ("few", "several", "couple")
_CHOOSES = frozenset({"last", "past", "this past", "this", "next", "coming", "this coming"})
_REACH = 80
"""Characters on either side that may make a day certain."""
_BEFORE = 60
"""Characters before it that may tell where it more likely lies."""


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
    if _says("may look ahead", match) and not (asked and _says("behind", match)):
        return kind, True
    return kind, False if asked or _says("behind", match) else None


def looks_ahead(match: re.Match[str]) -> bool:
    """Whether the words before a match plainly look ahead."""
    return _says("ahead", match)


def _says(cue: str, match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _BEFORE) : match.start()]
    return pattern(f"time.{cue}").search(re.split(r"[.!?;\n]", before)[-1] + "\0") is not None


def evidence_kind(match: re.Match[str], groups: Groups) -> Kind:
    """Return where a day lies by the words of its clause.

    Of its groups, ``month`` tells a day of the calendar from a bare weekday: "choir is on Thursday"
    tells of every Thursday.

    >>> day, may = re.compile("2 May"), {"month": "may"}
    >>> told = "it expires on 2 May", "we met on 2 May", "born on 2 May", "the file of 2 May"
    >>> [evidence_kind(day.search(each), may) for each in told]
    ['plan', 'past', 'recurring', 'unknown']
    """
    text, end = match.string, match.end()
    start = match.start("month") if groups.get("which") else match.start()
    lead = text[max(0, start - _REACH) : start]
    before = _ENDS.split(_LABEL.sub(" ", lead))[-1]
    after = text[end : end + _REACH]
    stop = _ENDS.search(after)
    is_asked = stop is not None and stop.group() == "?"
    after = after[: stop.start()] if stop else after
    clause = f"{before}\0{after}"
    if pattern("time.recurs").search(clause):
        return "recurring"
    if is_asked or pattern("time.open").search(clause):
        return "unknown"
    signs = [pattern("time.falls due").search(clause), pattern("time.limit before").search(before)]
    if "month" in groups:
        signs += [
            pattern("time.put off before").search(before),
            pattern("time.is on before").search(before),
        ]
    is_plan, is_past = any(signs), _is_past(before, after)
    if is_plan == is_past:
        return "unknown"
    return "plan" if is_plan else "past"


def _is_past(before: str, after: str) -> bool:
    """Whether a verb that tells what was done has the day as its own time."""
    if pattern("time.since before").search(before):
        return True
    if not before.strip() or pattern("time.on before").fullmatch(before.strip() + " "):
        return (
            pattern("time.done").search(after) is not None
        )  # "On 6 January we took the tree down"
    verbs = list(pattern("time.done").finditer(before))
    if not verbs or not pattern("time.on before").search(before):
        return False
    return pattern("time.aside").search(before[verbs[-1].end() :]) is None


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
        return not any(word in groups.get("count", "") for word in _LOOSE) and _agree(
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
        return step == -1 or at.weekday() >= periods.SATURDAY
    if groups.keys() & {"month", "season", "holiday"}:
        return first.year == at.year + step
    if "weekday" in groups:
        return periods.unit("week", first)[0] == periods.unit("week", at)[0] + timedelta(
            days=7 * step
        )
    return True


def _is_chosen(groups: Groups) -> bool:
    return "year" in groups or groups.get("which", "in") in _CHOOSES
