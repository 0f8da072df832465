"""Which passages nobody vouches for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.store.index.search import batches

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


def untrusted(connection: sqlite3.Connection, rows: Sequence[int]) -> set[int]:
    """Of the rows of some passages those that a tool printed or a stranger wrote."""
    names = ",".join(f"'{trust}'" for trust in sorted(UNTRUSTED))
    found: set[int] = set()
    for batch in batches(rows):
        marks = ",".join("?" * len(batch))
        query = f"SELECT id FROM passages WHERE trust IN ({names}) AND id IN ({marks})"
        found.update(row for (row,) in connection.execute(query, batch))
    return found
