"""Read only what is new in transcripts: from a cursor on, in files and in OpenClaw's databases.

A file is continued from its cursor if its first bytes and the last ones before the cursor are what
they were: reading all of it is what a cursor is there to avoid. Below OpenClaw's state folder every
agent has its own: ``agents/<id>/agent/openclaw-agent.sqlite`` with 2026.9,
``agents/<id>/sessions/*.jsonl`` with 2026.7. A look at the file, or at its last row, tells whether
there is anything new, so that asking again costs next to nothing.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from clsm_cli.ingestion import detection, jsonl_rows, openclaw_database, sources
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.sources import Missing, Skipped, open_file
from clsm_cli.model.ids import sha256
from clsm_cli.store.cursors import Cursor
from clsm_cli.store.jsonlines import LineError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.ingestion.detection import Format
    from clsm_cli.ingestion.jsonl_rows import Line
    from clsm_cli.ingestion.openclaw_database import AgentDatabase, Session
    from clsm_cli.store.cursors import Places

_COMPARED = 1 << 10
"""Bytes at the beginning, and before the place, that must be what they were."""


@dataclass(slots=True)
class FileTail:
    """A JSONL transcript from a place on.

    Attributes:
        before: Where it was read to; None: from its beginning.
        place: Where it is read to, once ``lines`` came to its end.
    """

    path: str
    origin: str
    before: Cursor | None
    place: Cursor | None = None
    inside: str = field(default="", init=False)
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def lines(self) -> Iterator[Iterator[Line]]:
        """The header, which names the session, and the lines behind the place."""
        with open_file(os.path.expanduser(self.origin)) as stream:
            yield self._read(stream)

    def _read(self, stream: BinaryIO) -> Iterator[Line]:
        look = look_of(os.fstat(stream.fileno()))
        at, number = 0, 0
        if self.before is not None and _mark(stream, self.before.at) == self.before.mark:
            yield from _header(stream)
            at, number = self.before.at, self.before.line
        stream.seek(at)
        start = at
        for _, line in jsonl_rows.bounded_lines(stream):
            number += 1
            yield number, line
            start, at = at, stream.tell()
        if not _ends_a_line(stream, at):  # somebody is writing it: the next catch-up has it whole
            at, number = start, number - 1
        self.place = Cursor(at, number, _mark(stream, at), look)


@dataclass(slots=True)
class DatabaseTail:
    """A conversation of an agent's database from a row on.

    Attributes:
        before: The row it was read to; None: from its beginning.
        place: The row it is read to, once ``lines`` came to its end; None if there was none.
    """

    path: str
    origin: str
    inside: str
    before: Cursor | None
    place: Cursor | None = None
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def lines(self) -> Iterator[Iterator[Line]]:
        """The rows behind the place, each as a line."""
        with openclaw_database.open_database(os.path.expanduser(self.origin)) as database:
            yield self._read(database)

    def _read(self, database: AgentDatabase) -> Iterator[Line]:
        after = -1 if self.before is None else self.before.at
        for line, mark in database.rows(self.inside, after):
            yield line
            self.place = Cursor(line[0], line[0], mark)


Tail = FileTail | DatabaseTail


def look_of(status: os.stat_result) -> str:
    """How a file looks: its size, its time and its place on the disk."""
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


def _mark(stream: BinaryIO, at: int) -> str:
    """Digest of a place and of what lies before it; where the file is shorter, of what there is."""
    stream.seek(0)
    first = stream.read(min(at, _COMPARED))
    stream.seek(max(0, at - _COMPARED))
    last = stream.read(min(at, _COMPARED))
    return sha256(b"%d\n%b\n%b" % (at, first, last))[:16]


def _header(stream: BinaryIO) -> Iterator[Line]:
    stream.seek(0)
    for number, line in itertools.islice(jsonl_rows.bounded_lines(stream), 1):
        if isinstance(line, bytes) and _is_header(line):
            yield number, line


def _is_header(line: bytes) -> bool:
    try:
        return (
            jsonl_rows.parse(line.rstrip(b"\r\n"), 1, jsonl_rows.Tally()).get("type") == "session"
        )
    except LineError:
        return False


def _ends_a_line(stream: BinaryIO, at: int) -> bool:
    stream.seek(max(0, at - 1))
    return at == 0 or stream.read(1) == b"\n"


_DATABASE = "openclaw-agent.sqlite"
_ARCHIVED = "in an archive of OpenClaw's own"


class CatchUp:
    """One catch-up: what is to be read, and how far everything is read.

    Attributes:
        places: How far; ``reached`` moves them on.
        up_to_date: Transcripts that have nothing new.
        warnings: What the user should know, and need not mend.
    """

    def __init__(self, places: Places) -> None:
        self.places = places
        self.has_moved = False
        self.up_to_date = 0
        self.warnings: list[str] = []

    def find(self, folders: Sequence[str]) -> Iterator[Tail | Skipped | Problem]:
        """The transcripts of state folders that have something new, agent by agent."""
        seen: set[str] = set()
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
            if real in seen:
                yield Skipped(folder, "named twice")
                continue
            seen.add(real)
            for agent in agents:
                given = os.path.join(folder, "agents", agent.name)
                if agent.is_symlink():
                    yield Skipped(given, "symbolic link")
                elif agent.is_dir():
                    yield from self._agent(given, agent.path)

    def reached(self, tail: Tail) -> None:
        """A transcript was read to its end, and what it held is safe."""
        if tail.place is not None and tail.place != tail.before:
            self.places.setdefault(tail.origin, {})[tail.inside] = tail.place
            self.has_moved = True

    def _agent(self, given: str, real: str) -> Iterator[Tail | Skipped | Problem]:
        inside = os.path.join("agent", _DATABASE)
        path = os.path.join(given, inside)
        try:
            if os.path.lexists(os.path.join(real, inside)):
                yield from self._database(path, os.path.join(real, inside))
        except OSError as error:
            yield sources.read_problem(path, error)
        path = os.path.join(given, "sessions")
        try:
            entries = _entries(os.path.join(real, "sessions"))
        except FileNotFoundError:
            return
        except OSError as error:
            yield sources.read_problem(path, error)
            return
        for entry in entries:
            file = os.path.join(path, entry.name)
            try:
                yield from self._file(file, entry)
            except OSError as error:
                yield sources.read_problem(file, error)

    def _file(self, path: str, entry: os.DirEntry[str]) -> Iterator[Tail | Skipped]:
        reason = "symbolic link" if entry.is_symlink() else detection.exclusion_reason(entry.name)
        if reason or not entry.is_file():
            yield Skipped(path, reason or "no transcript")
            return
        origin = sources.with_tilde(entry.path)
        before = self.places.get(origin, {}).get("")
        if before is not None and before.look == look_of(entry.stat()):
            self.up_to_date += 1
        else:
            yield FileTail(path, origin, before)

    def _database(self, path: str, real: str) -> Iterator[Tail | Skipped | Problem]:
        sources.open_file(real).close()  # no link, no FIFO
        with openclaw_database.open_database(real) as database:
            version = (
                f"version {database.version} where clsm knows {openclaw_database.KNOWN_VERSION}"
            )
            if not database.has_transcripts:
                reason = f"has no conversations that clsm can find ({version}); a newer clsm may"
                yield Problem(path, None, reason)
                return
            if database.version != openclaw_database.KNOWN_VERSION:
                self.warnings.append(f"{path}: {version}; what it could find there is read")
            sessions, cold = database.sessions(), database.cold()
            origin = sources.with_tilde(real)
            known = self.places.get(origin, {})
            tails = [
                DatabaseTail(f"{path}#{s.id}", origin, s.id, known.get(s.id)) for s in sessions
            ]
            for session, tail in zip(sessions, tails, strict=True):
                if _is_read(database, session, tail):
                    self.up_to_date += 1
                else:
                    yield tail
        for session in cold:
            before = known.get(session.id)
            if before is None or before.at < session.last:
                yield Skipped(f"{path}#{session.id}", _ARCHIVED)


def _is_read(database: AgentDatabase, session: Session, tail: DatabaseTail) -> bool:
    """Whether a conversation ends at its place; one that was written anew begins again."""
    before = tail.before
    if before is not None and database.mark(session.id, before.at) != before.mark:
        tail.before = None
    return tail.before is not None and tail.before.at == session.last


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: entry.name)
