"""Transcripts from where they were read to, and how far that is afterwards.

A file goes on where it was left if what lies before that place is what it was: its first bytes and
the last ones, since reading all of it is what a cursor is there to spare.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from clsm_cli.ingestion import openclaw_database, rows
from clsm_cli.ingestion.sources import open_file
from clsm_cli.model.hashing import sha256
from clsm_cli.store.cursors import Place
from clsm_cli.store.jsonlines import LineError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.ingestion.detection import Format
    from clsm_cli.ingestion.openclaw_database import AgentDatabase
    from clsm_cli.ingestion.rows import Line

_COMPARED = 1 << 10
"""Bytes at the beginning, and before the place, that must be what they were."""


@dataclass(slots=True)
class FileTail:
    """A JSONL transcript from a place on.

    Attributes:
        path, origin, format: As of a ``sources.SourceFile``.
        before: Where it was read to; None: from its beginning.
        place: Where it is read to, once ``lines`` came to its end.
    """

    path: str
    origin: str
    before: Place | None
    place: Place | None = None
    inside: str = field(default="", init=False)
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def lines(self) -> Iterator[Iterator[Line]]:
        """The header, which names the session, and the lines behind the place.

        Raises:
            OSError: It cannot be read.
        """
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
        for _, line in rows.bounded_lines(stream):
            number += 1
            yield number, line
            start, at = at, stream.tell()
        if not _ends_a_line(stream, at):  # somebody is writing it: the next catch-up has it whole
            at, number = start, number - 1
        self.place = Place(at, number, _mark(stream, at), look)


@dataclass(slots=True)
class DatabaseTail:
    """A conversation of an agent's database from a row on.

    Attributes:
        path: The database as it was given, ``#`` and the session.
        origin: The database, as of a ``sources.SourceFile``.
        inside: The session.
        before: The row it was read to; None: from its beginning.
        place: The row it is read to, once ``lines`` came to its end; None if there was none.
    """

    path: str
    origin: str
    inside: str
    before: Place | None
    place: Place | None = None
    format: Format = field(default="openclaw", init=False)

    @contextlib.contextmanager
    def lines(self) -> Iterator[Iterator[Line]]:
        """The rows behind the place, each as a line.

        Raises:
            OSError: The database cannot be read.
        """
        with openclaw_database.opened(os.path.expanduser(self.origin)) as database:
            yield self._read(database)

    def _read(self, database: AgentDatabase) -> Iterator[Line]:
        after = -1 if self.before is None else self.before.at
        for line, mark in database.rows(self.inside, after):
            yield line
            self.place = Place(line[0], line[0], mark)


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
    """The first line, if it is a header."""
    stream.seek(0)
    for number, line in itertools.islice(rows.bounded_lines(stream), 1):
        if isinstance(line, bytes) and _is_header(line):
            yield number, line


def _is_header(line: bytes) -> bool:
    try:
        return rows.parse(line.rstrip(b"\r\n"), 1, rows.Tally()).get("type") == "session"
    except LineError:
        return False


def _ends_a_line(stream: BinaryIO, at: int) -> bool:
    stream.seek(max(0, at - 1))
    return at == 0 or stream.read(1) == b"\n"
