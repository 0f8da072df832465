"""The day ahead that a text names, to be reminded of it.

Days that their words place are known to ``expressions``. A day without a year that is less sure ("Dentist on
4 November, 8:50") is the coming one if that is probable and near. A birthday's keeps no year.
"""

from collections.abc import Iterator
from datetime import date, timedelta

from clsm_cli.text.language_data import pattern
from clsm_cli.text.time import expressions, placement
from clsm_cli.text.time.expressions import TimeExpression

LEAST_P = 0.65
"""Probability that a day comes, once or in every year, from which it does (see ``scripts/fit_days.py``)."""
_DENIAL_REACH = 80  # characters before a day in which to look for a denial or a mark
_MAX_STRETCH_DAYS = 14  # longest "11 to 13 November" that counts as its first day


def day_ahead(text: str, at: date, since: date | None = None, *, start: int = 0) -> str | None:
    """The first day that a text names after it was written, as ISO text; "--05-03", as in vCard, if it comes yearly.

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
    >>> day_ahead("Mia's birthday is 17 February.", date(2026, 2, 23), date(2025, 2, 23))
    '--02-17'
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
    today = at.isoformat()
    return min((day for day in set.intersection(*read) if not "0" < day <= today), default=None)


def _named_days(text: str, at: date, start: int) -> Iterator[str]:
    """The certain days of a text, and the coming ones of those that nothing in it places."""
    found = expressions.find_expressions(text, at)
    for each in [each for each in found if each.start >= start]:
        if is_denied(text, each.start, each.end):
            continue
        is_short = (each.until - each.first).days <= _MAX_STRETCH_DAYS
        is_short = is_short and expressions.has_month(each.text)
        if each.certain and is_short:
            yield each.first.isoformat()
        elif expressions.is_beside_other_year(text, each, found):
            continue
        elif each.day:
            yield each.day.isoformat()
        elif is_short and (day := _coming(each, at)):
            yield day


def _coming(found: TimeExpression, at: date) -> str | None:
    """The next day of an expression with a month and no year, if it probably comes, yearly or soon."""
    if found.chances is None or found.chances.comes < LEAST_P:
        return None
    if found.kind == "recurring":
        return f"--{found.first:%m-%d}"
    try:
        day = found.first if found.first > at else found.first.replace(year=found.first.year + 1)
    except ValueError:
        return None  # 29 February
    return day.isoformat() if (day - at).days <= expressions.MAX_PAST_DAYS else None


def _numbered_days(text: str, at: date) -> Iterator[str]:
    """The days of "on the 24th" that come."""
    for start, end, coming, last in numbered_days(text, at):
        away = (coming - at).days, (at - last).days
        if placement.chances(text, start, end, away).comes >= LEAST_P:
            yield coming.isoformat()


def numbered_days(text: str, at: date) -> Iterator[tuple[int, int, date, date]]:
    """Start and end of each "the 24th" without a month, its next day and its last."""
    for found in pattern("time.numbered day").finditer(text):
        number = int(found["day"])
        if 1 <= number <= 31:
            coming, last = (
                next(day for n in range(1, 63) if (day := at + timedelta(side * n)).day == number)
                for side in (1, -1)
            )
            yield found.start("day"), found.end(), coming, last


def is_denied(text: str, start: int, end: int) -> bool:
    """Whether the words before a day, or its mark as deleted, say that it is another one.

    >>> [is_denied(f"It is {words} tomorrow", len(words) + 7, len(words) + 15) for words in ("not", "from")]
    [True, False]
    """
    before = text[max(0, start - _DENIAL_REACH) : start]
    return bool(
        pattern("time.denied before").search(before)
        or pattern("time.denied after").match(text, end)
    )
