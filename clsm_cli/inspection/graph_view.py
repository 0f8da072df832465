"""The knowledge graph of a store, now or at a past time, or the part of it that lies around some nodes.

Of a past time it is what a consolidation would have made of the turns told by then, by the names that
are known today: nodes that a turn mentions, their co-occurrence weighed anew, and those typed edges and
statements that held (``clocks.holds``).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.inspection.fact_history import naming
from clsm_cli.model import clocks
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.scoring.association import co_occurrences
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, record_files, shards
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.opening import open_index
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.inspection.fact_history import View
    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Statement
    from clsm_cli.store.layout import Store

SUGGESTED = 5
"""Labels named when one is not known."""
LIKE_ENOUGH = 60
"""Similarity (per cent, rapidfuzz WRatio) from which a label is worth naming."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and the edges between them, as far as they hold at one time.

    Attributes:
        nodes: Sorted by id.
        edges: Sorted by id; both ends are among the nodes.
        statements: Node id → the statements about it that hold, sorted by id.
        total: Nodes of the graph that this is a part of.
        dangling: Edges left out because an end of them is not in the store.
        activation: Node id → what a query gave it, 0 … 1; empty where there is no query.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    statements: Mapping[str, tuple[Statement, ...]]
    total: int
    dangling: int = 0
    activation: Mapping[str, float] = field(default_factory=dict)


class Neighbour(NamedTuple):
    """The other end of an edge."""

    node: str
    edge: Edge


def load(store: Store, view: View, *, episodes: bool = False) -> Graph:
    """The whole graph that holds: no closed or superseded edge, no forgotten node.

    Args:
        store: Where; it is only read, hand edits of topic files included.
        view: Of what time.
        episodes: With the episodes, and the edges at them: to the next one, to what they tell.
    """
    folders = store.graphs() if view.at is None else [*store.graphs(), *store.archives()]
    records = shards.load_graph(folders, logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, view.now)
    rows = {i: row for i, row in rows.items() if view.holds(row)}
    found = [r for r in records.values() if isinstance(r, Edge) and view.holds(r)]
    if view.at is not None:
        records, woven = _told_by(store, records, view.at)
        found = woven + [e for e in found if e.type != "co_occurs" or e.pinned]
    nodes = {r.id: r for r in records.values() if isinstance(r, Node)}
    if episodes:
        nodes |= _episodes(
            records, rows, {end for edge in found for end in (edge.source, edge.target)}
        )
    else:
        found = [e for e in found if not _is_episode(e.source) and not _is_episode(e.target)]
    edges = {e.id: e for e in found if e.source in nodes and e.target in nodes}
    return Graph(
        nodes=tuple(nodes[each] for each in sorted(nodes)),
        edges=tuple(edges[each] for each in sorted(edges)),
        statements=_about(rows, nodes),
        total=len(nodes),
        dangling=len(found) - len(edges) if view.at is None else 0,
    )


def _told_by(
    store: Store, records: Mapping[str, Record], at: str
) -> tuple[dict[str, Record], list[Edge]]:
    """Nodes and episodes as the turns told by a time have them, and the co-occurrence of those nodes.

    A turn without a time has always been told, and a node that no turn mentions always been there.
    """
    noted = {
        r.id: r
        for r in records.values()
        if isinstance(r, EpisodeRecord) and r.stage == "consolidated"
    }
    pairs = [(n, key) for r in noted.values() for n, keys in r.mentions.items() for key in keys]
    sources = {key for r in records.values() if isinstance(r, Node) for key in r.sources}
    with open_index(store, None) as opened:
        connection = opened.index.connection
        order = [row for row in evidence_queries.turn_order(connection) if row[0] in noted]
        known = sources.union(key for _, _, key in order).union(key for _, key in pairs)
        times = evidence_queries.turn_times(connection, sorted(known))
    later = {key for key, time in times.items() if not clocks.has_begun(time, at)}
    turns: dict[str, set[str]] = defaultdict(set)
    mentioned: dict[str, set[str]] = defaultdict(set)
    for node, key in pairs:
        turns[node] |= {key} - later
        if key not in later:
            mentioned[key].add(node)
    open_then = {episode for episode, _, key in order if key in later}
    told = [row for row in order if row[2] not in later]
    woven = co_occurrences(told, mentioned, store.settings.graph, (0, ""))
    found: dict[str, Record] = {i: r for i, r in noted.items() if i not in open_then}
    for record in records.values():
        if isinstance(record, Node) and turns.get(record.id, {""}):
            found[record.id] = _as_told(record, turns.get(record.id, set()), later, times)
    return found, list(woven.values())


def _as_told(
    node: Node, keys: Collection[str], later: Collection[str], times: Mapping[str, str]
) -> Node:
    """A node as some turns have it; a summary that rests on later ones is left out."""
    dated = sorted(times[key] for key in keys if key in times)
    return replace(
        node,
        n=len(keys),
        first=dated[0] if dated else None,
        last=dated[-1] if dated else None,
        summary="" if set(later).intersection(node.sources) else node.summary,
    )


def _is_episode(record_id: str) -> bool:
    return record_id.startswith("e-")


def _episodes(
    records: Mapping[str, Record],
    rows: Mapping[str, Statement],
    ends: Collection[str],
) -> dict[str, Node]:
    """Episodes, and the statements that an edge ends at, as nodes.

    An episode of which nothing was derived has no record, and only an edge names it.
    """
    found: dict[str, Node] = {}
    for each in sorted({*ends, *records}):
        record, statement = records.get(each), rows.get(each)
        if isinstance(record, EpisodeRecord):
            found[each] = _of_episode(record)
        elif each in ends and statement is not None:
            found[each] = _of_statement(statement)
        elif record is None and _is_episode(each):
            found[each] = Node(id=each, rev=(0, ""), kind="episode", stream="flow")
    return found


def _of_episode(record: EpisodeRecord) -> Node:
    return Node(
        id=record.id,
        rev=record.rev,
        label=record.title,
        kind="episode",
        summary=record.narrative,
        stream="flow",
        tags=record.tags,
    )


def _of_statement(statement: Statement) -> Node:
    return Node(
        id=statement.id,
        rev=statement.rev,
        label=statement.text,
        kind=statement.kind,
        stream=statement.stream,
        tags=statement.tags,
    )


def _about(
    rows: Mapping[str, Statement], nodes: Mapping[str, Node]
) -> dict[str, tuple[Statement, ...]]:
    """Node → the statements whose subject it is, or that name it."""
    found: dict[str, set[str]] = defaultdict(set)
    for statement in rows.values():
        if statement.subject in nodes:
            found[str(statement.subject)].add(statement.id)
    for node, said in naming(rows.values(), nodes.values()).items():
        found[node].update(each.id for each in said)
    return {node: tuple(rows[each] for each in sorted(found[node])) for node in sorted(found)}


def name_of(node: Node) -> str:
    """What a person calls a node: its label on one line, else its id."""
    return " ".join(node.label.split()) or node.id


def neighbours(edges: Iterable[Edge]) -> dict[str, list[Neighbour]]:
    """Node id → the edges at it, whichever way they point; a loop stands there once."""
    found: dict[str, list[Neighbour]] = defaultdict(list)
    for edge in edges:
        found[edge.source].append(Neighbour(edge.target, edge))
        if edge.target != edge.source:
            found[edge.target].append(Neighbour(edge.source, edge))
    return dict(found)


def find_nodes(graph: Graph, wanted: str) -> list[str]:
    """Ids of the nodes that an id, a label or an alias names; an id alone before any label.

    Raises:
        BadInputError: There is none; names the labels that look like it.
    """
    if any(node.id == wanted for node in graph.nodes):
        return [wanted]
    key = node_id(wanted) if wanted.strip() else ""
    names = [(node.id, node_id(name)) for node in graph.nodes for name in _names(node)]
    found = sorted({each for each, name in names if name == key})
    if found:
        return found
    near = _near(graph.nodes, wanted)
    next_step = f"near it are: {', '.join(near)}" if near else "list nodes with: clsm graph --json"
    raise BadInputError(wanted, "no node of the graph is called so", next_step)


def _names(node: Node) -> list[str]:
    return [name for name in (node.label, *node.aliases) if name.strip()]


def _near(nodes: Sequence[Node], wanted: str) -> list[str]:
    """Labels of the nodes with a name that looks like ``wanted``, best first."""
    from rapidfuzz import fuzz, process, utils

    names = [(name, name_of(node)) for node in nodes for name in [node.id, *_names(node)]]
    found = process.extract(
        wanted,
        [name for name, _ in names],
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        score_cutoff=LIKE_ENOUGH,
        limit=None,
    )
    return list(dict.fromkeys(names[place][1] for _, _, place in found))[:SUGGESTED]


def neighbourhood(graph: Graph, seeds: Sequence[str], depth: int) -> Graph:
    """The part of a graph that lies at most ``depth`` edges away from some nodes."""
    beside = neighbours(graph.edges)
    reached, last = set(seeds), set(seeds)
    for _ in range(depth):
        last = {other.node for each in last for other in beside.get(each, ())} - reached
        if not last:
            break
        reached |= last
    return _restricted(graph, reached)


def activated_part(graph: Graph, activation: Mapping[str, float]) -> Graph:
    """The part of a graph that a query activates: its nodes and the edges between them."""
    return replace(_restricted(graph, activation), activation=activation)


def strongest_part(graph: Graph, limit: int, seeds: Sequence[str] = ()) -> Graph:
    """The ``limit`` nodes that matter most, and the edges between them.

    With seeds: those most strongly tied to one of them, where the strength of a path is the product
    of its weights (as activation spreads in CLS-M); without: those with the largest sum of the
    weights at them. Ties go to what is mentioned more often, then to the smaller id.
    """
    ties = _ties(graph, seeds) if seeds else _strengths(graph)
    order = sorted(graph.nodes, key=lambda node: (-ties.get(node.id, 0.0), -node.n, node.id))
    return _restricted(graph, {node.id for node in order[:limit]})


def _strengths(graph: Graph) -> dict[str, float]:
    beside = neighbours(graph.edges)
    return {node: sum(other.edge.weight for other in found) for node, found in beside.items()}


def _ties(graph: Graph, seeds: Sequence[str]) -> dict[str, float]:
    """Node id → the product of weights along its best path to a seed (Dijkstra); seeds first."""
    beside = neighbours(graph.edges)
    ties: dict[str, float] = {}
    heap = [(-float("inf"), seed) for seed in sorted(set(seeds))]
    while heap:
        tie, node = heapq.heappop(heap)
        if node in ties:
            continue
        ties[node] = -tie
        for other in beside.get(node, ()):
            weight = min(1.0, max(0.0, other.edge.weight))
            if other.node not in ties:
                heapq.heappush(heap, (max(tie, -1.0) * weight, other.node))
    return ties


def _restricted(graph: Graph, kept: Collection[str]) -> Graph:
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id in kept),
        edges=tuple(e for e in graph.edges if e.source in kept and e.target in kept),
        statements={node: found for node, found in graph.statements.items() if node in kept},
    )
