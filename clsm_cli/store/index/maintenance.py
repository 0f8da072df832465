"""Seldom work on a whole index: compare it with one that is made anew, and compact it.

**Compare.** Row numbers differ between two indexes of the same files, so rows that are linked are named by
what they are. What only grows with use (vectors, what waits for one) is left out.

**Compact**: afterwards the files hold nothing of what is no longer indexed. A deleted row stays in the
free pages of the database, in its write-ahead log, and in the vector files until something is written
over it. So what nothing names any more is deleted, the database is written anew, and so are the vector
files, with the rows that a passage or a node still has. Offsets into the old files must never be used with
the new ones: the table of vectors is emptied first, and only when no reader is left that saw it are the
files replaced; then it is filled again. A crash in between costs the vectors, which the next command makes.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import LockedError
from clsm_cli.store import atomic
from clsm_cli.store.index import database, postings
from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES
from clsm_cli.store.index.indexed_files import changes
from clsm_cli.store.index.refresh import refresh
from clsm_cli.store.index.vector_files import (
    Row,
    commit_rows,
    committed,
    is_right,
    rows_of,
    sentences_path,
    tokens_path,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from clsm_cli.store.index.vector_files import Committed
    from clsm_cli.store.layout import Store

_NAMES = (
    "SELECT p.id, COALESCE(f.path, ''), p.key, p.part FROM passages p JOIN places l"
    " ON l.id = p.place LEFT JOIN files f ON f.id = l.file"
)
_PASSAGES = (
    "SELECT p.id, p.previous, p.next, p.grp, p.trust, p.speaker, p.role, p.time, p.day,"
    " p.line_start, p.line_end, p.line_offset, p.foreign_id, h.text, p.sources, p.text, p.length,"
    " p.embedded, p.current, p.periods, p.is_question, l.kind, l.stream, l.session,"
    " l.episode, l.document, l.path, l.origin FROM passages p JOIN places l ON l.id = p.place"
    " LEFT JOIN headings h ON h.id = p.heading"
)
_TABLES = {
    "episodes": "SELECT e.id, f.path, e.session, e.document, e.previous, e.start, e.continues"
    " FROM episodes e JOIN files f ON f.id = e.file",
    "documents": "SELECT * FROM documents",
    "blocks": "SELECT * FROM blocks",
    "aliases": "SELECT * FROM aliases",
    "nodes": "SELECT number, id, label, aliases, kind, stream, n, last, summary, degree, strongest,"
    " embedded FROM nodes WHERE label IS NOT NULL",
    "links": "SELECT * FROM links",
    "noted": "SELECT * FROM noted",
    "recorded": "SELECT * FROM recorded",
    "records": "SELECT f.path, r.id, r.type, hex(r.line) FROM records r"
    " JOIN files f ON f.id = r.file",
    "clocks": "SELECT * FROM clocks",
    "rests": "SELECT r.turn, p.key FROM rests r JOIN passages p ON p.id = r.passage",
    "uses": "SELECT u.id, u.day, u.n, f.path FROM uses u JOIN files f ON f.id = u.file",
    "archived": "SELECT a.id, a.since, f.path FROM archived a JOIN files f ON f.id = a.file",
    "tombstones": "SELECT t.hash, f.path FROM tombstones t JOIN files f ON f.id = t.file",
    "phrases": "SELECT COUNT(*) FROM phrases",
    "stated": "SELECT COUNT(*) FROM stated",
    "totals": "SELECT * FROM totals",
    "speakers": "SELECT * FROM speakers",
    "asleep": "SELECT passages, length FROM asleep",
    "problems": "SELECT path, problems FROM files WHERE problems IS NOT NULL",
}


def differences(store: Store, connection: sqlite3.Connection) -> list[str]:
    """Names of the tables in which an index differs from a fresh one of the same files, sorted."""
    with contextlib.closing(database.in_memory(None)) as fresh:
        refresh(fresh, store, changes(fresh, store))
        expected = contents(fresh)
    found = contents(connection)
    return sorted(name for name in expected if found[name] != expected[name])


def contents(connection: sqlite3.Connection) -> dict[str, Any]:
    """Everything that an index says, by table, in one order."""
    names = {row[0]: tuple(row[1:]) for row in connection.execute(_NAMES)}
    passages = {
        names.get(row[0]): ([names.get(each) for each in row[1:4]], row[4:])
        for row in connection.execute(_PASSAGES)
    }
    found: dict[str, Any] = {
        table: sorted(connection.execute(query).fetchall(), key=json.dumps)
        for table, query in _TABLES.items()
    }
    rows = connection.execute(
        "SELECT m.passage, n.node, n.label, n.kind FROM mentions m JOIN names n ON n.id = m.name"
    )
    mentions = {(names.get(row[0]), *row[1:]) for row in rows}
    return found | {"passages": passages, "terms": _terms(connection, names), "mentions": mentions}


def _terms(connection: sqlite3.Connection, names: dict[int, tuple[Any, ...]]) -> set[Any]:
    return {
        (term, names.get((block << 16) + (code >> 16)), code & 0xFFFF)
        for term, block, data in connection.execute("SELECT term, block, data FROM postings")
        for code in postings.unpack(data)
    }


_USED = (
    "SELECT embedded FROM passages WHERE embedded IS NOT NULL"
    " UNION SELECT embedded FROM nodes WHERE embedded IS NOT NULL"
)
_ORPHANS = (
    "DELETE FROM places WHERE id NOT IN (SELECT place FROM passages)",
    "DELETE FROM mentions WHERE passage NOT IN (SELECT id FROM passages)",
    "DELETE FROM phrases WHERE passage NOT IN (SELECT id FROM passages)",
    "DELETE FROM stated WHERE passage NOT IN (SELECT id FROM passages)",
    "DELETE FROM names WHERE id NOT IN (SELECT name FROM mentions)",
    (
        "DELETE FROM headings WHERE id NOT IN (SELECT heading FROM passages WHERE heading IS NOT NULL)"
        " AND id NOT IN (SELECT heading FROM blocks)"
    ),
    (
        "DELETE FROM documents WHERE id NOT IN (SELECT document FROM blocks)"
        " AND id NOT IN (SELECT document FROM places WHERE document IS NOT NULL)"
    ),
    (
        "DELETE FROM nodes WHERE label IS NULL AND number NOT IN (SELECT node FROM links)"
        " AND number NOT IN (SELECT node FROM noted)"
    ),
    "DELETE FROM aliases WHERE node NOT IN (SELECT id FROM nodes WHERE label IS NOT NULL)",
    f"DELETE FROM waiting WHERE digest NOT IN ({_USED})",
)
"""In this order: what is orphaned by a deletion comes after it."""


def compact(store: Store) -> None:
    """Leave no byte of text, and no vector, of what the index does not hold any more.

    What it holds stays as it is, vectors to the bit. A missing index stays missing. The caller holds
    the lock, and has brought the index up to date. Readers go on with what they have opened.

    Raises:
        LockedError: A reader did not end; nothing is lost, but the old bytes may still be there.
    """
    if not database.path_of(store.derived).exists():
        return
    with (
        contextlib.closing(database.open_to_write(store.derived)) as connection,
        database.disk_errors(store.derived),
    ):
        before = committed(connection)
        kept = _detach(connection)
        _flush(connection, store)
        _attach(connection, *_moved(store.derived, before, kept))
        connection.execute("VACUUM")
        _flush(connection, store)


def _detach(connection: sqlite3.Connection) -> list[Row]:
    """Delete orphans, and all rows of vectors; returns those that are to come back, by row."""
    with database.transaction(connection):
        for statement in _ORPHANS:
            connection.execute(statement)
        found = connection.execute(
            f"SELECT digest, row, token, tokens, checksum FROM vectors WHERE digest IN ({_USED})"
            " ORDER BY row"
        )
        kept = [Row._make(each) for each in found]
        connection.execute("DELETE FROM vectors")
        connection.execute(f"INSERT OR IGNORE INTO waiting {_USED}")
    return kept


def _flush(connection: sqlite3.Connection, store: Store) -> None:
    """Empty the write-ahead log; then no reader is left that sees what was there before."""
    (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        (waited,) = connection.execute("PRAGMA busy_timeout").fetchone()
        raise LockedError(store.root, "a recall that does not end", waited / 1000)


def _moved(derived: Path, before: Committed, kept: Iterable[Row]) -> tuple[list[Row], int]:
    """Replace the vector files by such with the kept rows; see ``commit_rows``.

    What is damaged, or has lost some, is left out: the next command makes it anew.
    """
    sentences = rows_of(sentences_path(derived), before.sentences * SENTENCE_BYTES)
    tokens = rows_of(tokens_path(derived), before.tokens * TOKEN_BYTES)
    kept = [row for row in kept if is_right(row, sentences, tokens)]
    all_sentences = _joined(sentences, SENTENCE_BYTES, [(row.row, 1) for row in kept])
    _put(sentences_path(derived), all_sentences)
    _put(
        tokens_path(derived),
        _joined(tokens, TOKEN_BYTES, [(row.token, row.tokens) for row in kept]),
    )
    firsts = accumulate((row.tokens for row in kept), initial=0)
    moved = [
        row._replace(row=number, token=first)
        for number, (row, first) in enumerate(zip(kept, firsts, strict=False))
    ]
    return moved, zlib.crc32(all_sentences)


def _joined(rows: memoryview | None, width: int, kept: Sequence[tuple[int, int]]) -> bytes:
    return b"".join(rows[first * width : (first + n) * width] for first, n in kept) if rows else b""


def _put(path: Path, data: bytes) -> None:
    if data:
        atomic.put(path, data)
    else:
        atomic.remove(path)


def _attach(connection: sqlite3.Connection, kept: Iterable[Row], crc: int) -> None:
    with database.transaction(connection):
        commit_rows(connection, kept, crc)
