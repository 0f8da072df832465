"""Compact the index: afterwards its files hold nothing of what is no longer indexed.

A deleted row stays in the free pages of the database, in its write-ahead log, and in the vector
files until something is written over it. So what nothing names any more is deleted, the database
is written anew, and so are the vector files, with the rows that a passage or a node still has.

Offsets into the old files must never be used with the new ones. The table of vectors is emptied
first, and only when no reader is left that saw it are the files replaced; then it is filled again.
A crash in between costs the vectors: the next command makes them again.
"""

from __future__ import annotations

import zlib
from contextlib import closing
from itertools import accumulate
from typing import TYPE_CHECKING

from clsm_cli.errors import LockedError
from clsm_cli.store import atomic
from clsm_cli.store.index import database
from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES
from clsm_cli.store.index.vector_files import (
    Row,
    commit_rows,
    committed,
    rows_of,
    sentences_path,
    tokens_path,
)
from clsm_cli.store.index.vector_state import is_right

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from clsm_cli.store.index.vector_files import Committed
    from clsm_cli.store.layout import Store

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
        DiskError: The operating system refused; run it again.
    """
    if not database.path_of(store.derived).exists():
        return
    with (
        closing(database.open_to_write(store.derived)) as connection,
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
    """Some runs (first row, number) of the rows of a file."""
    return b"".join(rows[first * width : (first + n) * width] for first, n in kept) if rows else b""


def _put(path: Path, data: bytes) -> None:
    """Write a file anew."""
    if data:
        atomic.put(path, data)
    else:
        atomic.remove(path)


def _attach(connection: sqlite3.Connection, kept: Iterable[Row], crc: int) -> None:
    """Say where the vectors are."""
    with database.transaction(connection):
        commit_rows(connection, kept, crc)
