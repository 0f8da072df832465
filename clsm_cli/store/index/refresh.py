"""Bring an index up to date with the files of the store, without any model.

A changed file loses its rows and gets new ones. What needs several files at once (which blocks of
a document are current, which statements stand) is then worked out again for what was touched.
Tombstones come first: they tell what of a file is read at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import encode
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.store import atomic, episodes, inbox, logs, shards
from clsm_cli.store.index import archived, database, passages, sequence, tombstones
from clsm_cli.store.index.derived import derive
from clsm_cli.store.index.mention_rows import noted_of
from clsm_cli.store.index.packed import pack
from clsm_cli.store.index.passages import text_digest
from clsm_cli.store.index.rows import Batch
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.problems import LineProblem

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from clsm_cli.store.index.files import Changes, Progress, Signature
    from clsm_cli.store.layout import Store


def refresh(
    connection: sqlite3.Connection,
    store: Store,
    found: Changes,
    progress: Progress | None = None,
) -> None:
    """Apply ``found`` to the index, in one transaction."""
    with database.transaction(connection):
        batch = Batch(connection)
        changed, touched = _bury(batch, store, found)
        for path in found.removed:
            touched |= _drop(batch, path)
        for number, path in enumerate(sorted(changed)):
            touched |= _load(batch, store, path, changed[path])
            if progress:
                progress(number + 1, len(changed))
        derive(batch, store, touched)
        for session in sorted(batch.sessions):
            sequence.settle_session(connection, session)
        for document in sorted(batch.documents):
            sequence.settle_document(connection, document)
        archived.settle(connection, touched)
        batch.write()


def _bury(batch: Batch, store: Store, found: Changes) -> tuple[dict[str, Signature], set[str]]:
    """Take in the tombstones; returns what is left to read, and whether any came or went."""
    before = tombstones.known(batch.connection)
    changed = dict(found.changed)
    for path in found.removed:
        if _stream_of(path) == tombstones.FOLDER:
            _drop(batch, path)
    for path in sorted(changed):
        if _stream_of(path) == tombstones.FOLDER:
            _load(batch, store, path, changed.pop(path))
    batch.forgotten = tombstones.known(batch.connection)
    if batch.forgotten == before:
        return changed, set()
    again = tombstones.concerned(batch.connection, before, batch.forgotten)
    for path in again.keys() - set(found.removed):
        changed.setdefault(path, again[path])
    return changed, {tombstones.FOLDER}


def _drop(batch: Batch, path: str) -> set[str]:
    """Forget a file; returns what kinds of thing were touched."""
    connection = batch.connection
    row = connection.execute("SELECT id, kind FROM files WHERE path = ?", (path,)).fetchone()
    if row is None:
        return set()
    file, kind = row
    batch.drop_file(file)
    batch.gone.update(
        connection.execute(
            "SELECT type, id, COALESCE(line, digest) FROM records WHERE file = ?", (file,)
        )
    )
    for table in ("records", "episodes", "uses", "archived", "tombstones"):
        connection.execute(f"DELETE FROM {table} WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))
    return {kind, _stream_of(path)}


def _stream_of(path: str) -> str:
    return path.split("/", 1)[0]


def _load(batch: Batch, store: Store, path: str, signature: Signature) -> set[str]:
    """Read a new or changed file into the index."""
    connection = batch.connection
    full = store.root / path
    sha256 = atomic.digest_of(full)
    row = connection.execute("SELECT id, sha256 FROM files WHERE path = ?", (path,)).fetchone()
    if row is not None and row[1] == sha256:
        connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?",
            (*signature[1:], row[0]),
        )
        return set()
    if row is not None and signature[0] == "inbox":
        file = row[0]
        connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ?, sha256 = ?, problems = NULL WHERE id = ?",
            (*signature[1:], sha256, file),
        )
    else:
        _drop(batch, path)
        file = connection.execute(
            "INSERT INTO files (path, kind, size, mtime_ns, sha256) VALUES (?, ?, ?, ?, ?)",
            (path, *signature, sha256),
        ).lastrowid
    assert file is not None
    problems = _READERS[signature[0]](batch, store, full, file)
    if problems:
        listed = dump([[problem.line, problem.reason] for problem in problems])
        connection.execute("UPDATE files SET problems = ? WHERE id = ?", (listed, file))
    return {signature[0], _stream_of(path)}


_Problems = Iterable[LineProblem]


def _read_episode(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    try:
        episode = episodes.without(episodes.read(path), batch.forgotten)
    except DamagedStoreError as error:
        return [LineProblem(path, error.line, error.reason)]
    if episode is None:
        return []
    batch.connection.execute(
        "INSERT OR REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            episode.id,
            file,
            episode.session,
            episode.document,
            episode.previous,
            episode.start,
            episode.continues,
        ),
    )
    limit = store.settings.passage.max_tokens
    found = (
        passages.of_turn(
            turn,
            episode.session,
            episode=episode.id,
            document=episode.document,
            max_tokens=limit,
        )
        for turn in episode.turns
    )
    batch.insert(file, chain.from_iterable(found))
    return []


def _read_inbox(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    box = inbox.read(path, batch.forgotten)
    limit = store.settings.passage.max_tokens
    found = (
        passages.of_turn(item.turn, item.session, episode=None, document=None, max_tokens=limit)
        for item in box.turns
    )
    batch.replace(file, list(chain.from_iterable(found)))
    return box.problems


def _read_shard(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    del store
    shard = shards.read(path)
    rows: list[tuple[int, str, str, bytes | None, int | None]] = []
    for record in shard.records:
        if logs.is_forgotten(record.id, batch.forgotten):
            continue
        mapping = encode(record)
        kind, packed = mapping["record"], pack(mapping)
        if isinstance(record, EpisodeRecord):  # long: left in its shard
            mark = text_digest(dump(mapping))
            rows.append((file, record.id, kind, None, mark))
            batch.come.add((kind, record.id, mark))
            if (kind, record.id, mark) not in batch.gone:
                batch.noted.setdefault(record.id, []).append(noted_of(record, batch.forgotten))
        else:
            rows.append((file, record.id, kind, packed, None))
            batch.come.add((kind, record.id, packed))
    batch.connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", rows)
    return shard.problems


def _read_uses(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    """Folded uses; a line that is none is reported and left out."""
    del store
    found, problems = logs.rows(path)
    rows = []
    for number, row in found:
        try:
            use = logs.parse_use(row)
            rows.append((use.id, date.fromisoformat(use.day).toordinal(), file, use.n))
        except (KeyError, TypeError, ValueError):
            problems.append(LineProblem(path, number, "is no line of uses"))
    batch.connection.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?)", rows)
    return problems


def _read_archived(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    del store
    return archived.read(batch.connection, path, file)


def _read_tombstones(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    del store
    return tombstones.read(batch.connection, path, file)


def _read_nothing(batch: Batch, store: Store, path: Path, file: int) -> _Problems:
    """Topic files are read together with their shards, in ``derived``."""
    del batch, store, path, file
    return []


_READERS = {
    "episode": _read_episode,
    "inbox": _read_inbox,
    "shard": _read_shard,
    "topic": _read_nothing,
    "tombstones": _read_tombstones,
    "uses": _read_uses,
    "archived": _read_archived,
}
