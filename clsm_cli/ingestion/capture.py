"""Capture: new turns and notes go to the inbox, durably, before anything else happens.

No model, no network. A turn that the store has is recognised by its key, whatever file or hook brings
it again (``known_sessions`` for one without an exact time); a forgotten one is dropped by its tombstone.

A break at the head of a source ends what the session had before, if the turn behind it is new, or if
nothing comes behind it. A tool call that ran clsm is marked, so that its result is dropped when another
source brings it (ids of calls are unique in their session, as providers make them).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from clsm_cli.errors import BadInputError, LockedError
from clsm_cli.ingestion import timestamps
from clsm_cli.ingestion.ingest_report import FORGOTTEN, utc_text
from clsm_cli.ingestion.jsonl_rows import Dropped, Problem, RawBreak, RawTurn
from clsm_cli.ingestion.known_sessions import mark_after, place_untimed
from clsm_cli.ingestion.messages import CLSM_CALL
from clsm_cli.ingestion.recalled_text import FenceKey, no_key, strip_blocks
from clsm_cli.ingestion.timestamps import instant
from clsm_cli.ingestion.turns import Masker, has_exact_time, turn_from_message
from clsm_cli.model.episodes import TRUST_ROLE
from clsm_cli.store import inbox, runs
from clsm_cli.store.inbox import CallMark, CapturedTurn
from clsm_cli.store.lock import locked
from clsm_cli.store.logs import is_forgotten

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from clsm_cli.ingestion.jsonl_rows import TranscriptItem
    from clsm_cli.ingestion.known_sessions import Session, Sessions
    from clsm_cli.model.episodes import Turn
    from clsm_cli.store.inbox import InboxRow
    from clsm_cli.store.layout import Store

LONG = 8192
"""Characters from which a turn may hold a dump (``dumps.LEAST``, which a capture need not load)."""
BATCH = 1000
"""Turns that are written (and fsynced) together."""


@dataclass(slots=True)
class Tally:
    """What became of one source; ``by_words``: characters that are found by their words alone."""

    added: int = 0
    known: int = 0
    changed: int = 0
    closed: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    masked: Counter[str] = field(default_factory=Counter)
    by_words: int = 0
    encoding: str = ""

    def take(self, turn: Turn) -> None:
        """Count what of a new turn is found by its words alone."""
        if len(turn.text) >= LONG:
            from clsm_cli.text import dumps

            self.by_words += sum(end - start for start, end in dumps.find_dumps(turn.text))


def capture(
    items: Iterable[TranscriptItem],
    sessions: Sessions,
    *,
    path: str,
    origin: str,
    now: str,
    tally: Tally,
    since: datetime | None = None,
) -> Iterator[dict[str, list[InboxRow]]]:
    """New turns and marks of one source, in batches, by session and in order of arrival.

    Args:
        sessions: What the store has; what is yielded counts as known from then on.
        origin: Where it really lies; "" where that is no file.
    """
    sessions.begin_source()
    mask = Masker(tally.masked)
    path, origin = mask.name(path), mask.name(origin)
    batch: list[InboxRow] = []
    try:
        for item in map(mask.mask_names, items):
            if isinstance(item, Problem):
                tally.problems.append(item)
            elif isinstance(item, Dropped):
                tally.dropped[item.reason.partition(":")[0]] += 1
                batch += _new_call(item, sessions)
            elif isinstance(item, RawBreak):
                batch += _new_mark(item, sessions.get(item.session))
            else:
                turn = _turn(item, sessions, mask, (path, origin), since=since, tally=tally)
                if turn is not None:
                    batch += _new_rows(item.session, turn, sessions, now=now, tally=tally)
            if len(batch) >= BATCH:
                yield _by_session(batch)
                batch = []
    except OSError:  # of the source: what came before is counted, so it is written
        yield _by_session(batch)
        raise
    batch += sessions.end_source()
    if batch:
        yield _by_session(batch)


def _by_session(rows: Iterable[InboxRow]) -> dict[str, list[InboxRow]]:
    found: dict[str, list[InboxRow]] = {}
    for row in rows:
        found.setdefault(row.session, []).append(row)
    return found


def _new_call(item: Dropped, sessions: Sessions) -> list[InboxRow]:
    call = item.reason.removeprefix(CLSM_CALL)
    if item.session is None or call in ("", item.reason):
        return []
    known = sessions.calls(item.session)
    if call in known:
        return []
    known.add(call)
    return [CallMark(item.session, call)]


def _new_mark(item: RawBreak, known: Session) -> list[InboxRow]:
    """A mark counts once, and only behind a turn that is still open."""
    if known.last is None:
        known.head = known.head or item
        return []
    mark = mark_after(known.last, item, known)
    return [] if mark is None else [mark]


def _turn(
    item: RawTurn,
    sessions: Sessions,
    mask: Masker,
    place: tuple[str, str],
    *,
    since: datetime | None,
    tally: Tally,
) -> Turn | None:
    """The turn of a message with its key; None when it is not wanted."""
    path, origin = place
    turn = turn_from_message(item, path, mask, origin)
    if not turn.text:
        tally.dropped["empty"] += 1
        return None
    if since is not None and turn.time is not None and _is_before(turn.time, since):
        tally.dropped["before --since"] += 1
        return None
    known = sessions.get(item.session)
    if not has_exact_time(turn):
        sessions.look_up(item.session, known)
        turn = place_untimed(turn, item.session, known, sessions.forgotten)
    if is_forgotten(turn.key, sessions.forgotten):
        tally.dropped[FORGOTTEN] += 1
        return None
    return turn


def _new_rows(
    session: str, turn: Turn, sessions: Sessions, *, now: str, tally: Tally
) -> list[InboxRow]:
    """The turn if it is new, behind the break before it."""
    known = sessions.get(session)
    head, known.head, known.last = known.head, None, turn.key
    if head is not None:
        sessions.look_up(session, known)
    if turn.key in known.keys:
        tally.known += 1
        return []
    mark = None if head is None else mark_after(sessions.newest(session, known), head, known)
    known.keys.add(turn.key)
    known.open_times[turn.key] = turn.time
    tally.added += 1
    tally.take(turn)
    captured = CapturedTurn(session, turn, now)
    return [captured] if mark is None else [mark, captured]


def _is_before(time: str, since: datetime) -> bool:
    moment = instant(time)
    return time < since.date().isoformat() if moment is None else moment < since


SESSION = "notes"
"""The conversation that notes belong to."""


@dataclass(frozen=True, slots=True)
class NoteResult:
    """A note that is safe on disk."""

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
    """Write a note down (a dry run: only say how it would be); it is found by its words at once.

    What clsm itself recalled (``ingestion.recalled_text``) is left out of it.
    """
    mask = Masker(Counter())
    text = strip_blocks(text, fence_key).text
    time = timestamps.normalise(now.isoformat(), store.zone)
    role = TRUST_ROLE[by]
    raw = RawTurn(SESSION, role, role, text, time, 1, 1 + text.strip().count("\n"))
    turn = turn_from_message(raw, "-", mask)
    if not turn.text:
        raise BadInputError("the note", "is empty", "give it some words")
    row = inbox.render([inbox.CapturedTurn(SESSION, turn, utc_text(now))])
    try:
        with locked(store.root, store.settings.store.capture_wait):
            is_new = _is_new(store, turn.key)
            if is_new and not dry_run:
                path = inbox.path_of(store.inbox, SESSION)
                runs.apply(store, "note", utc_text(now), [runs.Append(path, row)])
    except LockedError:
        is_new = _is_new(store, turn.key)
        if is_new and not dry_run:
            inbox.put_aside(store.inbox, SESSION, row)
    return NoteResult(turn.key, turn.text, is_new, dict(mask.counts))


def _is_new(store: Store, key: str) -> bool:
    path = inbox.path_of(store.inbox, SESSION)
    parts = [path, *inbox.read_aside(store.inbox).get(path, ())]
    return all(item.turn.key != key for part in parts for item in inbox.read(part).turns)
