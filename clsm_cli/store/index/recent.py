"""The newest episodes of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3

_AFTER = "~"
"""Sorts after every name of a file."""


def recent(connection: sqlite3.Connection, days: int, until: str | None = None) -> list[str]:
    """Files of the episodes that started within some days before the newest, and of all undated blocks.

    A file's name begins with the time of its start in UTC (``episodes.file_of``), so it sorts
    whatever the offset of that time is.

    Args:
        connection: Of the index.
        days: Before the newest start.
        until: UTC time as in the names of files; later starts are left out.

    Returns:
        Paths in the store, oldest start first; those of undated blocks come last.
    """
    rows = connection.execute(
        "WITH dated AS (SELECT f.path, substr(f.path, instr(f.path, '/episodes/') + 18) AS name"
        "  FROM episodes e JOIN files f ON f.id = e.file"
        "  WHERE e.start IS NOT NULL AND name <= :until)"
        " SELECT path, name FROM dated WHERE name >= strftime('%Y%m%d', (SELECT"
        "  substr(max(name), 1, 4) || '-' || substr(max(name), 5, 2) || '-' || substr(max(name), 7, 2)"
        "  FROM dated), :back)"
        " UNION ALL SELECT f.path, '~' FROM episodes e JOIN files f ON f.id = e.file"
        "  WHERE e.start IS NULL AND e.document IS NOT NULL ORDER BY name, path",
        {"until": until + _AFTER if until else _AFTER, "back": f"-{days} days"},
    )
    return list(dict.fromkeys(str(path) for path, _ in rows))
