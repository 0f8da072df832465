"""What readers may see: not the half-done work of a run, and nothing later than the time they ask for.

A run changes files for seconds or for minutes. While it does, and only then, the index says so; and
whoever cannot have the lock reads the index as it was before, whole, instead of files in flux.

A question as of another time hides passages. Validity is a matter of statements: a date is no mask on
what was said, as evidence often stands in the note of another day (as a mask it costs 3 points of recall
on an agent's notes). Only what was said later, and of which all that memory made became true later, is
hidden with it. What was known is a matter of everything: nothing that came later may be seen.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.store.index import database
from clsm_cli.store.index.graph_queries import Fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.store.layout import Store

_MARK = "at_work"
_AWAY = f"DELETE FROM meta WHERE key = '{_MARK}'"


@contextlib.contextmanager
def run_in_progress(connection: sqlite3.Connection) -> Iterator[None]:
    """A run, while it changes files step by step: until it ends, others read the index as it was.

    The caller holds the lock, has brought the index up to date, and does so again before this ends:
    what the run did is published in that moment. If it fails, or is killed, nothing is; who next
    has the lock brings the index up to date. (A mark that a killed run left tells nothing then.)
    """
    before = database.pages(connection)
    connection.execute(f"INSERT OR REPLACE INTO meta VALUES ('{_MARK}', '')")
    try:
        with database.transaction(connection):
            yield
            connection.execute(_AWAY)
    except BaseException:
        with contextlib.suppress(sqlite3.OperationalError):  # the disk may be full
            connection.execute(_AWAY)
        raise
    database.tidy(connection, before)


def is_run_in_progress(store: Store) -> bool:
    """Whether a run changes files at this moment, so that they are not yet what they will be.

    Raises:
        DiskError: The index is damaged; it is deleted, and the next call makes it.
    """
    from clsm_cli.store.lock import try_locked

    disk = database.open_to_read(store.derived)
    if disk is None:
        return False
    with contextlib.closing(disk), database.disk_errors(store.derived):
        if not is_run_marked(disk):
            return False
    with try_locked(store.root) as is_held:
        return not is_held


def is_run_marked(connection: sqlite3.Connection) -> bool:
    """Whether a run was at work when this was read, or was killed at it."""
    query = f"SELECT 1 FROM meta WHERE key = '{_MARK}'"
    return connection.execute(query).fetchone() is not None


def hidden_rows(connection: sqlite3.Connection, at: str, known_at: str | None) -> frozenset[int]:
    """Rows of the passages that do not count at a time.

    Args:
        connection: The index.
        at: When it should have been true, ISO 8601; a bare date is a day.
        known_at: When it should have been known; None for now.
    """
    found: set[int] = set()
    shown: set[int] = set()
    for row, *fact in connection.execute(
        "SELECT p.id, c.key, c.stream, c.valid_from, c.valid_until,"
        " c.recorded_at, c.superseded_at, c.withdrawn FROM clocks c JOIN passages p ON p.key = c.key"
    ):
        (shown if clocks.holds(Fact._make(fact), at, known_at) else found).add(row)
    found.update(_not_yet_true(connection, at))
    if known_at is not None:
        found.update(_later(connection, known_at))
        shown.update(_open_then(connection, known_at))
    closed = {row for (row,) in connection.execute("SELECT id FROM passages WHERE NOT current")}
    return frozenset(found | (closed - shown))


def _not_yet_true(connection: sqlite3.Connection, at: str) -> Iterator[int]:
    """Passages that were told after a time, of which all that memory made became true after it."""
    begun: dict[int, bool] = {}
    for row, told, start in connection.execute(
        "SELECT t.id, t.time, c.valid_from FROM passages t JOIN rests r ON r.turn = t.key"
        " JOIN passages p ON p.id = r.passage JOIN places l ON l.id = p.place"
        " JOIN clocks c ON c.key = p.key"
        " WHERE t.time >= ? AND l.kind = 'statement' AND NOT c.withdrawn ORDER BY t.id",
        (at[:10],),
    ):
        is_later = not clocks.has_begun(told, at) and not clocks.has_begun(start or at, at)
        begun[row] = begun.get(row, False) or not is_later
    return (row for row, is_old in begun.items() if not is_old)


def _later(connection: sqlite3.Connection, known_at: str) -> Iterator[int]:
    """Passages that were told after a time."""
    for row, time in connection.execute(
        "SELECT id, time FROM passages WHERE time IS NOT NULL AND time >= ? ORDER BY id",
        (known_at[:10],),  # of the days before nothing is later, whatever the offsets
    ):
        if not clocks.has_begun(time, known_at):
            yield row


def _open_then(connection: sqlite3.Connection, known_at: str) -> Iterator[int]:
    """Blocks that are closed now, and were not at a time."""
    for document, line in connection.execute(
        "SELECT id, line FROM records WHERE type = 'document' ORDER BY id"
    ):
        mapping = json.loads(zlib.decompress(line))
        for key, (since, _) in mapping.get("closed", {}).items():
            gone = Fact("", "", None, since, None, None, withdrawn=False)
            if not clocks.has_ended(gone, known_at):
                for (row,) in connection.execute(
                    "SELECT p.id FROM passages p JOIN places l ON l.id = p.place"
                    " WHERE p.key = ? AND l.document = ?",
                    (key, document),
                ):
                    yield row
