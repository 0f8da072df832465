"""What the index has and readers do not see: what is archived, what is forgotten, and what came later.

**Archived** is a turn or a statement that a machine's ``archived.jsonl`` names and no machine has folded a
use of, or of a part of it, since that day. A recall must not ask that of each of thousands of passages, so
their rows stand packed in one place (``asleep``), counted again at the end of a refresh that changed any.

**Forgotten** is a turn, an episode or a record whose id has a tombstone: it is left out when its file is
read. So when tombstones come or go, all files are read again that may hold such a thing.

**As of another time** passages are hidden too. Validity is a matter of statements: a date is no mask on
what was said, as evidence often stands in the note of another day (as a mask it costs 3 points of recall
on an agent's notes). Only what was said later, and of which all that memory made became true later, is
hidden with it. What was known is a matter of everything: nothing that came later is seen.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.store.index.database import mapping_of
from clsm_cli.store.index.graph_queries import Fact, number_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from clsm_cli.model.codec import Record

_ASLEEP = (
    "SELECT p.id, p.length FROM (SELECT id, MAX(since) AS since FROM archived GROUP BY id) a"
    " JOIN passages p ON p.key = a.id WHERE p.current AND NOT EXISTS"
    " (SELECT 1 FROM passages s JOIN uses u"
    " ON u.id = CASE s.part WHEN 0 THEN s.key ELSE s.key || '-' || (s.part + 1) END"
    " WHERE s.key = a.id AND u.day > a.since) ORDER BY p.id"
)


def settle_archived(connection: sqlite3.Connection, touched: set[str]) -> None:
    """Count again what is archived, if a refresh that touched some kinds of files may have changed it."""
    (rows,) = connection.execute("SELECT rows FROM asleep").fetchone()
    if rows is None or touched & {"archived", "uses"}:
        found = connection.execute(_ASLEEP).fetchall()
        packed = array("I", [row for row, _ in found]).tobytes()
        total = sum(length for _, length in found)
        connection.execute(
            "UPDATE asleep SET passages = ?, length = ?, rows = ?", (len(found), total, packed)
        )


def forgotten_hashes(connection: sqlite3.Connection) -> frozenset[str]:
    """Hashes of everything that was forgotten, as of the last refresh."""
    return frozenset(row[0] for row in connection.execute("SELECT hash FROM tombstones"))


def visible_record(connection: sqlite3.Connection, record: Record) -> Record | None:
    """A record as the index shows it; None for a node that nothing visible mentions any more."""
    from clsm_cli.model.graph import Node
    from clsm_cli.model.tombstones import visible

    forgotten = forgotten_hashes(connection)
    if forgotten and isinstance(record, Node):
        row = connection.execute(
            "SELECT label FROM nodes WHERE number = ?", (number_of(record.id),)
        ).fetchone()
        if row is None or row[0] is None:
            return None
    return visible(record, forgotten)


def hidden_rows(connection: sqlite3.Connection, at: str, known_at: str | None) -> frozenset[int]:
    """Rows of the passages that do not count at a time.

    Args:
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
        for key, (since, _) in mapping_of(line).get("closed", {}).items():
            gone = Fact("", "", None, since, None, None, withdrawn=False)
            if not clocks.has_ended(gone, known_at):
                for (row,) in connection.execute(
                    "SELECT p.id FROM passages p JOIN places l ON l.id = p.place"
                    " WHERE p.key = ? AND l.document = ?",
                    (key, document),
                ):
                    yield row
