"""The conversations that a question means by their order or their subject, looked up in the store.

Conversations are those that began before now; the one that is going on does not count. One is about
a subject when some group of eight of its passages holds nearly as much of the subject's words (by
idf) as the best group of the store does, or when it mentions the concept of that name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.scoring import bm25
from clsm_cli.store.index import sessions
from clsm_cli.text import tokens
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.sessions import Session
    from clsm_cli.text.ordinals import Place, Request
    from clsm_cli.text.timex_bounds import Times

LEAST = 0.5
"""Share of a subject's idf that some group must hold for the subject to be known at all."""
SHARE = 0.8
"""Share of what the best group holds that makes a session one about the subject."""
_ARTICLE = re.compile(r"^(?:the|our|my|your|a|an)\s", re.IGNORECASE)


class Found(NamedTuple):
    """Sessions that are meant, or why there are none.

    Attributes:
        sessions: In order of time.
        hard: Whether, if there are none, nothing can answer.
        warning: Why there are none, in plain words.
    """

    sessions: tuple[Session, ...] = ()
    hard: bool = True
    warning: str = ""


def meant(index: Index, request: Request, now: str, within: Times | None) -> Found:
    """The sessions that a request means.

    Args:
        index: Fresh.
        request: Its subjects hold no time.
        now: ISO 8601; sessions that begin later are not there.
        within: Only sessions that begin in these times; None for all.
    """
    known = _known(index, now)
    has_notes = request.place.is_mention or (request.relation != "at" and not request.step)
    counted = [each for each in known if has_notes or not each.is_note]
    if not counted:
        return Found(warning="the store held no conversation then")
    if within is not None:
        counted = [each for each in counted if _is_within(each, within)]
        if not counted:
            return Found(warning="there was no conversation at that time")
    if request.relation == "at":
        return _at(index, request.place, counted)
    return _beside(index, request, counted)


def has_conversation(index: Index, now: str) -> bool:
    """Whether the store held a conversation then that was over."""
    return any(not each.is_note for each in _known(index, now))


def _known(index: Index, now: str) -> list[Session]:
    """What had begun, in order of time, without the conversation that goes on.

    It goes on while its newest turn waits for the end of its episode.
    """
    found = sessions.in_order(index.connection)
    moment = sessions.instant(now)
    if moment is None:
        return found
    silence = 60 * index.store.settings.boundary.gap_half
    return [
        each
        for each in found
        if each.start <= moment
        and (each.last_open is None or not moment - silence <= each.last_open <= moment)
    ]


def _is_within(session: Session, times: Times) -> bool:
    return any(
        (first is None or first.toordinal() <= session.day)
        and (until is None or session.day < until.toordinal())
        for first, until in times.periods
    )


def _at(index: Index, place: Place, counted: Sequence[Session]) -> Found:
    """The sessions at a place."""
    listed = list(counted)
    about = ""
    if place.subject:
        known = _about(index, place.subject)
        listed = [each for each in counted if each.id in known]
        about = f' about "{place.subject}"'
        if not listed:
            return Found(hard=False, warning=f"no conversation{about} was found")
    if not place.number:
        return Found(tuple(listed), hard=False)
    if place.from_end:
        listed.reverse()
    chosen = listed[max(place.number - 1, 0) :][: place.length]
    if not chosen:
        number = len(listed)
        count = f"are only {number} conversations" if number > 1 else "is only one conversation"
        return Found(hard=not place.subject, warning=f"there {count}{about}")
    return Found(tuple(sorted(chosen, key=lambda each: (each.start, each.id))))


def _beside(index: Index, request: Request, counted: Sequence[Session]) -> Found:
    """The sessions before, after or between places."""
    first = _anchor(index, request.place, counted)
    last = _anchor(index, request.other, counted) if request.other else first
    if first is None or last is None:
        place = request.place if first is None or request.other is None else request.other
        what = f'"{place.subject}"' if place.subject else "that conversation"
        return Found(hard=False, warning=f"{what} was not found in any conversation")
    where = list(counted)
    begin, end = sorted((where.index(first), where.index(last)))
    step, length = request.step, request.length
    if request.relation == "between":
        chosen = where[begin + 1 : end]
    elif request.relation == "after":
        chosen = where[begin + 1 :]
        chosen = chosen[step - 1 :][:length] if step else chosen
    else:
        chosen = where[:begin]
        chosen = chosen[::-1][step - 1 :][:length][::-1] if step else chosen
    if not chosen:
        return Found(warning=f"there is no conversation {request.relation} that")
    return Found(tuple(chosen))


def _anchor(index: Index, place: Place, counted: Sequence[Session]) -> Session | None:
    """The one session that a relation starts from."""
    if place.number:
        found = _at(index, place, counted).sessions
        return found[-1] if found else None
    about = _about(index, place.subject)
    known = [each for each in counted if each.id in about]
    return max(known, key=lambda each: about[each.id], default=None)


def _about(index: Index, subject: str) -> dict[str, tuple[float, int]]:
    """The sessions about a subject: share of its words in the best group, passages that hold it."""
    named = sessions.mentioning(index.connection, index.node_of(node_id(_ARTICLE.sub("", subject))))
    terms = dict.fromkeys(tokens.stems(subject))
    count, _ = index.size()
    rows: dict[int, dict[str, None]] = {}
    weights: dict[str, float] = {}
    for term in terms:
        postings = index.postings(term)
        weights[term] = bm25.idf(count, len(postings))
        for row, _, _ in postings:
            rows.setdefault(row, {})[term] = None
    held = sessions.holding(index.connection, sorted({*rows, *named}))
    groups: dict[tuple[str, int], dict[str, None]] = {}
    for row, found in rows.items():
        if row in held:
            groups.setdefault(held[row], {}).update(found)
    whole = sum(weights.values()) or 1.0
    shares: dict[str, float] = {held[row].session: 1.0 for row in named if row in held}
    for (session, _), found in groups.items():
        share = round(sum(weights[term] for term in terms if term in found) / whole, 6)
        shares[session] = max(share, shares.get(session, 0.0))
    best = max(shares.values(), default=0.0)
    if best < LEAST:
        return {}
    passages: dict[str, int] = {}
    for row, place in held.items():
        if row in rows and len(rows[row]) >= min(2, len(terms)):
            passages[place.session] = passages.get(place.session, 0) + 1
    return {
        session: (share, passages.get(session, 0))
        for session, share in shares.items()
        if share >= SHARE * best
    }
