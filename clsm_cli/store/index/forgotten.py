"""Tombstones in the index: what was forgotten stays hidden, whoever brings it back.

A turn, an episode or a record whose id has a tombstone is left out when its file is read. So when
tombstones come or go, the files they concern are read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import logs
from clsm_cli.store.index.graph_queries import number_of
from clsm_cli.store.problems import LineProblem

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.store.index.indexed_files import Signature

FOLDER = "tombstones"


def read_tombstones(connection: sqlite3.Connection, path: Path, file: int) -> list[LineProblem]:
    """Take in a machine's tombstones; a damaged line must not go unseen."""
    found, problems = logs.rows(path)
    for number, row in found:
        if "hash" in row:
            connection.execute(
                "INSERT OR IGNORE INTO tombstones VALUES (?, ?)", (str(row["hash"]), file)
            )
        else:
            problems.append(LineProblem(path, number, "is no tombstone"))
    return problems


def forgotten_hashes(connection: sqlite3.Connection) -> frozenset[str]:
    """Hashes of everything that was forgotten, as of the last refresh."""
    return frozenset(row[0] for row in connection.execute("SELECT hash FROM tombstones"))


def affected_files(
    connection: sqlite3.Connection, before: frozenset[str], now: frozenset[str]
) -> dict[str, Signature]:
    """The files of which something goes, or may come back; they will be read whatever they hold.

    Args:
        connection: In a transaction.
        before: Hashes that the rows of the index obey.
        now: Those that they should.
    """
    come = now - before
    where, values = "kind IN ('episode', 'inbox', 'shard')", []
    if not before - now:  # else something comes back, nobody knows where from
        ids = (
            "SELECT DISTINCT p.key, l.file FROM passages p JOIN places l ON l.id = p.place",
            "SELECT id, file FROM episodes",
            "SELECT id, file FROM records",
        )
        rows = (row for query in ids for row in connection.execute(query))
        values = sorted({file for name, file in rows if come and tombstone_hash(name) in come})
        where = f"id IN ({','.join(map(str, values))})"
    found = {
        path: (kind, size, mtime)
        for path, kind, size, mtime in connection.execute(
            f"SELECT path, kind, size, mtime_ns FROM files WHERE {where} ORDER BY path"
        )
    }
    connection.executemany(
        "UPDATE files SET sha256 = '' WHERE path = ?", [(path,) for path in found]
    )
    return found


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
