"""Figures of graphs small enough to count by hand."""

from __future__ import annotations

import pytest
from inspection.test_graph_view import edge, node, of, sample

from clsm_cli.inspection.graph_view import Hub, Tie, statistics
from clsm_cli.model.codec import Record

TRIANGLES: list[Record] = [
    *(node(each, n=place) for place, each in enumerate("abcdefg")),
    *(edge(one, other, weight=0.9) for one, other in ("ab", "bc", "ca", "de", "ef", "fd")),
    edge("c", "d", "caused", 0.1, directed=True),
]
"""Two triangles on one edge, and a node without any."""


def test_the_figures_of_two_triangles() -> None:
    found = statistics(of(TRIANGLES))
    assert (found.nodes, found.edges, found.isolated) == (7, 7, 1)
    assert found.density == pytest.approx(7 / 21, abs=1e-4)
    assert (found.edges_per_node, found.mean_degree, found.largest_degree) == (1.0, 2.0, 3)
    assert (found.components, found.largest_component, found.communities) == (2, 6, 2)
    assert found.types == {"co_occurs": 6, "caused": 1}
    assert list(found.hubs[:2]) == [Hub("d", "d", 3), Hub("c", "c", 3)]
    assert "g" not in [hub.id for hub in found.hubs]
    assert found.strongest[-1] == Tie("c", "caused", "d", 0.1, 1, directed=True)


def test_a_loop_joins_nothing() -> None:
    found = statistics(of([node("a"), edge("a", "a")]))
    assert (found.density, found.largest_degree, found.isolated, found.communities) == (
        0.0,
        2,
        1,
        0,
    )


def test_every_count_adds_up() -> None:
    found = statistics(of(sample()))
    assert sum(found.kinds.values()) == sum(found.streams.values()) == found.nodes
    assert sum(found.types.values()) == found.edges
    assert len(found.hubs) == len(found.strongest) == 10
