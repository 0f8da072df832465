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
    from clsm_cli.ingestion.openclaw_database import AgentDatabase
    from clsm_cli.store.cursors import Places

    Found = Iterator["Tail | Skipped | Problem"]


@dataclass(slots=True)
class Tail:
    """A transcript with something new: a JSONL file, or a conversation of an agent's database.

    Attributes:
        inside: The conversation; empty for a file.
        before: How far it was read before: how the file looked, or the last row.
        place: How far it is read now.
    """

    path: str
    origin: str
    before: Cursor | None
    inside: str = ""
    place: Cursor | None = None
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def lines(self) -> Iterator[Iterator[Line]]:
        """All lines of a file (one that is being written is read again later), or the rows behind ``before``."""
        real = os.path.expanduser(self.origin)
        if self.inside:
            with openclaw_database.open_database(real) as database:
                yield self._rows(database)
        else:
            with open_file(real) as stream:
                self.place = Cursor(0, 0, "", _look_of(os.fstat(stream.fileno())))
                yield jsonl_rows.bounded_lines(stream)

    def _rows(self, database: AgentDatabase) -> Iterator[Line]:
        after = -1 if self.before is None else self.before.at
        for line, mark in database.rows(self.inside, after):
            yield line
            self.place = Cursor(line[0], line[0], mark)


def _look_of(status: os.stat_result) -> str:
    return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ino}"


_DATABASE = os.path.join("agent", "openclaw-agent.sqlite")
_ARCHIVED = "in an archive of OpenClaw's own"


class CatchUp:
    """One catch-up: what is to be read, and how far everything is read."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.has_moved = False
        self.up_to_date = 0
        self.warnings: list[str] = []

    def find(self, folders: Sequence[str]) -> Found:
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

    def _agent(self, given: str, real: str) -> Found:
        path, there = os.path.join(given, _DATABASE), os.path.join(real, _DATABASE)
        if os.path.lexists(there):
            yield from _guarded(path, self._database(path, there))
        path, there = os.path.join(given, "sessions"), os.path.join(real, "sessions")
        if os.path.isdir(there):
            yield from _guarded(path, self._files(path, there))

    def _files(self, path: str, real: str) -> Found:
        for entry in _entries(real):
            file = os.path.join(path, entry.name)
            yield from _guarded(file, self._file(file, entry))

    def _file(self, path: str, entry: os.DirEntry[str]) -> Found:
        reason = "symbolic link" if entry.is_symlink() else detection.exclusion_reason(entry.name)
        if reason or not entry.is_file():
            yield Skipped(path, reason or "no transcript")
            return
        origin = sources.with_tilde(entry.path)
        before = self.places.get(origin, {}).get("")
        if before is not None and before.look == _look_of(entry.stat()):
            self.up_to_date += 1
        else:
            yield Tail(path, origin, before)

    def _database(self, path: str, real: str) -> Found:
        sources.open_file(real).close()  # no link, no FIFO
        with openclaw_database.open_database(real) as database:
            known_version = openclaw_database.KNOWN_VERSION
            version = f"version {database.version} where clsm knows {known_version}"
            if not database.has_transcripts:
                reason = f"has no conversations that clsm can find ({version}); a newer clsm may"
                yield Problem(path, None, reason)
                return
            if database.version != known_version:
                self.warnings.append(f"{path}: {version}; what it could find there is read")
            origin = sources.with_tilde(real)
            known = self.places.get(origin, {})
            for session, last in database.sessions():
                before = known.get(session)
                # A conversation that was written anew begins again.
                if before is not None and database.mark(session, before.at) != before.mark:
                    before = None
                if before is not None and before.at == last:
                    self.up_to_date += 1
                else:
                    yield Tail(f"{path}#{session}", origin, before, session)
            for session, last in database.cold():
                before = known.get(session)
                if before is None or before.at < last:
                    yield Skipped(f"{path}#{session}", _ARCHIVED)


def _guarded(path: str, found: Found) -> Found:
    """What is found, up to what cannot be read."""
    try:
        yield from found
    except OSError as error:
        yield sources.read_problem(path, error)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as scan:
        return sorted(scan, key=lambda entry: entry.name)
