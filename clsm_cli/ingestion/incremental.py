"""Read only what is new in OpenClaw's transcripts: changed files, and rows of its databases after a cursor.

OpenClaw's state folder has a folder per agent: ``agents/<id>/agent/openclaw-agent.sqlite`` in 2026.9,
``agents/<id>/sessions/*.jsonl`` in 2026.7. The file's status, or its last row, shows whether anything is new,
so a repeated run costs next to nothing. A changed file is read whole, and known turns are recognised.

In a database, a row of table ``transcript_events`` is a line of the older JSONL transcripts, as JSON or, if
it is large, as zstd (seen in 2026.9.6, ``user_version`` 23). It is opened read-only, since a gateway may be
writing to it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion import detection, jsonl_rows, sources
from clsm_cli.ingestion.detection import Format
from clsm_cli.ingestion.jsonl_rows import Line, Problem, Reading, TranscriptItem
from clsm_cli.ingestion.sources import Missing, Skipped, open_file
from clsm_cli.model.ids import sha256
from clsm_cli.store.cursors import Cursor, Places

Found = Iterator["Tail | Skipped | Problem"]


@dataclass(slots=True)
class Tail:
    """A transcript with new content: a JSONL file, or a conversation in an agent's database."""

    path: str
    origin: str
    before: Cursor | None  # how far it was read before: the file's stamp, or the last row
    inside: str = ""  # the conversation; empty for a file
    place: Cursor | None = None  # how far it is read now
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def items(self, reading: Reading) -> Iterator[Iterator[TranscriptItem]]:
        """The items of a file, or of the rows after ``before``, as from ``SourceFile.items``.

        A file that is being written is read again later.
        """
        real = os.path.expanduser(self.origin)
        with contextlib.ExitStack() as stack:
            if self.inside:
                lines = self._rows(stack.enter_context(_open_database(real)))
            else:
                stream = stack.enter_context(open_file(real))
                self.place = Cursor(0, 0, "", _file_stamp(os.fstat(stream.fileno())))
                lines = jsonl_rows.bounded_lines(stream)
            yield sources.line_items(lines, self.format, reading)

    def _rows(self, database: _AgentDatabase) -> Iterator[Line]:
        after = -1 if self.before is None else self.before.offset
        for line, mark in database.rows(self.inside, after):
            yield line
            self.place = Cursor(line[0], line[0], mark)


def workspaces(folders: Sequence[str], known: Sequence[str]) -> list[str]:
    """The workspaces in state folders from which documents are known, by their origins."""
    found = [
        entry.path
        for folder in folders
        if os.path.isdir(folder)
        for entry in _entries(folder)
        if entry.name.startswith("workspace") and entry.is_dir()
    ]
    homes = [sources.with_tilde(os.path.realpath(path)) + os.sep for path in found]
    return [
        path
        for path, home in zip(found, homes, strict=True)
        if any(o.startswith(home) for o in known)
    ]


def _file_stamp(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


_DATABASE = os.path.join("agent", "openclaw-agent.sqlite")
_ARCHIVED = "in an archive of OpenClaw's own"


class CatchUp:
    """One catch-up: what to read, and how far each transcript was read."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.has_moved = False
        self.up_to_date = 0
        self.warnings: list[str] = []

    def find(self, folders: Sequence[str]) -> Found:
        """Yield the transcripts of state folders that have new content, agent by agent."""
        for folder in folders:
            try:
                real = os.path.realpath(folder, strict=True)
                agents = _entries(os.path.join(real, "agents"))
            except (FileNotFoundError, NotADirectoryError):
                reason = 'no state of OpenClaw here, which has a folder "agents"'
                yield Missing(folder, None, reason)
                continue
            except (OSError, ValueError) as error:
                yield sources.read_problem(folder, error)
                continue
            for agent in agents:
                given = os.path.join(folder, "agents", agent.name)
                if agent.is_symlink():
                    yield Skipped(given, "symbolic link")
                elif agent.is_dir():
                    yield from self._agent(given, agent.path)

    def reached(self, tail: Tail) -> None:
        """Move the cursor of a transcript that was read to its end and stored."""
        if tail.place is not None and tail.place != tail.before:
            self.places.setdefault(tail.origin, {})[tail.inside] = tail.place
            self.has_moved = True

    def _agent(self, given: str, real: str) -> Found:
        for name, read in ((_DATABASE, self._database), ("sessions", self._files)):
            path, there = os.path.join(given, name), os.path.join(real, name)
            if os.path.lexists(there):
                yield from _with_read_problems(path, read(path, there))

    def _files(self, path: str, real: str) -> Found:
        for entry in _entries(real):
            file = os.path.join(path, entry.name)
            yield from _with_read_problems(file, self._file(file, entry))

    def _file(self, path: str, entry: os.DirEntry[str]) -> Found:
        reason = "symbolic link" if entry.is_symlink() else detection.exclusion_reason(entry.name)
        if reason or not entry.is_file():
            yield Skipped(path, reason or "no transcript")
            return
        origin = sources.with_tilde(entry.path)
        before = self.places.get(origin, {}).get("")
        if before is not None and before.fingerprint == _file_stamp(entry.stat()):
            self.up_to_date += 1
        else:
            yield Tail(path, origin, before)

    def _database(self, path: str, real: str) -> Found:
        sources.open_file(real).close()  # no link, no FIFO
        with _open_database(real) as database:
            version = f"version {database.version} where clsm knows {_KNOWN_VERSION}"
            if not database.columns >= _NEEDED:
                reason = f"has no conversations that clsm can find ({version}); a newer clsm may"
                yield Problem(path, None, reason)
                return
            if database.version != _KNOWN_VERSION:
                self.warnings.append(f"{path}: {version}; what it could find there is read")
            origin = sources.with_tilde(real)
            known = self.places.get(origin, {})
            for session, last in database.sessions():
                before = known.get(session)
                # A rewritten conversation is read from its start.
                if before is not None and database.mark(session, before.offset) != before.digest:
                    before = None
                if before is not None and before.offset == last:
                    self.up_to_date += 1
                else:
                    yield Tail(f"{path}#{session}", origin, before, session)
            for session, last in database.cold():
                before = known.get(session)
                if before is None or before.offset < last:
                    yield Skipped(f"{path}#{session}", _ARCHIVED)


def _with_read_problems(path: str, found: Found) -> Found:
    try:
        yield from found
    except OSError as error:
        yield sources.read_problem(path, error)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: entry.name)


_KNOWN_VERSION = 23  # ``user_version`` of the databases that this was tested with
_LOCK_WAIT = 10.0  # seconds to wait for a writer that locks out readers, as a checkpoint may
_TOO_LONG = f"row is longer than {MAX_MESSAGE >> 20} MiB"
_NEEDED = {"session_id", "seq", "event_json"}

# Skips from session to session by the primary key, however many rows each has.
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


class _AgentDatabase:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        self.columns = self._columns_of("transcript_events")

    def sessions(self) -> list[tuple[str, int]]:
        """Its conversations, by id, each with the number of its last row."""
        return [(str(name), int(last)) for name, last in self._connection.execute(_SESSIONS)]

    def cold(self) -> list[tuple[str, int]]:
        """The same for conversations that OpenClaw moved to its own archive."""
        if not self._columns_of("session_transcript_cold_archives") >= {"session_id", "last_seq"}:
            return []
        return [(str(name), int(last)) for name, last in self._connection.execute(_COLD)]

    def rows(self, session: str, after: int) -> Iterator[tuple[Line, str]]:
        """Yield the rows of a conversation after a ``seq``, as numbered lines with their digest.

        The digest is that of the row as it is stored.
        """
        with _disk_errors():
            for seq, text, packed in self._selected(session, ">", after):
                yield (int(seq), _line(text, packed)), _row_digest(text, packed)

    def mark(self, session: str, seq: int) -> str | None:
        """The digest of one row; None if it does not exist."""
        found = next(iter(self._selected(session, "=", seq)), None)
        return None if found is None else _row_digest(found[1], found[2])

    def _selected(self, session: str, compared: str, seq: int) -> sqlite3.Cursor:
        zstd = "event_zstd" if "event_zstd" in self.columns else "NULL"
        query = _ROWS.format(zstd=zstd, compared=compared)
        return self._connection.execute(query, (session, seq))

    def _columns_of(self, table: str) -> set[str]:
        found = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return {str(name) for (name,) in found}


@contextlib.contextmanager
def _open_database(path: str) -> Iterator[_AgentDatabase]:
    """A database, opened read-only and closed at the end.

    Raises:
        OSError: It cannot be opened, is no database, or is damaged where it was read.
    """
    with _disk_errors():
        connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=_LOCK_WAIT)
        with contextlib.closing(connection):
            yield _AgentDatabase(connection)


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error)) from error


def _row_digest(text: bytes | None, packed: bytes | None) -> str:
    return sha256(text or packed or b"")[:16]


def _line(text: bytes | None, packed: bytes | None) -> bytes | str:
    if text is not None:
        return _TOO_LONG if len(text) > MAX_MESSAGE else text + b"\n"
    if not isinstance(packed, bytes):
        return "row has neither JSON nor zstd"
    return _unpacked(packed)


def _unpacked(packed: bytes) -> bytes | str:
    """The JSON of a large row, decompressed up to the maximum size of a message."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    decompressor = zstd.ZstdDecompressor()
    try:
        data = decompressor.decompress(packed, max_length=MAX_MESSAGE + 1)
    except zstd.ZstdError:
        return "row is not zstd"
    if len(data) > MAX_MESSAGE:
        return _TOO_LONG
    return data + b"\n" if decompressor.eof else "row is cut short"
