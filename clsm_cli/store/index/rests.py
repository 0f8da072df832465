"""Which statements rest on which turns, and whether any of these still holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.store.index.search import batches

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


def outdated(connection: sqlite3.Connection, keys: Sequence[str]) -> set[str]:
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


def ended(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, str]:
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


def turns_of(connection: sqlite3.Connection, rows: Sequence[int]) -> list[tuple[int, str]]:
    """On which turns and blocks some statements rest: row of the one, key of the other."""
    found: list[tuple[int, str]] = []
    for batch in batches(rows):
        marks = ",".join("?" * len(batch))
        query = f"SELECT passage, turn FROM rests WHERE passage IN ({marks}) ORDER BY passage, turn"
        found += connection.execute(query, batch)
    return found
