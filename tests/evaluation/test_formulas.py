"""Information gain, diversity and PageRank, against their definitions."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.evaluation.formulas import HOPS, Link, mmr, pagerank, reciprocal_ranks, spread

Rows = dict[int, dict[int, float]]

SIZE = 6
weights = st.floats(0.01, 1.0)
nodes = st.integers(0, SIZE - 1)
graphs = st.dictionaries(nodes, st.dictionaries(nodes, weights, max_size=4), max_size=SIZE)
seed_sets = st.dictionaries(nodes, weights, min_size=1, max_size=3)
restarts = st.sampled_from([0.15, 0.5, 0.85, 1.0])

shares = st.floats(0, 1)
"""Share of an item's relevance that another needs to pass it, even if it is a copy."""


@examples(300)
@given(st.floats(0.1, 1), st.floats(0.6, 1), st.floats(0.95, 1), shares)
def test_a_near_duplicate_falls_behind_a_different_relevant_item(
    best: float, share: float, similarity: float, irrelevant: float
) -> None:
    scores = [best, best, best * share, best * irrelevant * 0.5]
    order = mmr(scores, lambda i, j: similarity if {i, j} == {0, 1} else 0.0, k=4)
    assert order == [0, 2, 1, 3]


@given(graphs, seed_sets, restarts)
@settings(deadline=None)
def test_the_solution_of_its_equation(graph: Rows, seeds: dict[int, float], restart: float) -> None:
    weight = np.array([[graph.get(a, {}).get(b, 0.0) for b in range(SIZE)] for a in range(SIZE)])
    start = np.array([seeds.get(node, 0.0) for node in range(SIZE)])
    shares = pagerank(weight, start, restart)
    assert shares.sum() == pytest.approx(1.0)
    walked = start * 0
    for node, row in enumerate(weight):
        goes = row / row.sum() if row.any() else start / start.sum()
        walked += shares[node] * goes
    wanted = restart * start / start.sum() + (1 - restart) * walked
    assert list(shares) == pytest.approx(list(wanted), abs=1e-9)


@given(graphs, seed_sets, st.sampled_from([0.0, 0.05, 0.15]))
def test_activation_is_the_best_product_over_all_short_walks(
    graph: Rows, seeds: dict[int, float], threshold: float
) -> None:
    best = dict(seeds)
    walks = list(seeds.items())
    for _ in range(HOPS):
        walks = [
            (there, held * 0.5 * weight)
            for here, held in walks
            for there, weight in graph.get(here, {}).items()
            if held * 0.5 * weight >= max(threshold, 1e-300)
        ]
        for node, held in walks:
            best[node] = max(best.get(node, 0.0), held)

    def links(frontier: Sequence[int]) -> list[Link]:
        pairs = [(here, there, w) for here in frontier for there, w in graph.get(here, {}).items()]
        return [Link(here, there, weight, 9, dormant=False) for here, there, weight in pairs]

    assert spread(seeds, links, threshold=threshold, damping=0.0) == pytest.approx(best)


def test_a_list_that_repeats_an_id_votes_once() -> None:
    assert reciprocal_ranks([["a", "b", "a"]]) == {"a": 1 / 61, "b": 1 / 62}
