"""Capture: new turns of a conversation go to the inbox, durably, before anything else happens.

No model, no network. A turn that the store has is recognised by its key, whatever file or hook
brings it again. A turn without an exact time is numbered among its equals in the session; it is the
same as a stored one when it stands at the same line of a source of the same name and every turn
without time before it was the same too (so a source may grow, and what follows a difference is new).

A break at the head of a source ends what the session had before, if the turn behind it is new, or
if nothing comes behind it. A tool call that ran clsm is marked, so that its result is dropped when
another source brings it (ids of calls are unique in their session, as providers make them).
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clsm_cli.ingestion.items import Dropped, Problem, RawBreak, RawTurn
from clsm_cli.ingestion.openclaw import CLSM_CALL
from clsm_cli.ingestion.times import instant
from clsm_cli.ingestion.turns import Masker, from_message, has_exact_time, numbered
from clsm_cli.model.episodes import EndMark
from clsm_cli.store import inbox
from clsm_cli.store.inbox import CallMark, Captured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.ingestion.items import TranscriptItem
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.inbox import InboxRow
    from clsm_cli.store.index.reader import Index

BATCH = 1000
"""Turns that are written (and fsynced) together."""


@dataclass(slots=True)
class Tally:
    """What became of one source."""

    added: int = 0
    known: int = 0
    changed: int = 0
    closed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Session:
    """What is known of a session before and while a source is read."""

    keys: set[str]
    marks: set[str]
    open_times: dict[str, str | None]
    """Key → time of the turns in the inbox, in order of arrival."""
    calls: set[str]
    places: dict[str, dict[int, str]] = field(default_factory=dict)
    """File name → line → key of the turn without exact time that stands there."""
    is_complete: bool = False
    last: str | None = None
    head: RawBreak | None = None
    """A break before any turn of this source."""
    diverged: bool = False


class Sessions:
    """The turns that the store has, session by session, read when a session is first met."""

    def __init__(self, folder: Path, index: Callable[[], Index], *, look_back: bool) -> None:
        """What is in ``folder`` (an inbox), and in episodes as the index tells.

        Args:
            folder: The inbox of this machine.
            index: Opens a fresh index; called only when it is needed.
            look_back: Whether turns with an exact time are looked up in episodes. A plain capture
                leaves that to ``segment`` (a turn that is in an episode is dropped there), so that
                its cost does not grow with the store.
        """
        self.folder = folder
        self.index = index
        self.look_back = look_back
        self._known: dict[str, _Session] = {}

    def of(self, session: str) -> _Session:
        """What is known of a session."""
        known = self._known.get(session)
        if known is None:
            known = self._known[session] = self._load(session)
        return known

    def begin_source(self) -> None:
        """A new source starts: turns without time are compared from its beginning."""
        for known in self._known.values():
            known.last, known.head, known.diverged = None, None, False

    def end_source(self) -> Iterator[EndMark]:
        """A source ended: a break behind which nothing came ends what there was before it."""
        for session, known in self._known.items():
            if known.head is not None:
                newest = self.newest(session, known)
                time = known.open_times.get(newest or "")
                if not _is_later(time, known.head.time):
                    mark = _mark_after(newest, known.head, known)
                    known.head = None
                    if mark is not None:
                        yield mark

    def newest(self, session: str, known: _Session) -> str | None:
        """The turn of a session that arrived last and is not in an episode."""
        if not known.open_times:
            return None
        closed = self.index().closed_keys(session)
        return next((key for key in reversed(known.open_times) if key not in closed), None)

    def calls(self, session: str) -> set[str]:
        """Ids of tool calls whose results are no memory, see ``CallMark``."""
        return self.of(session).calls

    def _load(self, session: str) -> _Session:
        box = inbox.read(inbox.path_of(self.folder, session))
        turns = [item.turn for item in box.turns]
        known = _Session(
            keys={turn.key for turn in turns},
            marks={item.after for item in box.items if isinstance(item, EndMark)},
            open_times={turn.key: turn.time for turn in turns},
            calls={mark.call for mark in box.calls},
        )
        places: dict[str, dict[int, str]] = {}
        for turn in turns:
            if not has_exact_time(turn):
                places.setdefault(os.path.basename(turn.path), {})[turn.line_start] = turn.key
        known.places = places
        if self.look_back:
            self.look_up(session, known)
        return known

    def look_up(self, session: str, known: _Session) -> None:
        """Learn the turns of a session that lie in episodes, once."""
        if known.is_complete:
            return
        known.is_complete = True
        places: dict[str, dict[int, str]] = {}
        for stored in self.index().known_turns(session):
            known.keys.add(stored.key)
            if stored.time is None or "T" not in stored.time:
                name = os.path.basename(stored.path)
                places.setdefault(name, {})[stored.line] = stored.key
        for name, lines in known.places.items():  # what came last is what stands there
            places.setdefault(name, {}).update(lines)
        known.places = places


def capture(
    items: Iterable[TranscriptItem],
    sessions: Sessions,
    *,
    path: str,
    now: str,
    tally: Tally,
    since: datetime | None = None,
) -> Iterator[dict[str, list[InboxRow]]]:
    """New turns and marks of one source, in batches, by session and in order of arrival.

    Args:
        items: From a reader.
        sessions: What the store has; what is yielded counts as known from then on.
        path: The source as it was given.
        now: UTC time of the run.
        tally: Filled while this runs.
        since: Turns with an earlier time are passed over.
    """
    sessions.begin_source()
    mask = Masker(tally.masked)
    batch: list[InboxRow] = []
    for item in items:
        if isinstance(item, Problem):
            tally.problems.append(item)
        elif isinstance(item, Dropped):
            tally.dropped[item.reason.partition(":")[0]] += 1
            batch += _new_call(item, sessions)
        elif isinstance(item, RawBreak):
            batch += _new_mark(item, sessions.of(item.session))
        else:
            turn = _turn(item, sessions, mask, path=path, since=since, tally=tally)
            if turn is not None:
                batch += _new_rows(item.session, turn, sessions, now=now, tally=tally)
        if len(batch) >= BATCH:
            yield _by_session(batch)
            batch = []
    batch += sessions.end_source()
    if batch:
        yield _by_session(batch)


def _by_session(rows: Iterable[InboxRow]) -> dict[str, list[InboxRow]]:
    found: dict[str, list[InboxRow]] = {}
    for row in rows:
        found.setdefault(row.session, []).append(row)
    return found


def _new_call(item: Dropped, sessions: Sessions) -> list[InboxRow]:
    """A mark for a call that ran clsm, once."""
    call = item.reason.removeprefix(CLSM_CALL)
    if item.session is None or call in ("", item.reason):
        return []
    known = sessions.calls(item.session)
    if call in known:
        return []
    known.add(call)
    return [CallMark(item.session, call)]


def _new_mark(item: RawBreak, known: _Session) -> list[InboxRow]:
    """A mark counts once, and only behind a turn that is still open."""
    if known.last is None:
        known.head = known.head or item
        return []
    mark = _mark_after(known.last, item, known)
    return [] if mark is None else [mark]


def _mark_after(after: str | None, item: RawBreak, known: _Session) -> EndMark | None:
    if after is None or after in known.marks or after not in known.open_times:
        return None
    known.marks.add(after)
    return EndMark(item.session, after, item.time)


def _turn(
    item: RawTurn,
    sessions: Sessions,
    mask: Masker,
    *,
    path: str,
    since: datetime | None,
    tally: Tally,
) -> Turn | None:
    """The turn of a message with its key; None when it is not wanted."""
    turn = from_message(item, path, mask)
    if not turn.text:
        tally.dropped["empty"] += 1
        return None
    if since is not None and turn.time is not None and _is_before(turn.time, since):
        tally.dropped["before --since"] += 1
        return None
    known = sessions.of(item.session)
    if not has_exact_time(turn):
        sessions.look_up(item.session, known)
        turn = _place_untimed(turn, item.session, known)
    return turn


def _new_rows(
    session: str, turn: Turn, sessions: Sessions, *, now: str, tally: Tally
) -> list[InboxRow]:
    """The turn if it is new, behind the break before it."""
    known = sessions.of(session)
    head, known.head, known.last = known.head, None, turn.key
    if head is not None:
        sessions.look_up(session, known)
    if turn.key in known.keys:
        tally.known += 1
        return []
    mark = None if head is None else _mark_after(sessions.newest(session, known), head, known)
    known.keys.add(turn.key)
    known.open_times[turn.key] = turn.time
    tally.added += 1
    captured = Captured(session, turn, now)
    return [captured] if mark is None else [mark, captured]


def _place_untimed(turn: Turn, session: str, known: _Session) -> Turn:
    """The stored turn this one is, or the next of its equals."""
    stored = known.places.get(os.path.basename(turn.path), {}).get(turn.line_start)
    ordinal = 0
    while (candidate := numbered(turn, session, ordinal)).key in known.keys:
        if candidate.key == stored and not known.diverged:
            return candidate
        ordinal += 1
    known.diverged = True
    return candidate


def _is_later(time: str | None, than: str | None) -> bool:
    """Whether both are instants and the first is the later one."""
    one, other = (instant(t) if t else None for t in (time, than))
    return one is not None and other is not None and one > other


def _is_before(time: str, since: datetime) -> bool:
    moment = instant(time)
    return time < since.date().isoformat() if moment is None else moment < since
