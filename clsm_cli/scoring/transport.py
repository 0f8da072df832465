"""One budget shared over several sources by entropic optimal transport (Sinkhorn and Knopp 1967; Cuturi 2013).

Smriti scales a matrix until all its rows and columns sum to 1 and then uses these sums, so nothing
ever changes its budgets. Here the marginals differ, and the entries of the plan are what is used.
"""

from __future__ import annotations

from math import floor, fsum
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

PRESERVATION = {"identity": 0.95, "projects": 0.80, "tasks": 0.70, "flow": 0.30}
"""Share of each stream that is to survive (Smriti)."""
ITERATIONS = 50
"""Most rounds of scaling; a handful usually does."""
TOLERANCE = 1e-9
"""Relative error of the columns at which scaling ends."""
LEAST_AFFINITY = 1e-3
"""What stands for a smaller affinity, so that every plan exists (Smriti)."""
RESERVE_AFFINITY = 0.1
"""Affinity of each source to what is left out: the smaller, the more the other affinities decide."""


class Shares(NamedTuple):
    """How a budget is shared.

    Attributes:
        plan: What each source (row) is given out of the means of each stream (column).
        budgets: What each source is given: whole, at most its size, with the exact sum min(limit,
            sum of sizes).
    """

    plan: tuple[tuple[float, ...], ...]
    budgets: tuple[int, ...]


def sinkhorn(
    kernel: Sequence[Sequence[float]],
    rows: Sequence[float],
    columns: Sequence[float],
    iterations: int = ITERATIONS,
) -> list[list[float]]:
    """The plan u_i · K_ij · v_j with the given marginals: closest to K in relative entropy.

        u ← rows / (K · v),  v ← columns / (Kᵀ · u),  until the columns fit; u last

    So the rows are exact, and the columns as good as ``iterations`` make them.

    Args:
        kernel: Affinities above 0, [rows][columns].
        rows: Mass to give away, not negative.
        columns: Mass to arrive, not negative, with the same sum.
        iterations: Rounds at most.

    Where all affinities are equal every row is spread as the columns are:

    >>> sinkhorn([[1.0, 1.0], [1.0, 1.0]], [3.0, 1.0], [2.0, 2.0])
    [[1.5, 1.5], [0.5, 0.5]]
    """
    if not rows:
        return []
    right = [1.0] * len(columns)
    left = _factors(kernel, rows, right)
    turned = [list(column) for column in zip(*kernel, strict=True)]
    for _ in range(iterations):
        arriving = [
            factor * _dot(column, left) for factor, column in zip(right, turned, strict=True)
        ]
        if all(
            abs(found - wanted) <= TOLERANCE * wanted
            for found, wanted in zip(arriving, columns, strict=True)
        ):
            break
        right = _factors(turned, columns, left)
        left = _factors(kernel, rows, right)
    return [
        [u * affinity * v for affinity, v in zip(row, right, strict=True)]
        for u, row in zip(left, kernel, strict=True)
    ]


def share(
    sizes: Sequence[int],
    demands: Sequence[float],
    affinity: Sequence[Sequence[float]],
    limit: int,
) -> Shares:
    """Share ``limit`` over sources whose candidates have these sizes.

    Every source gives its candidates (row mass = size), every stream takes as its demand says
    (column mass = limit · demand / sum of demands), and one more column takes what has to be left
    out (sum of sizes − limit). A source's budget is what the plan carries from it to the streams.
    The affinities therefore decide who is cut, and what a stream's own sources cannot fill flows
    on to the others. Where everything fits, everything is given.

    Args:
        sizes: Of the candidates of each source, in the unit of ``limit``.
        demands: Of each stream, in any unit, such as size × preservation ratio; without any, all
            alike.
        affinity: How well a source serves a stream, [sources][streams], usually 0 … 1.
        limit: What is to be shared.

    Raises:
        ValueError: A size, a demand or the limit is negative, or the shapes do not fit.

    Two sources of 100, each with its own stream; the second wants three times as much:

    >>> share([100, 100], [1.0, 3.0], [[1.0, 0.1], [0.1, 1.0]], 80).budgets
    (27, 53)
    >>> share([10, 100], [1.0, 1.0], [[1.0, 0.1], [0.1, 1.0]], 80).budgets
    (9, 71)
    >>> share([10, 20], [1.0, 1.0], [[1.0, 0.1], [0.1, 1.0]], 80).budgets
    (10, 20)
    """
    if limit < 0 or min((*sizes, *demands), default=0) < 0:
        raise ValueError("sizes, demands and the limit are not negative")
    if len(affinity) != len(sizes) or any(len(row) != len(demands) for row in affinity):
        raise ValueError("there is one row of affinities a source, one column a stream")
    given = min(limit, sum(sizes))
    asked = fsum(demands)
    means = [given * (each / asked if asked else 1 / len(demands)) for each in demands]
    kernel = [[*(max(LEAST_AFFINITY, each) for each in row), RESERVE_AFFINITY] for row in affinity]
    full = sinkhorn(kernel, sizes, [*means, sum(sizes) - given])
    plan = tuple(tuple(row[:-1]) for row in full)
    parts = [fsum(row) for row in plan]
    over = max(1.0, fsum(parts) / given) if given else 1.0  # the columns may not fit quite
    return Shares(plan, _whole([part / over for part in parts], sizes, given))


def _whole(parts: Sequence[float], most: Sequence[int], total: int) -> tuple[int, ...]:
    """Whole numbers near ``parts``, at most ``most``, of the exact sum: largest remainder first.

    The parts add up to no more than the total, and ``most`` to no less.
    """
    whole = [min(bound, floor(part)) for part, bound in zip(parts, most, strict=True)]
    order = sorted(range(len(parts)), key=lambda i: (whole[i] - parts[i], i))
    missing = total - sum(whole)
    while missing:
        for i in order:
            step = min(1, missing, most[i] - whole[i])
            whole[i] += step
            missing -= step
    return tuple(whole)


def _factors(
    matrix: Sequence[Sequence[float]], masses: Sequence[float], others: Sequence[float]
) -> list[float]:
    """For each row the factor that gives it its mass; 0 for a row without any."""
    found = []
    for row, mass in zip(matrix, masses, strict=True):
        reached = _dot(row, others)
        found.append(mass / reached if reached else 0.0)
    return found


def _dot(some: Sequence[float], others: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(some, others, strict=True))
