"""Compaction: afterwards the files of the index hold nothing of what is no longer indexed.

A deleted row stays in the free pages of the database, in its write-ahead log, and in the vector
files until something is written over it. So what nothing names any more is deleted, the database
is written anew, and so are the vector files, with the rows that a passage or a node still has.

Offsets into the old files must never be used with the new ones. The table of vectors is emptied
first, and only when no reader is left that saw it are the files replaced; then it is filled again.
A crash in between costs the vectors: the next command makes them again.
"""

from __future__ import annotations

from contextlib import closing
from itertools import accumulate
from typing import TYPE_CHECKING

from clsm_cli.errors import LockedError
from clsm_cli.store import atomic
from clsm_cli.store.index import database, vectors
from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from clsm_cli.store.index.vectors import Committed
    from clsm_cli.store.layout import Store

_USED = "SELECT embedded FROM passages UNION SELECT embedded FROM nodes WHERE embedded IS NOT NULL"
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

_Row = tuple[int, int, int, int]
"""Digest, row of its sentence vector, first row and number of its token vectors."""


def compact(store: Store) -> None:
    """Leave no byte of text, and no vector, of what the index does not hold any more.

    What it holds stays as it is, vectors to the bit. A missing index stays missing. The caller holds
    the lock, and has brought the index up to date. Readers go on with what they have opened.

    Raises:
        LockedError: A reader did not end; nothing is lost, but the old bytes may still be there.
        DiskError: The operating system refused; run it again.
    """
    if not database.path_of(store.derived).exists():
        return
    with (
        closing(database.open_to_write(store.derived)) as connection,
        database.disk_errors(store.derived),
    ):
        before = vectors.committed(connection)
        kept = _detach(connection)
        _flush(connection, store)
        _attach(connection, _moved(store.derived, before, kept))
        connection.execute("VACUUM")
        _flush(connection, store)


def _detach(connection: sqlite3.Connection) -> list[_Row]:
    """Delete orphans, and all rows of vectors; returns those that are to come back, by row."""
    connection.execute("BEGIN IMMEDIATE")
    for statement in _ORPHANS:
        connection.execute(statement)
    kept = connection.execute(
        f"SELECT digest, row, token, tokens FROM vectors WHERE digest IN ({_USED}) ORDER BY row"
    ).fetchall()
    connection.execute("DELETE FROM vectors")
    connection.execute(f"INSERT OR IGNORE INTO waiting {_USED}")
    connection.execute("COMMIT")
    return kept


def _flush(connection: sqlite3.Connection, store: Store) -> None:
    """Empty the write-ahead log; then no reader is left that sees what was there before."""
    (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_busy:
        (waited,) = connection.execute("PRAGMA busy_timeout").fetchone()
        raise LockedError(store.root, "a recall that does not end", waited / 1000)


def _moved(derived: Path, before: Committed, kept: Sequence[_Row]) -> list[_Row]:
    """Replace the vector files by such with the kept rows; returns where these are now."""
    sentences = vectors.rows_of(vectors.sentences_path(derived), before.sentences * SENTENCE_BYTES)
    tokens = vectors.rows_of(vectors.tokens_path(derived), before.tokens * TOKEN_BYTES)
    if sentences is None or (tokens is None and before.tokens):
        kept = []  # a file lost some; the next command makes all of them again
    _put(
        vectors.sentences_path(derived),
        sentences,
        SENTENCE_BYTES,
        [(row, 1) for _, row, _, _ in kept],
    )
    _put(
        vectors.tokens_path(derived),
        tokens,
        TOKEN_BYTES,
        [(first, count) for _, _, first, count in kept],
    )
    counts = [count for *_, count in kept]
    firsts = accumulate(counts, initial=0)
    return [
        (digest, row, first, count)
        for row, ((digest, _, _, count), first) in enumerate(zip(kept, firsts, strict=False))
    ]


def _put(path: Path, rows: memoryview | None, width: int, kept: Sequence[tuple[int, int]]) -> None:
    """Write a file anew with some runs (first row, number) of the rows it had."""
    data = b"".join(rows[first * width : (first + n) * width] for first, n in kept) if rows else b""
    if data:
        atomic.put(path, data)
    else:
        atomic.remove(path)


def _attach(connection: sqlite3.Connection, kept: Iterable[_Row]) -> None:
    """Say where the vectors are."""
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?)", kept)
    connection.execute("COMMIT")
