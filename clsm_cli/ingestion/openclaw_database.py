"""The database of an OpenClaw agent: its conversations as rows for ``openclaw_transcripts.read``.

``agents/<id>/agent/openclaw-agent.sqlite``, table ``transcript_events``: a row is a line of the older
JSONL transcripts, as JSON or, when it is large, as zstd (seen in 2026.9.6, ``user_version`` 23). The
database is opened to read only, while a gateway may be writing to it.
"""

from __future__ import annotations

import contextlib
import errno
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.jsonl_rows import Unreadable
from clsm_cli.model.ids import sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.jsonl_rows import Line

KNOWN_VERSION = 23
"""``user_version`` of the databases that this was tried on."""
_WAIT = 10.0
"""Seconds to wait for a writer that locks out readers, as a checkpoint at its end may."""
_TOO_LONG = Unreadable(f"row is longer than {MAX_MESSAGE >> 20} MiB")
_NEEDED = {"session_id", "seq", "event_json"}

# From one session to the next by the primary key, however many rows each has.
_SESSIONS = """
WITH RECURSIVE one(id) AS (
  SELECT MIN(session_id) FROM transcript_events
  UNION ALL
  SELECT (SELECT MIN(session_id) FROM transcript_events WHERE session_id > one.id)
  FROM one WHERE one.id IS NOT NULL)
SELECT id, (SELECT MAX(seq) FROM transcript_events WHERE session_id = one.id)
FROM one WHERE id IS NOT NULL
"""
_ROWS = """
SELECT seq, CAST(event_json AS BLOB), {zstd} FROM transcript_events
WHERE session_id = ? AND seq {compared} ? ORDER BY seq
"""
_COLD = "SELECT session_id, last_seq FROM session_transcript_cold_archives ORDER BY 1"


class AgentDatabase:
    """A database that is open to read."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        self._columns = self._columns_of("transcript_events")

    @property
    def has_transcripts(self) -> bool:
        """Whether it has the table and the columns that are needed."""
        return self._columns >= _NEEDED

    def sessions(self) -> list[tuple[str, int]]:
        """Its conversations, by id, each with the number of its last row."""
        return [(str(name), int(last)) for name, last in self._connection.execute(_SESSIONS)]

    def cold(self) -> list[tuple[str, int]]:
        """The same of those whose rows OpenClaw moved into an archive of its own."""
        if not self._columns_of("session_transcript_cold_archives") >= {"session_id", "last_seq"}:
            return []
        return [(str(name), int(last)) for name, last in self._connection.execute(_COLD)]

    def rows(self, session: str, after: int) -> Iterator[tuple[Line, str]]:
        """Rows of a conversation whose ``seq`` is larger: as lines, numbered by it, each with a mark.

        The mark is a digest of the row as it is stored.
        """
        with _disk_errors():
            for seq, text, packed in self._selected(session, ">", after):
                yield (int(seq), _line(text, packed)), _mark(text, packed)

    def mark(self, session: str, seq: int) -> str | None:
        """The mark of one row; None when it is not there."""
        found = next(iter(self._selected(session, "=", seq)), None)
        return None if found is None else _mark(found[1], found[2])

    def _selected(self, session: str, compared: str, seq: int) -> sqlite3.Cursor:
        zstd = "event_zstd" if "event_zstd" in self._columns else "NULL"
        query = _ROWS.format(zstd=zstd, compared=compared)
        return self._connection.execute(query, (session, seq))

    def _columns_of(self, table: str) -> set[str]:
        found = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return {str(name) for (name,) in found}


@contextlib.contextmanager
def open_database(path: str) -> Iterator[AgentDatabase]:
    """A database, open to read; closed at the end.

    Raises:
        OSError: It cannot be opened, is no database, or is damaged where it was read.
    """
    with _disk_errors():
        connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=_WAIT)
        with contextlib.closing(connection):
            yield AgentDatabase(connection)


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error)) from error


def _mark(text: bytes | None, packed: bytes | None) -> str:
    return sha256(text or packed or b"")[:16]


def _line(text: bytes | None, packed: bytes | None) -> bytes | Unreadable:
    if text is not None:
        return _TOO_LONG if len(text) > MAX_MESSAGE else text + b"\n"
    if not isinstance(packed, bytes):
        return Unreadable("row has neither JSON nor zstd")
    return _unpacked(packed)


def _unpacked(packed: bytes) -> bytes | Unreadable:
    """A large row; never more of it than a message may have, whatever it claims to be."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    decompressor = zstd.ZstdDecompressor()
    try:
        data = decompressor.decompress(packed, max_length=MAX_MESSAGE + 1)
    except zstd.ZstdError:
        return Unreadable("row is not zstd")
    if len(data) > MAX_MESSAGE:
        return _TOO_LONG
    return data + b"\n" if decompressor.eof else Unreadable("row is cut short")
