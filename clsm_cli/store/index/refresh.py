"""Bring an index up to date with the files of the store, without any model.

A changed file loses its rows and gets new ones. What needs several files at once (which blocks of
a document are current, which statements stand) is then worked out again for what was touched.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import Record, decode, encode
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Node, Statement, Stream
from clsm_cli.model.join import join_all
from clsm_cli.store import atomic, episodes, inbox, logs, shards, topics
from clsm_cli.store.index import passages
from clsm_cli.store.index.files import Signature, scan
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS, Store
from clsm_cli.store.problems import LineProblem
from clsm_cli.text import mentions, tokens

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from clsm_cli.store.index.passages import Passage

Progress = Callable[[int, int], None]
_PASSAGE_COLUMNS = tuple(
    f.name for f in fields(passages.Passage) if f.name not in ("sources", "current")
)


@dataclass(frozen=True, slots=True)
class Changes:
    """How the files differ from what the index was made of."""

    changed: dict[str, Signature]
    removed: tuple[str, ...]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.changed or self.removed)


def changes(connection: sqlite3.Connection, store: Store) -> Changes:
    """Compare the signatures of all files with those in the index."""
    known = {
        path: Signature(kind, size, mtime_ns)
        for path, kind, size, mtime_ns in connection.execute(
            "SELECT path, kind, size, mtime_ns FROM files"
        )
    }
    now = scan(store)
    changed = {path: signature for path, signature in now.items() if known.get(path) != signature}
    return Changes(changed, tuple(sorted(known.keys() - now.keys())))


def refresh(
    connection: sqlite3.Connection,
    store: Store,
    found: Changes,
    progress: Progress | None = None,
) -> None:
    """Apply ``found`` to the index, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        touched: set[str] = set()
        for path in found.removed:
            touched |= _drop(connection, path)
        for number, path in enumerate(sorted(found.changed)):
            touched |= _load(connection, store, path, found.changed[path])
            if progress:
                progress(number + 1, len(found.changed))
        _settle(connection, store, touched)
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _drop(connection: sqlite3.Connection, path: str) -> set[str]:
    """Forget a file; returns what kinds of thing were touched."""
    row = connection.execute("SELECT id, kind FROM files WHERE path = ?", (path,)).fetchone()
    if row is None:
        return set()
    file, kind = row
    _drop_passages(connection, "file = ?", file)
    for table in ("records", "episodes"):
        connection.execute(f"DELETE FROM {table} WHERE file = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))
    return {kind, _stream_of(path)}


def _drop_passages(connection: sqlite3.Connection, where: str, value: object) -> None:
    chosen = f"(SELECT id FROM passages WHERE {where})"
    for table in ("postings", "mentions"):
        connection.execute(f"DELETE FROM {table} WHERE passage IN {chosen}", (value,))
    connection.execute(f"DELETE FROM passages WHERE {where}", (value,))


def _stream_of(path: str) -> str:
    return path.split("/", 1)[0]


def _load(
    connection: sqlite3.Connection, store: Store, path: str, signature: Signature
) -> set[str]:
    """Read a new or changed file into the index."""
    full = store.root / path
    sha256 = atomic.digest_of(full)
    row = connection.execute("SELECT id, sha256 FROM files WHERE path = ?", (path,)).fetchone()
    if row is not None and row[1] == sha256:
        connection.execute(
            "UPDATE files SET size = ?, mtime_ns = ? WHERE id = ?",
            (signature.size, signature.mtime_ns, row[0]),
        )
        return set()
    _drop(connection, path)
    file = connection.execute(
        "INSERT INTO files (path, kind, size, mtime_ns, sha256) VALUES (?, ?, ?, ?, ?)",
        (path, *signature, sha256),
    ).lastrowid
    assert file is not None
    problems = _READERS[signature.kind](connection, store, full, file)
    if problems:
        listed = dump([[problem.line, problem.reason] for problem in problems])
        connection.execute("UPDATE files SET problems = ? WHERE id = ?", (listed, file))
    return {signature.kind, _stream_of(path)}


_Problems = Iterable[LineProblem]


def _read_episode(connection: sqlite3.Connection, store: Store, path: Path, file: int) -> _Problems:
    try:
        episode = episodes.read(path)
    except DamagedStoreError as error:
        return [LineProblem(path, error.line, error.reason)]
    connection.execute(
        "INSERT OR REPLACE INTO episodes VALUES (?, ?, ?, ?, ?, ?)",
        (episode.id, file, episode.session, episode.document, episode.previous, episode.start),
    )
    limit = store.settings.passage.max_tokens
    for turn in episode.turns:
        found = passages.of_turn(
            turn,
            episode.session,
            episode=episode.id,
            document=episode.document,
            max_tokens=limit,
        )
        _insert(connection, file, found)
    return []


def _read_inbox(connection: sqlite3.Connection, store: Store, path: Path, file: int) -> _Problems:
    box = inbox.read(path)
    limit = store.settings.passage.max_tokens
    for item in box.turns:
        found = passages.of_turn(
            item.turn, item.session, episode=None, document=None, max_tokens=limit
        )
        _insert(connection, file, found)
    return box.problems


def _read_shard(connection: sqlite3.Connection, store: Store, path: Path, file: int) -> _Problems:
    del store
    shard = shards.read(path)
    rows = [
        (file, record.id, mapping["record"], dump(mapping))
        for record in shard.records
        for mapping in (encode(record),)
    ]
    connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?)", rows)
    return shard.problems


def _read_tombstones(
    connection: sqlite3.Connection, store: Store, path: Path, file: int
) -> _Problems:
    """What they hide is looked up when it is needed; a damaged line must not go unseen."""
    del connection, store, file
    return logs.rows(path)[1]


def _read_nothing(connection: sqlite3.Connection, store: Store, path: Path, file: int) -> _Problems:
    """Topic files are read together with their shards, in ``_settle``."""
    del connection, store, path, file
    return []


_READERS = {
    "episode": _read_episode,
    "inbox": _read_inbox,
    "shard": _read_shard,
    "topic": _read_nothing,
    "tombstones": _read_tombstones,
}


def _insert(connection: sqlite3.Connection, file: int, found: Iterable[Passage]) -> None:
    extra = ("file", "sources", "tokens", "length", "embedded", "current")
    names = ", ".join((*_PASSAGE_COLUMNS, *extra))
    marks = ", ".join("?" * (len(_PASSAGE_COLUMNS) + 6))
    for passage in found:
        terms = Counter(tokens.stems(f"{passage.speaker} {passage.embedded_text}"))
        values = [getattr(passage, name) for name in _PASSAGE_COLUMNS]
        row = connection.execute(
            f"INSERT INTO passages ({names}) VALUES ({marks})",
            (
                *values,
                file,
                dump(list(passage.sources)),
                tokens.count_tokens(passage.text),
                terms.total(),
                passage.embedded_digest,
                passage.current,
            ),
        ).lastrowid
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)", [(term, row, tf) for term, tf in terms.items()]
        )
        connection.executemany(
            "INSERT OR IGNORE INTO mentions VALUES (?, ?, ?, ?)",
            [
                (row, mentions.node_id(m.label), m.label, m.kind)
                for m in mentions.find(passage.text)
            ],
        )


def _settle(connection: sqlite3.Connection, store: Store, touched: set[str]) -> None:
    """Work out again what depends on several files."""
    graph_changed = "shard" in touched or "tombstones" in touched
    forgotten = logs.forgotten(store) if touched else frozenset()
    if graph_changed or "episode" in touched:
        _settle_documents(connection, forgotten)
    if graph_changed:
        _settle_aliases(connection, forgotten)
    for stream in TOPIC_STREAMS:
        if stream in touched or "tombstones" in touched:
            _settle_statements(connection, store, stream, forgotten)


def records_of(
    connection: sqlite3.Connection, record_type: str, forgotten: frozenset[str]
) -> list[Record]:
    """The joined records of one type, by id."""
    versions: dict[str, list[Record]] = {}
    for (line,) in connection.execute(
        "SELECT line FROM records WHERE type = ? ORDER BY id", (record_type,)
    ):
        record = decode(json.loads(line))
        versions.setdefault(record.id, []).append(record)
    return [
        join_all(found).record
        for record_id, found in versions.items()
        if not logs.is_forgotten(record_id, forgotten)
    ]


def _settle_documents(connection: sqlite3.Connection, forgotten: frozenset[str]) -> None:
    """A block is current, and stands where it stands, as its document says."""
    connection.execute("DELETE FROM blocks")
    for document in records_of(connection, "document", forgotten):
        assert isinstance(document, Document)
        connection.executemany(
            "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?, ?)",
            [
                (
                    document.id,
                    block.key,
                    document.path,
                    block.line_start,
                    passages.HEADING_SEPARATOR.join(block.heading),
                )
                for block in document.blocks
            ],
        )
    connection.execute(
        "UPDATE passages SET current = EXISTS (SELECT 1 FROM blocks b"
        " WHERE b.document = passages.document AND b.key = passages.key)"
        " WHERE document IS NOT NULL"
    )


def _settle_aliases(connection: sqlite3.Connection, forgotten: frozenset[str]) -> None:
    """What a mention may be called: a node's label and aliases, as ids."""
    connection.execute("DELETE FROM aliases")
    for node in records_of(connection, "node", forgotten):
        assert isinstance(node, Node)
        connection.executemany(
            "INSERT OR IGNORE INTO aliases VALUES (?, ?)",
            [(mentions.node_id(name), node.id) for name in (node.label or node.id, *node.aliases)],
        )


def _settle_statements(
    connection: sqlite3.Connection, store: Store, stream: Stream, forgotten: frozenset[str]
) -> None:
    """The statements of a stream, as its Markdown and its shards say together."""
    _drop_passages(connection, "kind IN ('statement', 'gist') AND stream = ?", stream)
    records = {
        record.id: record
        for record in records_of(connection, "statement", forgotten)
        if isinstance(record, Statement) and record.stream == stream
    }
    found = topics.read_topics(store.root / stream)
    edits = topics.reconcile(found, records, stream=stream, now="", device=store.device)
    places: dict[str, tuple[str, int]] = {}
    for topic in found:
        path = topic.path.relative_to(store.root).as_posix()
        places |= {topics.id_of(item): (path, item.line) for item in topic.items}
        listed = dump([[problem.line, problem.reason] for problem in topic.problems])
        connection.execute(
            "UPDATE files SET problems = ? WHERE path = ?",
            (listed if topic.problems else None, path),
        )
    for record_id, statement in sorted(edits.statements.items()):
        path, line = places.get(record_id, (f"{stream}/graph", 0))
        if statement.text:
            _insert(
                connection,
                _file_id(connection, path),
                [passages.of_statement(statement, path, line)],
            )


def _file_id(connection: sqlite3.Connection, path: str) -> int:
    """The file a statement's row belongs to; 0, none, for one that only a shard still holds.

    Such rows go when their stream is settled again, not when one file goes.
    """
    row = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    return int(row[0]) if row else 0
