"""Personalised PageRank: activation that adds up over all paths (Page et al. 1999; Haveliwala 2002).

    p ← r · s + (1 − r) · (Wᵀ p + m_dangling · s)

s is the share of each seed, r the chance to begin anew at a seed, and row i of W holds where the
walk goes from i: W_ij = w_ij · k_j^−d / Σ_j w_ij · k_j^−d with k_j = Σ_i w_ij, the strength of j.
d = 0 is the plain random walk; d = ½ the walk over symmetrically normalised weights
w_ij / √(k_i k_j), which visits hubs less. Every row sums to 1, so the whole mass stays 1.
HippoRAG (Gutiérrez et al. 2024) ranks passages so, with r = 0.5.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    Graph = Mapping[int, Mapping[int, float]]

LONGEST = 1000
"""Rounds at most: for a restart near 0, where each round gains almost nothing."""


def personalised(
    graph: Graph,
    seeds: Mapping[int, float],
    *,
    restart: float = 0.5,
    damping: float = 0.0,
    tolerance: float = 1e-9,
) -> dict[int, float]:
    """The share of each node in the walk: above 0, together 1; nothing without seeds.

    By power iteration, until a round moves less than ``tolerance`` of the mass in all. The error
    shrinks by 1 − r each round: about 30 rounds at r = ½. A walk that meets a node without a way
    out begins anew at a seed.

    Args:
        graph: Node → neighbour → weight ≥ 0. An undirected edge stands in both directions.
        seeds: Node → weight ≥ 0; they need not be nodes of ``graph``.
        restart: Chance to begin anew, above 0, at most 1.
        damping: d, see above.
        tolerance: Mass.

    Node 1 is the seed, and 2 its only neighbour: p_1 = ½ + ½ p_2 and p_2 = ½ p_1.

    >>> {node: round(p, 4) for node, p in personalised({1: {2: 1.0}, 2: {1: 1.0}}, {1: 3.0}).items()}
    {1: 0.6667, 2: 0.3333}
    """
    total = fsum(seeds.values())
    if total <= 0:
        return {}
    source = {node: seeds[node] / total for node in sorted(seeds) if seeds[node] > 0}
    rows = _rows(graph, damping)
    shares = source
    for _ in range(LONGEST):
        after = _step(rows, shares, source, restart)
        moved = fsum(abs(share - shares.get(node, 0.0)) for node, share in after.items())
        shares = after
        if moved < tolerance:
            break
    whole = fsum(shares.values())
    return {node: shares[node] / whole for node in sorted(shares)}


def _rows(graph: Graph, damping: float) -> dict[int, list[tuple[int, float]]]:
    """W of the module's docstring; nodes without a way out have no row."""
    strength: dict[int, float] = {}
    for node in sorted(graph):
        for other, weight in graph[node].items():
            strength[other] = strength.get(other, 0.0) + weight
    rows = {}
    for node in sorted(graph):
        ways = sorted(graph[node].items())
        kept = [(other, w * strength[other] ** -damping) for other, w in ways if w > 0]
        if kept:
            total = fsum(weight for _, weight in kept)
            rows[node] = [(other, weight / total) for other, weight in kept]
    return rows


def _step(
    rows: Mapping[int, list[tuple[int, float]]],
    shares: Mapping[int, float],
    source: Mapping[int, float],
    restart: float,
) -> dict[int, float]:
    """One round: what stays in the walk moves along the rows, the rest starts at the seeds."""
    after = dict.fromkeys(source, 0.0)
    home = restart
    for node, share in shares.items():
        walking = (1 - restart) * share
        if node not in rows:
            home += walking
            continue
        for other, chance in rows[node]:
            after[other] = after.get(other, 0.0) + walking * chance
    for node, share in source.items():
        after[node] += home * share
    return after
