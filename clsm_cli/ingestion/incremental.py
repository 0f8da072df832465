"""Read only what is new in OpenClaw's transcripts: changed files, and rows of its databases behind a cursor.

Below OpenClaw's state folder every agent has its own: ``agents/<id>/agent/openclaw-agent.sqlite`` with
2026.9, ``agents/<id>/sessions/*.jsonl`` with 2026.7. A look at the file, or at its last row, tells whether
there is anything new, so that asking again costs next to nothing. A file that changed is read whole: known
turns are recognised.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clsm_cli.ingestion import detection, jsonl_rows, openclaw_database, sources
from clsm_cli.ingestion.jsonl_rows import Problem
from clsm_cli.ingestion.sources import Missing, Skipped, open_file
from clsm_cli.store.cursors import Cursor

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.ingestion.detection import Format
    from clsm_cli.ingestion.jsonl_rows import Line
    from clsm_cli.ingestion.openclaw_database import AgentDatabase, Session
    from clsm_cli.store.cursors import Places


@dataclass(slots=True)
class FileTail:
    """A JSONL transcript that is new, or looks otherwise than when it was read; ``place``: how it looks."""

    path: str
    origin: str
    before: Cursor | None
    place: Cursor | None = None
    inside: str = field(default="", init=False)
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def lines(self) -> Iterator[Iterator[Line]]:
        """All its lines; one that is being written is read again when the file looks otherwise."""
        with open_file(os.path.expanduser(self.origin)) as stream:
            self.place = Cursor(0, 0, "", look_of(os.fstat(stream.fileno())))
            yield jsonl_rows.bounded_lines(stream)


@dataclass(slots=True)
class DatabaseTail:
    """A conversation of an agent's database behind the row ``before``; ``place``: the row it was read to."""

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


_DATABASE = "openclaw-agent.sqlite"
_ARCHIVED = "in an archive of OpenClaw's own"


class CatchUp:
    """One catch-up: what is to be read, and how far everything is read."""

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
