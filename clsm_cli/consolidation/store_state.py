"""The state of a store at the start of a consolidation: records and their shards, episodes."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from clsm_cli.config import ConsolidationSettings
from clsm_cli.consolidation.consolidation_report import Request
from clsm_cli.consolidation.edges import closed_blocks
from clsm_cli.errors import DamagedStoreError
from clsm_cli.heads.judge import Meanings
from clsm_cli.ingestion.turns import without_dumps
from clsm_cli.model.clocks import seconds, utc_text
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document, Episode, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.streams import STREAMS, Stream
from clsm_cli.scoring.salience import salience
from clsm_cli.store import episode_files, logs, record_files, shards
from clsm_cli.store.index import evidence_queries, vectors
from clsm_cli.store.index.evidence_queries import EpisodeFile
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import updated_index
from clsm_cli.store.index.vectors import Embed
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked


@dataclass(frozen=True)
class StoreState:
    """A locked store, its index and its records.

    Attributes:
        now: Recording time of the run.
        embed: Computes vectors missing in the index; None without a model.
        meanings: Returns mean word embeddings of texts; None without a model.
        places: Stream → ids in this machine's shards of it.
        reviewed: All review items ever, by id, without those about forgotten records.
        forgotten: Hashes of ids with a tombstone.
    """

    store: Store
    index: Index
    now: str
    embed: Embed | None
    meanings: Meanings | None
    records: dict[str, Record]
    places: dict[Stream, frozenset[str]]
    files: dict[str, EpisodeFile]
    reviewed: dict[str, logs.ReviewItem]
    forgotten: frozenset[str]

    @property
    def connection(self) -> sqlite3.Connection:
        """The database of the index."""
        return self.index.connection

    @property
    def settings(self) -> ConsolidationSettings:
        """Settings of consolidation."""
        return self.store.settings.consolidation

    def vectors_of(self, texts: Sequence[str]) -> dict[str, Any]:
        """Unit vectors of texts; without ``embed``, only those in the index."""
        return vectors.of_texts(self.index.vectors, texts, self.embed)

    @cached_property
    def statements(self) -> dict[str, Statement]:
        """Statements with their texts, by id."""
        return record_files.load_statements(self.store, self.records, self.now)

    @cached_property
    def nodes(self) -> dict[str, Node]:
        """Nodes by id."""
        return {i: r for i, r in self.records.items() if isinstance(r, Node)}

    @cached_property
    def edges(self) -> dict[str, Edge]:
        """Edges by id."""
        return {i: r for i, r in self.records.items() if isinstance(r, Edge)}

    @cached_property
    def episodes(self) -> dict[str, EpisodeRecord]:
        """Records of episodes with a file, by id."""
        return {
            i: r
            for i, r in self.records.items()
            if isinstance(r, EpisodeRecord) and i in self.files
        }

    @cached_property
    def decided(self) -> dict[tuple[str, str], bool]:
        """Pairs of nodes that a person decided about: (a, b) → whether they are the same."""
        return {
            (item.about[0], item.about[1]): item.state == "accepted"
            for item in self.reviewed.values()
            if item.reason == NEAR_NAMES and item.state in ("accepted", "rejected")
        }

    @cached_property
    def closed_blocks(self) -> dict[str, str]:
        """``edges.closed_blocks`` of all records."""
        return closed_blocks(self.records.values())

    @cached_property
    def rewritten(self) -> dict[str, str]:
        """Key of a block → key of the removed block that it replaced."""
        documents = [r for r in self.records.values() if isinstance(r, Document)]
        return {
            new: old for each in documents for old, (_, new) in sorted(each.closed.items()) if new
        }

    @cached_property
    def notes_of_blocks(self) -> dict[str, str]:
        """Key of a block that a document has now → the document."""
        documents = [r for r in self.records.values() if isinstance(r, Document)]
        return {block.key: each.id for each in documents for block in each.blocks}

    @cached_property
    def moved_blocks(self) -> frozenset[str]:
        """Keys that blocks had in a document from which they moved into another, where they count."""
        documents = [r for r in self.records.values() if isinstance(r, Document)]
        home = self.notes_of_blocks | {key: each.id for each in documents for key in each.closed}
        return frozenset(
            old
            for each in documents
            for old, (_, new) in each.closed.items()
            if new and old not in self.notes_of_blocks and home.get(new, each.id) != each.id
        )

    def earlier_blocks(self, key: str) -> list[str]:
        """Keys of the blocks that a block replaced, directly or indirectly."""
        keys = [key]
        while (old := self.rewritten.get(keys[-1], key)) not in keys:
            keys.append(old)
        return keys[1:]

    def is_pending(self, record: EpisodeRecord) -> bool:
        """Whether an episode was never consolidated, or its file changed since."""
        return record.stage == "pending" or record.digest != self.files[record.id].digest

    def read_episode(self, episode: str) -> Episode | None:
        """An episode without forgotten turns and dumps; None if it cannot be read."""
        if episode not in self.files:
            return None
        try:
            whole = episode_files.read(self.store.root / self.files[episode].path)
        except DamagedStoreError:
            return None  # the index reports it
        left = episode_files.without_forgotten(whole, self.forgotten)
        return left and without_dumps(left)


@contextlib.contextmanager
def opened_state(
    store: Store, now: datetime, meanings: Meanings | None = None, embed: Embed | None = None
) -> Iterator[StoreState]:
    """Lock a store, refresh its index without embedding anything, and read its state."""
    with locked(store.root, store.settings.store.lock_wait), opened_index(store) as index:
        yield load_state(store, index, now, embed, meanings)


@contextlib.contextmanager
def opened_index(store: Store) -> Iterator[Index]:
    """The index of a locked store, writable, up to date except for embeddings."""
    with updated_index(store) as connection:
        yield Index(connection, store)


def load_state(
    store: Store, index: Index, now: datetime, embed: Embed | None, meanings: Meanings | None
) -> StoreState:
    """Read every shard once, and the episodes from the index."""
    forgotten = logs.load_tombstones(store)
    read, places = _read_shards(store)
    return StoreState(
        store,
        index,
        utc_text(now),
        embed,
        meanings,
        records=shards.fold(read, forgotten).records,
        places=places,
        files=_episode_files(index, forgotten),
        reviewed=logs.review_items(store),
        forgotten=forgotten,
    )


def _episode_files(index: Index, forgotten: frozenset[str]) -> dict[str, EpisodeFile]:
    """Episodes by id, without forgotten and empty ones."""
    files = evidence_queries.episode_files(index.connection)
    if not forgotten:
        return files
    with_turns = evidence_queries.user_shares(index.connection)
    left = (i for i in files if i in with_turns and not logs.is_forgotten(i, forgotten))
    return {i: files[i] for i in left}


def _read_shards(store: Store) -> tuple[list[shards.Shard], dict[Stream, frozenset[str]]]:
    """All shards, and the ids in this machine's shards by stream."""
    read: list[shards.Shard] = []
    places: dict[Stream, frozenset[str]] = {}
    own = {store.graph(stream): stream for stream in STREAMS}
    for folder in sorted({*store.graphs(), *own}):
        found = [shards.read(path) for path in shards.shard_files(folder)]
        read += found
        if folder in own:
            places[own[folder]] = frozenset(r.id for shard in found for r in shard.records)
    for folder in store.archives():  # a compacted edge is derived again if it still applies
        read += [shards.read(path, only="statement") for path in shards.shard_files(folder)]
    return read, places


NEAR_NAMES = "two names, perhaps of one thing"
"""Reason of a review item about two nodes; if accepted, they are the same."""


def choose_episodes(state: StoreState, request: Request) -> list[str]:
    """The episodes to consolidate, the most salient first."""
    if request.answer is not None:
        return sorted(request.answer.episodes & state.episodes.keys())
    pending = [
        record
        for record in state.episodes.values()
        if state.is_pending(record) and _is_wanted(state, record.id, request)
    ]
    by_user = evidence_queries.user_shares(state.connection)
    pending.sort(key=lambda r: (-salience(r, by_user.get(r.id, 0.0)), r.id))
    return [record.id for record in pending[: request.limit]]


def _is_wanted(state: StoreState, episode: str, request: Request) -> bool:
    if request.only is not None and episode not in request.only:
        return False
    if request.since is None:
        return True
    start = seconds(state.files[episode].start, state.store.zone)
    return start >= request.since.timestamp()
