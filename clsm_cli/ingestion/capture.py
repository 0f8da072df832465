"""Capture: new turns and notes go to the inbox, durably, before anything else happens.

No model, no network. Known turns are recognised by their key, whatever file or hook brings them again;
forgotten ones are dropped by their tombstone.

Turns without an exact time are numbered among their equals in the session (``Sessions.place_untimed``).
A source may grow, and everything after a difference is new. A tombstone has no position, so each stands for
one turn of a source: the first that is not known to be another one.

A break at the start of a source closes the earlier part of the session, if the turn after it is new, or if
none follows. A tool call that ran clsm is marked, so that its result is dropped when another source brings it
(call ids are unique in their session, as providers make them).
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC
from itertools import count
from typing import TYPE_CHECKING, Literal

from clsm_cli.errors import BadInputError, LockedError
from clsm_cli.ingestion import timestamps
from clsm_cli.ingestion.ingest_report import FORGOTTEN
from clsm_cli.ingestion.jsonl_rows import Dropped, Problem, RawBreak, RawTurn, no_key
from clsm_cli.ingestion.recalled_text import strip_blocks
from clsm_cli.ingestion.turns import Masker, has_exact_time, turn_from_message, with_ordinal
from clsm_cli.model.clocks import instant, is_after, utc_text
from clsm_cli.model.episodes import TRUST_ROLE, EndMark
from clsm_cli.model.grouping import grouped
from clsm_cli.store import inbox, runs
from clsm_cli.store.inbox import CallMark, CapturedTurn
from clsm_cli.store.lock import locked
from clsm_cli.store.logs import is_forgotten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.ingestion.ingest_report import Tally
    from clsm_cli.ingestion.jsonl_rows import FenceKey, TranscriptItem
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.inbox import InboxRow
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.layout import Store

BATCH_ROWS = 1000  # rows that are written (and fsynced) together


@dataclass(slots=True)
class _Session:
    """The known state of a session before and while a source is read."""

    keys: set[str]
    marks: set[str]
    open_times: dict[str, str | None]  # key → time of the turns in the inbox, in order of arrival
    calls: set[str]
    # File name → line → key of the turn without exact time at that line.
    places: dict[str, dict[int, str]] = field(default_factory=dict)
    is_complete: bool = False
    last: str | None = None  # key of the turn read last
    head: RawBreak | None = None  # a break before any turn of this source
    has_diverged: bool = False
    # Forgotten turns without exact time that this source repeated.
    repeated: set[str] = field(default_factory=set)

    def mark(self, after: str | None, item: RawBreak) -> list[InboxRow]:
        """An end mark after a turn that is open and has none yet."""
        if after is None or after in self.marks or after not in self.open_times:
            return []
        self.marks.add(after)
        return [EndMark(item.session, after, item.time)]


@dataclass(slots=True)
class Sessions:
    """The turns in the store by session, each read at its first use.

    Attributes:
        folder: The inbox; the index has the turns in episodes.
        index: Opens a fresh index; called only when needed.
        look_back: Whether turns with an exact time are looked up in episodes. A plain capture
            leaves that to ``segment`` (which drops turns that are in an episode), so that its cost
            does not grow with the store.
    """

    folder: Path
    index: Callable[[], Index]
    look_back: bool
    forgotten: frozenset[str]
    _known: dict[str, _Session] = field(default_factory=dict)
    _aside: dict[Path, list[Path]] = field(init=False)

    def __post_init__(self) -> None:
        self._aside = inbox.side_files(self.folder)

    def get(self, session: str) -> _Session:
        """The known state of a session."""
        if session not in self._known:
            self._known[session] = self._load(session)
        return self._known[session]

    def begin_source(self) -> None:
        """Start a new source: turns without time are compared from its start."""
        for known in self._known.values():
            known.last, known.head, known.has_diverged, known.repeated = None, None, False, set()

    def end_source(self) -> Iterator[InboxRow]:
        """End a source: a break that no turn follows closes the part before it."""
        for session, known in self._known.items():
            if known.head is not None:
                newest = self.newest(session, known)
                if not is_after(known.open_times.get(newest or ""), known.head.time, UTC):
                    yield from known.mark(newest, known.head)
                    known.head = None

    def newest(self, session: str, known: _Session) -> str | None:
        """The last turn of a session that arrived and is not in an episode."""
        if not known.open_times:
            return None
        closed = self.index().keys_in_episodes(session)
        return next((key for key in reversed(known.open_times) if key not in closed), None)

    def _load(self, session: str) -> _Session:
        path = inbox.path_of(self.folder, session)
        boxes = [inbox.read(p, self.forgotten) for p in (path, *self._aside.get(path, ()))]
        turns = [item.turn for box in boxes for item in box.turns]
        known = _Session(
            keys={turn.key for turn in turns},
            marks={i.after for box in boxes for i in box.items if isinstance(i, EndMark)},
            open_times={turn.key: turn.time for turn in turns},
            calls={mark.call for box in boxes for mark in box.calls},
        )
        for turn in turns:
            if not has_exact_time(turn):
                known.places.setdefault(os.path.basename(turn.path), {})[turn.line_start] = turn.key
        if self.look_back:
            self.look_up(session, known)
        return known

    def look_up(self, session: str, known: _Session) -> None:
        """Load the turns of a session that are in episodes, once."""
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

    def place_untimed(self, turn: Turn, session: str, known: _Session) -> Turn:
        """Assign a turn without exact time its ordinal among its equals in the session.

        Ordinals are tried up to the first new one. The turn is

        1. the one *here*: the store has it at this line, and all before were the same;
        2. else the first *forgotten* one: it has a tombstone, and this source did not repeat it yet;
        3. else the *new* one, which the store does not have;
        4. never one *elsewhere*, or one that this source already repeated.
        """
        self.look_up(session, known)
        places = {} if known.has_diverged else known.places.get(os.path.basename(turn.path), {})
        here, forgotten = places.get(turn.line_start), None
        for ordinal in count():
            equal = with_ordinal(turn, session, ordinal)
            if is_forgotten(equal.key, self.forgotten):
                if equal.key not in known.repeated:
                    forgotten = forgotten or equal
            elif equal.key == here:
                return equal
            elif equal.key not in known.keys:
                break
        if forgotten is None:
            known.has_diverged = True
            return equal
        known.repeated.add(forgotten.key)
        return forgotten


@dataclass(slots=True)
class Capture:
    """The new turns of a source."""

    sessions: Sessions  # the turns in the store; captured ones count as known from then on
    path: str
    origin: str  # the real path of the source; "" if it is no file
    now: str
    tally: Tally
    since: datetime | None = None  # earlier messages are skipped
    mask: Masker = field(init=False)

    def __post_init__(self) -> None:
        """Mask file names, which may contain secrets, too."""
        self.mask = Masker(self.tally.masked)
        self.path, self.origin = self.mask.name(self.path), self.mask.name(self.origin)

    def batches(self, items: Iterable[TranscriptItem]) -> Iterator[dict[str, list[InboxRow]]]:
        """Yield new turns and marks, by session and in order of arrival."""
        self.sessions.begin_source()
        batch: list[InboxRow] = []
        try:
            for item in map(self.mask.mask_names, items):
                batch += self._rows(item)
                if len(batch) >= BATCH_ROWS:
                    yield _by_session(batch)
                    batch = []
        except OSError:  # of the source: earlier rows are counted, so they are written
            yield _by_session(batch)
            raise
        batch += self.sessions.end_source()
        if batch:
            yield _by_session(batch)

    def _rows(self, item: TranscriptItem) -> list[InboxRow]:
        if isinstance(item, Problem):
            self.tally.problems.append(item)
            return []
        if isinstance(item, Dropped):
            self.tally.dropped[item.reason] += 1
            return self._call(item)
        known = self.sessions.get(item.session)
        if isinstance(item, RawTurn):
            turn = self._turn(item, known)
            return [] if turn is None else self._new_rows(item.session, turn, known)
        # A break counts once, and only after a turn that is still open.
        if known.last is None:
            known.head = known.head or item
            return []
        return known.mark(known.last, item)

    def _call(self, item: Dropped) -> list[InboxRow]:
        if item.session is None or not item.call:
            return []
        known = self.sessions.get(item.session).calls
        if item.call in known:
            return []
        known.add(item.call)
        return [CallMark(item.session, item.call)]

    def _turn(self, item: RawTurn, known: _Session) -> Turn | None:
        turn = turn_from_message(item, self.path, self.mask, self.origin)
        if not turn.text:
            self.tally.dropped["empty"] += 1
            return None
        if self.since and turn.time and _is_before(turn.time, self.since):
            self.tally.dropped["before --since"] += 1
            return None
        if not has_exact_time(turn):
            turn = self.sessions.place_untimed(turn, item.session, known)
        if is_forgotten(turn.key, self.sessions.forgotten):
            self.tally.dropped[FORGOTTEN] += 1
            return None
        return turn

    def _new_rows(self, session: str, turn: Turn, known: _Session) -> list[InboxRow]:
        head, known.head, known.last = known.head, None, turn.key
        if head is not None:
            self.sessions.look_up(session, known)
        if turn.key in known.keys:
            self.tally.known += 1
            return []
        mark = [] if head is None else known.mark(self.sessions.newest(session, known), head)
        known.keys.add(turn.key)
        known.open_times[turn.key] = turn.time
        self.tally.added += 1
        self.tally.take(turn)
        return [*mark, CapturedTurn(session, turn, self.now)]


def _by_session(rows: Iterable[InboxRow]) -> dict[str, list[InboxRow]]:
    return grouped((row.session, row) for row in rows)


def _is_before(time: str, since: datetime) -> bool:
    moment = instant(time)
    return time < since.date().isoformat() if moment is None else moment < since


NOTES_SESSION = "notes"  # the session of notes


@dataclass(frozen=True, slots=True)
class NoteResult:
    """A note that was written durably."""

    id: str
    text: str
    is_new: bool
    masked: dict[str, int]


def write_note(
    store: Store,
    text: str,
    now: datetime,
    *,
    by: Literal["user", "agent"] = "user",
    dry_run: bool = False,
    fence_key: FenceKey = no_key,
) -> NoteResult:
    """Write a note (a dry run only returns it); it is found by its words at once.

    Text that clsm itself recalled is removed (``ingestion.recalled_text``).
    """
    mask = Masker(Counter())
    text = strip_blocks(text, fence_key).text
    time = timestamps.normalise(now.isoformat(), store.zone)
    role = TRUST_ROLE[by]
    raw = RawTurn(NOTES_SESSION, role, role, text, time, 1, 1 + text.strip().count("\n"))
    turn = turn_from_message(raw, "-", mask)
    if not turn.text:
        raise BadInputError("the note", "is empty", "give it some words")
    row = inbox.render([inbox.CapturedTurn(NOTES_SESSION, turn, utc_text(now))])
    path = inbox.path_of(store.inbox, NOTES_SESSION)
    with contextlib.ExitStack() as stack:
        is_held = False
        with contextlib.suppress(LockedError):
            stack.enter_context(locked(store.root, store.settings.store.capture_wait))
            is_held = True
        parts = [path, *inbox.side_files(store.inbox).get(path, ())]
        is_new = all(item.turn.key != turn.key for part in parts for item in inbox.read(part).turns)
        if is_new and is_held and not dry_run:
            runs.apply(store, "note", utc_text(now), [runs.Append(path, row)])
        elif is_new and not dry_run:
            inbox.write_side_file(store.inbox, NOTES_SESSION, row)
    return NoteResult(turn.key, turn.text, is_new, dict(mask.counts))
