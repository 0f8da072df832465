"""The turns that the store already has of a conversation, while a source brings it again.

A turn without an exact time is numbered among its equals in the session; it is the same as a stored
one when it stands at the same line of a source of the same name and every turn without time before
it was the same too (so a source may grow, and what follows a difference is new). As a tombstone
tells no place, each forgotten one among equals stands for one turn of a source: the first that is
not known to be another one.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clsm_cli.ingestion.timestamps import instant
from clsm_cli.ingestion.turns import has_exact_time, with_ordinal
from clsm_cli.model.episodes import EndMark
from clsm_cli.store import inbox
from clsm_cli.store.logs import is_forgotten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from clsm_cli.ingestion.jsonl_rows import RawBreak
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.index.index_queries import Index


@dataclass(slots=True)
class Session:
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
    passed: set[str] = field(default_factory=set)
    """Forgotten turns without exact time that this source brought again."""


class Sessions:
    """The turns that the store has, session by session, read when a session is first met."""

    def __init__(
        self,
        folder: Path,
        index: Callable[[], Index],
        *,
        look_back: bool,
        forgotten: frozenset[str] = frozenset(),
    ) -> None:
        """What is in ``folder`` (an inbox), and in episodes as the index tells.

        Args:
            index: Opens a fresh index; called only when it is needed.
            look_back: Whether turns with an exact time are looked up in episodes. A plain capture
                leaves that to ``segment`` (a turn that is in an episode is dropped there), so that
                its cost does not grow with the store.
        """
        self.folder = folder
        self.index = index
        self.look_back = look_back
        self.forgotten = forgotten
        self._aside = inbox.read_aside(folder)
        self._known: dict[str, Session] = {}

    def get(self, session: str) -> Session:
        """What is known of a session."""
        known = self._known.get(session)
        if known is None:
            known = self._known[session] = self._load(session)
        return known

    def begin_source(self) -> None:
        """A new source starts: turns without time are compared from its beginning."""
        for known in self._known.values():
            known.last, known.head, known.diverged = None, None, False
            known.passed.clear()

    def end_source(self) -> Iterator[EndMark]:
        """A source ended: a break behind which nothing came ends what there was before it."""
        for session, known in self._known.items():
            if known.head is not None:
                newest = self.newest(session, known)
                time = known.open_times.get(newest or "")
                if not _is_later(time, known.head.time):
                    mark = mark_after(newest, known.head, known)
                    known.head = None
                    if mark is not None:
                        yield mark

    def newest(self, session: str, known: Session) -> str | None:
        """The turn of a session that arrived last and is not in an episode."""
        if not known.open_times:
            return None
        closed = self.index().closed_keys(session)
        return next((key for key in reversed(known.open_times) if key not in closed), None)

    def calls(self, session: str) -> set[str]:
        """Ids of tool calls whose results are no memory, see ``CallMark``."""
        return self.get(session).calls

    def _load(self, session: str) -> Session:
        path = inbox.path_of(self.folder, session)
        boxes = [inbox.read(p, self.forgotten) for p in (path, *self._aside.get(path, ()))]
        turns = [item.turn for box in boxes for item in box.turns]
        known = Session(
            keys={turn.key for turn in turns},
            marks={i.after for box in boxes for i in box.items if isinstance(i, EndMark)},
            open_times={turn.key: turn.time for turn in turns},
            calls={mark.call for box in boxes for mark in box.calls},
        )
        places: dict[str, dict[int, str]] = {}
        for turn in turns:
            if not has_exact_time(turn):
                places.setdefault(os.path.basename(turn.path), {})[turn.line_start] = turn.key
        known.places = places
        if self.look_back:
            self.look_up(session, known)
        return known

    def look_up(self, session: str, known: Session) -> None:
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


def mark_after(after: str | None, item: RawBreak, known: Session) -> EndMark | None:
    """The end behind a turn that is open; None behind another, or where it is marked already."""
    if after is None or after in known.marks or after not in known.open_times:
        return None
    known.marks.add(after)
    return EndMark(item.session, after, item.time)


def place_untimed(turn: Turn, session: str, known: Session, forgotten: frozenset[str]) -> Turn:
    """The stored turn this one is, else a forgotten one, else the next of its equals."""
    stored = known.places.get(os.path.basename(turn.path), {}).get(turn.line_start)
    ordinal, hidden = 0, None
    while True:
        candidate = with_ordinal(turn, session, ordinal)
        if is_forgotten(candidate.key, forgotten):
            hidden = hidden or (None if candidate.key in known.passed else candidate)
        elif candidate.key not in known.keys:
            break
        elif candidate.key == stored and not known.diverged:
            return candidate
        ordinal += 1
    if hidden is not None:
        known.passed.add(hidden.key)
        return hidden
    known.diverged = True
    return candidate


def _is_later(time: str | None, than: str | None) -> bool:
    """Whether both are instants and the first is the later one."""
    one, other = (instant(t) if t else None for t in (time, than))
    return one is not None and other is not None and one > other
