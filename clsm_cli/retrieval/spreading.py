"""Activation over the graph of a store: along the edges that hold, as they are now.

An edge conducts strength · retention of the node it leads to (``scoring/activation`` does the rest).
The strength of what a sentence states is its weight, min(1, (1 + sentences) / 4). An association is
weaker, and its weight, npmi · n / (n + 5), is .17 at most: so it is taken relative to the strongest
association of the node it comes from, and conducts ``ASSOCIATION`` of that.
"""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from clsm_cli.records import NamedTuple
from clsm_cli.scoring import activation, retention
from clsm_cli.scoring.activation import Link, Spreading
from clsm_cli.store.index import graph

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from clsm_cli.store.index.graph import LinkRow, NodeRow
    from clsm_cli.store.index.reader import Index

ASSOCIATION = 0.5
"""What the strongest association of a node conducts; one sentence that states a relation is as much."""
CO_OCCURS = "co_occurs"
SPREADING = Spreading(threshold=0.03)
"""CLS-M's threshold of 0.1 is that of a graph without damping; here it is 0.1 for a node of twelve
edges, as many as consolidation keeps: 0.1 · 12^−½."""
WIDEST = 64
"""Neighbours of a node above which it passes nothing on unless the question names it: what
everything is connected with tells nothing about any of it, and costs are bounded."""


class Route(NamedTuple):
    """How activation came to a node.

    Attributes:
        path: From a seed to the node itself.
        steps: Type and weight of each edge on the way.
    """

    activation: float
    path: tuple[int, ...]
    steps: tuple[tuple[str, float], ...]


def spread(
    index: Index, seeds: Mapping[int, float], hops: int, now: str, known_at: str | None = None
) -> tuple[dict[int, Route], dict[int, NodeRow]]:
    """The nodes that activation reaches, seeds aside unless it raised them, and all that were met.

    Args:
        index: Fresh.
        seeds: Node → activation, 0 … 1.
        hops: Edges that it crosses at most.
        now: ISO 8601; which edges hold, and how much is left of what they lead to.
        known_at: When they should have been known; None for now.
    """
    field = _Field(index, seeds, now, known_at)
    reached = activation.spread(seeds, field.links, SPREADING._replace(hops=hops))
    routes: dict[int, Route] = {}
    for node, found in reached.items():
        if found.hop:
            path = activation.path(reached, node)
            steps = tuple(
                (edge.type, edge.weight) for pair in pairwise(path) for edge in [field.edges[pair]]
            )
            routes[node] = Route(found.activation, tuple(path), steps)
    return routes, field.known


class _Field:
    """The links of a store, fetched hop by hop.

    Attributes:
        edges: The strongest edge between two nodes, in the direction in which it was used.
        known: Nodes that were looked up.
    """

    def __init__(
        self, index: Index, seeds: Mapping[int, float], now: str, known_at: str | None
    ) -> None:
        self._connection = index.connection
        self._curve = cast("retention.Curve", index.store.settings.graph.retention)
        self._seeds = seeds
        self._now = now
        self._known_at = known_at
        self._day = date.fromisoformat(now[:10]).toordinal()
        self._least = SPREADING.threshold
        self._left: dict[int, float] = {}
        self.edges: dict[tuple[int, int], LinkRow] = {}
        self.known: dict[int, NodeRow] = {}

    def links(self, nodes: Sequence[int]) -> list[Link]:
        """What leaves some nodes and is strong enough to arrive at all after as many hops."""
        self._least /= SPREADING.decay
        narrow = [node for node in nodes if node in self._seeds or self._is_narrow(node)]
        rows = [
            row
            for row in graph.links(self._connection, narrow)
            if _holds(row, self._now, self._known_at)
        ]
        strengths = _strengths(rows)
        chosen = {pair: found for pair, found in strengths.items() if found[0] >= self._least}
        self._learn({other for _, other in chosen} - self.known.keys())
        found: list[Link] = []
        for (node, other), (strength, row) in chosen.items():
            target = self.known.get(other)
            if target is not None:
                left = self._left[other]
                self.edges.setdefault((node, other), row)
                found.append(
                    Link(node, other, strength * left, target.degree, left < retention.DORMANT)
                )
        return found

    def _is_narrow(self, node: int) -> bool:
        return node in self.known and self.known[node].degree <= WIDEST

    def _learn(self, nodes: Collection[int]) -> None:
        """Look nodes up, and how much is left of each: by its last mention or use."""
        rows = graph.nodes(self._connection, nodes)
        used = graph.uses(self._connection, [row.id for row in rows.values()])
        for node, row in rows.items():
            days = [day for day, _ in used.get(row.id, ())]
            last = max([row.last or self._day, *days])
            base = retention.STREAM_DAYS[row.stream]
            ages = [float(self._day - day) for day in {last, *days}]
            # The base level counts the uses itself; the others remember longer for them.
            grown = base if self._curve == "base-level" else retention.stability(base, len(days))
            self._left[node] = retention.retention(self._curve, min(ages), grown, ages=ages)
        self.known |= rows


def _holds(row: LinkRow, now: str, known_at: str | None) -> bool:
    """Whether an edge was true at one time, as known at another; most have no clock to look at."""
    if known_at is None and not (row.valid_from or row.valid_until or row.superseded_at):
        return True
    from clsm_cli.model import clocks

    return clocks.holds(row, now, known_at)


def _strengths(rows: Sequence[LinkRow]) -> dict[tuple[int, int], tuple[float, LinkRow]]:
    """The strongest edge from each node to each other, with what it conducts."""
    strongest: dict[int, float] = {}
    for row in rows:
        if row.type == CO_OCCURS:
            strongest[row.node] = max(strongest.get(row.node, 0.0), row.weight)
    found: dict[tuple[int, int], tuple[float, LinkRow]] = {}
    for row in rows:
        strength = row.weight
        if row.type == CO_OCCURS:
            strength *= ASSOCIATION / (strongest[row.node] or 1.0)
        pair = (row.node, row.other)
        if pair not in found or strength > found[pair][0]:
            found[pair] = strength, row
    return found
