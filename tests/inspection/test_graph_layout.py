"""Places of nodes: apart from each other, near to what they are tied to, the same every time."""

from __future__ import annotations

import math
from itertools import combinations

from inspection.test_graph_view import of, sample

from clsm_cli.inspection.graph_export import Place, layout
from clsm_cli.inspection.graph_statistics import communities
from clsm_cli.inspection.graph_view import Graph


def placed(graph: Graph, size: float = 20.0) -> dict[str, Place]:
    return layout(graph, communities(graph), {each.id: size for each in graph.nodes})


def distance(places: dict[str, Place], one: str, other: str) -> float:
    return math.dist(places[one], places[other])


def test_no_node_covers_another() -> None:
    places = placed(of(sample()), 40.0)
    assert len(places) == 41
    assert min(distance(places, *pair) for pair in combinations(places, 2)) > 44.0


def test_what_is_tied_is_near() -> None:
    graph = of(sample())
    places = placed(graph)
    tied = [distance(places, each.source, each.target) for each in graph.edges]
    apart = [distance(places, *pair) for pair in combinations(places, 2)]
    assert sum(tied) / len(tied) < 0.5 * sum(apart) / len(apart)
