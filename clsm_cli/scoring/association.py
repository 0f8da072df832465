"""Association of two nodes, from how often they are mentioned near each other.

    npmi(a → b) = ln( p(a,b) / (p(a) · p_α(b)) ) / −ln p(a,b)     p_α(b) = c(b)^α / Σ c^α
    weight(a, b) = ½ (npmi(a → b) + npmi(b → a)), clipped to 0 … 1,  · n / (n + shrink)

n counts the contexts of a pair, p(a,b) = n / 2N with N = Σ n over all pairs and both directions;
c(a) = Σ_b n(a,b), p(a) = c(a) / 2N. Normalised pointwise mutual information: Bouma 2009. The
exponent α < 1 raises the chance of rare contexts, as PMI prefers them: Levy, Goldberg & Dagan 2015.
The factor n / (n + shrink) keeps a few chance co-occurrences from being strong.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Edge
from clsm_cli.model.ids import edge_id
from clsm_cli.scoring.modularity import find_communities
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.config import GraphSettings

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MAX_NODES = 64
"""Nodes counted per turn; the rest of a longer list is ignored, as it relates nothing to anything."""


class CountedPair(NamedTuple):
    """Two associated nodes.

    Attributes:
        weight: 0 … 1, four decimals.
    """

    a: int
    b: int
    n: int
    weight: float


def associate(
    turns: Sequence[Sequence[int]], scenes: Sequence[int], settings: GraphSettings
) -> list[CountedPair]:
    """Pairs of nodes worth an edge, sorted.

    The contexts of a pair, in each scene: every turn that mentions both nodes. Only if no turn of
    the scene does, every two turns at most ``reach`` apart that mention one node each. So a pair
    mentioned in a single turn has n = 1, whatever the neighbouring turns mention.

    A pair is kept if n ≥ ``min_count``, its npmi before shrinking ≥ ``min_npmi``, and it is among
    the ``top`` strongest of either node. Bridges are kept too: the strongest pair between every two
    communities of the kept pairs, even if both nodes have stronger pairs.

    Args:
        turns: The distinct nodes that each turn mentions, numbered from 0. Only the first
            ``MAX_NODES`` count.
        scenes: For each turn, the number of its conversation or section; turns of one scene are
            adjacent and in order.

    Mentioned together twice, with no other mentions: npmi is 1, shrunk by 2 / (2 + 5).

    >>> from clsm_cli.config import GraphSettings
    >>> associate([[0, 1], [1, 0], [2]], [0, 0, 1], GraphSettings())
    [CountedPair(a=0, b=1, n=2, weight=0.2857)]
    """
    codes, n, size = _count_contexts(turns, scenes, settings.reach)
    if not len(n):
        return []
    a, b = codes // size, codes % size
    npmi = _npmi(a, b, n, settings.alpha, size)
    chosen = (n >= settings.min_count) & (npmi >= settings.min_npmi)
    a, b, n = a[chosen], b[chosen], n[chosen]
    weight = (npmi[chosen] * n / (n + settings.shrink)).round(4)
    kept = _strongest(a, b, n, weight, settings.top)
    kept |= _bridges(a, b, n, weight, kept)
    rows = zip(*(column[kept].tolist() for column in (a, b, n, weight)), strict=True)
    return [CountedPair(*row) for row in rows]


def co_occurrences(
    order: Iterable[tuple[str, str, str]],
    mentioned: Mapping[str, Collection[str]],
    settings: GraphSettings,
    rev: tuple[int, str],
) -> dict[str, Edge]:
    """Weighted edges between nodes that occur together, by id.

    Args:
        mentioned: Turn → the nodes it mentions.
    """
    nodes = sorted({node for turn_nodes in mentioned.values() for node in turn_nodes})
    number = {node: place for place, node in enumerate(nodes)}
    turns: list[list[int]] = []
    scenes: list[int] = []
    sections: dict[tuple[str, str], int] = {}
    for episode, section, key in order:
        turns.append(sorted(number[node] for node in mentioned.get(key, ())))
        scenes.append(sections.setdefault((episode, section), len(sections)))
    edges: dict[str, Edge] = {}
    for pair in associate(turns, scenes, settings):
        a, b = nodes[pair.a], nodes[pair.b]
        record = edge_id(a, "co_occurs", b)
        edges[record] = Edge(id=record, rev=rev, source=a, target=b, n=pair.n, weight=pair.weight)
    return edges


def _count_contexts(
    turns: Sequence[Sequence[int]], scenes: Sequence[int], reach: int
) -> tuple[Ints, Ints, int]:
    """The pairs as a · size + b, ascending, the number of contexts of each, and ``size``.

    Within a scene, a pair is the single number scene · size² + a · size + b, so that "no turn of the
    scene mentions both" is a search in sorted numbers. 63 bits are enough for a million of each.
    """
    import numpy as np

    lengths = np.fromiter((min(len(turn), MAX_NODES) for turn in turns), np.int64, len(turns))
    nodes = np.fromiter(
        chain.from_iterable(turn[:MAX_NODES] for turn in turns), np.int64, int(lengths.sum())
    )
    size = int(nodes.max(initial=0)) + 1
    scene = np.unique(np.asarray(scenes, np.int64), return_inverse=True)[1].astype(np.int64)
    ends = np.cumsum(lengths)
    turn = np.repeat(np.arange(len(turns)), lengths)
    base = scene[turn] * size**2

    def keys(starts: Ints, counts: Ints) -> Ints:
        """Pairs of every mention with the ``counts`` mentions from ``starts`` on."""
        left = np.repeat(np.arange(len(nodes)), counts)
        first = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        x, y = nodes[left], nodes[first + np.arange(len(left))]
        pairs: Ints = base[left] + np.minimum(x, y) * size + np.maximum(x, y)
        distinct: Ints = pairs[x != y]
        return distinct

    position = np.arange(len(nodes))
    same_turn = keys(position + 1, ends[turn] - position - 1)
    other_turns: list[Ints] = []
    for distance in range(1, min(reach + 1, len(turns))):
        other = np.minimum(turn + distance, len(turns) - 1)
        near = (turn + distance < len(turns)) & (scene[other] == scene[turn])
        pairs = keys(ends[other] - lengths[other], np.where(near, lengths[other], 0))
        other_turns.append(pairs[~np.isin(pairs, same_turn)])
    codes, n = np.unique(np.concatenate([same_turn, *other_turns]) % size**2, return_counts=True)
    return codes, n, size


def _npmi(a: Ints, b: Ints, n: Ints, alpha: float, size: int) -> Floats:
    """The mean of npmi(a → b) and npmi(b → a), clipped to 0 … 1; see the module's docstring."""
    import numpy as np

    whole = 2 * int(n.sum())
    count = np.bincount(a, n, size) + np.bincount(b, n, size)
    p = count / whole
    smoothed = count**alpha
    smoothed /= smoothed.sum()
    joint = np.log(n / whole)
    expected = np.log(p[a]) + np.log(p[b]) + np.log(smoothed[a]) + np.log(smoothed[b])
    npmi: Floats = np.clip((joint - expected / 2) / -joint, 0.0, 1.0)
    return npmi


def _strongest(a: Ints, b: Ints, n: Ints, weight: Floats, top: int) -> NDArray[np.bool_]:
    """Mask of the pairs among the ``top`` of either node, by weight, then contexts, then number."""
    import numpy as np

    ends, pair = np.concatenate([a, b]), np.tile(np.arange(len(a)), 2)
    order = np.lexsort((pair, -n[pair], -weight[pair], ends))
    _, first, of = np.unique(ends[order], return_index=True, return_inverse=True)
    kept = np.zeros(len(a), np.bool_)
    kept[pair[order][np.arange(len(order)) - first[of] < top]] = True
    return kept


def _bridges(
    a: Ints, b: Ints, n: Ints, weight: Floats, kept: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Mask of the strongest pair between every two communities that share a pair."""
    import numpy as np

    size = int(b.max(initial=-1)) + 1
    edges = zip(*(each[kept].tolist() for each in (a, b, weight)), strict=True)
    community = np.asarray(find_communities(size, list(edges)), np.int64)
    low = np.minimum(community[a], community[b])
    high = np.maximum(community[a], community[b])
    order = np.lexsort((np.arange(len(a)), -n, -weight))
    order = order[low[order] != high[order]]
    _, first = np.unique((low * size + high)[order], return_index=True)
    bridges = np.zeros(len(a), np.bool_)
    bridges[order[first]] = True
    return bridges
