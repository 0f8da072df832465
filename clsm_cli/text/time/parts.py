"""Parts of a period and days counted from one: "the end of last month", "two days after Easter".

The words before a time expression change its meaning, so they belong to it. Parts with loose bounds
(beginning, middle, end) are thirds.
"""

from collections.abc import Iterator
from datetime import timedelta

from clsm_cli.text.time import forms, periods
from clsm_cli.text.time.forms import NUMBERS, ORDINALS, WEEKDAYS, number_of
from clsm_cli.text.time.periods import Period

_THIRDS = {"beginning": 0, "start": 0, "early": 0, "middle": 1, "mid": 1, "end": 2, "late": 2}
BEFORE_WORDS = frozenset({"before", "preceding", "prior to"})  # words for the side before a period
_UNITS = dict.fromkeys(("night", "evening", "morning"), "day")


def find_parts(text: str) -> Iterator[tuple[int, int, dict[str, str]]]:
    """Yield start, end and groups of words that may select a part of the following period."""
    for match in forms.part_pattern().finditer(text):
        yield *match.span(), {k: v.lower() for k, v in match.groupdict().items() if v}


def is_precise(words: dict[str, str]) -> bool:
    """Whether such words fix the bounds."""
    return not ({"third", "loose"} & words.keys() or words.get("many") == "few")


def part_of_period(words: dict[str, str], whole: Period) -> Period:
    """Return the part of a period that some words select.

    >>> from datetime import date
    >>> march = (date(2026, 3, 1), date(2026, 4, 1))
    >>> [str(day) for day in part_of_period({"third": "end"}, march)]
    ['2026-03-21', '2026-04-01']
    >>> [str(day) for day in part_of_period({"which": "second", "piece": "week"}, march)]
    ['2026-03-08', '2026-03-15']
    >>> [str(day) for day in part_of_period({"count": "two", "unit": "day", "side": "after"}, march)]
    ['2026-04-02', '2026-04-03']
    """
    if "third" in words or "loose" in words:
        found = _third(_THIRDS[words.get("third") or words["loose"]], whole)
    elif "which" in words:
        found = _piece(words, whole)
    elif "whole" in words:
        if (whole[1] - whole[0]).days > 4:
            raise ValueError("a week of more than a day")
        found = periods.unit(words["whole"], whole[0])
    else:
        found = _beside(words, whole)
    if not found[0] < found[1]:
        raise ValueError("an empty part")
    return found


def _third(number: int, whole: Period) -> Period:
    """Return a third: ten days of a month, four months of a year, else equal shares of days."""
    first, until = whole
    if whole == periods.month(first):
        marks = [first, first + timedelta(days=10), first + timedelta(days=20), until]
    elif (months := _months(whole)) >= 3:
        marks = [periods.add_months(first, months * step // 3) for step in range(4)]
    else:
        length = (until - first).days
        marks = [first + timedelta(days=round(length * step / 3)) for step in range(4)]
    return marks[number], marks[number + 1]


def _months(whole: Period) -> int:
    """Number of whole months in a period; 0 if it is not made of whole months."""
    first, until = whole
    count = 12 * (until.year - first.year) + until.month - first.month
    return count if first.day == until.day == 1 else 0


def _piece(words: dict[str, str], whole: Period) -> Period:
    """Return "the second week", "the last Friday", "the first half" of a period."""
    first, until = whole
    piece, number = words["piece"].removesuffix("s"), _number(words["which"])
    count = number_of(words.get("many", "one"), 3)
    if piece == "half":
        months = _months(whole)
        middle = first + timedelta(days=(until - first).days // 2)
        if months and months % 2 == 0:
            middle = periods.add_months(first, months // 2)
        return (first, middle) if number == 1 else (middle, until)
    if piece in {"month", "quarter"}:
        edges = [first]
        while edges[-1] < until and len(edges) <= 120:
            edges.append(min(periods.shift(edges[-1], piece, 1), until))
        start = number - 1 if number > 0 else len(edges) - 1 - count
        if not 0 <= start < len(edges) - 1:
            raise ValueError("there are not so many")
        return edges[start], edges[min(start + count, len(edges) - 1)]
    if piece == "weekend" or piece[:3] in WEEKDAYS:
        day, length = periods.nth_weekday(whole, _weekday(piece), number), 1 + (piece == "weekend")
        count = 1
    else:
        length = 7 if piece == "week" else 1
        back = count if number < 0 else 1 - number
        day = (until if number < 0 else first) - timedelta(days=length * back)
    if not first <= day < until:
        raise ValueError("there are not so many")
    end = day + timedelta(days=length * count)
    return day, end if length == 2 else min(end, until)


def _number(which: str) -> int:
    if which in {"last", "final"}:
        return -1
    return int(which[0]) if which[0].isdigit() else ORDINALS.index(which) + 1


def _weekday(name: str) -> int:
    """The number of a weekday; that of a weekend is its Saturday."""
    return periods.SATURDAY if name == "weekend" else WEEKDAYS.index(name[:3])


def _beside(words: dict[str, str], whole: Period) -> Period:
    """Return "the week before", "two days after", "the last Sunday before" a period."""
    word, name = words["count"], _UNITS.get(words["unit"], words["unit"])
    count, is_before = number_of(word), words["side"] in BEFORE_WORDS
    last = whole[1] - timedelta(days=1)
    if name == "weekend" or name[:3] in WEEKDAYS:
        more, number = timedelta(days=7 * (count - 1)), _weekday(name)
        if is_before:
            day = periods.weekday_before(whole[0], number) - more
        else:
            day = periods.weekday_from(whole[1], number) + more
        return periods.days(day, 2 if name == "weekend" else 1)
    moved = periods.shift(whole[0], name, -count) if is_before else periods.shift(last, name, count)
    if name == "day" or word.isdigit() or word in NUMBERS or word in {"a", "an"}:
        return periods.unit(name, moved)
    return (moved, whole[0]) if is_before else (whole[1], periods.shift(whole[1], name, 1))
