"""The knowledge graph of a store, or the part of it that lies around some nodes."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.inspection.lookup import nearest
from clsm_cli.model.graph import Edge, Node
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, record_files, shards
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.model.graph import Statement
    from clsm_cli.store.layout import Store


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and the edges between them, as far as they hold now.

    Attributes:
        nodes: Sorted by id.
        edges: Sorted by id; both ends are among the nodes.
        statements: Node id → the current statements about it, sorted by id.
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


def load(store: Store) -> Graph:
    """The whole graph that holds now: no closed or superseded edge, no forgotten node, no episode.

    The store is only read, hand edits of topic files included.
    """
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, "")
    nodes = {r.id: r for r in records.values() if isinstance(r, Node)}
    held = [r for r in records.values() if isinstance(r, Edge) and is_current(r)]
    held = [e for e in held if not _is_episode(e.source) and not _is_episode(e.target)]
    edges = [edge for edge in held if edge.source in nodes and edge.target in nodes]
    return Graph(
        nodes=tuple(nodes[each] for each in sorted(nodes)),
        edges=tuple(sorted(edges, key=lambda edge: edge.id)),
        statements=_about(rows.values(), nodes),
        total=len(nodes),
        dangling=len(held) - len(edges),
    )


def is_current(edge: Edge) -> bool:
    """Whether an edge holds now, as far as the store knows.

    >>> is_current(Edge(id="g-1", rev=(1, "pi"), valid_until="2026-02-24"))
    False
    """
    return edge.superseded_at is None and edge.valid_until is None


def _is_episode(record_id: str) -> bool:
    return record_id.startswith("e-")


def _about(rows: Iterable[Statement], nodes: Collection[str]) -> dict[str, tuple[Statement, ...]]:
    found: dict[str, list[Statement]] = defaultdict(list)
    for statement in rows:
        if statement.is_current and statement.subject in nodes:
            found[str(statement.subject)].append(statement)
    return {node: tuple(found[node]) for node in sorted(found)}


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
