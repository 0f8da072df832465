import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.config import GraphSettings
from clsm_cli.scoring import association
from clsm_cli.scoring.association import MAX_NODES, CountedPair
from clsm_cli.scoring.modularity import find_communities

Turns = list[list[int]]

turns = st.lists(st.lists(st.integers(0, 6), max_size=4, unique=True), max_size=12)
scenes = st.lists(st.integers(0, 1), min_size=12, max_size=12).map(
    lambda steps: [sum(steps[: i + 1]) for i in range(12)]
)


def associate(
    said: Sequence[Sequence[int]], scene: Sequence[int], **changes: Any
) -> list[CountedPair]:
    return association.associate(said, scene, GraphSettings(**changes))


def contexts(said: Turns, scene: Sequence[int], reach: int) -> Counter[tuple[int, int]]:
    """The rule of the docstring, word by word."""
    found: Counter[tuple[int, int]] = Counter()
    together = {
        (scene[i], pair) for i in range(len(said)) for pair in combinations(sorted(said[i]), 2)
    }
    for i, turn in enumerate(said):
        found.update(combinations(sorted(turn), 2))
        for j in range(i + 1, min(i + reach + 1, len(said))):
            if scene[i] == scene[j]:
                pairs = {(min(a, b), max(a, b)) for a in turn for b in said[j] if a != b}
                found.update(pair for pair in pairs if (scene[i], pair) not in together)
    return found


def npmi(counts: Counter[tuple[int, int]], a: int, b: int, alpha: float) -> float:
    whole = 2 * sum(counts.values())
    marginal: Counter[int] = Counter()
    for pair, n in counts.items():
        for node in pair:
            marginal[node] += n
    smooth = sum(n**alpha for n in marginal.values())
    joint = counts[a, b] / whole

    def towards(x: int, y: int) -> float:
        expected = marginal[x] / whole * marginal[y] ** alpha / smooth
        return math.log(joint / expected) / -math.log(joint)

    return min(1.0, max(0.0, (towards(a, b) + towards(b, a)) / 2))


@examples(200)
@given(turns, scenes, st.integers(0, 3))
def test_contexts_are_counted_by_the_rule(said: Turns, scene: list[int], reach: int) -> None:
    pairs = associate(said, scene[: len(said)], reach=reach, min_count=1, min_npmi=0.0)
    assert {(p.a, p.b): p.n for p in pairs} == contexts(said, scene, reach)
    assert pairs == sorted(pairs)


@examples(200)
@given(turns, scenes, st.sampled_from([0.5, 0.75, 1.0]))
def test_weights_are_the_formula(said: Turns, scene: list[int], alpha: float) -> None:
    counts = contexts(said, scene, 2)
    pairs = associate(said, scene[: len(said)], alpha=alpha, min_npmi=0.2)
    for (a, b), n in counts.items():
        value = npmi(counts, a, b, alpha)
        found = [p for p in pairs if (p.a, p.b) == (a, b)]
        if abs(value - 0.2) > 1e-9:
            assert bool(found) == (n >= 2 and value >= 0.2)
        for p in found:
            assert p.weight == pytest.approx(value * n / (n + 5), abs=6e-5)


def hub(leaves: int) -> Turns:
    """Node 0 with every leaf; a leaf the more often, the smaller its number."""
    return [[0, leaf] for leaf in range(1, leaves + 1) for _ in range(leaves + 2 - leaf)]


def test_top_counts_at_either_end() -> None:
    said = hub(10)
    pairs = associate(said, list(range(len(said))), top=3, min_npmi=0.0)
    assert len(pairs) == 10  # each is its leaf's strongest
    said += [[a, b] for a, b in combinations(range(1, 11), 2) for _ in range(40)]
    pairs = associate(said, list(range(len(said))), top=3, min_npmi=0.0)
    assert 3 <= sum(p.a == 0 for p in pairs) < 10


def test_a_bridge_between_communities_stays() -> None:
    groups = [range(6), range(6, 12)]
    said = [[*pair] for group in groups for pair in combinations(group, 2) for _ in range(6)]
    said += [[0, 6]] * 2 + [[1, 7]] * 3
    scene = list(range(len(said)))
    pairs = associate(said, scene, top=3, min_npmi=0.0)
    assert [(p.a, p.b) for p in pairs if p.a < 6 <= p.b] == [(1, 7)]
    found = find_communities(12, [(p.a, p.b, p.weight) for p in pairs])
    assert found == [0] * 6 + [1] * 6


def test_a_long_list_relates_its_first_nodes() -> None:
    said = [list(range(5000))] * 2
    pairs = associate(said, [0, 1], min_npmi=0.0, top=5000)
    assert len(pairs) == MAX_NODES * (MAX_NODES - 1) // 2
    assert max(p.b for p in pairs) == MAX_NODES - 1
