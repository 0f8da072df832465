"""Rows of the graph in the index: nodes, links, and the mentions of each turn.

They are worked out from the records that a refresh changed, and from no others, so that a run that
changed one node does not pay for the graph.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clsm_cli.model.codec import encode
from clsm_cli.model.join import join_all
from clsm_cli.model.tombstones import visible
from clsm_cli.store.index.database import mapping_of, unpack
from clsm_cli.store.index.graph_queries import node_text, number_of
from clsm_cli.store.index.passage_rows import day_of
from clsm_cli.store.index.passages import text_digest
from clsm_cli.store.jsonlines import dump
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from clsm_cli.store.index.passage_rows import Batch

_TURN = re.compile(r"[0-9a-f]{12}\Z")
OF_EPISODES = frozenset({"next", "continues", "gist_of"})
"""Types of edges that lead from episodes: the order of time and the gists, no way of association."""
_CLOCKS = ("valid_from", "valid_until", "recorded_at", "superseded_at")


def settle(batch: Batch, changed: Iterable[tuple[str, str]]) -> None:
    """Bring nodes, links and mentions to what the records say that changed, given by type and id."""
    ids: dict[str, list[str]] = {}
    for kind, record_id in sorted(changed):
        ids.setdefault(kind, []).append(record_id)
    nodes = {*ids.get("node", ()), *_settle_mentions(batch, ids.get("episode", ()))}
    for node in sorted(nodes):
        _settle_node(batch, node)
    _settle_links(batch, ids.get("edge", ()))


def _settle_mentions(batch: Batch, changed: Sequence[str]) -> set[str]:
    """What the turns of episodes mention, by all machines' records of them.

    Returns the nodes whose mentions were counted again, to see which are left; none as long as
    nothing was forgotten.
    """
    connection = batch.connection
    names: set[str] = set()
    for episode in changed:
        number = number_of(episode)
        for mapping in _versions(batch, "episode", episode):
            found = _mentions(mapping)
            names |= found.keys()
            gone = [(turn, number_of(node), number) for node in found for turn in found[node]]
            query = "DELETE FROM noted WHERE turn = ? AND node = ? AND episode = ?"
            connection.executemany(query, gone)
        connection.execute("DELETE FROM recorded WHERE episode = ?", (episode,))
    for episode in changed:
        record = _joined(batch, "episode", episode)
        if record is None:
            continue
        found = _mentions(record)
        _ensure_nodes(connection, {number_of(node): node for node in found})
        come = [
            (turn, number_of(node), number_of(episode)) for node in found for turn in found[node]
        ]
        connection.executemany("INSERT OR IGNORE INTO noted VALUES (?, ?, ?)", sorted(come))
        row = (episode, record.get("stage") == "consolidated")
        connection.execute("INSERT INTO recorded VALUES (?, ?)", row)
    return names if batch.forgotten else set()


def _mentions(record: dict[str, Any]) -> dict[str, list[int]]:
    """The turns that mention each node, as numbers: the 48 bits of their keys."""
    found = {
        node: [int(key, 16) for key in keys if _TURN.match(key)]
        for node, keys in record.get("mentions", {}).items()
    }
    return {node: turns for node, turns in found.items() if turns}


def _ensure_nodes(connection: sqlite3.Connection, named: dict[int, str]) -> None:
    """Rows for nodes that something names, with a record or without."""
    query = "INSERT OR IGNORE INTO nodes (number, id) VALUES (?, ?)"
    connection.executemany(query, sorted(named.items()))


def _versions(batch: Batch, kind: str, record_id: str) -> list[dict[str, Any]]:
    """What is, and what was until now, recorded under an id."""
    query = "SELECT line FROM records WHERE id = ? AND type = ?"
    lines = {line for (line,) in batch.connection.execute(query, (record_id, kind))}
    return [mapping_of(line) for line in sorted(lines | batch.gone_lines(kind, record_id))]


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
    number = number_of(record_id)
    _ensure_nodes(connection, {number: record_id})
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
    (count,) = connection.execute(
        "SELECT COUNT(DISTINCT turn) FROM noted WHERE node = ?", (number,)
    ).fetchone()
    if not count and not record.get("pinned"):
        return None
    return {**record, "n": min(record.get("n", 0), count)}


def _settle_links(batch: Batch, changed: Sequence[str]) -> None:
    """The links of edges that changed, and of the nodes at their ends what sums them up."""
    connection = batch.connection
    touched: set[int] = set()
    for edge in changed:
        for mapping in _versions(batch, "edge", edge):
            touched.update(_unlink(connection, mapping))
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
    _ensure_nodes(connection, _ends(record))
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
