"""The knowledge graph of a store, now or at a past time, whole or around some nodes; its statistics.

At a past time, it is built from the turns up to then with today's names: mentioned nodes, recomputed
co-occurrence, and the typed edges and statements that held (``clocks.holds``).
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clsm_cli.inspection.fact_history import Facts, View, ids_within, name_of, statements_naming
from clsm_cli.inspection.item_lookup import not_found
from clsm_cli.model import clocks
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.scoring.association import co_occurrences
from clsm_cli.scoring.modularity import find_communities
from clsm_cli.store.index import evidence_queries
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentence_naming


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges that hold at one time."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    statements: Mapping[str, tuple[Statement, ...]]  # node id → those about it, sorted by id
    total: int  # number of nodes of the whole graph
    dangling: int = 0  # edges left out because an end is not in the store
    sentences: Mapping[str, str] = field(default_factory=dict)  # edge id → sentence that states it


def load(store: Store, view: View) -> Graph:
    """The whole graph, without closed or superseded edges, forgotten nodes, or episodes."""
    facts = Facts(store, view.now)
    rows = {i: row for i, row in facts.statements.items() if view.holds(row)}
    found, nodes = [*filter(view.holds, facts.edges.values())], facts.nodes
    if view.at is not None:
        nodes, woven = _graph_at(facts, view.at)
        found = woven + [e for e in found if e.type != "co_occurs" or e.pinned]
    found = [e for e in found if not (e.source.startswith("e-") or e.target.startswith("e-"))]
    edges = {e.id: e for e in found if e.source in nodes and e.target in nodes}
    return Graph(
        nodes=tuple(nodes[each] for each in sorted(nodes)),
        edges=tuple(edges[each] for each in sorted(edges)),
        statements=_statements_about(rows, nodes),
        total=len(nodes),
        dangling=len(found) - len(edges) if view.at is None else 0,
        sentences=_sentences_of(store, edges.values(), nodes),
    )


def _sentences_of(store: Store, edges: Iterable[Edge], nodes: Mapping[str, Node]) -> dict[str, str]:
    """Edge id → the sentence of its first turn that has most words of both ends' names."""
    stated = [edge for edge in edges if edge.sources]
    if not stated:
        return {}
    with open_index(store, None) as opened:
        keys = sorted({key for edge in stated for key in edge.sources})
        turns = evidence_queries.turns_by_key(opened.index.connection, keys)
    found: dict[str, str] = {}
    for edge in stated:
        told = [turns[key] for key in edge.sources if key in turns]
        if told:
            first = min(told, key=lambda turn: (turn.time or "", turn.key))
            names = [name for end in (edge.source, edge.target) for name in _names(nodes[end])]
            found[edge.id] = to_plain(sentence_naming(first.text, names))
    return found


def _graph_at(facts: Facts, at: str) -> tuple[dict[str, Node], list[Edge]]:
    """Nodes and co-occurrence edges from the turns up to a time.

    Turns without a time, and nodes without mentions, are always included.
    """
    noted = {r.id: r for r in facts.records(EpisodeRecord).values() if r.stage == "consolidated"}
    pairs = [(n, key) for r in noted.values() for n, keys in r.mentions.items() for key in keys]
    sources = {key for node in facts.nodes.values() for key in node.sources}
    with open_index(facts.store, None) as opened:
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
    woven = co_occurrences(told, mentioned, facts.store.settings.graph, (0, ""))
    found = {
        each: _restricted_node(node, turns.get(each, set()), later, times)
        for each, node in facts.nodes.items()
        if turns.get(each, {""})
    }
    return found, list(woven.values())


def _restricted_node(
    node: Node, keys: Collection[str], later: Collection[str], times: Mapping[str, str]
) -> Node:
    """A node restricted to some turns, without a summary that rests on later ones."""
    dated = sorted(times[key] for key in keys if key in times)
    return replace(
        node,
        n=len(keys),
        first=dated[0] if dated else None,
        last=dated[-1] if dated else None,
        summary="" if set(later).intersection(node.sources) else node.summary,
    )


def _statements_about(
    rows: Mapping[str, Statement], nodes: Mapping[str, Node]
) -> dict[str, tuple[Statement, ...]]:
    """Node id → the statements that have it as subject or name it."""
    found: dict[str, set[str]] = defaultdict(set)
    for statement in rows.values():
        if statement.subject in nodes:
            found[str(statement.subject)].add(statement.id)
    for node, said in statements_naming(rows.values(), nodes.values()).items():
        found[node].update(each.id for each in said)
    return {node: tuple(rows[each] for each in sorted(found[node])) for node in sorted(found)}


def _neighbours(edges: Iterable[Edge]) -> dict[str, set[str]]:
    """Node id → adjacent node ids, in either direction."""
    found: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        found[edge.source].add(edge.target)
        found[edge.target].add(edge.source)
    return found


def find_nodes(graph: Graph, wanted: str) -> list[str]:
    """Ids of the nodes with that id, else with that label or alias."""
    if any(node.id == wanted for node in graph.nodes):
        return [wanted]
    key = node_id(wanted) if wanted.strip() else ""
    names = [(node.id, node_id(name)) for node in graph.nodes for name in _names(node)]
    found = sorted({each for each, name in names if name == key})
    if found:
        return found
    near = [(n, name_of(each)) for each in graph.nodes for n in (each.id, *_names(each))]
    reason = "no node of the graph is called so"
    raise not_found(wanted, reason, near, "list nodes with: clsm graph --json")


def _names(node: Node) -> list[str]:
    return [name for name in (node.label, *node.aliases) if name.strip()]


def neighbourhood(graph: Graph, seeds: Sequence[str], depth: int) -> Graph:
    """The subgraph within ``depth`` edges of the seeds."""
    return _restricted(graph, ids_within(_neighbours(graph.edges), seeds, depth))


def strongest_part(graph: Graph, limit: int, seeds: Sequence[str] = ()) -> Graph:
    """The top ``limit`` nodes, and the edges between them.

    Seeds come first, then nodes by the sum of their edge weights, discounted if a reader would perhaps
    not draw them. Ties: more mentions, then smaller id.
    """
    ties: dict[str, float] = defaultdict(float)
    for edge in graph.edges:
        for end in {edge.source, edge.target}:
            ties[end] += edge.weight
    worth = {node.id: ties[node.id] * node.drawn**2 for node in graph.nodes}
    order = sorted(graph.nodes, key=lambda n: (n.id not in seeds, -worth[n.id], -n.n, n.id))
    return _restricted(graph, {node.id for node in order[:limit]})


def _restricted(graph: Graph, kept: Collection[str]) -> Graph:
    return replace(
        graph,
        nodes=tuple(node for node in graph.nodes if node.id in kept),
        edges=tuple(e for e in graph.edges if e.source in kept and e.target in kept),
        statements={node: found for node, found in graph.statements.items() if node in kept},
    )


MAX_HUBS = 10  # hubs and strongest edges that are listed


def statistics(graph: Graph, seeds: Sequence[str] = ()) -> dict[str, Any]:
    """The statistics of the CLS-M paper (§5.3), and some more; zeros for an empty graph.

    ``density``: share of all pairs with an edge; ``communities``: number of communities of more than
    one node; hubs: nodes with most edges; strong edges name their ends by label, those of seeds first.
    """
    n, m = len(graph.nodes), len(graph.edges)
    degree = Counter(end for edge in graph.edges for end in (edge.source, edge.target))
    pairs = {frozenset((e.source, e.target)) for e in graph.edges if e.source != e.target}
    parts = _component_sizes(graph)
    groups = Counter(communities(graph).values())
    names = {node.id: name_of(node) for node in graph.nodes}
    hubs = sorted(graph.nodes, key=lambda node: (-degree[node.id], -node.prominence, node.id))
    order = {
        e.id: ({e.source, e.target}.isdisjoint(seeds), -e.weight, -e.n, e.id) for e in graph.edges
    }
    strongest = sorted(graph.edges, key=lambda edge: order[edge.id])[:MAX_HUBS]
    return {
        "nodes": n,
        "edges": m,
        "density": _share(2 * len(pairs), n * (n - 1)),
        "edges_per_node": _share(m, n),
        "mean_degree": _share(2 * m, n),
        "largest_degree": max(degree.values(), default=0),
        "isolated": parts.count(1),
        "components": len(parts),
        "largest_component": max(parts, default=0),
        "communities": sum(size > 1 for size in groups.values()),
        "types": count_names(edge.type for edge in graph.edges),
        "kinds": count_names(node.kind for node in graph.nodes),
        "streams": count_names(node.stream for node in graph.nodes),
        "hubs": [
            {"id": each.id, "label": names[each.id], "degree": degree[each.id]}
            for each in hubs[:MAX_HUBS]
            if degree[each.id]
        ],
        "strongest": [
            {"source": names[e.source], "type": e.type, "target": names[e.target]}
            | {"weight": e.weight, "n": e.n, "directed": e.directed, "valid_from": e.valid_from}
            | {"sentence": graph.sentences.get(e.id, "")}
            for e in strongest
        ],
    }


def _component_sizes(graph: Graph) -> list[int]:
    beside = _neighbours(graph.edges)
    seen: set[str] = set()
    sizes = []
    for node in graph.nodes:
        if node.id not in seen:
            part = ids_within(beside, [node.id])
            seen |= part
            sizes.append(len(part))
    return sizes


def communities(graph: Graph) -> dict[str, int]:
    """Node id → number of its community; a node without weighted edges is its own community."""
    place = {node.id: number for number, node in enumerate(graph.nodes)}
    pairs = [
        (place[edge.source], place[edge.target], edge.weight)
        for edge in graph.edges
        if edge.source != edge.target and edge.weight > 0.0
    ]
    return dict(zip(place, find_communities(len(place), pairs), strict=True))


def count_names(names: Iterable[str]) -> dict[str, int]:
    """Name → count, the most frequent first."""
    return dict(sorted(Counter(names).items(), key=lambda each: (-each[1], each[0])))


def _share(part: float, whole: float) -> float:
    return round(part / whole, 4) if whole else 0.0
