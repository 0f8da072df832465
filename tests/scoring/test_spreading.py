import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.scoring.spreading import Link, Reached, Spreading, path, spread

Edges = dict[tuple[int, int], float]

UNDAMPED = Spreading(damping=0.0)
PUBLISHED = Spreading(threshold=0.15, damping=0.2)

nodes = st.integers(0, 6)
strengths = st.sampled_from([0.0, 0.2, 0.5, 0.6, 0.9, 1.0])
graphs = st.dictionaries(st.tuples(nodes, nodes), strengths, max_size=20)
seed_sets = st.dictionaries(nodes, st.sampled_from([0.1, 0.4, 0.7, 1.0]), max_size=3)
spreadings = st.builds(
    Spreading,
    hops=st.integers(0, 4),
    decay=st.sampled_from([0.5, 0.8, 1.0]),
    threshold=st.sampled_from([0.0, 0.05, 0.1, 0.15]),
    damping=st.sampled_from([0.0, 0.2, 0.5]),
)


class Graph:
    """Directed edges, fetched hop by hop; it notes what it was asked."""

    def __init__(
        self, edges: Edges, dormant: AbstractSet[int] = frozenset(), shuffled: int = 0
    ) -> None:
        self.edges, self.dormant, self.shuffled = edges, dormant, shuffled
        self.asked: list[list[int]] = []

    def degree(self, node: int) -> int:
        return sum(node in pair for pair in self.edges)

    def link(self, source: int, target: int) -> Link:
        weight = self.edges[source, target]
        return Link(source, target, weight, self.degree(target), target in self.dormant)

    def links(self, frontier: Sequence[int]) -> list[Link]:
        self.asked.append(list(frontier))
        found = [self.link(*pair) for pair in self.edges if pair[0] in frontier]
        random.Random(self.shuffled).shuffle(found)
        return found


def run(graph: Graph, seeds: dict[int, float], how: Spreading) -> dict[int, Reached]:
    return spread(seeds, graph.links, how)


def chain(n: int) -> Graph:
    return Graph({(i, i + 1): 1.0 for i in range(1, n)})


def activations(reached: dict[int, Reached]) -> dict[int, float]:
    return {node: found.activation for node, found in reached.items()}


def test_each_hop_halves() -> None:
    found = run(chain(6), {1: 1.0}, UNDAMPED)
    assert activations(found) == {1: 1.0, 2: 0.5, 3: 0.25, 4: 0.125}
    assert [found[node].hop for node in (1, 2, 3, 4)] == [0, 1, 2, 3]


@pytest.mark.parametrize(("degree", "share"), [(57, 0.45), (6, 0.70), (1, 1.0), (0, 1.0)])
def test_a_hub_receives_less(degree: int, share: float) -> None:
    found = spread({1: 1.0}, lambda _: [Link(1, 2, 1.0, degree, False)], PUBLISHED)
    assert found[2].activation == pytest.approx(0.5 * share, abs=0.005)


@pytest.mark.parametrize(("strength", "reaches"), [(0.2, False), (0.29, False), (0.31, True)])
def test_a_dormant_node_needs_half_as_much_again(strength: float, reaches: bool) -> None:
    edges = {(1, 2): strength}
    assert (2 in run(Graph(edges, {2}), {1: 1.0}, UNDAMPED)) is reaches
    assert 2 in run(Graph(edges), {1: 1.0}, UNDAMPED)


def test_a_dormant_node_that_is_named_is_there_and_passes_on() -> None:
    found = run(Graph({(2, 3): 1.0}, {2}), {2: 0.1}, UNDAMPED._replace(threshold=0.05))
    assert activations(found) == {2: 0.1, 3: 0.05}


def test_of_equal_ways_the_smaller_node_and_the_shorter_way_are_shown() -> None:
    diamond = Graph({(1, 7): 1.0, (1, 3): 1.0, (7, 9): 1.0, (3, 9): 1.0, (9, 3): 1.0})
    found = run(diamond, {1: 1.0}, UNDAMPED._replace(decay=1.0))
    assert path(found, 9) == [1, 3, 9]
    assert found[3] == Reached(1.0, 1, 1)


def best_walks(graph: Graph, seeds: dict[int, float], how: Spreading) -> dict[int, float]:
    """The best product over every walk, walked one by one."""
    best: dict[int, float] = {}

    def walk(node: int, activation: float, hops: int) -> None:
        best[node] = max(best.get(node, 0.0), activation)
        for source, target in graph.edges:
            if source == node and hops:
                link = graph.link(source, target)
                fan = max(link.degree, 1) ** -how.damping
                got = activation * (link.strength * how.decay * fan)
                if got >= how.threshold * (how.dormant if link.dormant else 1.0) and got > 0:
                    walk(target, got, hops - 1)

    for seed, activation in seeds.items():
        walk(seed, activation, how.hops)
    return best


@given(graphs, seed_sets, spreadings, st.sets(nodes, max_size=3))
@settings(deadline=None)
def test_the_best_of_all_walks(
    edges: Edges, seeds: dict[int, float], how: Spreading, dormant: set[int]
) -> None:
    graph = Graph(edges, dormant)
    found = activations(run(graph, seeds, how))
    assert found == best_walks(graph, seeds, how)


@given(graphs, seed_sets, spreadings, st.integers(1, 99))
@settings(deadline=None)
def test_the_order_of_links_and_seeds_does_not_matter(
    edges: Edges, seeds: dict[int, float], how: Spreading, shuffled: int
) -> None:
    mixed = run(Graph(edges, shuffled=shuffled), dict(reversed(seeds.items())), how)
    assert list(mixed.items()) == list(run(Graph(edges), seeds, how).items())


@given(graphs, seed_sets, spreadings)
@settings(deadline=None)
def test_every_path_leads_from_a_seed_over_edges(
    edges: Edges, seeds: dict[int, float], how: Spreading
) -> None:
    found = run(Graph(edges), seeds, how)
    for node in found:
        way = path(found, node)
        assert way[0] in seeds
        assert len(way) == len(set(way))
        assert all(pair in edges for pair in pairwise(way))
