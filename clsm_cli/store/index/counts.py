"""How much a store holds, by kind of thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


_BOTH = "passages JOIN places ON places.id = passages.place"


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How much the store holds, by kind of thing."""
    queries = {
        "turns": f"SELECT COUNT(DISTINCT key) FROM {_BOTH} WHERE document IS NULL"
        " AND kind = 'passage'",
        "blocks": f"SELECT COUNT(DISTINCT key) FROM {_BOTH} WHERE document IS NOT NULL AND current",
        "statements": f"SELECT COUNT(*) FROM {_BOTH} WHERE kind = 'statement' AND current",
        "episodes": "SELECT COUNT(DISTINCT id) FROM episodes",
        "sessions": "SELECT COUNT(DISTINCT session) FROM places WHERE kind = 'passage'"
        " AND document IS NULL",
        "documents": "SELECT COUNT(DISTINCT document) FROM blocks",
        "concepts": "SELECT COUNT(DISTINCT node) FROM mentions JOIN names ON names.id = mentions.name",
        "waiting": f"SELECT COUNT(DISTINCT key) FROM {_BOTH} WHERE episode IS NULL"
        " AND kind = 'passage'",
    }
    return {name: int(connection.execute(query).fetchone()[0]) for name, query in queries.items()}
