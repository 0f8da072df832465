"""Rows that depend on several files at once: current blocks, the graph, statements and their clocks.

It is worked out again, whole, for what a refresh touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.model.episodes import Document
from clsm_cli.model.graph import Statement
from clsm_cli.model.join import join_all
from clsm_cli.model.tombstones import visible
from clsm_cli.store import logs, topics
from clsm_cli.store.index import graph_rows, passages
from clsm_cli.store.index.database import mapping_of, unpack
from clsm_cli.store.index.passage_rows import day_of, heading_id
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.reconcile import reconcile, without

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.index.passage_rows import Batch
    from clsm_cli.store.index.passages import Passage


def derive(batch: Batch, touched: set[str]) -> None:
    """Work out again what depends on several files."""
    connection = batch.connection
    changed = {(kind, record_id) for kind, record_id, _ in batch.gone ^ batch.come}
    if "tombstones" in touched:
        changed |= set(connection.execute("SELECT type, id FROM records"))
    _settle_documents(batch, {i for kind, i in changed if kind == "document"})
    graph_rows.settle(batch, changed)
    touched = touched | _streams(batch)
    for stream in TOPIC_STREAMS:
        if stream in touched or "tombstones" in touched:
            _settle_statements(batch, stream)
    _settle_flow(batch, {i for kind, i in changed if kind == "statement"})


def _streams(batch: Batch) -> set[str]:
    """The streams of statements that came or went: one may lie in another stream's folder."""
    lines = (line for kind, _, line in batch.gone ^ batch.come if kind == "statement")
    return {str(mapping_of(line).get("stream", "projects")) for line in lines}


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


def _settle_documents(batch: Batch, changed: set[str]) -> None:
    """A block is current, and stands where it stands, as its document says."""
    connection = batch.connection
    keys = set(batch.keys)
    for document in sorted(changed):
        known = set(
            connection.execute(
                "SELECT key, line_start, heading FROM blocks WHERE document = ?", (document,)
            )
        )
        now = _blocks_of(connection, document, batch.forgotten)
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
    if not lines:
        return set()
    record = visible(join_all([unpack(line) for (line,) in lines]).record, forgotten)
    if not isinstance(record, Document):  # all of it was forgotten
        return set()
    connection.execute("INSERT INTO documents VALUES (?, ?)", (document, record.path))
    headings = {block.heading for block in record.blocks}
    rows = {
        heading: heading_id(connection, passages.HEADING_SEPARATOR.join(heading)) or 0
        for heading in headings
    }
    return {(block.key, block.line_start, rows[block.heading]) for block in record.blocks}


def _settle_statements(batch: Batch, stream: Stream) -> None:
    """The statements of a stream, as its Markdown and its shards say together."""
    connection, store = batch.connection, batch.store
    everything = records_of(connection, "statement", batch.forgotten)
    records = {
        record.id: record
        for record in everything
        if isinstance(record, Statement) and record.stream == stream
    }
    # An item may carry the id of a statement that another stream has now.
    gone = {record.id for record in everything if visible(record, batch.forgotten) is None}
    found = without(topics.read_topics(store.root / stream), gone, batch.forgotten)
    edits = reconcile(
        found, records, stream=stream, now="", device=store.device, forgotten=batch.forgotten
    )
    places: dict[str, tuple[str, int]] = {}
    for topic in found:
        path = topic.path.relative_to(store.root).as_posix()
        places |= {topics.id_of(item, batch.forgotten): (path, item.line) for item in topic.items}
        listed = dump([[problem.line, problem.reason] for problem in topic.problems])
        connection.execute(
            "UPDATE files SET problems = ? WHERE path = ?",
            (listed if topic.problems else None, path),
        )
    wanted = {
        record_id: passages.statement_passage(
            statement, *places.get(record_id, (f"{stream}/graph", 0))
        )
        for record_id, statement in sorted(edits.statements.items())
        if statement.text
    }
    rows = connection.execute(
        "SELECT p.key, p.id, p.text, l.kind, l.path FROM passages p JOIN places l"
        " ON l.id = p.place WHERE l.kind IN ('statement', 'gist') AND l.stream = ?",
        (stream,),
    ).fetchall()
    _replace(batch, {row[0]: row[1:] for row in rows}, wanted)
    connection.execute("DELETE FROM clocks WHERE stream = ?", (stream,))
    _write_clocks(connection, stream, edits.statements)


_CLOCKS = ("valid_from", "valid_until", "recorded_at", "superseded_at", "withdrawn")


def _write_clocks(
    connection: sqlite3.Connection, stream: Stream, statements: Mapping[str, Statement]
) -> None:
    """When statements were true, and when they were believed; old ones too."""
    connection.executemany(
        f"INSERT OR REPLACE INTO clocks (key, stream, {', '.join(_CLOCKS)}) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (key, stream, *(getattr(row, n) for n in _CLOCKS))
            for key, row in sorted(statements.items())
        ],
    )


def _settle_flow(batch: Batch, changed: set[str]) -> None:
    """Statements of flow, whose text stands in the record: those that changed."""
    connection = batch.connection
    wanted: dict[str, Passage] = {}
    known: dict[str, tuple[int, str, str, str]] = {}
    statements: dict[str, Statement] = {}
    for record_id in sorted(changed):
        lines = connection.execute(
            "SELECT r.line, f.path FROM records r JOIN files f ON f.id = r.file WHERE r.id = ?"
            " AND r.type = 'statement' ORDER BY f.path",
            (record_id,),
        ).fetchall()
        held = connection.execute(
            "SELECT p.id, p.text, l.kind, l.path FROM passages p JOIN places l"
            " ON l.id = p.place WHERE p.key = ? AND l.stream = 'flow'"
            " AND l.kind IN ('statement', 'gist')",
            (record_id,),
        ).fetchone()
        if held is not None:
            known[record_id] = held
        if not lines:
            continue
        joined = join_all([unpack(line) for line, _ in lines]).record
        record = visible(joined, batch.forgotten)
        if not isinstance(record, Statement) or record.stream != "flow":
            continue
        statements[record_id] = record
        if record.text:
            wanted[record_id] = passages.statement_passage(record, lines[-1][1], 0)
    _replace(batch, known, wanted)
    gone = [(key,) for key in changed]
    connection.executemany("DELETE FROM clocks WHERE stream = 'flow' AND key = ?", gone)
    _write_clocks(connection, "flow", statements)


def _replace(
    batch: Batch, known: Mapping[str, Sequence[Any]], wanted: Mapping[str, Passage]
) -> None:
    """Bring the passages of statements (id → row, text, kind, path) to what they should be.

    The same words stay in place.
    """
    connection = batch.connection
    for record_id, (row, *rest) in sorted(known.items()):
        new = wanted.get(record_id)
        if new is None or rest != [new.text, new.kind, new.path]:
            batch.drop(row)
    for record_id, passage in sorted(wanted.items()):
        held = known.get(record_id)
        if held is None or [*held[1:]] != [passage.text, passage.kind, passage.path]:
            batch.insert(_NO_FILE, [passage])
            continue
        connection.execute(
            "UPDATE passages SET trust = ?, time = ?, day = ?, line_start = ?, line_end = ?,"
            " sources = ?, current = ? WHERE id = ?",
            (
                passage.trust,
                passage.time,
                day_of(passage.time),
                passage.line_start,
                passage.line_end,
                dump(list(passage.sources)) if passage.sources else None,
                passage.current,
                held[0],
            ),
        )


_NO_FILE = 0
"""Rows of statements go when their stream is settled again, not when one file goes."""
