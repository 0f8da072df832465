"""Concepts written into a store as consolidation would have: nodes, edges, and what each turn mentions.

The records are put into the shards by the store's own writers, so that recall reads them as it reads
any other; edges are weighed by consolidation's own association.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation import edges
from clsm_cli.evaluation import program, stores
from clsm_cli.evaluation.dataset import Chat
from clsm_cli.evaluation.nodes.inventory import inventory
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.store import graph, logs, runs, shards
from clsm_cli.store.index import database, evidence
from clsm_cli.store.index.opening import bring_up_to_date, open_index
from clsm_cli.store.lock import locked
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.plain import plain
from clsm_cli.text.sentences import split
from clsm_cli.text.summaries import best_sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.evaluation.dataset import Case
    from clsm_cli.evaluation.loaders.cases import Said
    from clsm_cli.evaluation.nodes.inventory import Concept, Inventory
    from clsm_cli.evaluation.stores import Made, Workshop
    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store

STREAM: Stream = "projects"
"""Where consolidation keeps nodes of kind ``concept``."""
PLANTING = ("evaluation/nodes",)
"""Parts of the program that decide what is written, besides those that make any store."""


def planted(shop: Workshop, case: Case, made: Made) -> Store:
    """A copy of a conversation's store in which its concepts are nodes.

    Args:
        shop: Where the stores are made.
        case: Its source is the conversation.
        made: The store as it was ingested.

    Raises:
        DiskError: The work folder cannot be written.
    """
    chat = chat_of(case)
    name = f"nodes {program.digest_of(PLANTING)}"
    return stores.kept(shop, made, name, lambda store: _plant(shop, made, chat, store))


def chat_of(case: Case) -> Chat:
    """The conversation that a case is.

    Raises:
        TypeError: It is none.
    """
    if not isinstance(case.source, Chat):
        raise TypeError(f"{case.name} is no conversation")
    return case.source


def edges_of(store: Store) -> list[Edge]:
    """The edges of a store, by id."""
    records = shards.load_graph(store.graphs(), logs.forgotten(store)).records
    return [record for _, record in sorted(records.items()) if isinstance(record, Edge)]


def _plant(shop: Workshop, made: Made, chat: Chat, store: Store) -> None:
    with open_index(store, shop.embedder) as opened:
        records = _Records(store, opened.index, chat, inventory(chat))
    with locked(store.root, store.settings.store.lock_wait):
        found: list[Record] = [*records.nodes.values(), *records.edges.values()]
        writes = graph.plan(store, STREAM, found)
        writes += graph.plan(store, "flow", records.episodes)
        runs.apply(store, "eval", made.now.isoformat(), writes, whole=True)
        with contextlib.closing(database.open_to_write(store.derived)) as connection:
            bring_up_to_date(store, connection, shop.embedder, None)


class _Records:
    """The records of the concepts of a store."""

    def __init__(self, store: Store, index: Index, chat: Chat, inventory: Inventory) -> None:
        self._rev = (1, store.device)
        said = {turn.id: turn for turn in chat.turns}
        keys = {
            passage.foreign_id: passage.key
            for passage in index.passages(index.current_rows()).values()
        }
        described = [self._node(concept, said, keys) for concept in inventory.concepts]
        self.nodes = {node.id: node for node in described}
        noted = {
            node_id(concept.label): {keys[turn] for turn in concept.turns}
            for concept in inventory.concepts
        }
        mentioned: dict[str, list[str]] = {}
        for node in sorted(noted):
            for key in sorted(noted[node]):
                mentioned.setdefault(key, []).append(node)
        order = list(evidence.order(index.connection))
        self.edges = edges.co_occurrences(order, mentioned, store.settings.graph, self._rev)
        self.episodes = self._consolidated(store, index, order, mentioned)

    def _node(
        self, concept: Concept, said: Mapping[str, Said], keys: Mapping[str | None, str]
    ) -> Node:
        times = sorted(said[turn].time for turn in concept.turns)
        summary = _summary(concept, [said[turn] for turn in concept.turns], keys)
        return Node(
            id=node_id(concept.label),
            rev=self._rev,
            label=concept.label,
            aliases=concept.aliases,
            summary=" ".join(sentence for sentence, _, _ in summary),
            n=len(concept.turns),
            first=times[0],
            last=times[-1],
            sources=tuple(dict.fromkeys(key for _, _, key in summary)),
        )

    def _consolidated(
        self,
        store: Store,
        index: Index,
        order: Sequence[tuple[str, str, str]],
        mentioned: Mapping[str, Sequence[str]],
    ) -> list[EpisodeRecord]:
        """The records of all episodes, consolidated, with what their turns mention."""
        noted: dict[str, dict[str, list[str]]] = {}
        for episode, _, key in order:
            for node in mentioned.get(key, ()):
                noted.setdefault(episode, {}).setdefault(node, []).append(key)
        files = evidence.episode_files(index.connection)
        known = shards.load_graph(store.graphs(), logs.forgotten(store)).records
        return [
            replace(
                record,
                rev=(record.rev[0] + 1, store.device),
                mentions={
                    node: tuple(sorted(found))
                    for node, found in sorted(noted.get(record.id, {}).items())
                },
                stage="consolidated",
                digest=files[record.id].digest,
            )
            for record in known.values()
            if isinstance(record, EpisodeRecord)
        ]


def _summary(
    concept: Concept, turns: Sequence[Said], keys: Mapping[str | None, str]
) -> list[tuple[str, str, str]]:
    """The best sentences with a concept: text, time and key of the turn."""
    forms = {concept.label, *concept.aliases}
    candidates = [
        (plain(sentence), turn.time, keys[turn.id])
        for turn in turns
        for span in split(turn.text)
        if any(form in (sentence := turn.text[span.start : span.end]).casefold() for form in forms)
    ]
    return best_sentences(candidates, concept.label)
