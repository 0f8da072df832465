"""Checks of what is derived: the index against the files, its vectors, the prepared briefing.

A small index is held against a fresh one, made in memory by words. A large one is only asked
whether it is whole and made of the files as they are; ``--rebuild`` makes it anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from clsm_cli.health.findings import found, listed
from clsm_cli.store import atomic
from clsm_cli.store.index import database, prepared_briefing, vector_state, vectors
from clsm_cli.store.index.index_diff import differences
from clsm_cli.store.index.indexed_files import changes

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Held

COMPARED = 1500
"""Passages up to which an index is held against a fresh one: about a second and a half."""
_PATH = ".clsm/index/index.sqlite"


def index(held: Held) -> list[Finding]:
    """The index: whole, of the files as they are, and saying what they say."""
    path = database.path_of(held.store.derived)
    if not path.exists():
        reason = "is missing; the next command makes it"
        return [found("index-missing", _PATH, reason)]
    try:
        connection = database.open_to_read(held.store.derived)
        if connection is None:
            return [_unopened(path)]
        with contextlib.closing(connection):
            return _opened(held, connection)
    except sqlite3.DatabaseError as error:
        return [found("index-damaged", _PATH, f"cannot be read ({error})")]


def _unopened(path: Path) -> Finding:
    """An index of another version is made anew by the next command; one that is none is damaged."""
    with open(path, "rb") as file:
        head = file.read(64)
    version = int.from_bytes(head[60:64], "big")
    if head.startswith(b"SQLite format 3\0") and 0 < version < database.SCHEMA_VERSION:
        return found("index-stale", _PATH, "was made by another version of clsm")
    return found("index-damaged", _PATH, "is no index")


def _opened(held: Held, connection: sqlite3.Connection) -> list[Finding]:
    said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
    if said != ["ok"]:
        return [found("index-damaged", _PATH, f"is damaged: {' '.join(said[0].split())[:120]}")]
    findings: list[Finding] = []
    stale = changes(connection, held.store)
    if stale.any:
        names = sorted({*stale.changed, *stale.removed})
        findings.append(found("index-stale", _PATH, f"has not read {listed(names)} yet"))
    else:
        findings += _content(held, connection)
    return [*findings, *_vectors(held, connection)]


def _content(held: Held, connection: sqlite3.Connection) -> list[Finding]:
    """Whether it was made of these bytes, and, where it is small, says what they say."""
    known = dict(connection.execute("SELECT path, sha256 FROM files").fetchall())
    odd = sorted(
        path
        for path, sha256 in known.items()
        if path in held.files and held.files[path].sha256 not in (None, sha256)
    )
    if odd:
        reason = f"was made of other bytes of {listed(odd)}"
        return [found("index-differs", _PATH, reason)]
    count = connection.execute("SELECT COUNT(*) FROM passages").fetchone()[0]
    if count > COMPARED:
        return []
    other = differences(held.store, connection)
    return [found("index-differs", _PATH, f"says otherwise: {listed(other)}")] if other else []


def _vectors(held: Held, connection: sqlite3.Connection) -> list[Finding]:
    derived = held.store.derived
    row = connection.execute("SELECT value FROM meta WHERE key = 'engine'").fetchone()
    count = len(vector_state.damaged(connection, derived))
    if count or (row is not None and not vector_state.is_whole(connection, derived, row[0])):
        reason = f"{count} texts have vectors that are not as they were written"
        return [found("vectors-damaged", ".clsm/index", reason)]
    waiting = vectors.waiting(connection)
    if waiting:
        reason = f"{waiting} texts have no vector yet"
        return [found("vectors-missing", _PATH, reason)]
    return []


def prepared(held: Held) -> list[Finding]:
    """The briefing that ``clsm context`` reads, if it is of the files as they are."""
    path = prepared_briefing.path_of(held.store)
    name = path.relative_to(held.store.root).as_posix()
    if not path.is_file():
        return []
    data = atomic.read(path, prepared_briefing.MAX_BYTES) or b""
    return (
        [] if prepared_briefing.is_whole(data) else [found("briefing-damaged", name, "is damaged")]
    )
