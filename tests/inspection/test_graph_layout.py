"""Places of nodes: apart from each other, near to what they are tied to, the same every time."""

from __future__ import annotations

import math
from itertools import combinations

from inspection.test_graph_view import edge, node, of, sample

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


def test_the_same_graph_has_the_same_places() -> None:
    assert placed(of(sample())) == placed(of(sample()[::-1]))


def test_one_node_and_none_at_all() -> None:
    assert placed(of([])) == {}
    (only,) = placed(of([node("a"), edge("a", "a")])).values()
    assert math.isfinite(only.x)
    assert math.isfinite(only.y)


def test_more_nodes_than_a_block() -> None:
    graph = of([node(f"n{place}") for place in range(300)])
    places = placed(graph)
    assert len(set(places.values())) == 300
