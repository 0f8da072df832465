"""Rows of the graph: nodes, the links between them, and which turns mention them.

They are worked out from the records that a refresh changed, and from no others, so that a run that
changed one node does not pay for the graph.
"""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, Any

from clsm_cli.model.codec import encode
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.join import join_all
from clsm_cli.store import logs, shards
from clsm_cli.store.index.graph import node_text, number_of
from clsm_cli.store.index.packed import mapping_of, unpack
from clsm_cli.store.index.passages import text_digest
from clsm_cli.store.index.rows import Noted, day_of
from clsm_cli.store.jsonlines import dump
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from clsm_cli.store.index.rows import Batch
    from clsm_cli.store.layout import Store

OF_EPISODES = frozenset({"next", "continues", "gist_of"})
"""Types of edges that lead from episodes: the order of time and the gists, no way of association."""
_TURN = re.compile(r"[0-9a-f]{12}\Z")
_CLOCKS = ("valid_from", "valid_until", "recorded_at", "superseded_at")


def settle(
    batch: Batch, store: Store, changed: Iterable[tuple[str, str]], forgotten: frozenset[str]
) -> None:
    """Bring nodes, links and mentions to what the records say.

    Args:
        batch: The transaction.
        store: Whose index it is.
        changed: Type and id of the records that came, went, changed or were forgotten.
        forgotten: Hashes of ids with a tombstone.
    """
    ids: dict[str, list[str]] = {}
    for kind, record_id in sorted(changed):
        ids.setdefault(kind, []).append(record_id)
    for node in ids.get("node", ()):
        _settle_node(batch.connection, node, forgotten)
    _settle_links(batch, ids.get("edge", ()), forgotten)
    for episode in ids.get("episode", ()):
        _settle_mentions(batch, store, episode, forgotten)


def noted_of(record: EpisodeRecord) -> Noted:
    """What an episode's record says of its turns."""
    numbers = {node: number_of(node) for node in record.mentions}
    pairs = (
        (turn_number(turn), numbers[node])
        for node, turns in record.mentions.items()
        for turn in turns
        if _TURN.match(turn)
    )
    return Noted(
        record.stage == "consolidated",
        frozenset(pairs),
        {number: node for node, number in numbers.items()},
    )


def turn_number(key: str) -> int:
    """The 48 bits of a turn's key.

    >>> turn_number("00000000000a")
    10
    """
    return int(key, 16)


def _joined(
    connection: sqlite3.Connection, kind: str, record_id: str, forgotten: frozenset[str]
) -> dict[str, Any] | None:
    """The record of an id as a mapping, of all machines' versions; None: there is none (any more)."""
    lines = connection.execute(
        "SELECT line FROM records WHERE id = ? AND type = ?", (record_id, kind)
    ).fetchall()
    if not lines or logs.is_forgotten(record_id, forgotten):
        return None
    if len(lines) == 1:
        return mapping_of(lines[0][0])
    return encode(join_all([unpack(line) for (line,) in lines]).record)


def _settle_node(connection: sqlite3.Connection, record_id: str, forgotten: frozenset[str]) -> None:
    """A node's row, and what a mention of it may be called: label and aliases, as ids."""
    number = _known(connection, {number_of(record_id): record_id})[0]
    connection.execute("DELETE FROM aliases WHERE node = ?", (record_id,))
    record = _joined(connection, "node", record_id, forgotten)
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


def _known(connection: sqlite3.Connection, named: dict[int, str]) -> list[int]:
    """Rows for nodes that something names, with a record or without."""
    connection.executemany(
        "INSERT OR IGNORE INTO nodes (number, id) VALUES (?, ?)", sorted(named.items())
    )
    return list(named)


def _settle_links(batch: Batch, changed: Sequence[str], forgotten: frozenset[str]) -> None:
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
        record = _joined(connection, "edge", edge, forgotten)
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
    _known(connection, _ends(record))
    rest = (
        record.get("type", "co_occurs"),
        record.get("weight", 0.0),
        record.get("directed", False),
        *(record.get(name) for name in _CLOCKS),
    )
    edge = number_of(record["id"])
    rows = [(source, target, edge, True, *rest), (target, source, edge, False, *rest)]
    connection.executemany(f"INSERT OR REPLACE INTO links VALUES ({', '.join('?' * 11)})", rows)
    return source, target


def _settle_mentions(batch: Batch, store: Store, episode: str, forgotten: frozenset[str]) -> None:
    """What the turns of an episode mention, by all machines' records of it."""
    connection = batch.connection
    found = list(batch.noted.get(episode, ()))
    paths = connection.execute(
        "SELECT f.path FROM records r JOIN files f ON f.id = r.file"
        " WHERE r.id = ? AND r.type = 'episode'",
        (episode,),
    ).fetchall()
    if logs.is_forgotten(episode, forgotten):
        found = []
    elif len(found) < len(paths):  # another machine's record, which did not change, counts too
        found = [
            noted_of(record)
            for (path,) in dict.fromkeys(paths)
            for record in shards.read(store.root / path, only="episode").records
            if record.id == episode and isinstance(record, EpisodeRecord)
        ]
    wanted: set[tuple[int, int]] = set()
    for noted in found:
        wanted |= noted.mentions
        _known(connection, noted.nodes)
    known = connection.execute(
        "SELECT turns FROM recorded WHERE episode = ?", (episode,)
    ).fetchone()
    turns = array("Q", sorted({turn for turn, _ in wanted}))
    connection.executemany(
        "DELETE FROM noted WHERE turn = ?",
        [(turn,) for turn in sorted({*turns, *array("Q", known[0] if known else b"")})],
    )
    connection.executemany("INSERT INTO noted VALUES (?, ?)", sorted(wanted))
    connection.execute("DELETE FROM recorded WHERE episode = ?", (episode,))
    if found:
        is_consolidated = any(noted.is_consolidated for noted in found)
        connection.execute(
            "INSERT INTO recorded VALUES (?, ?, ?)", (episode, is_consolidated, turns.tobytes())
        )
