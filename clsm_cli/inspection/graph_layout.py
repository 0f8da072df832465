"""Where the nodes of a picture stand: a force-directed layout that gives the same graph the same places.

Only additions, products, quotients and square roots are taken, in a fixed order, on a start that is
rounded, so that every machine with IEEE 754 numbers draws the same picture.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from clsm_cli.inspection.graph import Graph
    from clsm_cli.model.graph import Edge

    Array = np.ndarray[Any, Any]

IDEAL = 95.0
"""Length at which an edge of weight 1 inside a community is at rest, in pixels at zoom 1."""
ACROSS = 0.3
"""Pull of an edge between two communities, against one inside: keeps the groups apart."""
GRAVITY = (0.034, 0.046)
"""Pull towards the middle, across and down: a screen is wider than high."""
APART = 26.0
"""Pixels between the rims of two nodes at least: room for a name."""
MOST_ROUNDS, LEAST_ROUNDS, MOST_PAIRS = 400, 60, 40_000_000
"""Rounds of the simulation: fewer for a large graph, whose pairs times rounds are limited."""
BLOCK = 256
"""Nodes whose forces are computed at once: bounds the memory."""
SETTLING = 80
"""Rounds that push apart what overlaps."""


class Place(NamedTuple):
    """Where a node stands, in pixels at zoom 1 around the middle; y points down."""

    x: float
    y: float


def layout(graph: Graph, group: Mapping[str, int], sizes: Mapping[str, float]) -> dict[str, Place]:
    """Places of all nodes by id, rounded to a tenth of a pixel.

    Fruchterman and Reingold 1991, with gravity: nodes repel each other with k²/d, an edge pulls with
    s · d²/k, where s grows with its weight; steps shrink to zero. Then what overlaps is pushed apart.

    Args:
        graph: Nodes and edges.
        group: Community of each node.
        sizes: Diameter of each node in pixels.
    """
    import numpy as np

    order = sorted((node.id for node in graph.nodes), key=lambda each: (group[each], each))
    if not order:
        return {}
    row = {node: place for place, node in enumerate(order)}
    ends = np.array([[row[e.source], row[e.target]] for e in graph.edges], dtype=np.int64)
    pulls = np.array([_pull(edge, group) for edge in graph.edges])
    at = _start(len(order))
    rounds = int(min(MOST_ROUNDS, max(LEAST_ROUNDS, MOST_PAIRS // len(order) ** 2)))
    gravity = np.array(GRAVITY)
    for step in range(rounds):
        force = _repulsion(at) - at * gravity * IDEAL
        if len(ends):
            _attract(force, at, ends.reshape(-1, 2), pulls)
        length = np.sqrt((force * force).sum(axis=1, keepdims=True)) + 1e-9
        heat = IDEAL * (1.0 - step / rounds)
        at += force / length * np.minimum(length, heat)
    radii = np.array([sizes[node] / 2 for node in order])
    for _ in range(SETTLING):
        move = _shove(at, radii)
        if not move.any():
            break
        at += move
    return {
        node: Place(round(float(x), 1), round(float(y), 1))
        for node, (x, y) in zip(order, at, strict=True)
    }


def _pull(edge: Edge, group: Mapping[str, int]) -> float:
    inside = 1.0 if group[edge.source] == group[edge.target] else ACROSS
    return inside * (0.25 + 0.75 * min(1.0, max(0.0, edge.weight)))


def _start(count: int) -> Array:
    """Places on a ring, in order; members of a community stand side by side."""
    import numpy as np

    radius = IDEAL * math.sqrt(count)
    angles = [2 * math.pi * place / count for place in range(count)]
    return np.array(
        [[round(radius * math.cos(a), 3), round(0.7 * radius * math.sin(a), 3)] for a in angles]
    )


def _repulsion(at: Array) -> Array:
    import numpy as np

    force = np.empty_like(at)
    for start in range(0, len(at), BLOCK):
        apart = at[None, start : start + BLOCK] - at[:, None]  # (from j, to i, xy)
        square = (apart * apart).sum(axis=2) + 1e-2
        force[start : start + BLOCK] = (apart * (IDEAL * IDEAL / square)[:, :, None]).sum(axis=0)
    return force


def _attract(force: Array, at: Array, ends: Array, pulls: Array) -> None:
    import numpy as np

    apart = at[ends[:, 1]] - at[ends[:, 0]]
    distance = np.sqrt((apart * apart).sum(axis=1))
    pull = apart * (pulls * distance / IDEAL)[:, None]
    np.add.at(force, ends[:, 0], pull)
    np.subtract.at(force, ends[:, 1], pull)


def _shove(at: Array, radii: Array) -> Array:
    """The way each node goes to be ``APART`` from the rims of the others, half of it for each."""
    import numpy as np

    move = np.zeros_like(at)
    for start in range(0, len(at), BLOCK):
        block = slice(start, start + BLOCK)
        apart = at[None, block] - at[:, None]
        distance = np.sqrt((apart * apart).sum(axis=2)) + 1e-6
        least = radii[:, None] + radii[None, block] + APART
        lack = np.maximum(0.0, least - distance)
        lack[np.arange(start, start + lack.shape[1]), np.arange(lack.shape[1])] = 0.0
        move[block] = (apart * (0.5 * lack / distance)[:, :, None]).sum(axis=0)
    return 0.6 * move
