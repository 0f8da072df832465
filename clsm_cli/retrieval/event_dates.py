"""Dates counted from an event: "two weeks before the trip to Porto", "the day I moved in".

The event is looked up in the store, by its words and their meaning: what tells of it names its day, or
was told on it. Of several days the one that most of them agree on counts. The counting words are those
of ``time.parts``, which counts from Easter in the same way.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import tokens
from clsm_cli.text.time import expressions, parts, periods
from clsm_cli.text.time.forms import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.text.time.expressions import TimeExpression
    from clsm_cli.text.time.periods import Period

    Meaning = Callable[[str], Mapping[int, float]]

LEAST = 0.5
"""Share of the idf of an event's words that a passage must hold to tell of it."""
SHARE = 0.8
"""Share of what the best passage holds that others must hold to be of the same event."""
TOLD = 0.5
"""What a passage that names no day says about the day of an event, of one that names it."""
_SAME_DAY = re.compile(
    r"\b(?:on\s)?(?:the|that)\s(?:very\s|same\s)?(?:day|evening|night|morning|afternoon)\s"
    r"(?:(?:of|when|that)\s|(?=(?:i|we|he|she|they)\s))",
    re.IGNORECASE,
)

_END = re.compile(
    r"[?!;,:\n]|\.(?:\s|$)| (?:what|which|who|whom|where|how|why)\b| (?:did|do|does|had|have) (?:i|we|you)\b",
    re.IGNORECASE,
)


class EventOffset(NamedTuple):
    """Words of a question that count from an event.

    Attributes:
        start: First character of the words, the event's included.
        end: The character after their last.
        event: What it is about.
        words: How it is counted, see ``time.parts.Part``; none: the day itself.
    """

    start: int
    end: int
    event: str
    words: dict[str, str]


def parse_offset(text: str, taken: Sequence[tuple[int, int]]) -> EventOffset | None:
    """The words of a question that count from an event; None without any.

    Args:
        taken: Stretches that name a time by themselves.

    >>> found = parse_offset("What did I cook two days before the trip to Porto?", [])
    >>> found.event, found.words["count"], found.words["unit"], found.words["side"]
    ('trip to Porto', 'two', 'day', 'before')
    >>> parse_offset("What did I cook two days before Easter?", [(16, 38)])
    """
    leads = [
        (each.start, each.end, each.words)
        for each in parts.find_parts(text)
        if "side" in each.words
    ]
    leads += [(*match.span(), {}) for match in _SAME_DAY.finditer(text)]
    for start, end, words in sorted(leads, key=lambda lead: lead[:2]):
        if any(first < end and start < until for first, until in taken):
            continue
        ends = _END.search(text, end)
        until = ends.start() if ends else len(text)
        if tokens.stems(text[end:until]):
            return EventOffset(start, until, text[end:until], words)
    return None


def event_day(index: Index, event: str, now: str, meaning: Meaning | None) -> date | None:
    """The day of an event; None where nothing tells of it.

    Args:
        now: ISO 8601; what is told later is not there.
        meaning: The cosines of passages to a text, by row; None without a model.
    """
    known = _telling(index, event, meaning)
    passages = index.passages(sorted(known))
    agreed: dict[date, float] = {}
    for row, sure in sorted(known.items()):
        time = passages[row].time or now
        if time[:10] > now[:10]:
            continue
        told = date.fromisoformat(time[:10])
        spoken = [
            each for each in expressions.find_expressions(passages[row].text, told) if _is_day(each)
        ]
        for day in {each.first for each in spoken if each.certain}:
            agreed[day] = agreed.get(day, 0.0) + sure
        if not spoken:
            agreed[told] = agreed.get(told, 0.0) + TOLD * sure
    return max(sorted(agreed), key=lambda day: round(agreed[day], 6), default=None)


def offset_period(words: dict[str, str], day: date) -> tuple[Period, bool]:
    """The period that some words count from a day, and whether they fix it.

    Weeks are counted in days: "a week after" a day is its weekday again, or thereabouts.

    >>> offset_period({"count": "two", "unit": "week", "side": "before"}, date(2026, 3, 20))
    ((datetime.date(2026, 3, 6), datetime.date(2026, 3, 7)), False)
    """
    whole = periods.days(day)
    if not words:
        return whole, True
    count = words["count"]
    number = int(count) if count.isdigit() else NUMBERS.get(count, int(count in {"a", "an"}))
    if words["unit"] == "week" and number:
        side = -1 if words["side"] in parts.BEFORE else 1
        return periods.days(day + timedelta(weeks=side * number)), False
    return parts.part_of_period(words, whole), True


def _telling(index: Index, event: str, meaning: Meaning | None) -> dict[int, float]:
    """The rows that tell of an event, and how surely: by words, and by meaning."""
    terms = dict.fromkeys(tokens.stems(event))
    count, _ = index.size()
    weights: dict[str, float] = {}
    held: dict[int, float] = {}
    for term in terms:
        postings = index.postings(term)
        weights[term] = match.idf(count, len(postings))
        for row, _, _ in postings:
            held[row] = held.get(row, 0.0) + weights[term]
    whole = sum(weights.values()) or 1.0
    near = meaning(event) if meaning else {}
    sure = {
        row: round(share / whole + near.get(row, 0.0), 6)
        for row, share in held.items()
        if share >= LEAST * whole
    }
    best = max(sure.values(), default=0.0)
    traits = index.traits([row for row, share in sure.items() if share >= SHARE * best])
    return {
        row: sure[row]
        for row, each in traits.items()
        if each.day is not None and each.kind != "gist" and not each.is_question
    }


def _is_day(each: TimeExpression) -> bool:
    return (each.until - each.first).days == 1
