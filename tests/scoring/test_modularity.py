from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring import modularity


def vectors(topics: str, seed: int = 0) -> list[np.ndarray]:
    """Synthetic unit vectors: one axis a topic (letter) and noise; cosines about .6 and 0."""
    random = np.random.default_rng(seed)
    found = []
    for letter in topics:
        v = random.normal(0, 0.8 / np.sqrt(64), 64)
        v[ord(letter) - ord("a")] += 1.0
        found.append(v / np.linalg.norm(v))
    return found


def by_definition(a: np.ndarray, at: int) -> float:
    degree, total = a.sum(axis=1), a.sum()
    side = np.arange(len(a)) >= at
    same = side[:, None] == side[None, :]
    return float(((a - np.outer(degree, degree) / total) * same).sum() / total)


@given(st.text("abc", min_size=2, max_size=12), st.integers(0, 99))
@settings(deadline=None)
def test_the_reduced_form_is_newmans_q(topics: str, seed: int) -> None:
    a = modularity.affinity(vectors(topics, seed))
    if a.sum() > 0:
        for at in range(1, len(a)):
            assert modularity.split_quality(a, at) == pytest.approx(by_definition(a, at))


@pytest.mark.parametrize("late", [-2, -1, 0, 1, 2, 3])
def test_a_misplaced_boundary_moves_to_the_change_of_subject(late: int) -> None:
    a = modularity.affinity(vectors("aaaaaaaabbbbbb"))
    at = 8 + late
    assert modularity.best_split(a, at, range(at - 3, at + 4)) == 8


Pairs = list[tuple[int, int, float]]

graphs = st.dictionaries(
    st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda p: p[0] < p[1]),
    st.integers(1, 100).map(lambda w: w / 100),
    max_size=30,
).map(lambda found: [(a, b, w) for (a, b), w in found.items()])


def quality(n: int, pairs: Pairs, found: list[int]) -> float:
    """Newman's Q, by its definition."""
    total = 2 * sum(w for _, _, w in pairs)
    degree = [sum(w for a, b, w in pairs if node in (a, b)) for node in range(n)]
    inside = sum(2 * w for a, b, w in pairs if found[a] == found[b])
    expected = sum(
        degree[i] * degree[j] for i in range(n) for j in range(n) if found[i] == found[j]
    )
    return inside / total - expected / total**2


def cliques(count: int, size: int) -> Pairs:
    """Cliques in a ring, each joined to the next by one edge."""
    pairs = [
        (c * size + a, c * size + b, 1.0)
        for c in range(count)
        for a, b in combinations(range(size), 2)
    ]
    ring = [((c + 1) * size % (count * size), c * size + 1) for c in range(count)]
    return [*pairs, *((min(a, b), max(a, b), 1.0) for a, b in ring)]


@examples(200)
@given(graphs)
def test_communities_are_numbered_connected_and_better_than_single_nodes(pairs: Pairs) -> None:
    found = modularity.find_communities(12, pairs)
    firsts = [found.index(number) for number in range(max(found) + 1)]
    assert firsts == sorted(firsts)
    reached = {node: {node} for node in range(12)}
    for a, b, _ in pairs:
        joined = reached[a] | reached[b]
        reached |= dict.fromkeys(joined, joined)
    assert all(b in reached[a] for a, b in combinations(range(12), 2) if found[a] == found[b])
    if pairs:
        assert quality(12, pairs, found) >= max(0.0, quality(12, pairs, list(range(12)))) - 1e-9


@examples(100)
@given(graphs, st.randoms(use_true_random=False))
def test_the_order_of_pairs_does_not_matter(pairs: Pairs, random: object) -> None:
    shuffled = random.sample(pairs, len(pairs))  # type: ignore[attr-defined]
    assert modularity.find_communities(12, pairs) == modularity.find_communities(12, shuffled)


@pytest.mark.parametrize(("count", "size"), [(2, 3), (4, 5), (10, 6)])
def test_cliques_in_a_ring_are_found(count: int, size: int) -> None:
    assert modularity.find_communities(count * size, cliques(count, size)) == [
        node // size for node in range(count * size)
    ]
