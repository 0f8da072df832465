"""What a store showed at another time: the passages that a question as of then must not see.

Validity is a matter of statements alone. A date is no mask on what was said: evidence often stands
in the note of another day (as a mask it costs 3 points of recall on an agent's notes). What we knew
is a matter of everything: nothing that came later may be seen.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.store.index.graph import Fact

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


def hidden(connection: sqlite3.Connection, at: str, known_at: str | None) -> frozenset[int]:
    """Rows of the passages that do not count at a time.

    Args:
        connection: The index.
        at: When it should have been true, ISO 8601; a bare date is a day.
        known_at: When it should have been known; None for now.
    """
    found: set[int] = set()
    shown: set[int] = set()
    for row, *fact in connection.execute(
        "SELECT p.id, c.key, c.stream, c.subject, c.slot, c.value, c.valid_from, c.valid_until,"
        " c.recorded_at, c.superseded_at, c.withdrawn FROM clocks c JOIN passages p ON p.key = c.key"
    ):
        (shown if clocks.holds(Fact._make(fact), at, known_at) else found).add(row)
    if known_at is not None:
        found.update(_later(connection, known_at))
        shown.update(_open_then(connection, known_at))
    closed = {row for (row,) in connection.execute("SELECT id FROM passages WHERE NOT current")}
    return frozenset(found | (closed - shown))


def _later(connection: sqlite3.Connection, known_at: str) -> Iterator[int]:
    """Passages that were told after a time."""
    for row, time in connection.execute(
        "SELECT id, time FROM passages WHERE time IS NOT NULL AND time >= ? ORDER BY id",
        (known_at[:10],),  # of the days before nothing is later, whatever the offsets
    ):
        if not clocks.is_true(_since(time), known_at):
            yield row


def _since(time: str) -> Fact:
    return Fact("", "", None, None, None, time, None, None, None, withdrawn=False)


def _open_then(connection: sqlite3.Connection, known_at: str) -> Iterator[int]:
    """Blocks that are closed now, and were not at a time."""
    for document, line in connection.execute(
        "SELECT id, line FROM records WHERE type = 'document' ORDER BY id"
    ):
        mapping = json.loads(zlib.decompress(line))
        for key, (since, _) in mapping.get("closed", {}).items():
            if not clocks.has_ended(_since("")._replace(valid_until=since), known_at):
                for (row,) in connection.execute(
                    "SELECT p.id FROM passages p JOIN places l ON l.id = p.place"
                    " WHERE p.key = ? AND l.document = ?",
                    (key, document),
                ):
                    yield row
