"""Build the graph from the episodes: nodes with kind and summary, edges, and the mentions of each turn.

A node is a function of its names and of the turns that mention it: its kind is judged from all uses
of its name (``entity_mentions``), its summary is taken from the newest ``SUMMARY_TURNS`` turns that
still hold (text without a date holds now), and from the section of a document that has its name as
heading. So a run only recomputes nodes whose turns or kind changed, with the same result as a run
over everything (``rebuild``).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from clsm_cli.consolidation import descriptions, edges, entity_mentions
from clsm_cli.consolidation.descriptions import Quote
from clsm_cli.consolidation.edges import RelationKey, StatedRelations
from clsm_cli.consolidation.entity_mentions import Vocabulary
from clsm_cli.consolidation.store_state import StoreState
from clsm_cli.heads import definition_head
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.grouping import grouped
from clsm_cli.model.streams import Stream
from clsm_cli.scoring.association import co_occurrences
from clsm_cli.store.index import evidence_queries
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.sentences import ensure_full_stop

SUMMARY_TURNS = 64
"""Newest turns from which a summary is taken; bounds the cost of a hub."""
KIND_STREAMS: dict[str, Stream] = {"person": "identity", "agent": "identity"}
"""Streams of nodes by kind; all others belong to the projects."""
_BATCH_NODES = 200
"""Nodes whose turns are in memory at once."""
DERIVED_TYPES = frozenset({"co_occurs", "next", "continues", "same_as", "gist_of"})
"""Edge types that no single sentence states: counted, chained or decided."""


@dataclass(frozen=True, slots=True)
class GraphUpdate:
    """Nodes, edges and the records of all consolidated episodes, by id."""

    nodes: dict[str, Node]
    edges: dict[str, Edge]
    episodes: dict[str, EpisodeRecord]


@dataclass(frozen=True, slots=True)
class GraphBuilder:
    """Computes nodes and edges.

    Attributes:
        ended: ``edges.ended_turns``.
    """

    state: StoreState
    words: Vocabulary
    ended: Mapping[str, str]
    rebuild: bool

    @property
    def _before(self) -> dict[str, Node]:
        return {} if self.rebuild else self.state.nodes

    def build(
        self,
        episodes: Mapping[str, EpisodeRecord],
        fresh: Collection[str],
        advised: Callable[[Mapping[str, str]], Mapping[RelationKey, set[str]]],
    ) -> GraphUpdate:
        """The graph of some episodes.

        Args:
            fresh: Episodes that this run has read; their mentions already cover all names.
            advised: Labels of nodes by id → the relations that the adviser states, with their turns.
        """
        before = self._before
        renamed = entity_mentions.changed_nodes(self.words, before)
        rest = episodes.keys() - fresh
        names = self.words.matcher(renamed)
        refound = entity_mentions.refind_mentions(self.state, names, rest if renamed else ())
        records = {
            i: self._with_mentions(record, renamed, refound.get(i, {})) if i in rest else record
            for i, record in episodes.items()
        }
        moved = self.state.moved_blocks
        turns = _turns_of(records, moved)
        new_turns = _turns_of({i: records[i] for i in fresh if i in records}, moved)
        sections = self._sections()
        touched = self._touched(turns, renamed | new_turns.keys(), sections)
        nodes = self._nodes(turns, touched, sections)
        kinds = {node.id: node.kind for node in nodes.values()}
        changed_kinds = {
            i for i, kind in kinds.items() if i not in before or before[i].kind != kind
        }
        # Relations are read again in new turns, and where a name or its kind changed.
        to_read = set[str]().union(*new_turns.values())
        to_read |= {key for node in renamed | changed_kinds for key in turns.get(node, ())}
        relations = advised({i: node.label for i, node in nodes.items()})
        pinned = {e.id: e for e in self.state.edges.values() if e.pinned}
        typed = self._typed_edges(to_read, kinds, relations)
        all_edges = self._derived_edges(records, turns) | typed | pinned
        return GraphUpdate(nodes, dict(sorted(all_edges.items())), records)

    def _with_mentions(
        self, record: EpisodeRecord, renamed: Collection[str], found: Mapping[str, set[str]]
    ) -> EpisodeRecord:
        """A record with the mentions found of renamed nodes, and without nodes that no longer exist."""
        kept = {
            node: set(keys)
            for node, keys in record.mentions.items()
            if node in self.words.entries and node not in renamed
        }
        for node, keys in found.items():
            kept[node] = kept.get(node, set()) | keys
        mentions = {node: tuple(sorted(kept[node])) for node in sorted(kept)}
        return replace(record, mentions=mentions)

    def _sections(self) -> dict[str, str]:
        """Key of a block that opens a section → the node that its heading names."""
        canonical = self.words.canonical
        found = {
            key: canonical.get(node_id(definition_head.name_above(heading)))
            for heading, key in evidence_queries.section_openings(self.state.connection)
            if key not in self.ended
        }
        return {key: node for key, node in found.items() if node is not None}

    def _touched(
        self,
        turns: Mapping[str, set[str]],
        renewed: Collection[str],
        sections: Mapping[str, str],
    ) -> set[str]:
        """Nodes to describe again: renewed ones, and those whose turns, kind or summary sources changed.

        A source of a summary may be over, or a block that its document no longer has.
        """
        before, entries = self._before, self.words.entries
        sources = {key for node in before.values() for key in node.sources}
        gone = evidence_queries.closed_since(self.state.connection, sorted(sources))
        closed = gone | self.ended.keys()
        opening = {n for key, n in sections.items() if n in before and key not in before[n].sources}
        return {
            node
            for node, keys in turns.items()
            if node in renewed
            or node in opening
            or node not in before
            or before[node].n != len(keys)
            or before[node].kind != entries[node].kind
            or closed.intersection(before[node].sources)
        }

    def _nodes(
        self,
        turns: Mapping[str, set[str]],
        touched: Collection[str],
        sections: Mapping[str, str],
    ) -> dict[str, Node]:
        chosen = {node: sorted(turns[node]) for node in turns if node in touched}
        before, entries = self._before, self.words.entries
        found = {node: before[node] for node in turns if node in before}
        found |= self._describe(chosen, sections)
        found = {i: replace(node, confidence=entries[i].confidence) for i, node in found.items()}
        for node in self.state.nodes.values():
            if node.pinned:
                seen = found.get(node.id, node)
                found[node.id] = replace(node, n=seen.n, first=seen.first, last=seen.last)
        return dict(sorted(found.items()))

    def _describe(
        self, mentions: Mapping[str, list[str]], sections: Mapping[str, str]
    ) -> dict[str, Node]:
        """New records of nodes, given the keys of all turns that mention each."""
        words, connection = self.words, self.state.connection
        all_keys = sorted({key for keys in mentions.values() for key in keys})
        times = evidence_queries.turn_times(connection, all_keys)
        newest = {
            node: sorted({*keys} - self.ended.keys(), key=lambda key: (times.get(key, "~"), key))[
                -SUMMARY_TURNS:
            ]
            for node, keys in mentions.items()
        }
        found: dict[str, Node] = {}
        nodes = sorted(newest)
        for start in range(0, len(nodes), _BATCH_NODES):
            group = nodes[start : start + _BATCH_NODES]
            opened = {key: node for key, node in sections.items() if node in group}
            keys = sorted({key for node in group for key in newest[node]} | opened.keys())
            turns = evidence_queries.turns_by_key(connection, keys)
            told = descriptions.quotes(words.matcher(group), turns, opened)
            for node in group:
                held = {*newest[node], *(key for key in opened if opened[key] == node)}
                summary = descriptions.best_quotes(q for q in told.get(node, ()) if q.key in held)
                dated = sorted(times[key] for key in mentions[node] if key in times)
                found[node] = self._node(node, summary, len(mentions[node]), dated)
        return found

    def _node(self, node: str, summary: Sequence[Quote], n: int, dated: Sequence[str]) -> Node:
        entry = self.words.entries[node]
        sentences = [each.text for each in summary]
        text = " ".join((*map(ensure_full_stop, sentences[:-1]), *sentences[-1:]))
        return Node(
            id=node,
            rev=(0, ""),
            label=entry.label,
            kind=entry.kind,
            aliases=tuple(sorted(set(entry.aliases) - {entry.label})),
            exact=tuple(sorted(entry.exact)),
            summary=text,
            stream=KIND_STREAMS.get(entry.kind, "projects"),
            n=n,
            first=dated[0] if dated else None,
            last=dated[-1] if dated else None,
            sources=tuple(dict.fromkeys(each.key for each in summary)),
        )

    def _derived_edges(
        self, records: Mapping[str, EpisodeRecord], turns: Mapping[str, set[str]]
    ) -> dict[str, Edge]:
        """The edges of ``DERIVED_TYPES``."""
        mentioned = grouped((key, node) for node in sorted(turns) for key in turns[node])
        connection, settings = self.state.connection, self.state.store.settings.graph
        order = (row for row in evidence_queries.turn_order(connection) if row[0] in records)
        found = co_occurrences(order, mentioned, settings, (0, ""))
        files = [self.state.files[episode] for episode in sorted(records)]
        found |= edges.episode_chain(files, evidence_queries.continuations(connection))
        for (a, b), is_one in sorted(self.state.decided.items()):
            if is_one:  # a person's decision, shown so that it can be taken back
                same = edges.unweighted_edge(a, "same_as", b, directed=False)
                found[same.id] = same
        return found | {e.id: e for e in self.state.edges.values() if e.type == "gist_of"}

    def _typed_edges(
        self, to_read: set[str], nodes: Mapping[str, str], advised: Mapping[RelationKey, set[str]]
    ) -> dict[str, Edge]:
        """The edges that sentences state: those of turns that are read again, and of all others as before."""
        stated: StatedRelations = {}
        for edge in () if self.rebuild else self.state.edges.values():
            is_stated = not (edge.pinned or edge.type in DERIVED_TYPES)
            if is_stated and edge.source in nodes and edge.target in nodes:
                relation = (edge.source, edge.type, edge.target, edge.directed)
                stated[relation] = {*edge.sources} - to_read
        for found in (self._stated_relations(to_read, nodes), advised):
            for relation, keys in found.items():
                stated.setdefault(relation, set()).update(keys)
        return self._with_validity(edges.relation_edges(stated))

    def _with_validity(self, found: Mapping[str, Edge]) -> dict[str, Edge]:
        sources = sorted({key for edge in found.values() for key in edge.sources})
        times = evidence_queries.turn_times(self.state.connection, sources)
        closed = {**self.ended, **self.state.closed_blocks}
        zone = self.state.store.zone
        return {i: edges.with_validity(edge, times, closed, zone) for i, edge in found.items()}

    def _stated_relations(self, keys: Collection[str], kinds: Mapping[str, str]) -> StatedRelations:
        found: StatedRelations = {}
        matcher = self.words.matcher()
        for turns in entity_mentions.turns_in_batches(self.state.connection, keys):
            stated = edges.stated_relations(turns.values(), kinds, matcher, self.state.meanings)
            for relation, stating in stated.items():
                found.setdefault(relation, set()).update(stating)
        return found


def _turns_of(records: Mapping[str, EpisodeRecord], moved: frozenset[str]) -> dict[str, set[str]]:
    """Node → the turns that mention it, without blocks that ``moved`` and count elsewhere."""
    turns: dict[str, set[str]] = {}
    for record in records.values():
        for node, keys in record.mentions.items():
            turns.setdefault(node, set()).update({*keys} - moved)
    return turns
