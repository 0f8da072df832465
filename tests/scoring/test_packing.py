from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring.packing import knapsack

values = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0]), st.floats(0, 1))
items = st.lists(st.tuples(values, st.integers(0, 12)), max_size=12)


def worth(chosen: list[int], worths: list[float]) -> int:
    """Total value in units of the ninth decimal."""
    return sum(round(worths[place] * 10**9) for place in chosen)


def by_brute_force(worths: list[float], costs: list[int], capacity: int) -> list[int]:
    """The best of all choices; of equal ones that with the first item in which they differ."""
    useful = [i for i in range(len(worths)) if round(worths[i] * 10**9) > 0]
    fitting = [
        list(choice)
        for count in range(len(useful) + 1)
        for choice in combinations(useful, count)
        if sum(costs[i] for i in choice) <= capacity
    ]
    return max(
        fitting,
        key=lambda chosen: (worth(chosen, worths), [i in chosen for i in range(len(worths))]),
    )


@examples(150)
@given(items, st.integers(0, 60))
def test_it_is_the_best_choice(drawn: list[tuple[float, int]], capacity: int) -> None:
    worths, costs = [value for value, _ in drawn], [cost for _, cost in drawn]
    assert knapsack(worths, costs, capacity) == by_brute_force(worths, costs, capacity)


def table(worths: list[float], costs: list[int], capacity: int) -> int:
    """The best value by the textbook's table, value for every capacity."""
    best = [0] * (capacity + 1)
    for value, cost in zip(worths, costs, strict=True):
        for room in range(capacity, cost - 1, -1):
            best[room] = max(best[room], best[room - cost] + round(value * 10**9))
    return best[capacity]


def many(count: int, seed: int) -> tuple[list[float], list[int]]:
    """Scores that fall by rank, and sizes of turns."""
    random = Random(seed)
    falling = [round(random.uniform(0.7, 1) / (1 + place / 20), 4) for place in range(count)]
    return falling, [random.randint(5, 300) for _ in range(count)]


@pytest.mark.parametrize("seed", range(3))
def test_two_hundred_items_are_packed_exactly(seed: int) -> None:
    worths, costs = many(200, seed)
    chosen = knapsack(worths, costs, 2000)
    assert sum(costs[i] for i in chosen) <= 2000
    assert worth(chosen, worths) == table(worths, costs, 2000)


@pytest.mark.parametrize("seed", range(3))
def test_more_items_are_packed_at_least_half_as_well(seed: int) -> None:
    worths, costs = many(600, seed)
    worths[-1], costs[-1] = 400.0, 2000  # dearer than all others together, and least dense
    worths[-2], costs[-2] = 1.0, 1
    chosen = knapsack(worths, costs, 2000)
    assert sum(costs[i] for i in chosen) <= 2000
    assert 2 * worth(chosen, worths) >= table(worths, costs, 2000)
