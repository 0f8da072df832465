"""Capture: new turns of a conversation go to the inbox, durably, before anything else happens.

No model, no network. A turn that the store has is recognised by its key, whatever file or hook
brings it again. A turn without an exact time is numbered among its equals in the session; it is the
same as a stored one when it stands at the same line of the same source and every turn without time
before it was the same too (so a source may grow, and what follows a difference is new).
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clsm_cli.ingestion.items import Dropped, Problem, RawBreak, RawTurn
from clsm_cli.ingestion.times import instant
from clsm_cli.ingestion.turns import Masker, from_message, has_exact_time, numbered
from clsm_cli.model.episodes import EndMark
from clsm_cli.store import inbox
from clsm_cli.store.inbox import Captured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.ingestion.items import TranscriptItem
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.inbox import InboxItem
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
    open_keys: set[str]
    places: dict[str, dict[int, str]] = field(default_factory=dict)
    """File name → line → key of the turn without exact time that stands there."""
    is_complete: bool = False
    last: str | None = None
    matched: int = 0
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
            known.last, known.matched, known.diverged = None, 0, False

    def _load(self, session: str) -> _Session:
        box = inbox.read(inbox.path_of(self.folder, session))
        turns = [item.turn for item in box.turns]
        known = _Session(
            keys={turn.key for turn in turns},
            marks={item.after for item in box.items if isinstance(item, EndMark)},
            open_keys={turn.key for turn in turns},
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
        for stored in self.index().known_turns(session):
            known.keys.add(stored.key)
            if stored.time is None or "T" not in stored.time:
                name = os.path.basename(stored.path)
                known.places.setdefault(name, {})[stored.line] = stored.key


def capture(
    items: Iterable[TranscriptItem],
    sessions: Sessions,
    *,
    path: str,
    now: str,
    tally: Tally,
    since: datetime | None = None,
) -> Iterator[dict[str, list[InboxItem]]]:
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
    batch: dict[str, list[InboxItem]] = {}
    size = 0
    for item in items:
        if isinstance(item, Problem):
            tally.problems.append(item)
        elif isinstance(item, Dropped):
            tally.dropped[item.reason.partition(":")[0]] += 1
        else:
            known = sessions.of(item.session)
            new = (
                _new_mark(item, known)
                if isinstance(item, RawBreak)
                else _new_turn(item, sessions, mask, path=path, now=now, since=since, tally=tally)
            )
            if new is not None:
                batch.setdefault(item.session, []).append(new)
                size += 1
        if size == BATCH:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _new_mark(item: RawBreak, known: _Session) -> EndMark | None:
    """A mark counts once, and only behind a turn that is still open."""
    after = known.last
    if after is None or after in known.marks or after not in known.open_keys:
        return None
    known.marks.add(after)
    return EndMark(item.session, after, item.time)


def _new_turn(
    item: RawTurn,
    sessions: Sessions,
    mask: Masker,
    *,
    path: str,
    now: str,
    since: datetime | None,
    tally: Tally,
) -> Captured | None:
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
    known.last = turn.key
    if turn.key in known.keys:
        tally.known += 1
        return None
    known.keys.add(turn.key)
    known.open_keys.add(turn.key)
    tally.added += 1
    return Captured(item.session, turn, now)


def _place_untimed(turn: Turn, session: str, known: _Session) -> Turn:
    """The stored turn this one is, or the next of its equals."""
    lines = known.places.get(os.path.basename(turn.path), {})
    stored = [lines[line] for line in sorted(lines)]
    equals = []
    ordinal = 0
    while (candidate := numbered(turn, session, ordinal)).key in known.keys:
        equals.append(candidate)
        ordinal += 1
    if not known.diverged and known.matched < len(stored):
        for candidate in equals:
            if candidate.key == stored[known.matched]:
                known.matched += 1
                return candidate
        known.diverged = True
    return numbered(turn, session, ordinal)


def _is_before(time: str, since: datetime) -> bool:
    moment = instant(time)
    return time < since.date().isoformat() if moment is None else moment < since
