"""What depends on several files at once: current blocks, aliases, statements.

It is worked out again, whole, for what a refresh touched.
"""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any

from clsm_cli.model.codec import decode
from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Node, Statement
from clsm_cli.model.join import join_all
from clsm_cli.store import logs, topics
from clsm_cli.store.index import passages
from clsm_cli.store.index.rows import heading_id
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    import sqlite3

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.index.rows import Batch
    from clsm_cli.store.layout import Store


def pack(mapping: dict[str, Any]) -> bytes:
    """A record as the index keeps it: a third of its JSON."""
    return zlib.compress(dump(mapping).encode(), 1)


def is_long(mapping: dict[str, Any]) -> bool:
    """Whether a record is left in its shard: an episode's, which only ``show`` ever asks for."""
    return bool(mapping["record"] == "episode")


def unpack(line: bytes) -> Record:
    """A record as the index kept it."""
    return decode(json.loads(zlib.decompress(line)))


def derive(batch: Batch, store: Store, touched: set[str]) -> None:
    """Work out again what depends on several files."""
    connection = batch.connection
    graph_changed = "shard" in touched or "tombstones" in touched
    forgotten = logs.forgotten(store) if touched else frozenset()
    changed = {record_id for record_id, _ in batch.gone ^ batch.come}
    if "tombstones" in touched:
        rows = connection.execute("SELECT id FROM records WHERE type = 'document'")
        changed |= {row[0] for row in rows}
    _settle_documents(batch, changed, forgotten)
    if graph_changed:
        _settle_aliases(connection, forgotten)
    for stream in TOPIC_STREAMS:
        if stream in touched or "tombstones" in touched:
            _settle_statements(batch, store, stream, forgotten)


def records_of(
    connection: sqlite3.Connection, record_type: str, forgotten: frozenset[str]
) -> list[Record]:
    """The joined records of one type, by id."""
    versions: dict[str, list[Record]] = {}
    for (line,) in connection.execute(
        "SELECT line FROM records WHERE type = ? ORDER BY id", (record_type,)
    ):
        record = unpack(line)
        versions.setdefault(record.id, []).append(record)
    return [
        join_all(found).record
        for record_id, found in versions.items()
        if not logs.is_forgotten(record_id, forgotten)
    ]


def _settle_documents(batch: Batch, changed: set[str], forgotten: frozenset[str]) -> None:
    """A block is current, and stands where it stands, as its document says."""
    connection = batch.connection
    keys = set(batch.keys)
    for document in sorted(changed):
        known = set(
            connection.execute(
                "SELECT key, line_start, heading FROM blocks WHERE document = ?", (document,)
            )
        )
        now = _blocks_of(connection, document, forgotten)
        connection.execute("DELETE FROM blocks WHERE document = ?", (document,))
        connection.executemany(
            "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)",
            [(document, *block) for block in sorted(now)],
        )
        keys |= {block[0] for block in known ^ now}
        if known != now:
            batch.documents.add(document)
    connection.executemany(
        "UPDATE passages SET current = EXISTS (SELECT 1 FROM blocks b JOIN places l"
        " ON l.document = b.document WHERE l.id = passages.place AND b.key = passages.key)"
        " WHERE key = ? AND place IN (SELECT id FROM places WHERE document IS NOT NULL)",
        [(key,) for key in sorted(keys)],
    )


def _blocks_of(
    connection: sqlite3.Connection, document: str, forgotten: frozenset[str]
) -> set[tuple[str, int, int]]:
    """Key, first line and heading of the blocks a document has now; notes its path too."""
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    lines = connection.execute("SELECT line FROM records WHERE id = ?", (document,)).fetchall()
    if not lines or logs.is_forgotten(document, forgotten):
        return set()
    record = join_all([unpack(line) for (line,) in lines]).record
    assert isinstance(record, Document)
    connection.execute("INSERT INTO documents VALUES (?, ?)", (document, record.path))
    headings = {block.heading for block in record.blocks}
    rows = {
        heading: heading_id(connection, passages.HEADING_SEPARATOR.join(heading)) or 0
        for heading in headings
    }
    return {(block.key, block.line_start, rows[block.heading]) for block in record.blocks}


def _settle_aliases(connection: sqlite3.Connection, forgotten: frozenset[str]) -> None:
    """What a mention may be called: a node's label and aliases, as ids."""
    connection.execute("DELETE FROM aliases")
    for node in records_of(connection, "node", forgotten):
        assert isinstance(node, Node)
        connection.executemany(
            "INSERT OR IGNORE INTO aliases VALUES (?, ?)",
            [(node_id(name), node.id) for name in (node.label or node.id, *node.aliases)],
        )


def _settle_statements(
    batch: Batch, store: Store, stream: Stream, forgotten: frozenset[str]
) -> None:
    """The statements of a stream, as its Markdown and its shards say together."""
    connection = batch.connection
    batch.drop_statements(stream)
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
            batch.insert(_file_id(connection, path), [passages.of_statement(statement, path, line)])


def _file_id(connection: sqlite3.Connection, path: str) -> int:
    """The file a statement's row belongs to; 0, none, for one that only a shard still holds.

    Such rows go when their stream is settled again, not when one file goes.
    """
    row = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    return int(row[0]) if row else 0
