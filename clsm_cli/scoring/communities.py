"""Communities of a weighted graph, by the method of Blondel et al. 2008 (Louvain).

Q = 1/2m Σ_ij (A_ij − k_i k_j / 2m) δ(c_i, c_j)     (Newman 2004)

Each node moves to the community of a neighbour that raises Q most, until none moves; then every
community becomes one node of a smaller graph, and all begins anew. Time is near-linear in the edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Graph = list[dict[int, float]]

LEAST_GAIN = 1e-9
"""Share of 2m that a move must bring: below it rounding could move a node to and fro for ever."""


def communities(n_nodes: int, pairs: Sequence[tuple[int, int, float]]) -> list[int]:
    """The community of each node, numbered from 0 in the order of the smallest member.

    Nodes are visited in their order, and of equal gains the community with the smallest number
    wins, so the result depends on the graph alone, not on the order of ``pairs``. A node without
    an edge is a community of its own.

    Args:
        n_nodes: Nodes are 0 … n_nodes − 1.
        pairs: Two different nodes and the weight of their edge, above 0.

    >>> communities(5, [(0, 2, 1.0), (1, 3, 0.5)])
    [0, 1, 0, 1, 2]

    Two triangles on one edge:

    >>> triangles = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (3, 4, 1.0), (3, 5, 1.0), (4, 5, 1.0)]
    >>> communities(6, [*triangles, (2, 3, 1.0)])
    [0, 0, 0, 1, 1, 1]
    """
    graph: Graph = [{} for _ in range(n_nodes)]
    for a, b, weight in sorted(pairs):
        graph[a][b] = graph[a].get(b, 0.0) + weight
        graph[b][a] = graph[b].get(a, 0.0) + weight
    members = list(range(n_nodes))
    while True:
        found = _numbered(_local_moves(graph))
        if len(set(found)) == len(graph):
            return members
        members = [found[each] for each in members]
        graph = _merged(graph, found)


def _local_moves(graph: Graph) -> list[int]:
    """Move nodes, one by one, to the neighbouring community that gains most, until all stay.

    What a node i gains in a community C that it is not in, times m:
    Σ_{j in C} A_ij − k_i · Σ_{j in C} k_j / 2m
    """
    degree = [sum(links.values()) for links in graph]
    total = sum(degree)
    where = list(range(len(graph)))
    weight = degree.copy()
    moved = total > 0
    while moved:
        moved = False
        for node, links in enumerate(graph):
            here = where[node]
            weight[here] -= degree[node]
            towards = {here: 0.0}
            for other, link in links.items():
                if other != node:
                    towards[where[other]] = towards.get(where[other], 0.0) + link
            share = degree[node] / total
            best, most = here, towards[here] - share * weight[here] + LEAST_GAIN * total
            for community in sorted(towards):
                gain = towards[community] - share * weight[community]
                if gain > most:
                    best, most = community, gain
            where[node] = best
            weight[best] += degree[node]
            moved = moved or best != here
    return where


def _numbered(labels: Iterable[int]) -> list[int]:
    """The same partition, numbered in the order of first members."""
    numbers: dict[int, int] = {}
    return [numbers.setdefault(label, len(numbers)) for label in labels]


def _merged(graph: Graph, found: Sequence[int]) -> Graph:
    """The graph of communities; edges inside one become its loop, which counts both directions."""
    merged: Graph = [{} for _ in range(max(found) + 1)]
    for node, links in enumerate(graph):
        row = merged[found[node]]
        for other, link in links.items():
            row[found[other]] = row.get(found[other], 0.0) + link
    return merged
