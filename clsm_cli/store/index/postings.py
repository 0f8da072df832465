"""Postings: the passages that contain a term, in blocks rewritten separately; and counts.

Row (term, block) lists the passages whose id is in [block · 65,536, (block + 1) · 65,536), sorted;
each as a 32-bit number

    (id mod 65,536) · 65,536 + min(occurrences, 255) · 256 + min(terms of the passage, 255)
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from sqlite3 import Connection

from clsm_cli.store.index.database import DamagedRowError

_MAX_COUNT = 255


class PostingChanges:
    """Added and removed postings of one transaction, written once at its end."""

    def __init__(self) -> None:
        self._changed: dict[tuple[str, int], dict[int, int | None]] = {}

    def add(self, passage: int, terms: Mapping[str, int], length: int) -> None:
        """Add a passage: its terms with their occurrences, and its length in terms."""
        block, low = divmod(passage, 1 << 16)
        for term, count in terms.items():
            code = low << 16 | min(count, _MAX_COUNT) << 8 | min(length, _MAX_COUNT)
            self._changed.setdefault((term, block), {})[low] = code

    def remove(self, passage: int, terms: Mapping[str, int]) -> None:
        """Remove a passage from its terms."""
        block, low = divmod(passage, 1 << 16)
        for term in terms:
            self._changed.setdefault((term, block), {})[low] = None

    def write(self, connection: Connection) -> None:
        """Merge all changes into the table, in order of term, and clear them."""
        for (term, block), changed in sorted(self._changed.items()):
            own = "FROM postings WHERE term = ? AND block = ?"
            row = connection.execute(f"SELECT data {own}", (term, block)).fetchone()
            codes = merged(unpack(row[0] if row else b""), changed)
            if codes:
                values = (term, block, codes.tobytes())
                connection.execute("INSERT OR REPLACE INTO postings VALUES (?, ?, ?)", values)
            elif row:
                connection.execute(f"DELETE {own}", (term, block))
        self._changed.clear()


def term_postings(connection: Connection, term: str) -> Iterator[tuple[int, int, int]]:
    """Passage, occurrences and passage length in terms, for all passages with a term."""
    query = "SELECT block, data FROM postings WHERE term = ? ORDER BY block"
    for block, data in connection.execute(query, (term,)):
        first = block << 16
        for code in unpack(data):
            yield first + (code >> 16), code >> 8 & _MAX_COUNT, code & _MAX_COUNT


def document_frequency(connection: Connection, term: str) -> int:
    """Number of passages with a term, without reading them."""
    query = "SELECT TOTAL(LENGTH(data)) FROM postings WHERE term = ?"
    return int(connection.execute(query, (term,)).fetchone()[0]) // 4


def merged(codes: array[int], changed: Mapping[int, int | None]) -> array[int]:
    """Apply changes to a sorted row, in place; unchanged codes are moved, not decoded.

    >>> list(merged(array("I", [1 << 16, 4 << 16]), {4: None, 2: 2 << 16 | 257}))
    [65536, 131329]
    """
    for low in sorted(changed):
        place = bisect_left(codes, low << 16)
        if place < len(codes) and codes[place] >> 16 == low:
            del codes[place]
        code = changed[low]
        if code is not None:
            codes.insert(place, code)
    return codes


def unpack(data: bytes) -> array[int]:
    """The codes of a row."""
    try:
        return array("I", data)
    except (TypeError, ValueError) as error:
        raise DamagedRowError(str(error)) from error


_BOTH = "passages JOIN places ON places.id = passages.place"


def store_counts(connection: Connection) -> dict[str, int]:
    """Number of items in the store, by kind."""
    queries = {
        "turns": f"SELECT COUNT(DISTINCT key) FROM {_BOTH} WHERE document IS NULL"
        " AND kind = 'passage'",
        "blocks": f"SELECT COUNT(DISTINCT key) FROM {_BOTH} WHERE document IS NOT NULL AND current",
        "statements": f"SELECT COUNT(*) FROM {_BOTH} WHERE kind = 'statement' AND current",
        "episodes": "SELECT COUNT(DISTINCT id) FROM episodes",
        "sessions": "SELECT COUNT(DISTINCT session) FROM places WHERE kind = 'passage'"
        " AND document IS NULL",
        "documents": "SELECT COUNT(DISTINCT document) FROM blocks",
        "nodes": "SELECT COUNT(*) FROM nodes WHERE label IS NOT NULL",
        "waiting": f"SELECT COUNT(DISTINCT key) FROM {_BOTH} WHERE episode IS NULL"
        " AND kind = 'passage'",
    }
    return {name: int(connection.execute(query).fetchone()[0]) for name, query in queries.items()}
