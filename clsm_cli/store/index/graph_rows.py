"""Rows of the graph in the index: nodes, links, and the mentions of each turn.

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
from clsm_cli.model.tombstones import visible
from clsm_cli.store import shards
from clsm_cli.store.index.database import mapping_of, unpack
from clsm_cli.store.index.graph_queries import node_text, number_of
from clsm_cli.store.index.passage_rows import EpisodeMentions, day_of
from clsm_cli.store.index.passages import text_digest
from clsm_cli.store.jsonlines import dump
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from clsm_cli.store.index.passage_rows import Batch
    from clsm_cli.store.layout import Store

_TURN = re.compile(r"[0-9a-f]{12}\Z")


def episode_mentions(record: EpisodeRecord, forgotten: frozenset[str]) -> EpisodeMentions:
    """What an episode's record says of its turns, those that were forgotten left out."""
    left = visible(record, forgotten)
    mentions = left.mentions if isinstance(left, EpisodeRecord) else {}
    turns = {
        node: [turn_number(key) for key in keys if _TURN.match(key)]
        for node, keys in mentions.items()
    }
    numbers = {node: number_of(node) for node, keys in turns.items() if keys}
    pairs = ((turn, number) for node, number in numbers.items() for turn in turns[node])
    return EpisodeMentions(
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


def ensure_nodes(connection: sqlite3.Connection, named: dict[int, str]) -> list[int]:
    """Rows for nodes that something names, with a record or without."""
    connection.executemany(
        "INSERT OR IGNORE INTO nodes (number, id) VALUES (?, ?)", sorted(named.items())
    )
    return list(named)


class _EpisodeRecords:
    """What the records of episodes note, those that were read just now or that lie in shards."""

    def __init__(self, batch: Batch, store: Store) -> None:
        self._batch = batch
        self._store = store
        self._read: dict[str, dict[str, list[EpisodeRecord]]] = {}

    def noted(self, episode: str) -> list[EpisodeMentions]:
        """By each machine's record of an episode."""
        found = list(self._batch.noted.get(episode, ()))
        paths = self._batch.connection.execute(
            "SELECT f.path FROM records r JOIN files f ON f.id = r.file"
            " WHERE r.id = ? AND r.type = 'episode'",
            (episode,),
        ).fetchall()
        if len(found) < len(paths):  # a record that did not change counts too
            found = [
                episode_mentions(record, self._batch.forgotten)
                for (path,) in dict.fromkeys(paths)
                for record in self._in_shard(path).get(episode, ())
            ]
        return found

    def _in_shard(self, path: str) -> dict[str, list[EpisodeRecord]]:
        if path not in self._read:
            known = self._read[path] = {}
            for record in shards.read(self._store.root / path, only="episode").records:
                if isinstance(record, EpisodeRecord):
                    known.setdefault(record.id, []).append(record)
        return self._read[path]


def settle_mentions(batch: Batch, store: Store, changed: Sequence[str]) -> set[str]:
    """What the turns of episodes mention, by all machines' records of them.

    Returns the nodes whose mentions were counted again, to see which are left; none as long as
    nothing was forgotten.
    """
    connection = batch.connection
    held = _EpisodeRecords(batch, store)
    gone: set[tuple[int, int]] = set()
    for episode in changed:
        gone |= _unnote(connection, episode)
    found = {episode: held.noted(episode) for episode in changed}
    if not batch.forgotten:
        for episode, records in found.items():
            _note(connection, episode, records)
        return set()
    # An episode that lost some of its turns leaves the others to a new one.
    for episode in _sharing(connection, {turn for turn, _ in gone}):
        found[episode] = held.noted(episode)
    for episode, records in found.items():
        _note(connection, episode, records)
    names = {
        node for records in found.values() for noted in records for node in noted.nodes.values()
    }
    for number in {node for _, node in gone}:
        names.update(
            name
            for (name,) in connection.execute("SELECT id FROM nodes WHERE number = ?", (number,))
        )
    return names


def _unnote(connection: sqlite3.Connection, episode: str) -> set[tuple[int, int]]:
    """Take back what an episode's turns mention; returns turns and nodes."""
    row = connection.execute("SELECT turns FROM recorded WHERE episode = ?", (episode,)).fetchone()
    turns = [(turn,) for turn in array("Q", row[0] if row else b"")]
    gone = {
        pair
        for turn in turns
        for pair in connection.execute("SELECT turn, node FROM noted WHERE turn = ?", turn)
    }
    connection.executemany("DELETE FROM noted WHERE turn = ?", turns)
    connection.execute("DELETE FROM recorded WHERE episode = ?", (episode,))
    return gone


def _sharing(connection: sqlite3.Connection, turns: set[int]) -> list[str]:
    """Episodes whose records note some of these turns too."""
    return [
        episode
        for episode, packed in connection.execute("SELECT episode, turns FROM recorded")
        if not turns.isdisjoint(array("Q", packed))
    ]


def _note(connection: sqlite3.Connection, episode: str, found: Sequence[EpisodeMentions]) -> None:
    """Note what an episode's turns mention."""
    pairs: set[tuple[int, int]] = set()
    for noted in found:
        pairs |= noted.mentions
        ensure_nodes(connection, noted.nodes)
    connection.executemany("INSERT OR IGNORE INTO noted VALUES (?, ?)", sorted(pairs))
    if found:
        connection.execute(
            "INSERT OR REPLACE INTO recorded VALUES (?, ?, ?)",
            (
                episode,
                any(noted.is_consolidated for noted in found),
                array("Q", sorted({turn for turn, _ in pairs})).tobytes(),
            ),
        )


OF_EPISODES = frozenset({"next", "continues", "gist_of"})
"""Types of edges that lead from episodes: the order of time and the gists, no way of association."""
_CLOCKS = ("valid_from", "valid_until", "recorded_at", "superseded_at")


def settle(batch: Batch, store: Store, changed: Iterable[tuple[str, str]]) -> None:
    """Bring nodes, links and mentions to what the records say that changed, given by type and id."""
    ids: dict[str, list[str]] = {}
    for kind, record_id in sorted(changed):
        ids.setdefault(kind, []).append(record_id)
    nodes = {*ids.get("node", ()), *settle_mentions(batch, store, ids.get("episode", ()))}
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
    number = ensure_nodes(connection, {number_of(record_id): record_id})[0]
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
    ensure_nodes(connection, _ends(record))
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
