"""The two files of vectors: where they are, how rows are added, and how many rows the database counts.

Both only grow. What counts of them the database says; a reader never sees a byte past that, so what a
killed writer left there does not exist.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import zlib
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path

    from _typeshed import ReadableBuffer


def sentences_path(derived: Path) -> Path:
    """The file of sentence vectors."""
    return derived / "index" / "sentences.q4"


def tokens_path(derived: Path) -> Path:
    """The file of token vectors."""
    return derived / "index" / "tokens.q2"


def checksum(sentence: ReadableBuffer, tokens: ReadableBuffer) -> int:
    """CRC-32 of the rows of one text: a single bit that turns in them is always seen.

    >>> checksum(b"1234", b"56789") == 0xCBF43926  # the check value of CRC-32
    True
    """
    return zlib.crc32(tokens, zlib.crc32(sentence))


def rows_of(path: Path, size: int) -> memoryview | None:
    """The committed bytes of a file, mapped; None when it is shorter or there are none."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
            if not size or os.fstat(file.fileno()).st_size < size:
                return None
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
    except OSError:
        return None


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        return 0


def write_at(path: Path, offset: int, data: bytes) -> None:
    """Write behind the committed bytes, over what a killed writer may have left there.

    A file that is made anew has its name for good before the database counts rows in it: else a
    power cut could bring the old one back under them.

    Raises:
        DiskError: The operating system refused; the committed bytes stay good.
    """
    with atomic.disk_errors(path):
        if offset == 0:  # another engine's rows: who reads them keeps the old file
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
    """A row of the table of vectors.

    Attributes:
        digest: Of the text, see ``text_digest``.
        row: Of its vector in ``sentences.q4``.
        token: Its first row in ``tokens.q2``.
        tokens: Its rows there.
        checksum: Of these rows, see ``vector_files.checksum``.
    """

    digest: int
    row: int
    token: int
    tokens: int
    checksum: int


class Committed(NamedTuple):
    """Rows that the database knows; bytes past them do not exist.

    Attributes:
        sentences: Rows of ``sentences.q4``.
        tokens: Rows of ``tokens.q2``.
        checksum: CRC-32 of those of ``sentences.q4``, which a recall reads from end to end.
    """

    sentences: int
    tokens: int
    checksum: int


def committed(connection: sqlite3.Connection) -> Committed:
    """How many rows of each file count."""
    row = connection.execute(
        "SELECT row + 1, token + tokens, CAST(value AS INTEGER) FROM vectors, meta"
        " WHERE key = 'checksum' ORDER BY row DESC LIMIT 1"
    ).fetchone()
    return Committed(*row) if row else Committed(0, 0, 0)


def commit_rows(connection: sqlite3.Connection, rows: Iterable[Row], crc: int) -> None:
    """Say where vectors are, in the caller's transaction.

    Args:
        connection: The index.
        rows: Of the table of vectors.
        crc: See ``Committed.checksum``, with these rows.
    """
    connection.executemany("INSERT INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('checksum', ?)", (str(crc),))
