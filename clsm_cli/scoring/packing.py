"""Pack items into a limited space: the 0/1 knapsack, exact for up to ``MOST_EXACT`` items.

Weingartner and Ness' dynamic programme over undominated states, in the order of value by cost, with
Dantzig's bound (Martello and Toth 1990, §2.6 and §2.2): first the items are set aside that are in
every best choice, or in none; usually a dozen are left to decide about. Only where values are in
proportion to costs, so that no item is denser than another, is it slow: items × capacity.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_EXACT = 200
"""Items up to which the best choice is found; of more, one at least half as good."""
DECIMALS = 9
"""Decimals of a value that count: whole numbers make sums exact and ties certain."""


class _Item(NamedTuple):
    place: int
    value: int
    cost: int


def knapsack(values: Sequence[float], costs: Sequence[int], capacity: int) -> list[int]:
    """Positions of the items of the largest total value that fit, in ascending order.

    Of choices of equal value the one that has the first item in which they differ: give the best
    rank first. An item of no value is never chosen, one without cost always.

    More than ``MOST_EXACT`` items: the best single item, or all in the order of value by cost that
    still fit, whichever is worth more, filled up in that order: at least half of the best value.

    Args:
        values: What each is worth; 9 decimals count.
        costs: Whole and not negative, in the unit of ``capacity``.
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
    paid = sorted((item for item in items if item.cost), key=_by_density)
    choose = _best if len(paid) <= MOST_EXACT else _good
    return sorted(free + [item.place for item in choose(paid, capacity)])


def _by_density(item: _Item) -> tuple[float, int]:
    return -item.value / item.cost, item.place


def _fill(items: Sequence[_Item], room: int) -> list[_Item]:
    chosen = []
    for item in items:
        if item.cost <= room:
            chosen.append(item)
            room -= item.cost
    return chosen


def _good(items: Sequence[_Item], capacity: int) -> list[_Item]:
    """The better of: densest first, most valuable first and then densest."""
    dense = _fill(items, capacity)
    single = max(items, key=lambda item: (item.value, -item.place))
    others = [item for item in items if item is not single]
    beside = [single, *_fill(others, capacity - single.cost)]
    return max(dense, beside, key=_worth)


def _worth(items: Sequence[_Item]) -> int:
    return sum(item.value for item in items)


def _best(items: Sequence[_Item], capacity: int) -> list[_Item]:
    """The best choice; ``items`` are in the order of density and do not all fit."""
    reached = _worth(_good(items, capacity))
    taken, open_, room = _settle(items, capacity, reached)
    return taken + _decide(open_, room)


def _settle(
    items: Sequence[_Item], capacity: int, reached: int
) -> tuple[list[_Item], list[_Item], int]:
    """Items that every best choice has, those to decide about, and the room left for these.

    The bound of all choices that lack a dense item, or that have another: fill the rest by density
    and count the first item that does not fit by the share that does. Where that bound is below a
    value already reached, no best choice is among them.
    """
    costs = [0, *accumulate(item.cost for item in items)]
    values = [0, *accumulate(item.value for item in items)]
    taken, left = [], []
    for place, item in enumerate(items):
        if costs[place + 1] <= capacity:  # among the dense: what if it is left out?
            end = bisect_right(costs, capacity + item.cost) - 1
            bound = values[end] - item.value
            spare = capacity + item.cost - costs[end]
        else:  # what if it is taken?
            end = min(place, bisect_right(costs, capacity - item.cost) - 1)
            bound = values[end] + item.value
            spare = capacity - item.cost - costs[end]
        if end < len(items):
            bound += spare * items[end].value // items[end].cost
        if bound >= reached:
            left.append(item)
        elif costs[place + 1] <= capacity:
            taken.append(item)
    return taken, left, capacity - sum(item.cost for item in taken)


def _decide(items: Sequence[_Item], room: int) -> list[_Item]:
    """The best choice of ``items``.

    A state is a cost and the most that can be had for it. The value of item i of n in the order of
    ranks is shifted left by n bits and has bit n − 1 − i set: a total then says what it is made
    of, and of equal values that one is larger which has the earlier items.
    """
    n = len(items)
    ranks = {item.place: n - 1 - i for i, item in enumerate(sorted(items))}
    states: list[tuple[int, int]] = [(0, 0)]
    for item in items:
        worth = item.value << n | 1 << ranks[item.place]
        further = [(cost + item.cost, total + worth) for cost, total in states]
        states = _undominated(states, further, room)
    best = max(total for _, total in states)
    return [item for item in items if best >> ranks[item.place] & 1]


def _undominated(
    some: list[tuple[int, int]], others: list[tuple[int, int]], room: int
) -> list[tuple[int, int]]:
    """Two lists by ascending cost as one, without what costs more than something worth more."""
    best = -1
    kept: list[tuple[int, int]] = []
    for state in sorted(some + others):  # two runs that are in order: merged, not sorted
        cost, total = state
        if cost > room:
            break
        if total > best:
            if kept and kept[-1][0] == cost:
                kept.pop()
            kept.append(state)
            best = total
    return kept
