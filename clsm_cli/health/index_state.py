"""Checks of derived data: the index against the files, its vectors, the prepared briefing.

A small index is held against a fresh one, made in memory by words. A large one is only asked
whether it is whole and made of the files as they are; ``--rebuild`` makes it anew.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.store.index import database, prepared_briefing, vector_files, vectors
from clsm_cli.store.index.indexed_files import changes
from clsm_cli.store.index.maintenance import differences

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot

COMPARED = 1500
"""Passages up to which an index is held against a fresh one: about a second and a half."""
_PATH = ".clsm/index/index.sqlite"


def check_index(snapshot: Snapshot) -> list[Finding]:
    """The index: whole, of the files as they are, and saying what they say."""
    path = database.path_of(snapshot.store.derived)
    if not path.exists():
        reason = "is missing; the next command makes it"
        return [make_finding("index-missing", _PATH, reason)]
    try:
        connection = database.open_to_read(snapshot.store.derived)
        if connection is None:
            return [_unopened(path)]
        with contextlib.closing(connection):
            return _opened(snapshot, connection)
    except sqlite3.DatabaseError as error:
        return [make_finding("index-damaged", _PATH, f"cannot be read ({error})")]


def _unopened(path: Path) -> Finding:
    """An index of another version is made anew by the next command; one that is none is damaged."""
    with open(path, "rb") as file:
        head = file.read(64)
    version = int.from_bytes(head[60:64], "big")
    if head.startswith(b"SQLite format 3\0") and 0 < version < database.SCHEMA_VERSION:
        return make_finding("index-stale", _PATH, "was made by another version of clsm")
    return make_finding("index-damaged", _PATH, "is no index")


def _opened(snapshot: Snapshot, connection: sqlite3.Connection) -> list[Finding]:
    said = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(3)")]
    if said != ["ok"]:
        return [
            make_finding("index-damaged", _PATH, f"is damaged: {' '.join(said[0].split())[:120]}")
        ]
    findings: list[Finding] = []
    stale = changes(connection, snapshot.store)
    if stale.any:
        names = sorted({*stale.changed, *stale.removed})
        findings.append(make_finding("index-stale", _PATH, f"has not read {list_names(names)} yet"))
    else:
        findings += _content(snapshot, connection)
    return [*findings, *_vectors(snapshot, connection)]


def _content(snapshot: Snapshot, connection: sqlite3.Connection) -> list[Finding]:
    """Whether it was made of these bytes, and, where it is small, says what they say."""
    known = dict(connection.execute("SELECT path, sha256 FROM files").fetchall())
    odd = sorted(
        path
        for path, sha256 in known.items()
        if path in snapshot.files and snapshot.files[path].sha256 not in (None, sha256)
    )
    if odd:
        reason = f"was made of other bytes of {list_names(odd)}"
        return [make_finding("index-differs", _PATH, reason)]
    count = connection.execute("SELECT COUNT(*) FROM passages").fetchone()[0]
    if count > COMPARED:
        return []
    other = differences(snapshot.store, connection)
    return (
        [make_finding("index-differs", _PATH, f"says otherwise: {list_names(other)}")]
        if other
        else []
    )


def _vectors(snapshot: Snapshot, connection: sqlite3.Connection) -> list[Finding]:
    derived = snapshot.store.derived
    row = connection.execute("SELECT value FROM meta WHERE key = 'engine'").fetchone()
    count = len(vector_files.damaged(connection, derived))
    if count or (row is not None and not vector_files.is_whole(connection, derived, row[0])):
        reason = f"{count} texts have vectors that are not as they were written"
        return [make_finding("vectors-damaged", ".clsm/index", reason)]
    waiting = vectors.waiting(connection)
    if waiting:
        reason = f"{waiting} texts have no vector yet"
        return [make_finding("vectors-missing", _PATH, reason)]
    return []


def check_briefing(snapshot: Snapshot) -> list[Finding]:
    """The briefing that ``clsm context`` reads, if it is of the files as they are."""
    path = prepared_briefing.path_of(snapshot.store)
    name = path.relative_to(snapshot.store.root).as_posix()
    if not path.is_file():
        return []
    is_whole = prepared_briefing.load_contents(snapshot.store, None) is not None
    return [] if is_whole else [make_finding("briefing-damaged", name, "is damaged")]
