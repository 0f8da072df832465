"""Parts of a period and days counted from one: "the end of last month", "two days after Easter".

The words stand before a time expression and change what it means, so they belong to it. Parts
that only loosely name their bounds (beginning, middle, end) are thirds.
"""

from __future__ import annotations

import re
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.time import periods
from clsm_cli.text.time.forms import NUMBERS, ORDINALS, WEEKDAYS, shift, unit

if TYPE_CHECKING:
    from clsm_cli.text.time.periods import Period

_THIRDS = {
    "beginning": 0, "start": 0, "early": 0,
    "middle": 1, "mid": 1,
    "end": 2, "late": 2,
}  # fmt: skip
_WHICH = rf"first|second|third|fourth|fifth|last|final|{'|'.join(f'{n}{e}' for n, e in ((1, 'st'), (2, 'nd'), (3, 'rd'), (4, 'th'), (5, 'th')))}"
_PIECE = r"days?|weeks?|weekends?|months?|quarters?|half|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?"
_COUNT = rf"an?|the|last|next|first|[0-9]{{1,3}}|{'|'.join(NUMBERS)}"
_PATTERN = (
    r"(?i)(?:\b(?:the\s)?(?:very\s)?(?:"
    r"(?P<third>beginning|start|middle|end)\sof\s(?:the\s)?"
    r"|(?P<loose>early|late|mid)(?:[\s-](?:in\s(?:the\s)?)?|\s?-\s?)"
    rf"|(?P<which>{_WHICH})\s(?:(?P<many>two|three|four|few|[2-9])\s)?(?P<piece>{_PIECE})\s(?:of|in|from)\s(?:the\s)?"
    r"|(?P<whole>week|weekend)\s(?:of|beginning|starting|from|around)\s(?:the\s)?)"
    rf"|(?<![\w.-])(?P<count>{_COUNT})\s(?P<unit>day|night|evening|morning|week|weekend|month|year"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?"
    r"\s(?P<side>before|after|following|preceding|prior\sto)\s(?:the\s)?)"
)


BEFORE = frozenset({"before", "preceding", "prior to"})
"""Words for the side that lies before a period."""
CUES = (
    "beginning of", "start of", "middle of", "end of", "early", "late", "mid", "first ", "second ",
    "third ", "fourth ", "fifth ", "last ", "final ", "1st ", "2nd ", "3rd ", "4th ", "5th ", "week",
    " before ", " after ", " following ", " preceding ", " prior to ",
)  # fmt: skip
"""A text with none of them names no part."""


_UNITS = dict.fromkeys(("night", "evening", "morning"), "day")


class Part(NamedTuple):
    """Words that choose a part of the period named behind them.

    Attributes:
        end: The character after their last, where the period's own words begin.
    """

    start: int
    end: int
    words: dict[str, str]

    @property
    def is_precise(self) -> bool:
        """Whether the words fix the bounds."""
        return not ({"third", "loose"} & self.words.keys() or self.words.get("many") == "few")


@cache
def _compiled() -> re.Pattern[str]:
    return re.compile(_PATTERN)


def find_parts(text: str) -> list[Part]:
    """Return the words of a text that may choose a part of what follows, in order.

    >>> [text[each.start:each.end] for text in ["at the end of last month"] for each in find_parts(text)]
    ['the end of ']
    """
    return [
        Part(match.start(), match.end(), {k: v.lower() for k, v in match.groupdict().items() if v})
        for match in _compiled().finditer(text)
    ]


def part_of_period(words: dict[str, str], whole: Period) -> Period:
    """Return the part of a period that some words choose.

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
    """Return a third: ten days of a month, four months of a year, else days in equal shares."""
    first, until = whole
    if whole == periods.month(first):
        marks = [first, first + timedelta(days=10), first + timedelta(days=20), until]
    elif first.day == until.day == 1 and (months := _months(whole)) >= 3:
        marks = [periods.add_months(first, months * step // 3) for step in range(4)]
    else:
        length = (until - first).days
        marks = [first + timedelta(days=round(length * step / 3)) for step in range(4)]
    return marks[number], marks[number + 1]


def _months(whole: Period) -> int:
    first, until = whole
    return 12 * (until.year - first.year) + until.month - first.month


def _piece(words: dict[str, str], whole: Period) -> Period:
    """Return "the second week", "the last Friday", "the first half" of a period."""
    first, until = whole
    which, piece = words["which"], words["piece"].removesuffix("s")
    number = _number(which)
    many = words.get("many", "one")
    count = int(many) if many.isdigit() else NUMBERS.get(many, 3)
    if piece == "half":
        months = _months(whole) if first.day == until.day == 1 else 0
        middle = (
            periods.add_months(first, months // 2)
            if months % 2 == 0 and months
            else first + timedelta(days=(until - first).days // 2)
        )
        return (first, middle) if number == 1 else (middle, until)
    if piece in {"month", "quarter"}:
        found = [first]
        while (after := shift(found[-1], piece, 1)) < until and len(found) < 120:
            found.append(after)
        edges = [*found, until]
        start = number - 1 if number > 0 else len(found) - count
        return edges[start], edges[min(start + count, len(found))]
    if piece == "weekend" or piece[:3] in WEEKDAYS:
        return _nth_weekday(piece, number, whole)
    length = 7 if piece == "week" else 1
    start_day = (
        until - timedelta(days=length * count)
        if number < 0
        else first + timedelta(days=length * (number - 1))
    )
    if not first <= start_day < until:
        raise ValueError("there are not so many")
    return start_day, min(start_day + timedelta(days=length * count), until)


def _number(which: str) -> int:
    if which in {"last", "final"}:
        return -1
    return int(which[0]) if which[0].isdigit() else ORDINALS.index(which) + 1


def _nth_weekday(piece: str, number: int, whole: Period) -> Period:
    first, until = whole
    weekday = 5 if piece == "weekend" else WEEKDAYS.index(piece[:3])
    if number > 0:
        ahead = (weekday - first.weekday()) % 7 + 7 * (number - 1)
        day = first + timedelta(days=ahead)
    else:
        last = until - timedelta(days=1)
        day = last - timedelta(days=(last.weekday() - weekday) % 7)
    if not first <= day < until:
        raise ValueError("there are not so many")
    return periods.days(day, 2 if piece == "weekend" else 1)


def _beside(words: dict[str, str], whole: Period) -> Period:
    """Return "the week before", "two days after", "the last Sunday before" a period."""
    word, name = words["count"], _UNITS.get(words["unit"], words["unit"])
    count = int(word) if word.isdigit() else NUMBERS.get(word, 1)
    is_before = words["side"] in BEFORE
    if name == "weekend" or name[:3] in WEEKDAYS:
        number = 5 if name == "weekend" else WEEKDAYS.index(name[:3])
        more = timedelta(days=7 * (count - 1))
        if is_before:
            day = whole[0] - timedelta(days=(whole[0].weekday() - number - 1) % 7 + 1) - more
        else:
            day = whole[1] + timedelta(days=(number - whole[1].weekday()) % 7) + more
        return periods.days(day, 2 if name == "weekend" else 1)
    if name == "day":
        last = whole[1] - timedelta(days=1)
        return periods.days(
            whole[0] - timedelta(days=count) if is_before else last + timedelta(days=count)
        )
    if word.isdigit() or word in NUMBERS or word in {"a", "an"}:
        anchor = whole[0] if is_before else whole[1] - timedelta(days=1)
        return unit(name, shift(anchor, name, -count if is_before else count))
    if is_before:
        return shift(whole[0], name, -1), whole[0]
    return whole[1], shift(whole[1], name, 1)
