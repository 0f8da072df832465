"""The two vector files: add, read and verify rows.

Both are append-only. The database has the number of committed rows; readers ignore bytes beyond, which a
killed writer may have left. The file that a recall scans has one checksum, and each text one over its
rows in both files. So a flipped bit is detected before it affects an answer, and only the vectors of that
text are recomputed.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.index import database
from clsm_cli.store.index.codes import SENTENCE_BYTES, TOKEN_BYTES

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def sentences_path(derived: Path) -> Path:
    """The file of sentence vectors."""
    return derived / "index" / "sentences.q4"


def tokens_path(derived: Path) -> Path:
    """The file of token vectors."""
    return derived / "index" / "tokens.q2"


def checksum(sentence: ReadableBuffer, tokens: ReadableBuffer) -> int:
    """CRC-32 of the rows of one text, which detects every single-bit error.

    >>> checksum(b"1234", b"56789") == 0xCBF43926  # the check value of CRC-32
    True
    """
    return zlib.crc32(tokens, zlib.crc32(sentence))


def rows_of(path: Path, size: int) -> memoryview | None:
    """The committed bytes of a file, mapped; None if there are none or the file is shorter."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
            if not size or os.fstat(file.fileno()).st_size < size:
                return None
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
    except OSError:
        return None


def size_of(path: Path) -> int:
    """Size of a file in bytes; 0 if missing."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def write_at(path: Path, offset: int, data: bytes) -> None:
    """Write after the committed bytes, over any that a killed writer left there.

    The folder of a new file is synced before the database counts rows in it: otherwise a power cut
    could bring the old file back.
    """
    with atomic.disk_errors(path):
        if offset == 0:  # another engine's rows: readers keep the old file
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        fd = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, atomic.FILE_MODE
        )
        try:
            os.fchmod(fd, atomic.FILE_MODE)
            os.ftruncate(fd, offset)
            if os.pwrite(fd, data, offset) != len(data):
                raise OSError(errno.ENOSPC, "the disk is full", str(path))
            os.fsync(fd)
        finally:
            os.close(fd)
        if offset == 0:
            atomic.sync_folder(path.parent)


class Row(NamedTuple):
    """A row of table ``vectors``: the ``text_digest``, and its rows in the two files.

    ``token`` is its first row in ``tokens.q2``; ``checksum`` covers all its rows.
    """

    digest: int
    row: int
    token: int
    tokens: int
    checksum: int


class Committed(NamedTuple):
    """Number of committed rows in each file."""

    sentences: int
    tokens: int
    checksum: int  # CRC-32 of the rows of ``sentences.q4``, which a recall scans


def committed(connection: Connection) -> Committed:
    """Number of committed rows in each file."""
    row = connection.execute(
        "SELECT row + 1, token + tokens, CAST(value AS INTEGER) FROM vectors, meta"
        " WHERE key = 'checksum' ORDER BY row DESC LIMIT 1"
    ).fetchone()
    return Committed(*row) if row else Committed(0, 0, 0)


def stored(connection: Connection, derived: Path) -> dict[int, tuple[bytes, bytes]]:
    """Digest → sentence and token codes of every text with intact vectors."""
    reader = VectorReader(connection, derived)
    sentences, tokens = reader.sentence_rows(), reader.token_rows()
    found = map(Row._make, connection.execute("SELECT * FROM vectors ORDER BY row"))
    return {
        row.digest: _codes(row, sentences, tokens)
        for row in found
        if is_intact(row, sentences, tokens)
    }


def append(connection: Connection, derived: Path, codes: Mapping[int, tuple[bytes, bytes]]) -> None:
    """Append the codes of new texts, by digest, and commit them; the caller holds the lock."""
    first = committed(connection)
    sentences = b"".join(sentence for sentence, _ in codes.values())
    write_at(sentences_path(derived), first.sentences * SENTENCE_BYTES, sentences)
    tokens = b"".join(own for _, own in codes.values())
    write_at(tokens_path(derived), first.tokens * TOKEN_BYTES, tokens)
    rows = []
    token = first.tokens
    for row, (digest, (sentence, own)) in enumerate(codes.items(), first.sentences):
        count = len(own) // TOKEN_BYTES
        rows.append(Row(digest, row, token, count, checksum(sentence, own)))
        token += count
    crc = zlib.crc32(sentences, first.checksum)
    with database.transaction(connection):
        connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('checksum', ?)", (str(crc),))


_WAITING = (
    "INSERT OR IGNORE INTO waiting SELECT embedded FROM"
    " (SELECT embedded FROM passages UNION SELECT embedded FROM nodes)"
    " WHERE embedded IS NOT NULL AND embedded NOT IN (SELECT digest FROM vectors)"
)


def engine_of(connection: Connection) -> str | None:
    """The engine of the vectors; None if none were ever requested, as without a model."""
    row = connection.execute("SELECT value FROM meta WHERE key = 'engine'").fetchone()
    return None if row is None else str(row[0])


def waiting(connection: Connection) -> int:
    """Number of texts without a vector."""
    return int(connection.execute("SELECT COUNT(*) FROM waiting").fetchone()[0])


def drop_all(connection: Connection) -> None:
    """Drop all vectors and queue all texts for embedding."""
    with database.transaction(connection):
        connection.execute("DELETE FROM vectors")
        connection.execute(_WAITING)


def is_whole(connection: Connection, derived: Path, engine: str) -> bool:
    """Whether the vectors are this engine's, the files are complete, and the scan's checksum matches.

    An unreadable file counts as intact here; its reader raises the error.
    """
    if not _is_complete(connection, derived, engine):
        return False
    rows = VectorReader(connection, derived).sentence_rows()
    return rows is None or zlib.crc32(rows) == committed(connection).checksum


def use_engine(connection: Connection, derived: Path, engine: str) -> None:
    """Drop damaged vectors; the caller holds the lock.

    All of them if they are another engine's, as engines are never mixed, or if a file is too short;
    else only those of texts with a flipped bit.
    """
    if is_whole(connection, derived, engine):
        return
    if _is_complete(connection, derived, engine):
        drop_damaged(connection, derived)
        return
    with database.transaction(connection):
        drop_all(connection)
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('engine', ?)", (engine,))


def damaged(connection: Connection, derived: Path) -> list[int]:
    """Digests of texts with damaged vectors; reads both files completely."""
    right = stored(connection, derived)
    known = database.column(connection, "SELECT digest FROM vectors")
    return [digest for digest in known if digest not in right]


def drop_damaged(connection: Connection, derived: Path) -> None:
    """Drop damaged vectors and queue their texts for embedding; the caller holds the lock."""
    found = damaged(connection, derived)
    with database.transaction(connection):
        connection.executemany("DELETE FROM vectors WHERE digest = ?", [(each,) for each in found])
        connection.execute(_WAITING)
        # The rows stay in the files, without a text.
        left = zlib.crc32(VectorReader(connection, derived).sentence_rows() or b"")
        connection.execute("UPDATE meta SET value = ? WHERE key = 'checksum'", (str(left),))


def is_intact(row: Row, sentences: memoryview | None, tokens: memoryview | None) -> bool:
    """Whether the rows of a text match its checksum."""
    return checksum(*_codes(row, sentences, tokens)) == row.checksum


def _codes(
    row: Row, sentences: memoryview | None, tokens: memoryview | None
) -> tuple[bytes, bytes]:
    sentence = (sentences or b"")[row.row * SENTENCE_BYTES : (row.row + 1) * SENTENCE_BYTES]
    own = (tokens or b"")[row.token * TOKEN_BYTES : (row.token + row.tokens) * TOKEN_BYTES]
    return bytes(sentence), bytes(own)


def _is_complete(connection: Connection, derived: Path, engine: str) -> bool:
    count = committed(connection)
    return (
        engine_of(connection) == engine
        and size_of(sentences_path(derived)) >= count.sentences * SENTENCE_BYTES
        and size_of(tokens_path(derived)) >= count.tokens * TOKEN_BYTES
    )


class VectorReader:
    """Reads committed vectors; token vectors are mapped on first use."""

    def __init__(self, connection: Connection, derived: Path) -> None:
        self._connection = connection
        self._derived = derived
        self._mapped: tuple[memoryview | None, memoryview | None] | None = None
        self.damaged: set[int] = set()  # ``sentences.q4`` rows of texts with damaged vectors

    def sentence_rows(self) -> memoryview | None:
        """The sentence vectors, see ``codes``; None if there are none."""
        size = committed(self._connection).sentences * SENTENCE_BYTES
        return rows_of(sentences_path(self._derived), size)

    def token_rows(self) -> memoryview | None:
        """The token vectors, see ``codes``; None if there are none."""
        size = committed(self._connection).tokens * TOKEN_BYTES
        return rows_of(tokens_path(self._derived), size)

    def tokens_of(self, row: Row) -> memoryview | None:
        """The token vectors of a text; None if missing or damaged."""
        if not row.tokens:
            return None
        if self._mapped is None:
            self._mapped = self.sentence_rows(), self.token_rows()
        sentences, tokens = self._mapped
        if tokens is None:
            return None
        if not is_intact(row, sentences, tokens):
            self.damaged.add(row.row)
            return None
        return tokens[row.token * TOKEN_BYTES : (row.token + row.tokens) * TOKEN_BYTES]
