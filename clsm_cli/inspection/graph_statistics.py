"""Figures of a graph: size, density, degrees, components, communities."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.inspection.graph_view import name_of, neighbours
from clsm_cli.scoring.modularity import communities as grouped
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clsm_cli.inspection.graph_view import Graph
    from clsm_cli.model.graph import Edge

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

    Attributes:
        density: Pairs of nodes with an edge, as a share of all pairs.
        mean_degree: 2 · edges / nodes; a loop counts twice.
        communities: Groups of more than one node that are tied more closely inside.
        modularity: Q of these groups, −1/2 … 1.
        types: Edge type → edges; like ``kinds`` and ``streams`` (of nodes) the most frequent first.
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
    modularity: float
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
        modularity=round(modularity(graph.edges, group), 4),
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


def modularity(edges: Sequence[Edge], group: Mapping[str, int]) -> float:
    """Q = Σ_c (L_c/m − (K_c/2m)²): weight inside a community against what chance puts there.

    Newman 2004, as in ``scoring.modularity``; L_c is the weight inside, K_c the strength at the
    nodes of c, m all weight. No weight at all gives 0.
    """
    inside: dict[int, float] = defaultdict(float)
    strength: dict[int, float] = defaultdict(float)
    for edge in edges:
        weight = max(0.0, edge.weight)
        strength[group[edge.source]] += weight
        strength[group[edge.target]] += weight
        if group[edge.source] == group[edge.target]:
            inside[group[edge.source]] += weight
    m = sum(strength.values()) / 2
    return sum(inside[c] / m - (strength[c] / (2 * m)) ** 2 for c in strength) if m > 0.0 else 0.0


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
