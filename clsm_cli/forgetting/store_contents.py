"""The whole contents of a store, read from its files, for forgetting to search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, inbox, logs, record_files, shards
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.episodes import Episode, Turn
    from clsm_cli.model.graph import Statement
    from clsm_cli.store.inbox import Inbox
    from clsm_cli.store.layout import Store


class StoredTurn(NamedTuple):
    """A turn or a block, and where it is kept.

    Attributes:
        session: Its conversation; of a block where its document lives.
        episode: None while it waits in an inbox.
        recorded_at: When the store got it (UTC).
    """

    turn: Turn
    session: str
    episode: str | None
    document: str | None
    recorded_at: str


class StoreContents(NamedTuple):
    """A store, whole.

    Attributes:
        episodes: Every episode file of every machine that can be read, with its path.
        records: Joined, by id; those in the archive too.
        statements: With their texts, by id.
        mentions: Node → keys of the turns that mention it, as consolidation noted.
    """

    episodes: tuple[tuple[Path, Episode], ...]
    inboxes: tuple[Inbox, ...]
    turns: dict[str, StoredTurn]
    records: dict[str, Record]
    statements: dict[str, Statement]
    mentions: dict[str, frozenset[str]]

    def episode_of(self, key: str) -> str | None:
        """The episode that a turn is in."""
        told = self.turns.get(key)
        return told.episode if told else None


def read_store(store: Store, now: str) -> StoreContents:
    """Read a store from its files, without its index."""
    forgotten = logs.load_tombstones(store)
    found = tuple(
        each for each in episodes.readable(store) if not logs.is_forgotten(each[1].id, forgotten)
    )
    boxes = tuple(inbox.read(p) for flow in store.flows() for p in inbox.files(flow / "inbox"))
    told: dict[str, StoredTurn] = {}
    for box in boxes:
        for item in box.turns:
            told[item.turn.key] = StoredTurn(item.turn, item.session, None, None, item.recorded_at)
    for _, episode in found:
        for turn in episode.turns:
            told[turn.key] = StoredTurn(
                turn, episode.session, episode.id, episode.document, episode.recorded_at
            )
    told = {k: t for k, t in told.items() if not logs.is_forgotten(k, forgotten)}
    records = shards.load_graph([*store.graphs(), *store.archives()], forgotten).records
    return StoreContents(
        episodes=found,
        inboxes=boxes,
        turns=told,
        records=records,
        statements=record_files.load_statements(store, records, now),
        mentions=_mentions(records.values()),
    )


def names_of(memory: StoreContents, name: str) -> tuple[str, ...]:
    """Label and aliases of the node that a name or an id stands for; () where no node has it."""
    from clsm_cli.model.graph import Node

    wanted = node_id(name)
    for node in memory.records.values():
        if isinstance(node, Node):
            names = (node.label or node.id, *node.aliases)
            if wanted == node.id or wanted in map(node_id, names):
                return names
    return ()


def _mentions(records: Iterable[Record]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for record in records:
        if isinstance(record, EpisodeRecord):
            for node, keys in record.mentions.items():
                found.setdefault(node, set()).update(keys)
    return {node: frozenset(keys) for node, keys in found.items()}
