import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.scoring.activation import Link, Spreading, spread
from clsm_cli.scoring.pagerank import personalised

Rows = dict[int, dict[int, float]]

SIZE = 6
weights = st.floats(0.01, 1.0)
nodes = st.integers(0, SIZE - 1)
graphs = st.dictionaries(nodes, st.dictionaries(nodes, weights, max_size=4), max_size=SIZE)
seed_sets = st.dictionaries(nodes, weights, min_size=1, max_size=3)
restarts = st.sampled_from([0.15, 0.5, 0.85, 1.0])


def undirected(*edges: tuple[int, int, float]) -> Rows:
    graph: Rows = {}
    for a, b, weight in edges:
        graph.setdefault(a, {})[b] = weight
        graph.setdefault(b, {})[a] = weight
    return graph


TWO_WEAK_ONE_MEDIUM = undirected(
    (0, 1, 0.5), (1, 5, 0.5), (0, 2, 0.5), (2, 5, 0.5), (0, 3, 0.7), (3, 6, 0.7)
)
"""From 0 two weak paths lead to 5, one medium path to 6."""


@pytest.mark.parametrize("damping", [0.0, 0.5])
def test_two_weak_paths_outrank_one_medium(damping: float) -> None:
    shares = personalised(TWO_WEAK_ONE_MEDIUM, {0: 1.0}, damping=damping)
    assert shares[5] > shares[6]


def test_which_the_best_single_path_does_not_see() -> None:
    links = [
        Link(a, b, weight, 1, False)
        for a, row in TWO_WEAK_ONE_MEDIUM.items()
        for b, weight in row.items()
    ]
    found = spread(
        {0: 1.0}, lambda on: [x for x in links if x.source in on], Spreading(threshold=0)
    )
    assert found[5].activation < found[6].activation


def test_a_hub_gets_less_of_symmetric_weights() -> None:
    hub = undirected((0, 1, 1.0), (0, 2, 1.0), *((1, leaf, 1.0) for leaf in range(10, 30)))
    plain, symmetric = personalised(hub, {0: 1.0}), personalised(hub, {0: 1.0}, damping=0.5)
    assert symmetric[1] < plain[1]
    assert symmetric[2] > plain[2]


def test_a_dead_end_gives_its_mass_back_to_the_seeds() -> None:
    # p0 = ½ + ½ p1 (dead end), p1 = ½ p0.
    shares = personalised({0: {1: 1.0}}, {0: 1.0})
    assert shares == pytest.approx({0: 2 / 3, 1: 1 / 3})


def test_seeds_share_by_weight_and_may_stand_alone() -> None:
    assert personalised({}, {7: 3.0, 8: 1.0, 9: 0.0}) == pytest.approx({7: 0.75, 8: 0.25})
    assert personalised({0: {1: 1.0}}, {}) == {}
    assert personalised({0: {1: 1.0}}, {0: 0.0}) == {}


def solved(graph: Rows, seeds: dict[int, float], restart: float, damping: float) -> np.ndarray:
    """The fixed point by linear algebra."""
    weight = np.zeros((SIZE, SIZE))
    for a, row in graph.items():
        for b, w in row.items():
            weight[a, b] = w
    strength = weight.sum(axis=0)
    source = np.array([seeds.get(node, 0.0) for node in range(SIZE)])
    source /= source.sum()
    weight = weight * np.where(strength > 0, strength, 1.0) ** -damping
    out = weight.sum(axis=1, keepdims=True)
    walk = np.where(out > 0, weight / np.where(out > 0, out, 1.0), source)
    found = np.linalg.solve(np.eye(SIZE) - (1 - restart) * walk.T, restart * source)
    return np.asarray(found)


@given(graphs, seed_sets, restarts, st.sampled_from([0.0, 0.5]))
@settings(deadline=None)
def test_the_solution_of_its_equation(
    graph: Rows, seeds: dict[int, float], restart: float, damping: float
) -> None:
    shares = personalised(graph, seeds, restart=restart, damping=damping)
    assert sum(shares.values()) == pytest.approx(1.0)
    wanted = solved(graph, seeds, restart, damping)
    assert [shares.get(node, 0.0) for node in range(SIZE)] == pytest.approx(list(wanted), abs=1e-7)


@given(graphs, seed_sets)
@settings(deadline=None)
def test_the_order_of_nodes_does_not_matter(graph: Rows, seeds: dict[int, float]) -> None:
    turned = {a: dict(reversed(row.items())) for a, row in reversed(graph.items())}
    again = personalised(turned, dict(reversed(seeds.items())))
    assert list(again.items()) == list(personalised(graph, seeds).items())
