"""Pin and unpin records, so that consolidation leaves them as they are.

What is pinned keeps its values through every run, and decay never archives it. What is unpinned is
like any other record again: the next consolidation may reinforce, close or rename it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation.edit_session import open_for_edit
from clsm_cli.consolidation.record_edit import record_of, stream_of
from clsm_cli.errors import BadInputError, DamagedStoreError
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, inbox

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.consolidation.edit_session import EditSession, Warn
    from clsm_cli.model.codec import Record
    from clsm_cli.store.layout import Store

_ID = re.compile(r"[efg]-[0-9a-f]{2,}")
_TURN = re.compile(r"[0-9a-f]{12}")


class Pinned(NamedTuple):
    """A record that a person pinned or unpinned.

    Attributes:
        record: As it is now; a statement with its text.
        turn: Key of the turn by which it was named; None where it was named by itself.
        is_new: False where it was so already, and nothing changes.
    """

    record: Record
    turn: str | None
    is_new: bool


class Pinning(NamedTuple):
    """What became of all that was named, in that order, and the run (None: nothing was written)."""

    found: tuple[Pinned, ...]
    run: str | None


def pin(
    store: Store,
    wanted: Sequence[str],
    now: datetime,
    warn: Warn,
    *,
    is_pinned: bool = True,
    dry_run: bool = False,
) -> Pinning:
    """Pin some records, or unpin them: all of them, or none.

    Args:
        wanted: Ids of statements, concepts, edges, episodes or turns, how one begins, or names of
            concepts and of what statements are about. A turn stands for its episode.

    Raises:
        BadInputError: It is not certain which record is meant, or it cannot be pinned.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused.
    """
    with open_for_edit(store, "pin" if is_pinned else "unpin", now, warn, dry_run=dry_run) as edits:
        found: dict[str, Pinned] = {}
        for each in wanted:
            record, turn = _meant(edits, each, is_pinned=is_pinned)
            if is_pinned:
                _check(record)
            is_new = record.pinned != is_pinned
            found.setdefault(record.id, Pinned(replace(record, pinned=is_pinned), turn, is_new))
        for one in found.values():
            if not one.is_new:
                continue
            if isinstance(one.record, Statement):
                edits.put(one.record)
            else:
                edits.put_record(stream_of(store, one.record.id), one.record)
        return Pinning(tuple(found.values()), edits.save())


def _meant(edits: EditSession, wanted: str, *, is_pinned: bool) -> tuple[Record, str | None]:
    """The record that somebody means, and the turn by which they named it.

    Raises:
        BadInputError: None, or several.
    """
    if wanted in edits.statements or wanted in edits.records or _ID.fullmatch(wanted):
        return record_of(edits, wanted), None
    if _TURN.fullmatch(wanted):
        return _episode_of(edits, wanted), wanted
    rows = [
        row
        for row in edits.statements.values()
        if row.is_current and row.subject and edits.node_of(row.subject) == edits.node_of(wanted)
    ]
    other = [row for row in rows if row.pinned != is_pinned]
    if len(other or rows) == 1:
        return (other or rows)[0], None
    node = edits.nodes.get(edits.node_of(wanted))
    if node is not None:
        return node, None
    if rows:
        listed = ", ".join(f"{row.id} ({row.text})" for row in rows[:10])
        reason = f"it is not certain which statement is meant: {listed}"
        raise BadInputError(wanted, reason, "name one by its id")
    return record_of(edits, wanted), None


def _episode_of(edits: EditSession, turn: str) -> EpisodeRecord:
    """The record of the episode that a turn is in.

    Raises:
        BadInputError: It is in none.
    """
    for flow in edits.store.flows():
        for path in episodes.files(flow):
            try:
                if turn.encode() not in path.read_bytes():
                    continue
                episode = episodes.read(path)
            except (OSError, DamagedStoreError):
                continue  # another command says so
            record = edits.records.get(episode.id)
            if isinstance(record, EpisodeRecord) and any(t.key == turn for t in episode.turns):
                return record
    for path in inbox.files(edits.store.inbox):
        if any(captured.turn.key == turn for captured in inbox.read(path).turns):
            reason = "is in a conversation that is not over"
            raise BadInputError(turn, reason, "pin it after: clsm consolidate")
    raise BadInputError(turn, "no turn has that key", "find keys with: clsm recall")


def _check(record: Record) -> None:
    """Refuse to pin what the store no longer holds.

    Raises:
        BadInputError: It does not.
    """
    if isinstance(record, Statement) and (record.superseded_at or record.withdrawn):
        raise BadInputError(record.id, "is no longer held", "find what is held with: clsm recall")
