"""Catching up with OpenClaw: what its transcripts hold beyond what was read before.

Below the state folder every agent has its own: ``agents/<id>/agent/openclaw-agent.sqlite`` with
2026.9, ``agents/<id>/sessions/*.jsonl`` with 2026.7. What has nothing new is told by a look at the file, or
at the last row, so that it costs next to nothing to ask again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.ingestion import detection, openclaw_database, sources
from clsm_cli.ingestion.items import Problem
from clsm_cli.ingestion.sources import Missing, Skipped
from clsm_cli.ingestion.tails import DatabaseTail, FileTail, Tail, look_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.ingestion.openclaw_database import AgentDatabase, Session
    from clsm_cli.store.cursors import Places

_DATABASE = "openclaw-agent.sqlite"
_ARCHIVED = "in an archive of OpenClaw's own"


class CatchUp:
    """One catch-up: what is to be read, and how far everything is read.

    Attributes:
        places: How far; ``reached`` moves them on.
        has_moved: Whether they are other than they were.
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
                yield sources.failed(folder, error)
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
            yield sources.failed(path, error)
        path = os.path.join(given, "sessions")
        try:
            entries = _entries(os.path.join(real, "sessions"))
        except FileNotFoundError:
            return
        except OSError as error:
            yield sources.failed(path, error)
            return
        for entry in entries:
            file = os.path.join(path, entry.name)
            try:
                yield from self._file(file, entry)
            except OSError as error:
                yield sources.failed(file, error)

    def _file(self, path: str, entry: os.DirEntry[str]) -> Iterator[Tail | Skipped]:
        reason = "symbolic link" if entry.is_symlink() else detection.not_memory(entry.name)
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
        with openclaw_database.opened(real) as database:
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
