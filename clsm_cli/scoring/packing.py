"""Pack items into a limited capacity: the 0/1 knapsack, exact for up to ``MAX_EXACT`` items.

Weingartner and Ness' dynamic programme over undominated states, in the order of value per cost, with
Dantzig's bound (Martello and Toth 1990, §2.6 and §2.2). Items that are in every optimal choice, or in
none, are fixed first; usually a dozen remain. It is slow (items × capacity) only if values are
proportional to costs, so that all items are equally dense.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from clsm_cli.startup.records import NamedTuple

MAX_EXACT = 200
"""Items up to which the choice is optimal; for more, it has at least half the optimal value."""
DECIMALS = 9
"""Decimals of a value that count: as integers, sums are exact and ties well defined."""


class _Item(NamedTuple):
    place: int
    value: int
    cost: int


def knapsack(values: Sequence[float], costs: Sequence[int], capacity: int) -> list[int]:
    """Positions, ascending, of the items with the largest total value that fit.

    Of choices with equal value, the one that has the first item in which they differ: pass the best
    rank first. Items without value are never chosen, valuable items without cost always.

    More than ``MAX_EXACT`` items: either the most valuable item first or none, then all that still
    fit in the order of value per cost, whichever is worth more: at least half the optimal value.

    Args:
        values: Value of each item; 9 decimals count.
        costs: Integers, not negative, in the unit of ``capacity``.
        capacity: Largest total cost, not negative.

    The densest item alone would leave room that the other two fill:

    >>> knapsack([0.6, 0.5, 0.5], [6, 5, 5], 10), knapsack([0.5, 0.5, 0.5], [5, 5, 5], 10)
    ([1, 2], [0, 1])
    >>> knapsack([0.6], [6], 5), knapsack([0.1, 0.0], [0, 0], 0)
    ([], [0])
    """
    if capacity < 0 or min(costs, default=0) < 0:
        raise ValueError("costs and the capacity are not negative")
    pairs = zip(values, costs, strict=True)
    items = [
        _Item(place, round(value * 10**DECIMALS), cost) for place, (value, cost) in enumerate(pairs)
    ]
    items = [item for item in items if item.value > 0 and item.cost <= capacity]
    if sum(item.cost for item in items) <= capacity:
        return [item.place for item in items]
    free = [item.place for item in items if not item.cost]
    paid = [item for item in items if item.cost]
    paid.sort(key=lambda item: (-item.value / item.cost, item.place))  # by density
    choose = _exact if len(paid) <= MAX_EXACT else _greedy
    return sorted(free + [item.place for item in choose(paid, capacity)])


def _fill(items: Sequence[_Item], room: int) -> list[_Item]:
    chosen = []
    for item in items:
        if item.cost <= room:
            chosen.append(item)
            room -= item.cost
    return chosen


def _greedy(items: Sequence[_Item], capacity: int) -> list[_Item]:
    """The better of two greedy choices: by density, or the most valuable item and then by density."""
    dense = _fill(items, capacity)
    single = max(items, key=lambda item: (item.value, -item.place))
    others = [item for item in items if item is not single]
    with_single = [single, *_fill(others, capacity - single.cost)]
    return max(dense, with_single, key=_total_value)


def _total_value(items: Sequence[_Item]) -> int:
    return sum(item.value for item in items)


def _exact(items: Sequence[_Item], capacity: int) -> list[_Item]:
    """The optimal choice; ``items`` are in the order of density and do not all fit."""
    lower_bound = _total_value(_greedy(items, capacity))
    taken, undecided, room = _fix_items(items, capacity, lower_bound)
    return taken + _solve(undecided, room)


def _fix_items(
    items: Sequence[_Item], capacity: int, lower_bound: int
) -> tuple[list[_Item], list[_Item], int]:
    """Items in every optimal choice, the undecided items, and the room left for these.

    The upper bound of all choices without a dense item, or with another item: fill up by density and
    add the fraction of the first item that does not fit. If this is below the lower bound, none of
    these choices is optimal.
    """
    costs = [0, *accumulate(item.cost for item in items)]
    values = [0, *accumulate(item.value for item in items)]
    taken, undecided = [], []
    for place, item in enumerate(items):
        if costs[place + 1] <= capacity:  # a dense item: bound the choices without it
            end = bisect_right(costs, capacity + item.cost) - 1
            bound = values[end] - item.value
            spare = capacity + item.cost - costs[end]
        else:  # bound the choices with it
            end = min(place, bisect_right(costs, capacity - item.cost) - 1)
            bound = values[end] + item.value
            spare = capacity - item.cost - costs[end]
        if end < len(items):
            bound += spare * items[end].value // items[end].cost
        if bound >= lower_bound:
            undecided.append(item)
        elif costs[place + 1] <= capacity:
            taken.append(item)
    return taken, undecided, capacity - sum(item.cost for item in taken)


def _solve(items: Sequence[_Item], room: int) -> list[_Item]:
    """The optimal choice of ``items``.

    A state is a cost and the largest total for it. The value of item i of n, in the order of rank, is
    shifted left by n bits and has bit n − 1 − i set: a total so encodes its items, and of equal
    values the one with the earlier items is larger.
    """
    n = len(items)
    ranks = {item.place: n - 1 - i for i, item in enumerate(sorted(items))}
    states: list[tuple[int, int]] = [(0, 0)]
    for item in items:
        worth = item.value << n | 1 << ranks[item.place]
        extended = [(cost + item.cost, total + worth) for cost, total in states]
        states = _undominated(states, extended, room)
    best = max(total for _, total in states)
    return [item for item in items if best >> ranks[item.place] & 1]


def _undominated(
    some: list[tuple[int, int]], others: list[tuple[int, int]], room: int
) -> list[tuple[int, int]]:
    """Merge two lists by ascending cost, without dominated states: not cheaper and not worth more."""
    best = -1
    kept: list[tuple[int, int]] = []
    for state in sorted(some + others):  # Timsort merges two sorted runs in linear time
        cost, total = state
        if cost > room:
            break
        if total > best:
            if kept and kept[-1][0] == cost:
                kept.pop()
            kept.append(state)
            best = total
    return kept
