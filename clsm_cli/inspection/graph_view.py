"""The knowledge graph of a store, now or at a past time, or the part around some nodes; its figures.

Of a past time it is what a consolidation would have made of the turns told by then, by the names that
are known today: nodes that a turn mentions, their co-occurrence weighed anew, and those typed edges and
statements that held (``clocks.holds``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.inspection.fact_history import naming
from clsm_cli.inspection.item_lookup import nearest
from clsm_cli.model import clocks
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node
from clsm_cli.scoring.association import co_occurrences
from clsm_cli.scoring.modularity import communities as grouped
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


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and the edges between them, as far as they hold at one time.

    Attributes:
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


def load(store: Store, view: View) -> Graph:
    """The whole graph that holds: no closed or superseded edge, no forgotten node, no episode.

    The store is only read, hand edits of topic files included.
    """
    folders = store.graphs() if view.at is None else [*store.graphs(), *store.archives()]
    records = shards.load_graph(folders, logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, view.now)
    rows = {i: row for i, row in rows.items() if view.holds(row)}
    found = [r for r in records.values() if isinstance(r, Edge) and view.holds(r)]
    nodes = {r.id: r for r in records.values() if isinstance(r, Node)}
    if view.at is not None:
        nodes, woven = _told_by(store, records, view.at)
        found = woven + [e for e in found if e.type != "co_occurs" or e.pinned]
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
) -> tuple[dict[str, Node], list[Edge]]:
    """Nodes as the turns told by a time have them, and their co-occurrence.

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
    told = [row for row in order if row[2] not in later]
    woven = co_occurrences(told, mentioned, store.settings.graph, (0, ""))
    found = {
        r.id: _as_told(r, turns.get(r.id, set()), later, times)
        for r in records.values()
        if isinstance(r, Node) and turns.get(r.id, {""})
    }
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
    """Ids of the nodes that an id, a label or an alias names; an id alone before any label."""
    if any(node.id == wanted for node in graph.nodes):
        return [wanted]
    key = node_id(wanted) if wanted.strip() else ""
    names = [(node.id, node_id(name)) for node in graph.nodes for name in _names(node)]
    found = sorted({each for each, name in names if name == key})
    if found:
        return found
    near = nearest(
        wanted, [(n, name_of(each)) for each in graph.nodes for n in (each.id, *_names(each))]
    )
    next_step = f"near it are: {', '.join(near)}" if near else "list nodes with: clsm graph --json"
    raise BadInputError(wanted, "no node of the graph is called so", next_step)


def _names(node: Node) -> list[str]:
    return [name for name in (node.label, *node.aliases) if name.strip()]


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

    The seeds come first, then those with the largest sum of the weights at them. Ties go to what is
    mentioned more often, then to the smaller id.
    """
    beside = neighbours(graph.edges)
    ties = {node: sum(other.edge.weight for other in found) for node, found in beside.items()}
    order = sorted(graph.nodes, key=lambda n: (n.id not in seeds, -ties.get(n.id, 0.0), -n.n, n.id))
    return _restricted(graph, {node.id for node in order[:limit]})


def _restricted(graph: Graph, kept: Collection[str]) -> Graph:
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id in kept),
        edges=tuple(e for e in graph.edges if e.source in kept and e.target in kept),
        statements={node: found for node, found in graph.statements.items() if node in kept},
    )


MOST = 10
"""Hubs, and strongest edges, that are named."""


class Hub(NamedTuple):
    """A node with many edges."""

    id: str
    label: str
    degree: int


class Tie(NamedTuple):
    """A strong edge, its ends by label."""

    source: str
    type: str
    target: str
    weight: float
    n: int
    directed: bool


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the CLS-M paper (§5.3) tells of its graph, and a little more.

    ``density`` is the share of all pairs that have an edge; ``communities`` counts groups of more than one
    node that are tied more closely inside.
    """

    nodes: int
    edges: int
    density: float
    edges_per_node: float
    mean_degree: float
    largest_degree: int
    isolated: int
    components: int
    largest_component: int
    communities: int
    types: dict[str, int]
    kinds: dict[str, int]
    streams: dict[str, int]
    hubs: tuple[Hub, ...]
    strongest: tuple[Tie, ...]


def statistics(graph: Graph) -> Statistics:
    """The figures of a graph; an empty one has zeros."""
    n, m = len(graph.nodes), len(graph.edges)
    degree = degrees(graph.edges)
    pairs = {frozenset((e.source, e.target)) for e in graph.edges if e.source != e.target}
    parts = components(graph)
    group = communities(graph)
    sizes = Counter(group.values())
    return Statistics(
        nodes=n,
        edges=m,
        density=_share(2 * len(pairs), n * (n - 1)),
        edges_per_node=_share(m, n),
        mean_degree=_share(2 * m, n),
        largest_degree=max(degree.values(), default=0),
        isolated=sum(len(part) == 1 for part in parts),
        components=len(parts),
        largest_component=max(map(len, parts), default=0),
        communities=sum(size > 1 for size in sizes.values()),
        types=_counted(edge.type for edge in graph.edges),
        kinds=_counted(node.kind for node in graph.nodes),
        streams=_counted(node.stream for node in graph.nodes),
        hubs=_hubs(graph, degree),
        strongest=_strongest(graph),
    )


def degrees(edges: Iterable[Edge]) -> Counter[str]:
    """Node id → ends of edges at it."""
    return Counter(end for edge in edges for end in (edge.source, edge.target))


def components(graph: Graph) -> list[list[str]]:
    """Node ids of each connected part, sorted; the largest part first."""
    beside = neighbours(graph.edges)
    seen: set[str] = set()
    parts: list[list[str]] = []
    for node in graph.nodes:
        if node.id in seen:
            continue
        part, waiting = {node.id}, [node.id]
        while waiting:
            fresh = {other.node for other in beside.get(waiting.pop(), ())} - part
            part |= fresh
            waiting += sorted(fresh)
        seen |= part
        parts.append(sorted(part))
    return sorted(parts, key=lambda part: (-len(part), part[0]))


def communities(graph: Graph) -> dict[str, int]:
    """Node id → number of its community; a node without a weighty edge is one of its own."""
    place = {node.id: number for number, node in enumerate(graph.nodes)}
    pairs = [
        (place[edge.source], place[edge.target], edge.weight)
        for edge in graph.edges
        if edge.source != edge.target and edge.weight > 0.0
    ]
    return dict(zip(place, grouped(len(place), pairs), strict=True))


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda each: (-each[1], each[0])))


def _hubs(graph: Graph, degree: Counter[str]) -> tuple[Hub, ...]:
    order = sorted(graph.nodes, key=lambda node: (-degree[node.id], -node.n, node.id))
    found = [Hub(node.id, name_of(node), degree[node.id]) for node in order[:MOST]]
    return tuple(hub for hub in found if hub.degree)


def _strongest(graph: Graph) -> tuple[Tie, ...]:
    labels = {node.id: name_of(node) for node in graph.nodes}
    order = sorted(graph.edges, key=lambda edge: (-edge.weight, -edge.n, edge.id))
    return tuple(
        Tie(labels[e.source], e.type, labels[e.target], e.weight, e.n, e.directed)
        for e in order[:MOST]
    )
