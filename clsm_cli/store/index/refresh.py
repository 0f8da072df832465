"""Update an index from the files of the store, without any model.

The rows of a changed file are replaced. What depends on several files (current blocks of a document,
current statements) is then recomputed where affected. Tombstones come first, as they decide what of
a file is read.

Passages are then linked with their neighbours in a session or section, and put into groups of eight. In
ranking, a group stands for the episode: a score of a turn's surroundings gains 6 points of recall, however
they are cut. Groups count from the start of the session or section, so they do not depend on how the
input was split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, groupby
from pathlib import Path
from sqlite3 import Connection

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.grouping import in_order
from clsm_cli.store import atomic, episode_files, inbox, logs
from clsm_cli.store.index import database, hidden, passages
from clsm_cli.store.index.database import IN_SESSION, pack
from clsm_cli.store.index.indexed_files import FileChanges, Signature
from clsm_cli.store.index.passage_rows import Batch
from clsm_cli.store.jsonlines import LineProblem, dump
from clsm_cli.store.layout import Store

GROUP_SIZE = 8  # passages per group
_INBOX_ONLY = frozenset({"inbox", "flow"})
"""What a refresh of inboxes touches: no records, so nothing to derive."""


def refresh(connection: Connection, store: Store, found: FileChanges) -> None:
    """Apply changed files to the index, in one transaction."""
    with database.transaction(connection):
        batch = Batch(connection, store)
        changed, touched = _load_tombstones(batch, found)
        for path in found.removed:
            touched |= _drop(batch, path)
        for path in sorted(changed):
            touched |= _load(batch, path, changed[path])
        if touched - _INBOX_ONLY:  # a turn captured during a run needs none of the graph's code
            from clsm_cli.store.index.derived import derive

            derive(batch, touched)
        for session in sorted(batch.sessions):
            link_session(connection, session)
        for document in sorted(batch.documents):
            link_document(connection, document)
        hidden.update_archived(connection, touched)
        batch.write()


def _load_tombstones(batch: Batch, found: FileChanges) -> tuple[dict[str, Signature], set[str]]:
    """Read the tombstones; return the files left to read, and {"tombstones"} if any changed."""
    before = hidden.forgotten_hashes(batch.connection)
    changed = dict(found.changed)
    for path in found.removed:
        if _stream_of(path) == "tombstones":
            _drop(batch, path)
    for path in sorted(changed):
        if _stream_of(path) == "tombstones":
            _load(batch, path, changed.pop(path))
    batch.forgotten = hidden.forgotten_hashes(batch.connection)
    if batch.forgotten == before:
        return changed, set()
    where = "kind IN ('episode', 'inbox', 'shard')"  # may have items to remove or bring back
    batch.connection.execute(f"UPDATE files SET sha256 = '' WHERE {where}")
    query = f"SELECT path, kind, size, mtime_ns FROM files WHERE {where}"
    for path, kind, size, mtime in batch.connection.execute(query):
        if path not in found.removed:
            changed.setdefault(path, (kind, size, mtime))
    return changed, {"tombstones"}


def _drop(batch: Batch, path: str) -> set[str]:
    """Remove a file's rows; return its kind and top folder."""
    connection = batch.connection
    row = connection.execute("SELECT id, kind FROM files WHERE path = ?", (path,)).fetchone()
    if row is None:
        return set()
    file, kind = row
    batch.drop_file(file)
    query = "SELECT type, id, line FROM records WHERE file = ?"
    for record_type, record_id, line in connection.execute(query, (file,)):
        batch.removed[record_type, record_id].add((path, line))
    for table in ("records", "episodes", "uses", "archived", "tombstones"):
        connection.execute(f"DELETE FROM {table} WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))
    return {kind, _stream_of(path)}


def _stream_of(path: str) -> str:
    return path.split("/", 1)[0]


def _load(batch: Batch, path: str, signature: Signature) -> set[str]:
    connection = batch.connection
    full = batch.store.root / path
    sha256 = atomic.digest_of(full)
    row = connection.execute("SELECT id, sha256 FROM files WHERE path = ?", (path,)).fetchone()
    if row is not None and row[1] == sha256:
        query = "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?"
        connection.execute(query, (*signature[1:], row[0]))
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
    read = _READERS.get(signature[0])  # topic files are read with their shards, in ``derived``
    if read is not None and (problems := read(batch, full, file)):
        listed = dump([[problem.line, problem.reason] for problem in problems])
        connection.execute("UPDATE files SET problems = ? WHERE id = ?", (listed, file))
    return {signature[0], _stream_of(path)}


_Problems = Iterable[LineProblem]


def _read_episode(batch: Batch, path: Path, file: int) -> _Problems:
    try:
        episode = episode_files.without_forgotten(episode_files.read(path), batch.forgotten)
    except DamagedStoreError as error:
        return [LineProblem(path, error.line, error.reason)]
    if episode is None:
        return []
    links = (episode.previous, episode.start, episode.continues, episode.recorded_at)
    row = (episode.id, file, episode.session, episode.document, *links)
    query = "INSERT OR REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    batch.connection.execute(query, row)
    limit = batch.store.settings.passage.max_tokens
    place = (episode.session, episode.id, episode.document)
    found = (passages.turn_passages(turn, limit, *place) for turn in episode.turns)
    batch.insert(file, chain.from_iterable(found))
    return []


def _read_inbox(batch: Batch, path: Path, file: int) -> _Problems:
    box = inbox.read(path, batch.forgotten)
    limit = batch.store.settings.passage.max_tokens
    found = (passages.turn_passages(item.turn, limit, item.session) for item in box.turns)
    batch.replace(file, list(chain.from_iterable(found)))
    return box.problems


def _read_shard(batch: Batch, path: Path, file: int) -> _Problems:
    from clsm_cli.model.codec import encode
    from clsm_cli.store import shards

    shard = shards.read(path)
    rows: list[tuple[int, str, str, bytes]] = []
    for record in shard.records:
        if not logs.is_forgotten(record.id, batch.forgotten):
            mapping = encode(record)
            rows.append((file, record.id, mapping["record"], pack(mapping)))
            place = path.relative_to(batch.store.root).as_posix()
            batch.added[mapping["record"], record.id].add((place, rows[-1][-1]))
    batch.connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
    return shard.problems


def _read_tombstones(batch: Batch, path: Path, file: int) -> _Problems:
    found, problems = logs.rows(path)
    rows = [(str(row["hash"]), file) for _, row in found if "hash" in row]
    batch.connection.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?)", rows)
    odd = (number for number, row in found if "hash" not in row)
    return [*problems, *(LineProblem(path, number, "is no tombstone") for number in odd)]


def _read_archived(batch: Batch, path: Path, file: int) -> _Problems:
    found = logs.read_archived(path.parent)
    rows = [(name, day.toordinal(), file) for name, day in found.since.items()]
    batch.connection.executemany("INSERT INTO archived VALUES (?, ?, ?)", rows)
    return found.problems


def _read_uses(batch: Batch, path: Path, file: int) -> _Problems:
    found, problems = logs.read_uses(path)
    rows = [(name, day.toordinal(), file, n) for name, day, n in found]
    batch.connection.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?)", rows)
    return problems


_READERS = {
    "episode": _read_episode,
    "inbox": _read_inbox,
    "shard": _read_shard,
    "tombstones": _read_tombstones,
    "uses": _read_uses,
    "archived": _read_archived,
}


def link_session(connection: Connection, session: str) -> None:
    """Link and group the turns of a session: episodes in order, then those in inboxes."""
    rows = connection.execute(
        "SELECT p.id, p.episode, p.previous, p.next, p.grp FROM placed_passages p"
        " JOIN files f ON f.id = p.file"
        f" WHERE {IN_SESSION} AND p.document IS NULL AND p.kind = 'passage' ORDER BY f.path, p.id",
        (session,),
    ).fetchall()
    query = (
        "SELECT e.id, e.previous FROM episodes e JOIN files f ON f.id = e.file"
        " WHERE e.session = ? ORDER BY e.start, e.id, f.path"
    )
    ordered = in_order(dict(connection.execute(query, (session,))))
    places = {episode: i for i, episode in enumerate(ordered)}
    last = len(places)
    rows.sort(key=lambda row: last if row[1] is None else places.get(row[1], last))
    _write_links(connection, [(row[0], *row[2:]) for row in rows])


def link_document(connection: Connection, document: str) -> None:
    """Link and group the current blocks of each section of a document; unlink closed ones."""
    rows = connection.execute(
        "SELECT b.heading, p.id, p.previous, p.next, p.grp FROM blocks b"
        " JOIN placed_passages p ON p.key = b.key AND p.document = b.document"
        " JOIN files f ON f.id = p.file"
        " WHERE b.document = ? AND p.current ORDER BY b.line_start, b.key, p.part, f.path",
        (document,),
    ).fetchall()
    for _, section in groupby(rows, key=lambda row: row[0]):
        _write_links(connection, [row[1:] for row in section])
    connection.execute(
        "UPDATE passages SET previous = NULL, next = NULL, grp = id WHERE NOT current"
        " AND (grp <> id OR previous IS NOT NULL OR next IS NOT NULL)"
        " AND place IN (SELECT id FROM places WHERE document = ?)",
        (document,),
    )


def _write_links(connection: Connection, rows: Sequence[Sequence[int | None]]) -> None:
    """Update neighbours and groups that differ from ``rows``: id, previous, next, group."""
    ids = [row[0] for row in rows]
    groups = (ids[i // GROUP_SIZE * GROUP_SIZE] for i in range(len(ids)))
    wanted = zip([None, *ids[:-1]], [*ids[1:], None], groups, strict=False)
    query = "UPDATE passages SET previous = ?, next = ?, grp = ? WHERE id = ?"
    pairs = zip(rows, wanted, strict=True)
    connection.executemany(query, [(*new, row[0]) for row, new in pairs if new != tuple(row[1:])])
