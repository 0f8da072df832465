"""Build the graph from the episodes: nodes with kind and summary, edges, and the mentions of each turn.

A node is a function of its names and of the turns that mention it: its kind is judged from all uses
of its name (``entity_mentions``), its summary is taken from the newest ``LOOKED_AT`` turns. So a run
has to look only at nodes whose turns or kind changed, and arrives where a run over everything
(``rebuild``) would.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

from clsm_cli.consolidation import edges, entity_mentions
from clsm_cli.heads import relation_head
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.grouping import grouped
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.scoring.association import co_occurrences
from clsm_cli.store.index import evidence_queries
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import ensure_full_stop, split
from clsm_cli.text.summaries import best_sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from clsm_cli.consolidation.edges import Matcher, Stated, Told
    from clsm_cli.consolidation.entity_mentions import Vocabulary
    from clsm_cli.consolidation.store_state import StoreState
    from clsm_cli.model.episodes import EpisodeRecord
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.index.evidence_queries import SourceTurn

LOOKED_AT = 64
"""Turns, the newest, that the summary is taken from: bounds what a hub costs."""
STREAMS: dict[str, Stream] = {"person": "identity", "agent": "identity"}
"""Where nodes of a kind are kept; all others among the projects."""


WOVEN = frozenset({"co_occurs", "next", "continues", "same_as", "gist_of"})
"""Edge types that no single sentence states."""


@dataclass(frozen=True, slots=True)
class GraphUpdate:
    """Nodes and edges between them by id, and the records of all consolidated episodes."""

    nodes: dict[str, Node]
    edges: dict[str, Edge]
    episodes: dict[str, EpisodeRecord]


@dataclass(frozen=True, slots=True)
class GraphBuilder:
    """Works out the network.

    Attributes:
        over: Turns of which all that memory states is over, and since when.
        rebuild: All is worked out anew.
    """

    state: StoreState
    words: Vocabulary
    over: Mapping[str, str]
    rebuild: bool

    @property
    def _before(self) -> dict[str, Node]:
        return {} if self.rebuild else self.state.nodes

    def build(
        self,
        episodes: Mapping[str, EpisodeRecord],
        fresh: Collection[str],
        advised: Callable[[Mapping[str, str]], Mapping[Told, set[str]]],
    ) -> GraphUpdate:
        """The network of episodes.

        Args:
            fresh: Those whose turns this run has read; their mentions are of all names.
        """
        before = self._before
        renamed = entity_mentions.changed_nodes(self.words, before)
        found = entity_mentions.refind_mentions(self.state, self.words, renamed, episodes)
        records = {
            episode: self._with_mentions(record, renamed, found.get(episode, {}))
            for episode, record in episodes.items()
        }
        turns = _turns_of(records)
        new_turns = _turns_of({i: records[i] for i in fresh if i in records})
        nodes = self._nodes(turns, self._touched(turns, renamed | new_turns.keys()))
        kinds = {node.id: node.kind for node in nodes.values()}
        other = {i for i, kind in kinds.items() if i not in before or before[i].kind != kind}
        # Relations are read again in turns that are new, and where a name or its kind is another.
        again = set[str]().union(*new_turns.values())
        again |= {key for node in renamed | other for key in turns.get(node, ())}
        told = advised({i: node.label for i, node in nodes.items()})
        pinned = {e.id: e for e in self.state.edges.values() if e.pinned}
        all_edges = self._woven(records, turns) | self._typed(again, kinds, told) | pinned
        return GraphUpdate(nodes, dict(sorted(all_edges.items())), records)

    def _with_mentions(
        self, record: EpisodeRecord, renamed: Collection[str], found: Mapping[str, set[str]]
    ) -> EpisodeRecord:
        """A record with what was found of renamed nodes, and without nodes that are none any more."""
        kept = {
            node: set(keys)
            for node, keys in record.mentions.items()
            if node in self.words.entries and node not in renamed
        }
        for node, keys in found.items():
            kept[node] = kept.get(node, set()) | keys
        mentions = {node: tuple(sorted(kept[node])) for node in sorted(kept)}
        return replace(record, mentions=mentions)

    def _touched(self, turns: Mapping[str, set[str]], renewed: Collection[str]) -> set[str]:
        """The nodes to describe anew: the renewed, and those of other turns, of another kind or of a source that is gone.

        The source of a summary is gone where its document does not hold the block any longer.
        """
        before, entries = self._before, self.words.entries
        sources = {key for node in before.values() for key in node.sources}
        closed = evidence_queries.closed_since(self.state.connection, sorted(sources))
        return {
            node
            for node, keys in turns.items()
            if node in renewed
            or node not in before
            or before[node].n != len(keys)
            or before[node].kind != entries[node].kind
            or closed.intersection(before[node].sources)
        }

    def _nodes(self, turns: Mapping[str, set[str]], touched: Collection[str]) -> dict[str, Node]:
        chosen = {node: sorted(turns[node]) for node in turns if node in touched}
        before, entries = self._before, self.words.entries
        found = {node: before[node] for node in turns if node in before} | self._described(chosen)
        found = {i: replace(node, confidence=entries[i].confidence) for i, node in found.items()}
        for node in self.state.nodes.values():
            if node.pinned:
                seen = found.get(node.id, node)
                found[node.id] = replace(node, n=seen.n, first=seen.first, last=seen.last)
        return dict(sorted(found.items()))

    def _described(self, mentions: Mapping[str, list[str]]) -> dict[str, Node]:
        """The records of nodes, given the keys of all turns that mention each."""
        words, connection = self.words, self.state.connection
        every = sorted({key for keys in mentions.values() for key in keys})
        times = evidence_queries.turn_times(connection, every)
        newest = {
            node: sorted(keys, key=lambda key: (times.get(key, ""), key))[-LOOKED_AT:]
            for node, keys in mentions.items()
        }
        found: dict[str, Node] = {}
        nodes = sorted(newest)
        for start in range(0, len(nodes), _NODE_STEP):
            group = nodes[start : start + _NODE_STEP]
            keys = sorted({key for node in group for key in newest[node]})
            turns = evidence_queries.turns_by_key(connection, keys)
            told = _sentences(words.matcher(group), turns)
            for node in group:
                said = chain.from_iterable(told.get((node, key), ()) for key in newest[node])
                summary = best_sentences(list(said), words.entries[node].label)
                dated = sorted(times[key] for key in mentions[node] if key in times)
                found[node] = self._node(node, summary, len(mentions[node]), dated)
        return found

    def _node(
        self, node: str, summary: Sequence[tuple[str, str, str]], n: int, dated: Sequence[str]
    ) -> Node:
        entry = self.words.entries[node]
        said = [sentence for sentence, _, _ in summary]
        text = " ".join((*map(ensure_full_stop, said[:-1]), *said[-1:]))
        return Node(
            id=node,
            rev=(0, ""),
            label=entry.label,
            kind=entry.kind,
            aliases=tuple(sorted(set(entry.aliases) - {entry.label})),
            exact=tuple(sorted(entry.exact)),
            summary=text,
            stream=STREAMS.get(entry.kind, "projects"),
            tags=self.state.tags_of(text),
            n=n,
            first=dated[0] if dated else None,
            last=dated[-1] if dated else None,
            sources=tuple(dict.fromkeys(key for _, _, key in summary)),
        )

    def _woven(
        self, records: Mapping[str, EpisodeRecord], turns: Mapping[str, set[str]]
    ) -> dict[str, Edge]:
        """The edges that no single sentence states."""
        mentioned = grouped((key, node) for node in sorted(turns) for key in turns[node])
        connection, settings = self.state.connection, self.state.store.settings.graph
        order = (row for row in evidence_queries.turn_order(connection) if row[0] in records)
        found = co_occurrences(order, mentioned, settings, (0, ""))
        files = [self.state.files[episode] for episode in sorted(records)]
        found |= edges.episode_chain(files, evidence_queries.continuations(connection))
        for (a, b), is_one in sorted(self.state.decided.items()):
            if is_one:  # a person decided that, who can see it and take it back
                same = edges.link(a, "same_as", b, directed=False)
                found[same.id] = same
        return found | {e.id: e for e in self.state.edges.values() if e.type == "gist_of"}

    def _typed(
        self, again: set[str], kinds: Mapping[str, str], advised: Mapping[Told, set[str]]
    ) -> dict[str, Edge]:
        """The edges that sentences state: those of turns that are read again, and the rest as it was.

        An edge that may gain or lose a turn by that is weighed anew, from all its turns.
        """
        before = {
            (e.source, e.type, e.target, e.directed): e
            for e in (() if self.rebuild else self.state.edges.values())
            if e.type not in WOVEN and not e.pinned and e.source in kinds and e.target in kinds
        }
        stated = self._stated(again, kinds)
        changed = {
            told
            for told, edge in before.items()
            if told in stated or told in advised or not again.isdisjoint(edge.sources)
        }
        kept = {told: {*before[told].sources} - again for told in changed}
        also_stated = self._stated(set[str]().union(*kept.values()), kinds)
        for told in changed:
            chances = stated.setdefault(told, {})
            chances |= also_stated.get(told, {})
            if told[1] != relation_head.TYPE:  # an adviser's word, which no turn says again
                chances |= dict.fromkeys(kept[told], 1.0)
        for told, keys in advised.items():
            stated.setdefault(told, {}).update(dict.fromkeys(keys, 1.0))
        found = {edge.id: edge for told, edge in before.items() if told not in changed}
        found |= edges.relation_edges(stated)
        sources = sorted({key for edge in found.values() for key in edge.sources})
        times = evidence_queries.turn_times(self.state.connection, sources)
        closed = {**self.over, **self.state.closed_blocks}
        zone = self.state.store.zone
        return {i: edges.with_validity(edge, times, closed, zone) for i, edge in found.items()}

    def _stated(self, keys: Collection[str], kinds: Mapping[str, str]) -> Stated:
        found: Stated = {}
        matcher = self.words.matcher()
        ordered = sorted(keys)
        for start in range(0, len(ordered), _STEP):
            keys = ordered[start : start + _STEP]
            said = evidence_queries.turns_by_key(self.state.connection, keys).values()
            told = edges.stated_relations(said, kinds, matcher, self.state.meanings)
            for relation, chances in told.items():
                found.setdefault(relation, {}).update(chances)
        return found


_STEP = 2000


def _turns_of(records: Mapping[str, EpisodeRecord]) -> dict[str, set[str]]:
    turns: dict[str, set[str]] = {}
    for record in records.values():
        for node, keys in record.mentions.items():
            turns.setdefault(node, set()).update(keys)
    return turns


_NODE_STEP = 200
"""Nodes whose turns are held at once."""


def _sentences(
    matcher: Matcher, turns: Mapping[str, SourceTurn]
) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
    """What turns that still hold say of each node: node and turn → sentence, time and turn.

    The agent's own tools and the web say nothing.
    """
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for key, turn in turns.items():
        if not turn.is_current or turn.trust in UNTRUSTED:
            continue
        named = matcher.find(turn.text)
        for span in split(turn.text):
            nodes = {each.node for each in named if span.start <= each.start < span.end}
            if nodes:
                sentence = to_plain(turn.text[span.start : span.end])
                for node in nodes:
                    found.setdefault((node, key), []).append((sentence, turn.time or "", turn.key))
    return found
