"""How much a store holds, by kind of thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How much the store holds, by kind of thing."""
    queries = {
        "turns": "SELECT COUNT(DISTINCT key) FROM passages WHERE document IS NULL"
        " AND kind = 'passage'",
        "blocks": "SELECT COUNT(DISTINCT key) FROM passages WHERE document IS NOT NULL AND current",
        "statements": "SELECT COUNT(*) FROM passages WHERE kind = 'statement' AND current",
        "episodes": "SELECT COUNT(DISTINCT id) FROM episodes",
        "sessions": "SELECT COUNT(DISTINCT session) FROM passages WHERE kind = 'passage'"
        " AND document IS NULL",
        "documents": "SELECT COUNT(DISTINCT document) FROM blocks",
        "concepts": "SELECT COUNT(DISTINCT node) FROM mentions",
        "waiting": "SELECT COUNT(DISTINCT key) FROM passages WHERE episode IS NULL"
        " AND kind = 'passage'",
    }
    return {name: int(connection.execute(query).fetchone()[0]) for name, query in queries.items()}
