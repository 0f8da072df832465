"""Rows of the graph: nodes, and the links between them.

They are worked out from the records that a refresh changed, and from no others, so that a run that
changed one node does not pay for the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.model.codec import encode
from clsm_cli.model.join import join_all
from clsm_cli.model.tombstones import visible
from clsm_cli.store.index import mention_rows
from clsm_cli.store.index.graph import node_text, number_of
from clsm_cli.store.index.mention_rows import known
from clsm_cli.store.index.packed import mapping_of, unpack
from clsm_cli.store.index.passages import text_digest
from clsm_cli.store.index.rows import day_of
from clsm_cli.store.jsonlines import dump
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from clsm_cli.store.index.rows import Batch
    from clsm_cli.store.layout import Store

OF_EPISODES = frozenset({"next", "continues", "gist_of"})
"""Types of edges that lead from episodes: the order of time and the gists, no way of association."""
_CLOCKS = ("valid_from", "valid_until", "recorded_at", "superseded_at")


def settle(batch: Batch, store: Store, changed: Iterable[tuple[str, str]]) -> None:
    """Bring nodes, links and mentions to what the records say.

    Args:
        batch: The transaction.
        store: Whose index it is.
        changed: Type and id of the records that came, went or changed.
    """
    ids: dict[str, list[str]] = {}
    for kind, record_id in sorted(changed):
        ids.setdefault(kind, []).append(record_id)
    nodes = {*ids.get("node", ()), *mention_rows.settle(batch, store, ids.get("episode", ()))}
    for node in sorted(nodes):
        _settle_node(batch, node)
    _settle_links(batch, ids.get("edge", ()))


def _joined(batch: Batch, kind: str, record_id: str) -> dict[str, Any] | None:
    """The record of an id as a mapping, of all machines' versions; None: there is none (any more)."""
    lines = batch.connection.execute(
        "SELECT line FROM records WHERE id = ? AND type = ?", (record_id, kind)
    ).fetchall()
    if not lines:
        return None
    if len(lines) == 1 and not batch.forgotten:
        return mapping_of(lines[0][0])
    record = visible(join_all([unpack(line) for (line,) in lines]).record, batch.forgotten)
    return None if record is None else encode(record)


def _settle_node(batch: Batch, record_id: str) -> None:
    """A node's row, and what a mention of it may be called: label and aliases, as ids."""
    connection = batch.connection
    number = known(connection, {number_of(record_id): record_id})[0]
    connection.execute("DELETE FROM aliases WHERE node = ?", (record_id,))
    record = _joined(batch, "node", record_id)
    if record is not None and batch.forgotten:
        record = _proved(connection, number, record)
    if record is None:
        connection.execute(
            "UPDATE nodes SET label = NULL, aliases = NULL, kind = NULL, stream = NULL, n = NULL,"
            " last = NULL, summary = NULL, embedded = NULL WHERE number = ?",
            (number,),
        )
        return
    label, aliases = record.get("label") or record_id, record.get("aliases", [])
    summary = record.get("summary", "")
    connection.execute(
        "UPDATE nodes SET label = ?, aliases = ?, kind = ?, stream = ?, n = ?, last = ?,"
        " summary = ?, embedded = ? WHERE number = ?",
        (
            label,
            dump(aliases) if aliases else None,
            record.get("kind", "concept"),
            record.get("stream", "projects"),
            record.get("n", 0),
            day_of(record.get("last")),
            summary,
            text_digest(node_text(label, aliases, summary)),
            number,
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO aliases VALUES (?, ?)",
        [(node_id(name), record_id) for name in (label, *aliases)],
    )


def _proved(
    connection: sqlite3.Connection, number: int, record: dict[str, Any]
) -> dict[str, Any] | None:
    """A node's record as far as turns that are left mention it; None where none does."""
    (count,) = connection.execute("SELECT COUNT(*) FROM noted WHERE node = ?", (number,)).fetchone()
    if not count and not record.get("pinned"):
        return None
    return {**record, "n": min(record.get("n", 0), count)}


def _settle_links(batch: Batch, changed: Sequence[str]) -> None:
    """The links of edges that changed, and of the nodes at their ends what sums them up."""
    connection = batch.connection
    gone: dict[str, list[Any]] = {}
    for kind, record_id, line in batch.gone:
        if kind == "edge":
            gone.setdefault(record_id, []).append(line)
    touched: set[int] = set()
    for edge in changed:
        lines = connection.execute(
            "SELECT line FROM records WHERE id = ? AND type = 'edge'", (edge,)
        ).fetchall()
        for line in (*gone.get(edge, ()), *(line for (line,) in lines)):
            touched.update(_unlink(connection, mapping_of(line)))
    for edge in changed:
        record = _joined(batch, "edge", edge)
        if record is not None and record.get("type", "co_occurs") not in OF_EPISODES:
            touched.update(_link(connection, record))
    connection.executemany(
        "UPDATE nodes SET (degree, strongest) = (SELECT COUNT(DISTINCT other),"
        " COALESCE(MAX(weight), 0) FROM links WHERE node = number AND superseded_at IS NULL"
        " AND valid_until IS NULL) WHERE number = ?",
        [(number,) for number in sorted(touched)],
    )


def _ends(record: dict[str, Any]) -> dict[int, str]:
    return {number_of(name): name for name in (record["source"], record["target"])}


def _unlink(connection: sqlite3.Connection, record: dict[str, Any]) -> Iterable[int]:
    ends = _ends(record)
    edge = number_of(record["id"])
    connection.executemany(
        "DELETE FROM links WHERE node = ? AND edge = ?", [(number, edge) for number in ends]
    )
    return ends


def _link(connection: sqlite3.Connection, record: dict[str, Any]) -> Iterable[int]:
    source, target = number_of(record["source"]), number_of(record["target"])
    known(connection, _ends(record))
    rest = (
        record.get("type", "co_occurs"),
        record.get("weight", 0.0),
        record.get("directed", False),
        *(record.get(name) for name in _CLOCKS),
        record.get("pinned", False),
    )
    edge = number_of(record["id"])
    rows = [(source, target, edge, True, *rest), (target, source, edge, False, *rest)]
    connection.executemany(f"INSERT OR REPLACE INTO links VALUES ({', '.join('?' * 12)})", rows)
    return source, target
