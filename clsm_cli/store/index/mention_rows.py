"""Rows of mentions: which nodes the turns of an episode mention, as its record has it."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.tombstones import visible
from clsm_cli.store import shards
from clsm_cli.store.index.graph import number_of
from clsm_cli.store.index.rows import Noted

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from clsm_cli.store.index.rows import Batch
    from clsm_cli.store.layout import Store

_TURN = re.compile(r"[0-9a-f]{12}\Z")


def noted_of(record: EpisodeRecord, forgotten: frozenset[str]) -> Noted:
    """What an episode's record says of its turns, those that were forgotten left out."""
    left = visible(record, forgotten)
    mentions = left.mentions if isinstance(left, EpisodeRecord) else {}
    turns = {
        node: [turn_number(key) for key in keys if _TURN.match(key)]
        for node, keys in mentions.items()
    }
    numbers = {node: number_of(node) for node, keys in turns.items() if keys}
    pairs = ((turn, number) for node, number in numbers.items() for turn in turns[node])
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


def known(connection: sqlite3.Connection, named: dict[int, str]) -> list[int]:
    """Rows for nodes that something names, with a record or without."""
    connection.executemany(
        "INSERT OR IGNORE INTO nodes (number, id) VALUES (?, ?)", sorted(named.items())
    )
    return list(named)


class _Held:
    """What the records of episodes note, those that were read just now or that lie in shards."""

    def __init__(self, batch: Batch, store: Store) -> None:
        self._batch = batch
        self._store = store
        self._read: dict[str, dict[str, list[EpisodeRecord]]] = {}

    def noted(self, episode: str) -> list[Noted]:
        """By each machine's record of an episode."""
        found = list(self._batch.noted.get(episode, ()))
        paths = self._batch.connection.execute(
            "SELECT f.path FROM records r JOIN files f ON f.id = r.file"
            " WHERE r.id = ? AND r.type = 'episode'",
            (episode,),
        ).fetchall()
        if len(found) < len(paths):  # a record that did not change counts too
            found = [
                noted_of(record, self._batch.forgotten)
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


def settle(batch: Batch, store: Store, changed: Sequence[str]) -> set[str]:
    """What the turns of episodes mention, by all machines' records of them.

    Returns:
        The nodes whose mentions were counted again, to see which are left; none as long as nothing
        was forgotten.
    """
    connection = batch.connection
    held = _Held(batch, store)
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


def _note(connection: sqlite3.Connection, episode: str, found: Sequence[Noted]) -> None:
    """Note what an episode's turns mention."""
    pairs: set[tuple[int, int]] = set()
    for noted in found:
        pairs |= noted.mentions
        known(connection, noted.nodes)
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
