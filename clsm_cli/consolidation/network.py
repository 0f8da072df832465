"""The graph as it should be, given the episodes: nodes, edges, and what each turn mentions.

A run looks closely only at what is new or touched by it; what a run over everything (``rebuild``)
would find for the rest is what the store already holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation import edges, nodes, vocabulary
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import edge_id
from clsm_cli.store.index import evidence

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Mapping

    from clsm_cli.config import GraphSettings
    from clsm_cli.consolidation.edges import Told
    from clsm_cli.consolidation.state import State
    from clsm_cli.consolidation.vocabulary import Vocabulary
    from clsm_cli.model.episodes import EpisodeRecord
    from clsm_cli.text.ontology import Ontology

WOVEN = frozenset({"co_occurs", "next", "continues", "same_as", "gist_of"})
"""Edge types that no single sentence states."""


@dataclass(frozen=True, slots=True)
class Network:
    """Nodes and edges between them by id, and the records of all consolidated episodes."""

    nodes: dict[str, Node]
    edges: dict[str, Edge]
    episodes: dict[str, EpisodeRecord]


class Weaver:
    """Works out the network.

    Args:
        connection: The index.
        state: The store as it is.
        words: All names.
        ontology: For tags of nodes.
        settings: Of the graph.
        rev: Revision of new records.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        state: State,
        words: Vocabulary,
        ontology: Ontology,
        settings: GraphSettings,
        rev: tuple[int, str],
    ) -> None:
        self.connection = connection
        self.state = state
        self.words = words
        self.ontology = ontology
        self.settings = settings
        self.rev = rev

    def weave(
        self,
        episodes: Mapping[str, EpisodeRecord],
        fresh: Collection[str],
        advised: Callable[[Mapping[str, str]], Mapping[Told, set[str]]],
        *,
        rebuild: bool,
    ) -> Network:
        """The network of episodes.

        Args:
            episodes: Records of all that are consolidated now, by id.
            fresh: Those whose turns this run has read; their mentions are of all names.
            advised: Relations that a language model finds, given the labels of nodes.
            rebuild: Look at everything anew.
        """
        before = {} if rebuild else self.state.nodes
        stale = vocabulary.changed(self.words, before)
        found = vocabulary.find_anew(self.connection, self.words, stale, episodes)
        records = {
            episode: _with_mentions(record, self._merged(record, stale, found.get(episode, {})))
            for episode, record in episodes.items()
        }
        turns = _turns_of(records)
        touched = stale | {node for i in fresh if i in records for node in records[i].mentions}
        touched |= {n for n, keys in turns.items() if n not in before or before[n].n != len(keys)}
        touched |= {n for n in turns if n in before and before[n].kind != self.words.kinds[n]}
        touched |= self._faded(before)
        described = self._nodes(turns, touched, before)
        kinds = {node.id: node.kind for node in described.values()}
        other = {i for i, kind in kinds.items() if i not in before or before[i].kind != kind}
        again = {key for node in stale | other for key in turns.get(node, ())}
        again |= {
            key
            for i in fresh
            if i in records
            for keys in records[i].mentions.values()
            for key in keys
        }
        if rebuild:
            again = {key for keys in turns.values() for key in keys}
        told = {} if rebuild else self._told_before(again, kinds)
        for relation, sources in advised({i: node.label for i, node in described.items()}).items():
            told.setdefault(relation, set()).update(sources)
        found_edges = self._edges(records, turns, kinds, again, told)
        return Network(described, found_edges, records)

    def _merged(
        self, record: EpisodeRecord, stale: Collection[str], found: Mapping[str, set[str]]
    ) -> dict[str, tuple[str, ...]]:
        kept = {
            node: set(keys)
            for node, keys in record.mentions.items()
            if node in self.words.entries and node not in stale
        }
        for node, keys in found.items():
            kept[node] = kept.get(node, set()) | keys
        return {node: tuple(sorted(kept[node])) for node in sorted(kept)}

    def _faded(self, before: Mapping[str, Node]) -> set[str]:
        """Nodes whose summary rests on a block that its document holds no longer."""
        sources = {key: node.id for node in before.values() for key in node.sources}
        closed = evidence.closed_since(self.connection, sorted(sources))
        return {node.id for node in before.values() if closed.intersection(node.sources)}

    def _nodes(
        self,
        turns: Mapping[str, set[str]],
        touched: Collection[str],
        before: Mapping[str, Node],
    ) -> dict[str, Node]:
        chosen = {node: sorted(turns[node]) for node in turns if node in touched}
        times = evidence.times(self.connection, sorted({k for ks in chosen.values() for k in ks}))
        new = nodes.describe(self.connection, self.words, chosen, times, self.ontology, self.rev)
        found = {node: before[node] for node in turns if node in before} | new
        for node in self.state.nodes.values():
            if node.pinned:
                seen = found.get(node.id)
                found[node.id] = (
                    node
                    if seen is None
                    else replace(node, n=seen.n, first=seen.first, last=seen.last)
                )
        return dict(sorted(found.items()))

    def _edges(
        self,
        records: Mapping[str, EpisodeRecord],
        turns: Mapping[str, set[str]],
        kinds: Mapping[str, str],
        again: Collection[str],
        told: dict[Told, set[str]],
    ) -> dict[str, Edge]:
        mentioned: dict[str, list[str]] = {}
        for node in sorted(turns):
            for key in turns[node]:
                mentioned.setdefault(key, []).append(node)
        order = (row for row in evidence.order(self.connection) if row[0] in records)
        found = edges.co_occurrences(order, mentioned, self.settings, self.rev)
        matcher = self.words.matcher()
        keys = sorted(again)
        for start in range(0, len(keys), _STEP):
            said = evidence.said(self.connection, keys[start : start + _STEP]).values()
            for relation, sources in edges.told_in(said, self.words, kinds, matcher).items():
                told.setdefault(relation, set()).update(sources)
        found |= edges.typed({t: s for t, s in told.items() if s}, self.rev)
        files = [self.state.files[episode] for episode in sorted(records)]
        found |= edges.chain(files, evidence.continued(self.connection), self.rev)
        found |= self._one_and_the_same()
        found |= {e.id: e for e in self.state.edges.values() if e.pinned}
        found |= {e.id: e for e in self.state.edges.values() if e.type == "gist_of"}
        return dict(sorted(found.items()))

    def _told_before(
        self, again: Collection[str], kinds: Mapping[str, str]
    ) -> dict[Told, set[str]]:
        """What earlier runs read in sentences that this one does not read again."""
        left = set(again)
        return {
            (e.source, e.type, e.target, e.directed): set(e.sources) - left
            for e in self.state.edges.values()
            if e.type not in WOVEN and not e.pinned and e.source in kinds and e.target in kinds
        }

    def _one_and_the_same(self) -> dict[str, Edge]:
        """Merges that a person decided, so that they can be seen and taken back."""
        return {
            edge_id(a, "same_as", b): Edge(
                id=edge_id(a, "same_as", b),
                rev=self.rev,
                source=a,
                target=b,
                type="same_as",
                n=1,
                weight=1.0,
            )
            for (a, b), is_one in sorted(self.state.decided.items())
            if is_one
        }


_STEP = 2000


def _turns_of(records: Mapping[str, EpisodeRecord]) -> dict[str, set[str]]:
    turns: dict[str, set[str]] = {}
    for record in records.values():
        for node, keys in record.mentions.items():
            turns.setdefault(node, set()).update(keys)
    return turns


def _with_mentions(record: EpisodeRecord, mentions: dict[str, tuple[str, ...]]) -> EpisodeRecord:
    same = {node: tuple(sorted(keys)) for node, keys in record.mentions.items()} == mentions
    return record if same else replace(record, mentions=mentions)
