"""The days and conversations that a question names; loaded for such questions alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.retrieval import moments_sessions
from clsm_cli.retrieval.moments import OPEN_FIRST, OPEN_UNTIL, Moments
from clsm_cli.store.index import sessions
from clsm_cli.text import ordinals
from clsm_cli.text.ordinals import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.moments_events import Meaning
    from clsm_cli.store.index.reader import Index
    from clsm_cli.text.ordinals import Request
    from clsm_cli.text.timex_bounds import Bound, Times

BESIDE = 3
"""Days: "a week ago" may be meant so much more or less."""
_LEADING = re.compile(
    r"(?:\b(?:in|on|at|from|during|over|of|for|since|about|by|according to|the)\s+){1,4}(?=\0|$)",
    re.IGNORECASE,
)


def resolve(
    index: Index, text: str, now: str, meaning: Meaning | None, *, has_time: bool, has_place: bool
) -> Moments | None:
    """Find out when and where a question looks, see ``moments.resolve``.

    Args:
        index: Fresh.
        text: The user's words.
        now: ISO 8601.
        meaning: The cosines of passages to a text, by row; None without a model.
        has_time: Whether to read times by the calendar.
        has_place: Whether to read places among the conversations.
    """
    text = " ".join(text.split())
    times = _times(text, now) if has_time else None
    if has_time and (counted := _by_event(index, text, now, times, meaning)):
        return counted
    request = ordinals.read(text) if has_place else None
    if request is not None and times is not None and _is_date(request, times.bounds):
        request = None
    if request is None:
        return None if times is None else _by_calendar(index, text, now, times)
    return _by_order(index, text, now, request, times)


def _times(text: str, now: str) -> Times | None:
    """The times of a question; None where it names none that bounds anything."""
    from datetime import date

    from clsm_cli.text import timex_bounds

    try:
        times = timex_bounds.read(text, date.fromisoformat(now[:10]))
    except ValueError:
        return None
    if all(text[each.start : each.end].lower() in timex_bounds.VAGUE for each in times.bounds):
        return None
    return times


def _by_event(
    index: Index, text: str, now: str, times: Times | None, meaning: Meaning | None
) -> Moments | None:
    """The days that are counted from an event; None without one that the store knows."""
    from clsm_cli.retrieval import moments_events as events

    bounds = times.bounds if times else ()
    asked = events.read(text, [(each.start, each.end) for each in bounds])
    if asked is None:
        return None
    spoken = [text[each.start : each.end] for each in bounds]
    event = _bare(Place(asked.event), spoken).subject
    day = events.day_of(index, event, now, meaning)
    if day is None:
        return None
    try:
        (first, until), exact = events.counted(asked.words, day)
    except (ValueError, OverflowError):
        return None
    return Moments(
        periods=_around(first.toordinal(), until.toordinal(), exact=exact),
        sessions=(),
        hard=False,
        contradictory=False,
        rest=_rest(text, [(asked.start, asked.end, "")]),
    )


def _around(first: int, until: int, *, exact: bool) -> tuple[tuple[int, int], ...]:
    """A period; where the words leave one day open, the days beside it may be meant too."""
    if exact or until - first > 1:
        return ((first, until),)
    return ((first - BESIDE, until + BESIDE), (first, until))


def _is_date(request: Request, bounds: Sequence[Bound]) -> bool:
    """Whether what a relation names is a date: "before Christmas"."""
    if request.relation == "at":
        return False
    return any(each.limit and abs(each.start - request.start) <= 2 for each in bounds)


def _by_calendar(index: Index, text: str, now: str, times: Times) -> Moments:
    # Of notes alone a day bounds nothing: what was said on it stands in the note of another.
    hard = times.hard and ordinals.is_about_talk(text)
    periods = tuple(
        each
        for first, until in times.periods
        for each in _around(
            first.toordinal() if first else OPEN_FIRST,
            until.toordinal() if until else OPEN_UNTIL,
            exact=times.hard,
        )
    )
    return Moments(
        periods,
        (),
        hard=hard and moments_sessions.has_conversation(index, now),
        contradictory=times.contradictory,
        rest=_rest(text, [(each.start, each.end, "") for each in times.bounds]),
        warning="the times of the question exclude each other" if times.contradictory else "",
    )


def _by_order(index: Index, text: str, now: str, request: Request, times: Times | None) -> Moments:
    bounds = times.bounds if times else ()
    spoken = [text[each.start : each.end] for each in bounds]
    place = _bare(request.place, spoken)
    other = _bare(request.other, spoken) if request.other else None
    asked = request._replace(place=place, other=other)
    # Beside a relation a time tells when the event was, not which conversations count.
    within = times if request.relation == "at" else None
    found = moments_sessions.meant(index, asked, now, within)
    ids = tuple(each.id for each in found.sessions)
    keeps = place.subject if request.relation == "at" else ""
    spans = [(request.start, request.end, f"about {keeps}" if keeps else "")]
    spans += [
        (each.start, each.end, "")
        for each in bounds
        if each.end <= request.start or request.end <= each.start
    ]
    return Moments(
        periods=_joined(sessions.days(index.connection, ids)),
        sessions=ids,
        hard=found.hard and request.hard,
        contradictory=bool(times and times.contradictory),
        rest=_rest(text, spans),
        warning=found.warning,
    )


def _bare(place: Place, spoken: Sequence[str]) -> Place:
    """A place, its subject without the times it holds ("the bike in May")."""
    subject = place.subject
    for words in spoken:
        subject = _LEADING.sub(" ", subject.replace(words, "\0")).replace("\0", " ")
    return place._replace(subject=" ".join(subject.split()))


def _joined(periods: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Periods in order, those that touch made one."""
    found: list[tuple[int, int]] = []
    for first, until in periods:
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(until, found[-1][1])
        else:
            found.append((first, until))
    return tuple(found)


def _rest(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    """A text without some stretches and the prepositions before them, or with others instead.

    >>> _rest("What did Jonas say on Friday?", [(22, 28, "")])
    'What did Jonas say?'
    """
    pieces: list[str] = []
    done = 0
    for start, end, instead in sorted(spans):
        pieces += _LEADING.sub("", text[done:start]), instead
        done = end
    left = " ".join("".join([*pieces, text[done:]]).split())
    left = re.sub(r"\s+(?=[?!.,;])", "", left)
    return left if any(letter.isalnum() for letter in left) else ""
