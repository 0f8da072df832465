"""The whole contents of a store, read from its files, for forgetting to search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, inbox, logs, record_files, shards
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
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
    """

    turn: Turn
    session: str
    episode: str | None
    document: str | None
    recorded_at: str


class StoreContents(NamedTuple):
    """A store, whole: what all machines wrote and can be read, archived records too.

    Attributes:
        mentions: Node → keys of the turns that mention it, as consolidation noted.
    """

    episodes: tuple[tuple[Path, Episode], ...]
    inboxes: tuple[Inbox, ...]
    turns: dict[str, StoredTurn]
    records: dict[str, Record]
    statements: dict[str, Statement]
    mentions: dict[str, frozenset[str]]

    def episodes_of(self, keys: frozenset[str]) -> set[str]:
        """The episodes that some turns are in."""
        found = {self.turns[key].episode for key in keys & self.turns.keys()}
        return {each for each in found if each is not None}


def read_store(store: Store, now: str) -> StoreContents:
    """Read a store from its files, without its index."""
    forgotten = logs.load_tombstones(store)
    found = tuple(
        each for each in episodes.readable(store) if not logs.is_forgotten(each[1].id, forgotten)
    )
    boxes = tuple(inbox.read(p) for flow in store.flows() for p in inbox.files(flow / "inbox"))
    told = {
        item.turn.key: StoredTurn(item.turn, item.session, None, None, item.recorded_at)
        for box in boxes
        for item in box.turns
    }
    for _, each in found:
        at = (each.session, each.id, each.document, each.recorded_at)
        told.update((turn.key, StoredTurn(turn, *at)) for turn in each.turns)
    told = {k: t for k, t in told.items() if not logs.is_forgotten(k, forgotten)}
    records = shards.load_graph([*store.graphs(), *store.archives()], forgotten).records
    mentions: dict[str, set[str]] = {}
    for record in records.values():
        if isinstance(record, EpisodeRecord):
            for node, keys in record.mentions.items():
                mentions.setdefault(node, set()).update(keys)
    statements = record_files.load_statements(store, records, now)
    frozen = {node: frozenset(keys) for node, keys in mentions.items()}
    return StoreContents(found, boxes, told, records, statements, frozen)


def names_of(memory: StoreContents, name: str) -> tuple[str, ...]:
    """Label and aliases of the node that a name or an id stands for; () where no node has it."""
    wanted = node_id(name)
    for node in memory.records.values():
        if isinstance(node, Node):
            names = (node.label or node.id, *node.aliases)
            if wanted == node.id or wanted in map(node_id, names):
                return names
    return ()
