"""What the database says of the files of vectors: how much of them counts, and whose rows are where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


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
