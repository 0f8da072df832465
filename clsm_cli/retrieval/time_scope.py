"""When and where a question looks: the days, the conversations and the events that it refers to.

Conversations are those that began before now; the one that is going on does not count. One is about
a subject when some group of eight of its passages holds nearly as much of the subject's words (by
idf) as the best group of the store does, or when it mentions the concept of that name.

"What came after the move?" asks for nothing in particular: the episodes next to the passage that
tells of the move, by time alone. That passage is the one that "the move" as a question of its own
finds first, of those that say when they were told.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.retrieval.question import ANY_TIME, TimeScope, may_name_time
from clsm_cli.scoring import match
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import session_queries
from clsm_cli.text import ordinals, tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.ranking import Candidate, Ranked
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.session_queries import PlacedTurn, Session
    from clsm_cli.text.ordinals import ConversationPlace, ConversationReference
    from clsm_cli.text.time.bounds import Times

LEAST = 0.5
"""Share of a subject's idf that a group must contain, at least, for the subject to be known (own choice, as are those below)."""
SHARE = 0.8
"""Share of the best group's coverage from which a session is about the subject."""
_ARTICLE = re.compile(r"^(?:the|our|my|your|a|an)\s", re.IGNORECASE)


class SessionScope(NamedTuple):
    """The sessions meant, or a warning why there are none; if ``hard``, nothing can answer then."""

    sessions: tuple[Session, ...] = ()
    hard: bool = True
    warning: str = ""


def match_sessions(
    index: Index, request: ConversationReference, now: str, within: Times | None
) -> SessionScope:
    """The sessions that a request means, of those that began before now and ``within`` the times."""
    sessions = _begun_sessions(index, now)
    has_notes = request.place.is_mention or (request.relation != "at" and not request.step)
    counted = [session for session in sessions if has_notes or not session.is_note]
    if not counted:
        return SessionScope(warning="the store held no conversation then")
    if within is not None:
        counted = [session for session in counted if _is_within(session, within)]
    if not counted:
        return SessionScope(warning="there was no conversation at that time")
    if request.relation == "at":
        return _at_position(index, request.place, counted)
    return _beside(index, request, counted)


def _begun_sessions(index: Index, now: str) -> list[Session]:
    """The sessions that had begun, in order of time, without the current conversation.

    A conversation is current while its newest turn is in an open episode.
    """
    sessions = session_queries.sessions_by_time(index.connection)
    span = clocks.instants(now)
    if span is None:
        return sessions
    moment = span[1].timestamp()
    silence = 60 * index.store.settings.boundary.gap_half
    return [
        session
        for session in sessions
        if session.start <= moment
        and (session.last_open is None or not moment - silence <= session.last_open <= moment)
    ]


def _is_within(session: Session, times: Times) -> bool:
    return any(
        (first is None or first.toordinal() <= session.day)
        and (until is None or session.day < until.toordinal())
        for first, until in times.periods
    )


def _at_position(
    index: Index, place: ConversationPlace, counted: Sequence[Session]
) -> SessionScope:
    """The sessions at a position ("the first", "the last three about X")."""
    listed = list(counted)
    about = ""
    if place.subject:
        about_subject = _coverage_by_session(index, place.subject)
        listed = [session for session in counted if session.id in about_subject]
        about = f' about "{place.subject}"'
        if not listed:
            return SessionScope(hard=False, warning=f"no conversation{about} was found")
    if not place.number:
        return SessionScope(tuple(listed), hard=False)
    if place.from_end:
        listed.reverse()
    chosen = listed[max(place.number - 1, 0) :][: place.length]
    if not chosen:
        number = len(listed)
        count = f"are only {number} conversations" if number > 1 else "is only one conversation"
        return SessionScope(hard=not place.subject, warning=f"there {count}{about}")
    return SessionScope(tuple(sorted(chosen, key=lambda session: (session.start, session.id))))


def _beside(
    index: Index, request: ConversationReference, counted: Sequence[Session]
) -> SessionScope:
    """The sessions before, after or between positions: all, or ``length`` from the ``step``-th nearest on."""
    spans = []
    for place in filter(None, (request.place, request.other)):
        anchors = _anchors(index, place, counted)
        if not anchors.sessions:
            return anchors
        spans.append((counted.index(anchors.sessions[0]), counted.index(anchors.sessions[-1])))
    (begin, end), (second, _) = min(spans), max(spans)  # of one place: the same twice
    step, length = request.step, request.length
    if request.relation == "between":
        chosen = counted[end + 1 : second]
    elif request.relation == "after":
        chosen = counted[end + 1 :]
        chosen = chosen[step - 1 :][:length] if step else chosen
    else:
        chosen = counted[:begin]
        chosen = chosen[::-1][step - 1 :][:length][::-1] if step else chosen
    what = "those" if request.other else "that"
    warning = "" if chosen else f"there is no conversation {request.relation} {what}"
    return SessionScope(tuple(chosen), warning=warning)


def _anchors(index: Index, place: ConversationPlace, counted: Sequence[Session]) -> SessionScope:
    """The sessions that a relation refers to, in order of time; for a subject, the one most about it."""
    if place.number:
        return _at_position(index, place, counted)
    about = _coverage_by_session(index, place.subject)
    sessions = [session for session in counted if session.id in about]
    if not sessions:
        warning = f'"{place.subject}" was not found in any conversation'
        return SessionScope(hard=False, warning=warning)
    return SessionScope((max(sessions, key=lambda session: about[session.id]),))


def _coverage_by_session(index: Index, subject: str) -> dict[str, tuple[float, int]]:
    """The sessions about a subject → coverage by the best group, and number of passages about it."""
    named = session_queries.rows_naming(
        index.connection, index.node_of(node_id(_ARTICLE.sub("", subject)))
    )
    count, _ = index.size()
    rows: dict[int, set[str]] = {}
    weights: dict[str, float] = {}
    for term in dict.fromkeys(tokens.stems(subject)):
        postings = index.postings(term)
        weights[term] = match.idf(count, len(postings))
        for row, _, _ in postings:
            rows.setdefault(row, set()).add(term)
    traits = index.traits(sorted({*rows, *named}))
    told_in = {
        row: place for row, place in traits.items() if place.kind == "passage" and place.session
    }
    groups: dict[tuple[str, int], set[str]] = {}
    passages: Counter[str] = Counter()
    for row, place in told_in.items():
        terms = rows.get(row, set())
        groups.setdefault((place.session, place.group), set()).update(terms)
        passages[place.session] += len(terms) >= max(1, min(2, len(weights)))
    whole = sum(weights.values()) or 1.0
    shares: dict[str, float] = {told_in[row].session: 1.0 for row in named if row in told_in}
    for (session, _), terms in groups.items():
        share = round(sum(weights[term] for term in weights if term in terms) / whole, 6)
        shares[session] = max(share, shares.get(session, 0.0))
    best = max(shares.values(), default=0.0)
    enough = {session: share for session, share in shares.items() if share >= SHARE * best}
    return {} if best < LEAST else {s: (share, passages[s]) for s, share in enough.items()}


OPEN_FIRST = 1
"""First day, as an ordinal, of a period without a start."""
OPEN_UNTIL = 3_652_060
"""Day after the last of a period without an end: after 9999-12-31."""
BESIDE = 3
"""Days by which an approximate day ("a week ago") may be off."""
_LEADING = re.compile(
    r"(?:\b(?:in|on|at|from|during|over|of|for|since|about|by|according to|the)\s+){1,4}(?=\0|$)",
    re.IGNORECASE,
)


def resolve(index: Index, text: str, now: str) -> TimeScope:
    """Resolve the periods and conversations that a question refers to.

    It never raises for the content of the question; invalid times are ignored.

    Args:
        now: ISO 8601; later turns are ignored, and relative expressions count from it.
    """
    has_time, has_place = may_name_time(text)
    text = " ".join(text.split())
    times = _times(text, now) if has_time else None
    request = ordinals.read_reference(text) if has_place else None
    if request is not None and request.relation != "at" and _is_limit(request.start, times):
        request = None
    event = ordinals.read_event(text) if has_place else None
    if event is not None and not _is_limit(event.start, times):
        return ANY_TIME._replace(event=event.phrase, side=event.side)
    if request is None:
        return ANY_TIME if times is None else _by_calendar(index, text, now, times)
    return _by_order(index, text, now, request, times)


def _times(text: str, now: str) -> Times | None:
    """The times of a question; None if it names none, or only vague ones."""
    from datetime import date

    from clsm_cli.text.time import bounds

    try:
        times = bounds.read_times(text, date.fromisoformat(now[:10]))
    except ValueError:
        return None
    if all(text[bound.start : bound.end].lower() in bounds.VAGUE for bound in times.bounds):
        return None
    return times


def _around(first: int, until: int, *, exact: bool) -> tuple[tuple[int, int], ...]:
    """A period; for an approximate day, also the period of the days around it."""
    if exact or until - first > 1:
        return ((first, until),)
    return ((first - BESIDE, until + BESIDE), (first, until))


def _is_limit(start: int, times: Times | None) -> bool:
    """Whether a relation refers to a date: "before Christmas"."""
    return any(
        bound.limit and abs(bound.start - start) <= 2 for bound in (times.bounds if times else ())
    )


def _by_calendar(index: Index, text: str, now: str, times: Times) -> TimeScope:
    """The scope of the days that a question names.

    It is hard if the words fix the days, the question asks what was said, and there is a
    conversation; otherwise it is a preference.
    """
    is_about_talk = times.hard and ordinals.is_about_talk(text)
    periods = tuple(
        period
        for first, until in times.periods
        for period in _around(
            first.toordinal() if first else OPEN_FIRST,
            until.toordinal() if until else OPEN_UNTIL,
            exact=times.hard,
        )
    )
    return TimeScope(
        periods,
        (),
        # With notes alone, a day is no bound: the note of the next day may contain it.
        hard=is_about_talk and any(not session.is_note for session in _begun_sessions(index, now)),
        contradictory=times.contradictory,
        rest=_rest_of_days(text, times),
        warning="the times of the question exclude each other" if times.contradictory else "",
    )


def _rest_of_days(text: str, times: Times) -> str:
    """The question without its days; empty if, in another language, it asks for nothing in particular."""
    from clsm_cli.text.language_data import question_words
    from clsm_cli.text.time import forms

    rest = _rest(text, [(bound.start, bound.end, "") for bound in times.bounds])
    is_foreign = any(forms.is_foreign(text[bound.start : bound.end]) for bound in times.bounds)
    asks_for_all = is_foreign and question_words().issuperset(tokens.folded_words(rest))
    return "" if asks_for_all else rest


def _by_order(
    index: Index, text: str, now: str, request: ConversationReference, times: Times | None
) -> TimeScope:
    bounds = times.bounds if times else ()
    spoken = [text[bound.start : bound.end] for bound in bounds]
    place = _bare(request.place, spoken)
    other = _bare(request.other, spoken) if request.other else None
    asked = request._replace(place=place, other=other)
    # With a relation, a time says when the event was, not which conversations count.
    is_at = request.relation == "at"
    session_scope = match_sessions(index, asked, now, times if is_at else None)
    keeps = f"about {place.subject}" if is_at and place.subject else ""
    spans = [(request.start, request.end, keeps)]
    spans += [
        (bound.start, bound.end, "")
        for bound in bounds
        if bound.end <= request.start or request.end <= bound.start
    ]
    rest = _rest(text, spans)
    ids = tuple(session.id for session in session_scope.sessions)
    return TimeScope(
        periods=tuple(clocks.united(session_queries.session_days(index.connection, ids))),
        sessions=ids,
        hard=session_scope.hard and request.hard,
        contradictory=bool(times and times.contradictory),
        rest=rest,
        warning=session_scope.warning,
    )


def _bare(place: ConversationPlace, spoken: Sequence[str]) -> ConversationPlace:
    """A position whose subject is stripped of times ("the bike in May")."""
    subject = place.subject
    for words in spoken:
        subject = _LEADING.sub(" ", subject.replace(words, "\0")).replace("\0", " ")
    return place._replace(subject=" ".join(subject.split()))


def _rest(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    """Replace spans of a text, with the prepositions before them, by other words or nothing.

    >>> _rest("What did Jonas say on Friday?", [(22, 28, "")])
    'What did Jonas say?'
    """
    pieces: list[str] = []
    done = 0
    for start, end, instead in sorted(spans):
        pieces += _LEADING.sub("", text[done:start]), instead
        done = end
    rest = " ".join("".join([*pieces, text[done:]]).split())
    rest = re.sub(r"\s+(?=[?!.,;])", "", rest)
    return rest if any(letter.isalnum() for letter in rest) else ""


EPISODES = 3
"""Episodes that are returned, at most: the nearest."""
FIRST = 10
"""Best passages among which a dated one is searched for."""
_STEP = 1e-3
"""Difference of scores between consecutive passages, the nearest first."""


def resolve_event(
    index: Index, scope: TimeScope, now: str, ranked: Ranked, floor: float
) -> TimeScope:
    """The scope of a question that asks what came before or after an event.

    Args:
        ranked: The passages found for the event itself.
        floor: Confidence below which the event counts as not found.
    """
    best = _first_dated(ranked, floor)
    if best is None:
        return scope._replace(warning=f'nothing that says when was found about "{scope.event}"')
    anchor = index.passages([best.row])[best.row]
    turns = _told_beside(index, anchor, scope.side, now)
    if not turns:
        return scope._replace(warning=f"nothing was told {scope.side} that", hard=True)
    return scope._replace(
        periods=tuple(clocks.united((turn.day, turn.day + 1) for turn in turns)),
        rows=tuple(turn.row for turn in turns),
        hard=True,
        sure=best.confidence,
    )


def _first_dated(ranked: Ranked, floor: float) -> Candidate | None:
    dated = (
        candidate
        for candidate in ranked.candidates[:FIRST]
        if candidate.traits.kind == "passage"
        and candidate.traits.day
        and candidate.confidence >= floor
    )
    return next(dated, None)


def _told_beside(index: Index, anchor: Passage, side: str, now: str) -> list[PlacedTurn]:
    """The turns of the nearest episodes on one side, nearest episode first, each in order of time."""
    begin, end = clocks.instants(anchor.time or "", now), clocks.instants(now)
    if begin is None or end is None:
        return []
    hidden, own = index.hidden(), anchor.episode or anchor.session
    by_episode: dict[str, list[PlacedTurn]] = {}
    for turn in session_queries.passages_near_day(index.connection, begin[0].toordinal(), side):
        span = clocks.instants(turn.time, now)
        is_own = turn.episode == own or (turn.is_note and turn.session == anchor.session)
        if span is None or span[0] > end[1] or is_own or turn.row in hidden:
            continue
        if span[0] <= begin[0] if side == "after" else span[0] >= begin[0]:
            continue
        if turn.episode not in by_episode and len(by_episode) == EPISODES:
            break
        by_episode.setdefault(turn.episode, []).append(turn)
    step = 1 if side == "after" else -1
    return [turn for turns in by_episode.values() for turn in turns[::step]]


def in_scope_order(scope: TimeScope, ranked: Ranked) -> Ranked:
    """What was found, in the order of the scope, and as sure as it is that the event was found.

    Behind it stands what lies beside the scope, where ``recall.time_filter`` lets that in.
    """
    place = {row: n for n, row in enumerate(scope.rows)}
    ordered = sorted(ranked.candidates, key=lambda candidate: place.get(candidate.row, len(place)))
    top = max((candidate.score for candidate in ordered), default=0.0)
    candidates = [
        candidate._replace(
            score=round(top - _STEP * n, 6), confidence=round(scope.sure * candidate.confidence, 6)
        )
        for n, candidate in enumerate(ordered)
    ]
    sure = round(scope.sure * ranked.confidence, 6)
    return ranked._replace(candidates=candidates, confidence=sure, unread=sure)
