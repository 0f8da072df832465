"""Rows derived from several files: current blocks, the graph, statements and their clocks.

Only those that a refresh affects are recomputed, so changing one node does not recompute the graph.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from sqlite3 import Connection
from typing import Any

from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.join import join_all
from clsm_cli.model.streams import STREAMS, Stream
from clsm_cli.model.tombstones import visible
from clsm_cli.store import logs, topics
from clsm_cli.store.index import passages
from clsm_cli.store.index.database import column, mapping_of, unpack
from clsm_cli.store.index.graph_queries import node_text, number_of
from clsm_cli.store.index.passage_rows import Batch, day_number, heading_id
from clsm_cli.store.index.passages import Passage, text_digest
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.record_files import reconcile, without_items
from clsm_cli.text.node_ids import node_id

_TURN = re.compile(r"[0-9a-f]{12}\Z")
EPISODE_EDGES = frozenset({"next", "continues", "gist_of"})
"""Types of edges from episodes: order in time and gists; activation does not follow them."""
_CLOCKS = ("valid_from", "valid_until", "recorded_at", "superseded_at", "withdrawn")


def derive(batch: Batch, touched: set[str]) -> None:
    """Recompute the rows that depend on several files."""
    connection = batch.connection
    changed = batch.changed()
    if "tombstones" in touched:
        changed |= set(connection.execute("SELECT type, id FROM records"))
    ids = grouped(sorted(changed))
    _update_documents(batch, ids.get("document", ()))
    nodes = {*ids.get("node", ()), *_update_mentions(batch, ids.get("episode", ()))}
    for node in sorted(nodes):
        _update_node(batch, node)
    _update_links(batch, ids.get("edge", ()))
    streams = _affected_streams(batch, changed) | touched.intersection(TOPIC_STREAMS)
    _update_statements(batch, {*STREAMS} if "tombstones" in touched else streams)


def _affected_streams(batch: Batch, changed: set[tuple[str, str]]) -> set[str]:
    """Streams of all versions of changed statements: their folder may be another stream's."""
    found = [each for each in changed if each[0] == "statement"]
    lines = (line for each in found for line in _lines(batch, *each))
    gone = (line for each in found for _, line in batch.removed[each])
    return {str(mapping_of(line).get("stream", "projects")) for line in (*lines, *gone)}


def records_of(connection: Connection, record_type: str, forgotten: frozenset[str]) -> list[Record]:
    """The joined records of one type, by id."""
    query = "SELECT line FROM records WHERE type = ? ORDER BY id"
    records = map(unpack, column(connection, query, (record_type,)))
    versions = grouped((record.id, record) for record in records)
    return [
        join_all(found).record
        for record_id, found in versions.items()
        if not logs.is_forgotten(record_id, forgotten)
    ]


def _update_documents(batch: Batch, changed: Sequence[str]) -> None:
    """Update blocks, and which passages are current, from changed documents."""
    connection = batch.connection
    keys = set(batch.keys)
    for document in changed:
        query = "SELECT key, line_start, heading FROM blocks WHERE document = ?"
        known = set(connection.execute(query, (document,)))
        now = _blocks_of(batch, document)
        connection.execute("DELETE FROM blocks WHERE document = ?", (document,))
        rows = [(document, *block) for block in sorted(now)]
        connection.executemany("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", rows)
        keys |= {block[0] for block in known ^ now}
        if known != now:
            batch.documents.add(document)
    connection.executemany(
        "UPDATE passages SET current = EXISTS (SELECT 1 FROM blocks b JOIN places l"
        " ON l.document = b.document WHERE l.id = passages.place AND b.key = passages.key)"
        " WHERE key = ? AND place IN (SELECT id FROM places WHERE document IS NOT NULL)",
        [(key,) for key in sorted(keys)],
    )


def _blocks_of(batch: Batch, document: str) -> set[tuple[str, int, int]]:
    """Key, first line and heading of a document's current blocks; stores its path too."""
    connection = batch.connection
    connection.execute("DELETE FROM documents WHERE id = ?", (document,))
    record = _record(batch, "document", document)
    if not isinstance(record, Document):
        return set()
    connection.execute("INSERT INTO documents VALUES (?, ?)", (document, record.path))
    heading_of = passages.HEADING_SEPARATOR.join
    return {
        (block.key, block.line_start, heading_id(connection, heading_of(block.heading)) or 0)
        for block in record.blocks
    }


def _update_statements(batch: Batch, streams: set[str]) -> None:
    """Update statements and clocks of some streams, superseded ones included."""
    if not streams:
        return
    connection, forgotten = batch.connection, batch.forgotten
    found = {r.id: r for r in records_of(connection, "statement", forgotten)}
    everything = {i: visible(record, forgotten) for i, record in found.items()}
    # An item may have the id of a statement that another stream has now.
    gone = {record_id for record_id, record in everything.items() if record is None}
    for stream in (each for each in STREAMS if each in streams):
        rows_left = (r for r in everything.values() if isinstance(r, Statement))
        own = {row.id: row for row in rows_left if row.stream == stream}
        if stream == "flow":
            statements, places = own, _shard_places(connection)
        else:
            statements, places = _reconciled_statements(batch, stream, own, gone)
        wanted = {
            i: passages.statement_passage(row, *places.get(i, (f"{stream}/graph", 0)))
            for i, row in sorted(statements.items())
            if row.text and row.superseded_at != _UNRECORDED
        }
        rows = connection.execute(
            "SELECT key, id, text, kind, path FROM placed_passages"
            " WHERE kind IN ('statement', 'gist') AND stream = ?",
            (stream,),
        ).fetchall()
        _replace(batch, {row[0]: row[1:] for row in rows}, wanted)
        connection.execute("DELETE FROM clocks WHERE stream = ?", (stream,))
        clocks = [
            (i, stream, *(getattr(row, name) for name in _CLOCKS))
            for i, row in sorted(statements.items())
        ]
        query = f"INSERT OR REPLACE INTO clocks (key, stream, {', '.join(_CLOCKS)})"
        connection.executemany(f"{query} VALUES (?, ?, ?, ?, ?, ?, ?)", clocks)


_UNRECORDED = ""
"""``superseded_at`` after a hand edit that no run has recorded yet: no record has the old text."""
_Places = dict[str, tuple[str, int]]  # statement → file and line


def _shard_places(connection: Connection) -> _Places:
    query = (
        "SELECT r.id, MAX(f.path) FROM records r JOIN files f ON f.id = r.file"
        " WHERE r.type = 'statement' GROUP BY r.id"
    )
    return {record_id: (path, 0) for record_id, path in connection.execute(query)}


def _reconciled_statements(
    batch: Batch, stream: Stream, records: dict[str, Statement], gone: set[str]
) -> tuple[dict[str, Statement], _Places]:
    """The statements of a stream, reconciled from its Markdown and shards."""
    store, forgotten = batch.store, batch.forgotten
    found = without_items(topics.read_topics(store.root / stream), gone, forgotten)
    edits = reconcile(
        found, records, stream=stream, now=_UNRECORDED, device=store.device, forgotten=forgotten
    )
    places: _Places = {}
    for topic in found:
        path = topic.path.relative_to(store.root).as_posix()
        places |= {topics.id_of(item, forgotten): (path, item.line) for item in topic.items}
        listed = dump([[problem.line, problem.reason] for problem in topic.problems])
        query = "UPDATE files SET problems = ? WHERE path = ?"
        batch.connection.execute(query, (listed if topic.problems else None, path))
    return edits.statements, places


def _replace(
    batch: Batch, known: Mapping[str, Sequence[Any]], wanted: Mapping[str, Passage]
) -> None:
    """Update statement passages from ``known`` (id → row, text, kind, path) to ``wanted``.

    A passage with the same text keeps its row.
    """
    connection = batch.connection
    for record_id, (row, *rest) in sorted(known.items()):
        new = wanted.get(record_id)
        if new is None or rest != [new.text, new.kind, new.path]:
            batch.drop(row)
    for record_id, passage in sorted(wanted.items()):
        old = known.get(record_id)
        if old is None or [*old[1:]] != [passage.text, passage.kind, passage.path]:
            batch.insert(_NO_FILE, [passage])
            continue
        place = (passage.line_start, passage.line_end)
        sources = dump(list(passage.sources)) if passage.sources else None
        connection.execute(
            "UPDATE passages SET trust = ?, time = ?, day = ?, line_start = ?, line_end = ?,"
            " sources = ?, current = ? WHERE id = ?",
            (
                *(passage.trust, passage.time, day_number(passage.time), *place),
                *(sources, passage.current, old[0]),
            ),
        )


_NO_FILE = 0  # statement rows are removed with an update of their stream, not with a file


def _update_mentions(batch: Batch, changed: Sequence[str]) -> set[str]:
    """Update what the turns of episodes mention, from all machines' records.

    Returns the nodes with changed mentions, as they may have lost all; none while there are no
    tombstones.
    """
    connection = batch.connection
    names: set[str] = set()
    for episode in changed:
        number = number_of(episode)
        gone_lines = (line for _, line in batch.removed["episode", episode])
        for line in sorted({*_lines(batch, "episode", episode), *gone_lines}):
            found = _mentions(mapping_of(line).get("mentions", {}))
            names |= found.keys()
            gone = [(turn, number_of(node), number) for node in found for turn in found[node]]
            query = "DELETE FROM turn_nodes WHERE turn = ? AND node = ? AND episode = ?"
            connection.executemany(query, gone)
        connection.execute("DELETE FROM episode_stages WHERE episode = ?", (episode,))
    for episode in changed:
        record = _record(batch, "episode", episode)
        if not isinstance(record, EpisodeRecord):
            continue
        found = _mentions(record.mentions)
        _ensure_nodes(connection, {number_of(node): node for node in found})
        number = number_of(episode)
        come = [(turn, number_of(node), number) for node in found for turn in found[node]]
        connection.executemany("INSERT OR IGNORE INTO turn_nodes VALUES (?, ?, ?)", sorted(come))
        row = (episode, record.stage == "consolidated")
        connection.execute("INSERT INTO episode_stages VALUES (?, ?)", row)
    return names if batch.forgotten else set()


def _mentions(mentions: Mapping[str, Sequence[str]]) -> dict[str, list[int]]:
    """Node → turns that mention it, as numbers: the 48 bits of their keys."""
    found = {
        node: [int(key, 16) for key in keys if _TURN.match(key)] for node, keys in mentions.items()
    }
    return {node: turns for node, turns in found.items() if turns}


def _ensure_nodes(connection: Connection, named: dict[int, str]) -> None:
    query = "INSERT OR IGNORE INTO nodes (number, id) VALUES (?, ?)"
    connection.executemany(query, sorted(named.items()))


def _lines(batch: Batch, kind: str, record_id: str) -> list[bytes]:
    query = "SELECT line FROM records WHERE id = ? AND type = ?"
    return column(batch.connection, query, (record_id, kind))


def _record(batch: Batch, kind: str, record_id: str) -> Record | None:
    """The record joined from all machines' versions; None if missing or forgotten."""
    lines = _lines(batch, kind, record_id)
    return visible(join_all(list(map(unpack, lines))).record, batch.forgotten) if lines else None


def _update_node(batch: Batch, record_id: str) -> None:
    """Update a node's row, and its names (label and aliases, as ids)."""
    connection = batch.connection
    number = number_of(record_id)
    _ensure_nodes(connection, {number: record_id})
    connection.execute("DELETE FROM aliases WHERE node = ?", (record_id,))
    node = _record(batch, "node", record_id)
    if isinstance(node, Node) and batch.forgotten:
        node = _with_visible_mentions(connection, number, node)
    row: tuple[Any, ...] = (None,) * 8
    if isinstance(node, Node):
        label = node.label or record_id
        row = (
            label,
            dump(node.aliases) if node.aliases else None,
            node.kind,
            node.stream,
            node.n,
            day_number(node.last),
            node.summary,
            text_digest(node_text(label, node.aliases, node.summary)),
        )
        named = [(node_id(name), record_id) for name in (label, *node.aliases)]
        connection.executemany("INSERT OR IGNORE INTO aliases VALUES (?, ?)", named)
    connection.execute(
        "UPDATE nodes SET label = ?, aliases = ?, kind = ?, stream = ?, n = ?, last = ?,"
        " summary = ?, embedded = ? WHERE number = ?",
        (*row, number),
    )


def _with_visible_mentions(connection: Connection, number: int, node: Node) -> Node | None:
    """A node with remaining mentions only; None if there are none."""
    query = "SELECT COUNT(DISTINCT turn) FROM turn_nodes WHERE node = ?"
    (count,) = connection.execute(query, (number,)).fetchone()
    if not count and not node.pinned:
        return None
    return replace(node, n=min(node.n, count))


def _update_links(batch: Batch, changed: Sequence[str]) -> None:
    """Update the links of changed edges; only pinned edges between nodes that have not ended have any."""
    for edge in changed:
        number = number_of(edge)
        batch.connection.execute("DELETE FROM links WHERE edge = ?", (number,))
        record = _record(batch, "edge", edge)
        if not isinstance(record, Edge) or not record.pinned or record.type in EPISODE_EDGES:
            continue
        if not record.valid_until and not record.superseded_at:
            source, target = number_of(record.source), number_of(record.target)
            rest = (record.type, record.weight)
            rows = [(number, source, target, *rest), (number, target, source, *rest)]
            query = "INSERT OR REPLACE INTO links VALUES (?, ?, ?, ?, ?)"
            batch.connection.executemany(query, rows)
