"""Modularity: the best split of a sequence of turns, and the communities of a weighted graph.

    Q = 1/2m Σ_ij (A_ij − k_i k_j / 2m) δ(c_i, c_j)     (Newman 2004)

A_ij is the affinity of turns or the weight of an edge, k_i = Σ_j A_ij, 2m = Σ_i k_i, and δ is 1 within a
group.

A split of turns (CMA §3.1.2, after EM-LLM) has two groups, one on each side. CMA uses attention for A;
without a language model, A is similarity that decays with distance: A_ij = max(0, cos) · e^(−|i−j|/8),
A_ii = 0.

Communities are found by the method of Blondel et al. 2008 (Louvain): each node moves to the community
of a neighbour that raises Q most, until none moves; then every community becomes one node of a smaller
graph, and the procedure repeats. Time is near-linear in the number of edges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Graph = list[dict[int, float]]

AFFINITY_TURNS = 8.0
"""Turns over which affinity falls to 1/e: about the length of an episode (own choice)."""
MIN_SPLIT_GAIN = 0.06
"""Gain of Q below which a split is no change of subject. LoCoMo: the gain at a quarter of the joints of two
unrelated conversations is below 0.08, at half of the positions within one below 0.05.
"""


def affinity(vectors: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The matrix A of the turns' unit ``vectors``.

    >>> import numpy as np
    >>> a = affinity([np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([-1.0, 0.0])])
    >>> a.round(4).tolist()  # e^(-1/8) between the first two
    [[0.0, 0.8825, 0.0], [0.8825, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    import numpy as np

    x = np.asarray(vectors, dtype=np.float64)
    a: np.ndarray[Any, Any] = np.maximum(0.0, x @ x.T) * _distance_decay(len(x))
    return a


def _distance_decay(n: int) -> np.ndarray[Any, Any]:
    """The affinity of ``n`` identical turns: e^(−|i−j|/8), 0 on the diagonal."""
    import numpy as np

    places = np.arange(n)
    decay: np.ndarray[Any, Any] = np.exp(
        -np.abs(places[:, None] - places[None, :]) / AFFINITY_TURNS
    )
    np.fill_diagonal(decay, 0.0)
    return decay


def split_quality(a: np.ndarray[Any, Any], at: int) -> float:
    """Q of the two communities [0, at) and [at, n).

    With L and R the sums of A inside the two sides and K_L, K_R their sums of k, the definition
    reduces to Q = (L + R)/2m − (K_L² + K_R²)/(2m)²; no affinity at all gives 0.

    >>> import numpy as np
    >>> two_pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> split_quality(two_pairs, 2)  # all inside (1), each side half of the degrees (-1/2)
    0.5
    >>> split_quality(two_pairs, 3)  # 2/4 inside, degrees 3 and 1: 1/2 - 10/16
    -0.125
    """
    total = float(a.sum())
    if total <= 0.0:
        return 0.0
    inside = float(a[:at, :at].sum() + a[at:, at:].sum())
    degree_before = float(a[:at].sum())
    return inside / total - (degree_before**2 + (total - degree_before) ** 2) / total**2


def best_split(a: np.ndarray[Any, Any], at: int, candidates: Sequence[int]) -> int:
    """The candidate with the highest Q, including ``at``, so Q never falls.

    Ties go to the candidate nearest to ``at``, then to the earlier one.

    >>> import numpy as np
    >>> two_pairs = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> best_split(two_pairs, 3, range(1, 4))
    2
    """
    ranked = ((split_quality(a, place), -abs(place - at), -place) for place in {at, *candidates})
    return -max(ranked)[2]


def is_confirmed(a: np.ndarray[Any, Any], at: int) -> bool:
    """Whether a split groups the turns better than their distance alone would.

    Affinity decays with distance, so even identical turns split with Q > 0. The gain
    Q(A) − Q(A of identical turns) is due to the subject; it must reach ``MIN_SPLIT_GAIN``.

    >>> import numpy as np
    >>> one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> is_confirmed(affinity([one] * 4), 2), is_confirmed(affinity([one, one, other, other]), 2)
    (False, True)
    """
    return split_quality(a, at) - split_quality(_distance_decay(len(a)), at) >= MIN_SPLIT_GAIN


MIN_MOVE_GAIN = 1e-9
"""Gain of a move, at least, as a share of 2m: below it, rounding could move a node to and fro for ever."""


def find_communities(n_nodes: int, pairs: Sequence[tuple[int, int, float]]) -> list[int]:
    """The community of each node, numbered from 0 in the order of the smallest member.

    Nodes are visited in order, and ties go to the community with the smallest number, so the result
    does not depend on the order of ``pairs``. A node without edges is a community of its own.

    Args:
        n_nodes: Nodes are 0 … n_nodes − 1.
        pairs: Two different nodes and the weight of their edge, above 0.

    >>> find_communities(5, [(0, 2, 1.0), (1, 3, 0.5)])
    [0, 1, 0, 1, 2]

    Two triangles on one edge:

    >>> triangles = [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0), (3, 4, 1.0), (3, 5, 1.0), (4, 5, 1.0)]
    >>> find_communities(6, [*triangles, (2, 3, 1.0)])
    [0, 0, 0, 1, 1, 1]
    """
    graph: Graph = [{} for _ in range(n_nodes)]
    for a, b, weight in sorted(pairs):
        graph[a][b] = graph[a].get(b, 0.0) + weight
        graph[b][a] = graph[b].get(a, 0.0) + weight
    members = list(range(n_nodes))
    while True:
        numbers: dict[int, int] = {}
        communities = [
            numbers.setdefault(community, len(numbers)) for community in _local_moves(graph)
        ]
        if len(set(communities)) == len(graph):
            return members
        members = [communities[member] for member in members]
        graph = _merge(graph, communities)


def _local_moves(graph: Graph) -> list[int]:
    """Move nodes, one by one, to the neighbouring community with the largest gain, until none moves.

    The gain of a node i from a community C that it is not in, times m:
    Σ_{j in C} A_ij − k_i · Σ_{j in C} k_j / 2m
    """
    degree = [sum(links.values()) for links in graph]
    total = sum(degree)
    where = list(range(len(graph)))
    weight = degree.copy()
    moved = total > 0
    while moved:
        moved = False
        for node, links in enumerate(graph):
            here = where[node]
            weight[here] -= degree[node]
            towards = {here: 0.0}
            for other, link in links.items():
                if other != node:
                    towards[where[other]] = towards.get(where[other], 0.0) + link
            share = degree[node] / total
            best, most = here, towards[here] - share * weight[here] + MIN_MOVE_GAIN * total
            for community in sorted(towards):
                gain = towards[community] - share * weight[community]
                if gain > most:
                    best, most = community, gain
            where[node] = best
            weight[best] += degree[node]
            moved = moved or best != here
    return where


def _merge(graph: Graph, communities: Sequence[int]) -> Graph:
    """The graph of communities; edges inside one become its self-loop, counted in both directions."""
    merged: Graph = [{} for _ in range(max(communities) + 1)]
    for node, links in enumerate(graph):
        row = merged[communities[node]]
        for other, link in links.items():
            row[communities[other]] = row.get(communities[other], 0.0) + link
    return merged
