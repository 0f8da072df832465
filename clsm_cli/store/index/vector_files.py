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


def checksum(sentence: ReadableBuffer, tokens: ReadableBuffer) -> int:
    """CRC-32 of the rows of one text, which detects every single-bit error.

    >>> checksum(b"1234", b"56789") == 0xCBF43926  # the check value of CRC-32
    True
    """
    return zlib.crc32(tokens, zlib.crc32(sentence))


def _mapped(path: Path, size: int) -> memoryview | None:
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


class VectorRow(NamedTuple):
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


_WAITING = (
    "INSERT OR IGNORE INTO waiting SELECT embedded FROM"
    " (SELECT embedded FROM passages UNION SELECT embedded FROM nodes)"
    " WHERE embedded IS NOT NULL AND embedded NOT IN (SELECT digest FROM vectors)"
)


class VectorFiles:
    """The two files of an index and what its database says of them; writers hold the lock.

    Attributes:
        damaged: Rows of ``sentences.q4`` of those texts whose vectors a reader found damaged.
    """

    def __init__(self, connection: Connection, derived: Path) -> None:
        self.connection = connection
        self.sentences_path = derived / "index" / "sentences.q4"
        self.tokens_path = derived / "index" / "tokens.q2"
        self.damaged: set[int] = set()
        self._mapped: tuple[memoryview | None, memoryview | None] | None = None

    @property
    def engine(self) -> str | None:
        """The engine of the vectors; None if none were ever requested, as without a model."""
        row = self.connection.execute("SELECT value FROM meta WHERE key = 'engine'").fetchone()
        return None if row is None else str(row[0])

    @property
    def waiting(self) -> int:
        """Number of texts without a vector."""
        return int(self.connection.execute("SELECT COUNT(*) FROM waiting").fetchone()[0])

    @property
    def committed(self) -> Committed:
        """Number of committed rows in each file."""
        row = self.connection.execute(
            "SELECT row + 1, token + tokens, CAST(value AS INTEGER) FROM vectors, meta"
            " WHERE key = 'checksum' ORDER BY row DESC LIMIT 1"
        ).fetchone()
        return Committed(*row) if row else Committed(0, 0, 0)

    def sentence_rows(self) -> memoryview | None:
        """The sentence vectors, see ``codes``; None if there are none."""
        return _mapped(self.sentences_path, self.committed.sentences * SENTENCE_BYTES)

    def token_rows(self) -> memoryview | None:
        """The token vectors, see ``codes``; None if there are none."""
        return _mapped(self.tokens_path, self.committed.tokens * TOKEN_BYTES)

    def tokens_of(self, row: VectorRow) -> memoryview | None:
        """The token vectors of a text, mapped on first use; None if missing or damaged."""
        if not row.tokens:
            return None
        if self._mapped is None:
            self._mapped = self.sentence_rows(), self.token_rows()
        sentences, tokens = self._mapped
        if tokens is None:
            return None
        if not _is_intact(row, sentences, tokens):
            self.damaged.add(row.row)
            return None
        return tokens[row.token * TOKEN_BYTES : (row.token + row.tokens) * TOKEN_BYTES]

    def stored(self) -> dict[int, tuple[bytes, bytes]]:
        """Digest → sentence and token codes of every text with intact vectors; reads both files."""
        sentences, tokens = self.sentence_rows(), self.token_rows()
        found = self.connection.execute("SELECT * FROM vectors ORDER BY row")
        return {
            row.digest: _codes(row, sentences, tokens)
            for row in map(VectorRow._make, found)
            if _is_intact(row, sentences, tokens)
        }

    def find_damaged(self) -> list[int]:
        """Digests of texts with damaged vectors; reads both files completely."""
        intact = self.stored()
        known = database.column(self.connection, "SELECT digest FROM vectors")
        return [digest for digest in known if digest not in intact]

    def is_whole(self, engine: str) -> bool:
        """Whether the vectors are this engine's, the files are complete, and the scan's checksum matches.

        An unreadable file counts as intact here; its reader raises the error.
        """
        if not self._is_complete(engine):
            return False
        rows = self.sentence_rows()
        return rows is None or zlib.crc32(rows) == self.committed.checksum

    def _is_complete(self, engine: str) -> bool:
        count = self.committed
        return (
            self.engine == engine
            and size_of(self.sentences_path) >= count.sentences * SENTENCE_BYTES
            and size_of(self.tokens_path) >= count.tokens * TOKEN_BYTES
        )

    def append(self, codes: Mapping[int, tuple[bytes, bytes]]) -> None:
        """Append the codes of new texts, by digest, and commit them."""
        first = self.committed
        sentences = b"".join(sentence for sentence, _ in codes.values())
        write_at(self.sentences_path, first.sentences * SENTENCE_BYTES, sentences)
        tokens = b"".join(own for _, own in codes.values())
        write_at(self.tokens_path, first.tokens * TOKEN_BYTES, tokens)
        rows = []
        token = first.tokens
        for row, (digest, (sentence, own)) in enumerate(codes.items(), first.sentences):
            count = len(own) // TOKEN_BYTES
            rows.append(VectorRow(digest, row, token, count, checksum(sentence, own)))
            token += count
        crc = zlib.crc32(sentences, first.checksum)
        with database.transaction(self.connection):
            self.connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
            self._set("checksum", str(crc))

    def use_engine(self, engine: str) -> None:
        """Drop damaged vectors.

        All of them if they are another engine's, as engines are never mixed, or if a file is too short;
        else only those of texts with a flipped bit.
        """
        if self.is_whole(engine):
            return
        if self._is_complete(engine):
            self.drop_damaged()
            return
        with database.transaction(self.connection):
            self.drop_all()
            self._set("engine", engine)

    def drop_all(self) -> None:
        """Drop all vectors and queue all texts for embedding."""
        with database.transaction(self.connection):
            self.connection.execute("DELETE FROM vectors")
            self.connection.execute(_WAITING)

    def drop_damaged(self) -> None:
        """Drop damaged vectors and queue their texts for embedding."""
        gone = [(digest,) for digest in self.find_damaged()]
        with database.transaction(self.connection):
            self.connection.executemany("DELETE FROM vectors WHERE digest = ?", gone)
            self.connection.execute(_WAITING)
            # The rows stay in the files, without a text.
            crc = zlib.crc32(self.sentence_rows() or b"")
            query = "UPDATE meta SET value = ? WHERE key = 'checksum'"
            self.connection.execute(query, (str(crc),))

    def _set(self, key: str, value: str) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _is_intact(row: VectorRow, sentences: memoryview | None, tokens: memoryview | None) -> bool:
    """Whether the rows of a text match its checksum."""
    return checksum(*_codes(row, sentences, tokens)) == row.checksum


def _codes(
    row: VectorRow, sentences: memoryview | None, tokens: memoryview | None
) -> tuple[bytes, bytes]:
    sentence = (sentences or b"")[row.row * SENTENCE_BYTES : (row.row + 1) * SENTENCE_BYTES]
    own = (tokens or b"")[row.token * TOKEN_BYTES : (row.token + row.tokens) * TOKEN_BYTES]
    return bytes(sentence), bytes(own)
