"""The newest episodes of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_AFTER = "~"
"""Sorts after every name of a file."""


def recent(
    connection: sqlite3.Connection, limit: int, until: str | None = None
) -> list[tuple[str, str]]:
    """Dated episodes, newest start first: id and file (one episode may lie on two machines).

    A file's name begins with the time of its start in UTC (``episodes.file_of``), so it sorts
    whatever the offset of that time is.

    Args:
        connection: Of the index.
        limit: How many at most.
        until: UTC time as in the names of files; later starts are left out.
    """
    rows = connection.execute(
        "SELECT e.id, f.path, substr(f.path, instr(f.path, '/episodes/') + 18) AS name"
        " FROM episodes e JOIN files f ON f.id = e.file"
        " WHERE e.start IS NOT NULL AND name <= ? ORDER BY name DESC, f.path LIMIT ?",
        (until + _AFTER if until else _AFTER, limit),
    )
    return [(str(row[0]), str(row[1])) for row in rows]
