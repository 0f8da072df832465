"""The day ahead that a text names, to be reminded of it.

Days that their words place are known to ``expressions``. A day without a year that nothing places
("Dentist on 4 November, 8:50") is the coming one where the other reading lies months further away: a
note tells of what was with a verb.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from clsm_cli.text.language_data import pattern
from clsm_cli.text.time import clauses, expressions
from clsm_cli.text.time.expressions import TimeExpression

_MAX_STRETCH_DAYS = 14  # longest "11 to 13 November" that counts as its first day


def day_ahead(text: str, at: date, since: date | None = None, *, start: int = 0) -> str | None:
    """The first day that a text names after it was written, as ISO text.

    Args:
        at: The day on which it was written, or the last on which it may have been.
        since: The first such day: what it names counts only if it is the same for both.
        start: Where the text begins; a heading before it may name the year of its days.

    >>> day_ahead("They meet on 17 March 2026.", date(2026, 2, 23))
    '2026-03-17'
    >>> day_ahead("Dentist on 17 March, 8:50", date(2026, 2, 23))
    '2026-03-17'
    >>> day_ahead("They met on 17 March.", date(2026, 2, 23)) is None
    True
    >>> day_ahead("2027: Booked for 17 March", date(2026, 2, 23), start=6) is None
    True
    >>> day_ahead("Dentist on 17 March, not tomorrow", date(2026, 2, 23))
    '2026-03-17'
    >>> day_ahead("Dentist on 17 March, choir tomorrow", date(2026, 2, 23), date(2026, 2, 20))
    '2026-03-17'
    """
    item = text[start:]
    read = [
        {*_named_days(text, day, start), *_numbered_days(item, day)} for day in {at, since or at}
    ]
    return min((day.isoformat() for day in set.intersection(*read) if day > at), default=None)


def _named_days(text: str, at: date, start: int) -> Iterator[date]:
    """The certain days of a text, and the coming ones of those that nothing in it places."""
    found = expressions.find_expressions(text, at)
    for each in [each for each in found if each.start >= start]:
        if clauses.is_denied(clauses.clause_at(text, each.start, each.end)):
            continue
        is_short = (each.until - each.first).days <= _MAX_STRETCH_DAYS
        is_short = is_short and expressions.has_month(each.text)
        if each.certain and is_short:
            yield each.first
        elif expressions.is_beside_other_year(text, each, found):
            continue
        elif day := each.day or (_coming(text, each, at) if is_short else None):
            yield day


def _coming(text: str, found: TimeExpression, at: date) -> date | None:
    """The next day of an expression with a month and no year, if it is much nearer than the last one."""
    if clauses.is_no_plan(clauses.clause_at(text, found.start, found.end)):
        return None
    try:
        day = found.first if found.first > at else found.first.replace(year=found.first.year + 1)
    except ValueError:
        return None  # 29 February
    return day if (day - at).days <= expressions.MAX_PAST_DAYS else None


def _numbered_days(text: str, at: date) -> Iterator[date]:
    """The days of "on the 24th": of those ahead and behind the nearer one, unless the words tell."""
    for found in pattern("time.numbered day").finditer(text):
        number, clause = int(found["day"]), clauses.clause_at(text, found.start("day"), found.end())
        if not 1 <= number <= 31 or clauses.is_no_plan(clause):
            continue
        coming, last = (
            next(day for n in range(1, 63) if (day := at + timedelta(side * n)).day == number)
            for side in (1, -1)
        )
        if clauses.kind_of(clause, {"month": ""}) == "plan" or coming - at < at - last:
            yield coming
