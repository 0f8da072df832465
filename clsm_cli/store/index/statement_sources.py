"""The sources of statements: which turns they rest on, when these were told, and which still hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.ranking_queries import batches

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence


def outdated_sources(connection: sqlite3.Connection, keys: Sequence[str]) -> set[str]:
    """Of the keys of some turns and blocks those on which only closed statements rest."""
    found: set[str] = set()
    for batch in batches(keys):
        marks = ",".join("?" * len(batch))
        query = (
            "SELECT r.turn FROM rests r JOIN passages p ON p.id = r.passage"
            f" WHERE r.turn IN ({marks}) GROUP BY r.turn HAVING NOT MAX(p.current)"
        )
        found.update(turn for (turn,) in connection.execute(query, batch))
    return found


def ended_sources(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, str]:
    """The same keys, each with when the last of those statements was over; not what never held."""
    found: dict[str, str] = {}
    for batch in batches(keys):
        marks = ",".join("?" * len(batch))
        query = (
            "SELECT r.turn, MAX(c.valid_until) FROM rests r JOIN passages p ON p.id = r.passage"
            " LEFT JOIN clocks c ON c.key = p.key"
            f" WHERE r.turn IN ({marks}) GROUP BY r.turn HAVING NOT MAX(p.current)"
        )
        found.update((turn, until) for turn, until in connection.execute(query, batch) if until)
    return found


def source_keys(connection: sqlite3.Connection, rows: Sequence[int]) -> list[tuple[int, str]]:
    """On which turns and blocks some statements rest: row of the one, key of the other."""
    found: list[tuple[int, str]] = []
    for batch in batches(rows):
        marks = ",".join("?" * len(batch))
        query = f"SELECT passage, turn FROM rests WHERE passage IN ({marks}) ORDER BY passage, turn"
        found += connection.execute(query, batch)
    return found


_AFTER = "~"
"""Sorts after every name of a file."""


def recent_files(connection: sqlite3.Connection, days: int, until: str | None = None) -> list[str]:
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


class SourceDates(NamedTuple):
    """When something was told.

    Attributes:
        day: Proleptic ordinal of the day.
        periods: JSON: [[first, until], …], days that it speaks of; None for none.
    """

    day: int | None
    periods: str | None


def source_dates(
    connection: sqlite3.Connection, rows: Iterable[int]
) -> dict[int, list[SourceDates]]:
    """When the turns were told that statements rest on, by row of the statement."""
    found: dict[int, list[SourceDates]] = {}
    for batch in batches(rows):
        marks = ",".join("?" * len(batch))
        for row, _, *told in connection.execute(
            "SELECT DISTINCT r.passage, t.key, t.day, t.periods FROM rests r"
            f" JOIN passages t ON t.key = r.turn AND t.part = 0 WHERE r.passage IN ({marks})"
            " ORDER BY r.passage, t.key, t.day, t.periods",
            batch,
        ):
            found.setdefault(row, []).append(SourceDates(*told))
    return found
