"""The periods that a question asks about: its time expressions with prepositions and conjunctions.

"since March", "before 2024", "from Monday to Wednesday", "between Christmas and New Year". Open sides are
None. Adjacent bounds form one condition ("in June before May 2020") and intersect; separate conditions form
a union.
"""

import re
from datetime import date, datetime, timedelta

from clsm_cli.model import clocks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.language_data import pattern
from clsm_cli.text.time import expressions
from clsm_cli.text.time.expressions import TimeExpression
from clsm_cli.text.time.forms import holiday_cues

_ROUGHLY = (" around", " circa", " roughly", " approximately", " sometime in")
VAGUE = frozenset({"recently", "lately", "just now"})
"""Words that are ignored if a question names another time: the event may be recent as of that time."""
MAX_CHARS = 2000  # characters of a question to read: more is quoted text


class Bound(NamedTuple):
    """A span of a question that says when."""

    start: int  # including a preposition
    end: int
    first: date | None  # first day; None: open
    until: date | None  # day after the last; None: open
    hard: bool  # whether the words fix the bounds
    limit: str = ""  # preposition or conjunction ("since", "between"); empty for a plain period


class Times(NamedTuple):
    """The times that a question asks about."""

    bounds: tuple[Bound, ...]
    periods: tuple[
        tuple[date | None, date | None], ...
    ]  # disjoint, in order; None for an open side
    contradictory: bool  # whether a condition leaves no day
    hard: bool  # whether the words fix the bounds of all


def read_times(text: str, at: date | datetime) -> Times:
    """Read the times that a question asks about.

    >>> times = read_times("What did I eat from Monday to Wednesday?", date(2025, 10, 10))
    >>> [(str(first), str(until)) for first, until in times.periods]
    [('2025-10-06', '2025-10-09')]
    >>> read_times("in June before May 2020 after 2021", date(2026, 2, 24)).contradictory
    True
    """
    bounds = find_bounds(text[:MAX_CHARS], at.date() if isinstance(at, datetime) else at)
    met: list[tuple[date, date]] = []
    contradictory = False
    for together in _conditions(text, bounds):
        first, until = date.min, date.max
        for each in together:
            first, until = max(first, each.first or date.min), min(until, each.until or date.max)
        if first < until:
            met.append((first, until))
        else:
            contradictory = True
    return Times(
        tuple(bounds),
        tuple(
            (None if first == date.min else first, None if until == date.max else until)
            for first, until in clocks.united(met)
        ),
        contradictory and not met,
        bool(bounds) and all(each.hard for each in bounds),
    )


def find_bounds(text: str, at: date) -> list[Bound]:
    """Return the bounds of a question, in order, without overlaps."""
    plain = [
        each
        for each in expressions.find_expressions(text, at, is_question=True)
        if each.first.year >= clocks.FIRST_YEAR and each.until.year <= clocks.LAST_YEAR
    ]
    found: list[Bound] = []
    for match in pattern("bounds.limit").finditer(text):
        place = match.start()
        is_inside = any(each.start < place < each.end for each in plain)
        if is_inside or (found and place < found[-1].end):
            continue
        try:
            limited = _read_limited(text, match, at)
        except (ValueError, OverflowError):
            continue  # a day outside the years 1 to 9999
        if limited:
            found.append(limited)
    limits = [(each.start, each.end) for each in found]
    found += [
        each
        for each in _plain_bounds(text, plain, at)
        if not any(start < each.end and each.start < end for start, end in limits)
    ]
    bounding = [each for each in found if text[each.start : each.end].lower() not in VAGUE]
    return sorted(bounding or found, key=lambda each: (each.start, each.end))


def _read_limited(text: str, match: re.Match[str], at: date) -> Bound | None:
    """Read "since X", "before X", "from X to Y"."""
    word = " ".join(match["word"].lower().split())
    here = expressions.expression_after(text, match.end(), at)
    if here is None or pattern("bounds.limit").match(text, match.end()):
        return None
    if word in {"between", "from"}:
        join = pattern("bounds.join").match(text, here.end)
        there = expressions.expression_after(text, join.end(), at) if join else None
        if join and there and (word == "from" or (join["word"] or "and") == "and"):
            return _range(match.start(), here, there, is_between=word == "between")
        if word == "between" and pattern("bounds.pair").match(here.text):
            return _as_bound(here)._replace(start=match.start())
        if word == "from" and (on := pattern("bounds.onwards").match(text, here.end)):
            return Bound(match.start(), on.end(), here.first, None, here.precise, "since")
        return None
    first: date | None = None
    until: date | None = None
    if word == "since":
        first, until = here.first, max(at, here.first) + timedelta(days=1)
    elif word in {"after", "later than"}:
        first = here.until
    elif word in {"before", "prior to", "earlier than"}:
        until = here.first
    else:
        until = here.until
    return Bound(match.start(), here.end, first, until, here.precise, word)


def _range(start: int, here: TimeExpression, there: TimeExpression, *, is_between: bool) -> Bound:
    """From the first day of one period to the last of another; between two holidays excludes both."""
    first, until = here.first, there.until
    if here.relative and (first > there.first or not there.relative):
        first = _shift_start(here, there.first)
    feasts = (any(cue in each.text.lower() for cue in holiday_cues()) for each in (here, there))
    if is_between and all(feasts):
        first, until = first + (here.until - here.first), there.first
    return Bound(start, there.end, first, until, here.precise and there.precise, "from")


def _shift_start(here: TimeExpression, before: date) -> date:
    """Move the start of a range to the latest one before its end: by years, a weekday by weeks."""
    if here.text.lower().strip().split(" ")[0].endswith("day"):
        return here.first - timedelta(days=7 * -(-(here.first - before).days // 7))
    day = min(here.first.day, 28) if here.first.month == 2 else here.first.day
    moved = here.first.replace(year=before.year, day=day)
    return moved if moved <= before else moved.replace(year=before.year - 1)


def _plain_bounds(text: str, plain: list[TimeExpression], at: date) -> list[Bound]:
    """Plain periods; "to" or a dash joins two to one range, and lists of months stay several."""
    found: list[Bound] = []
    place = 0
    while place < len(plain):
        each = plain[place]
        place += 1
        after = plain[place] if place < len(plain) else None
        join = pattern("bounds.join").fullmatch(text, each.end, after.start) if after else None
        if after and join and (join["word"] or "to").lower() != "and":
            found.append(_range(each.start, each, after, is_between=False))
            place += 1
            continue
        if f" {text[: each.start].lower()}".rstrip().endswith(_ROUGHLY):
            side = timedelta(days=3 if (each.until - each.first).days < 8 else 10)
            each = each._replace(first=each.first - side, until=each.until + side, precise=False)
        found += _listed_days(text, each)
        while (more := pattern("bounds.list").match(text, each.end)) and (
            further := expressions.expression_after(text, more.end(), at)
        ):
            if (further.until - further.first).days < 28 or (after and further.end > after.start):
                break
            each = further
            found.append(_as_bound(each))
    return found


def _listed_days(text: str, each: TimeExpression) -> list[Bound]:
    """Days of an enumeration: "5, 6 and 9 February"."""
    before = pattern("bounds.numbers").search(text, max(0, each.start - 40), each.start)
    pair = pattern("bounds.pair").match(each.text)
    if not (before or pair) or each.first.month != (each.until - timedelta(days=1)).month:
        return [_as_bound(each)]
    numbers = [int(number) for number in re.findall(r"\d+", before.group())] if before else []
    numbers += [int(pair[1]), int(pair[2])] if pair else []
    days = [each.first.replace(day=number) for number in numbers if 1 <= number <= 28]
    start = before.start() if before else each.start
    found = [Bound(start, each.end, day, day + timedelta(days=1), each.precise) for day in days]
    return found if pair else [*found, _as_bound(each)]


def _as_bound(each: TimeExpression) -> Bound:
    return Bound(each.start, each.end, each.first, each.until, each.precise)


def _conditions(text: str, bounds: list[Bound]) -> list[list[Bound]]:
    """Group adjacent bounds to conditions; enumerations ("in June and July") stay separate."""
    found: list[list[Bound]] = []
    for each in bounds:
        gap = text[found[-1][-1].end : each.start] if found else ""
        is_list = gap.strip() and not each.limit and found and not found[-1][-1].limit
        is_list = is_list or (found and each.start < found[-1][-1].end)
        if found and not is_list and pattern("bounds.together").fullmatch(gap):
            found[-1].append(each)
        else:
            found.append([each])
    return found
