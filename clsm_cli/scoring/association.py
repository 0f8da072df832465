"""Association of nodes: how much two belong together, from how often they are mentioned near each other.

    npmi(a → b) = ln( p(a,b) / (p(a) · p_α(b)) ) / −ln p(a,b)     p_α(b) = c(b)^α / Σ c^α
    weight(a, b) = ½ (npmi(a → b) + npmi(b → a)), held in 0 … 1,  · n / (n + shrink)

n counts the contexts of a pair, p(a,b) = n / 2N with N = Σ n over all pairs and both directions;
c(a) = Σ_b n(a,b), p(a) = c(a) / 2N. Normalised pointwise mutual information: Bouma 2009. The
exponent α < 1 raises the chance of rare contexts, as PMI prefers them: Levy, Goldberg & Dagan 2015.
The factor n / (n + shrink) keeps a few chance meetings from being strong.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Edge
from clsm_cli.model.ids import edge_id
from clsm_cli.scoring.modularity import communities
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.config import GraphSettings

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

MOST_NODES = 64
"""Nodes of one turn that are counted, the first ones: a longer list relates nothing to anything."""


class Pair(NamedTuple):
    """Two nodes that belong together.

    Attributes:
        weight: 0 … 1, four decimals.
    """

    a: int
    b: int
    n: int
    weight: float


def associate(
    turns: Sequence[Sequence[int]], scenes: Sequence[int], settings: GraphSettings
) -> list[Pair]:
    """Pairs of nodes worth an edge, sorted.

    The contexts of a pair, scene by scene: each turn that holds both nodes; only if the scene has
    no such turn, each two of its turns, at most ``reach`` apart, of which one holds the one node
    and one the other. A pair that is said together in one turn has so n = 1, however near the
    turns around it.

    A pair is kept if n ≥ ``min_count``, its npmi before shrinking ≥ ``min_npmi``, and it is among
    the ``top`` strongest of either end. Then come the bridges: the strongest pair between every two
    communities of what was kept stays too, even if both ends have stronger ones.

    Args:
        turns: Nodes that each turn mentions, numbers from 0, each once. Of more than ``MOST_NODES``
            the first are counted.
        scenes: Of each turn, the number of the conversation or section it belongs to; turns of one
            scene are adjacent and in order.

    Said together twice, and nothing else is known: npmi is 1, and 2 / (2 + 5) is left of it.

    >>> from clsm_cli.config import GraphSettings
    >>> associate([[0, 1], [1, 0], [2]], [0, 0, 1], GraphSettings())
    [Pair(a=0, b=1, n=2, weight=0.2857)]
    """
    codes, n, size = _counted(turns, scenes, settings.reach)
    if not len(n):
        return []
    a, b = codes // size, codes % size
    npmi = _npmi(a, b, n, settings.alpha, size)
    chosen = (n >= settings.min_count) & (npmi >= settings.min_npmi)
    a, b, n = a[chosen], b[chosen], n[chosen]
    weight = (npmi[chosen] * n / (n + settings.shrink)).round(4)
    kept = _strongest(a, b, n, weight, settings.top)
    kept |= _bridges(a, b, n, weight, kept)
    rows = zip(*(each[kept].tolist() for each in (a, b, n, weight)), strict=True)
    return [Pair(*row) for row in rows]


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
    nodes = sorted({node for found in mentioned.values() for node in found})
    number = {node: place for place, node in enumerate(nodes)}
    turns: list[list[int]] = []
    scenes: list[int] = []
    sections: dict[tuple[str, str], int] = {}
    for episode, section, key in order:
        turns.append(sorted(number[node] for node in mentioned.get(key, ())))
        scenes.append(sections.setdefault((episode, section), len(sections)))
    found: dict[str, Edge] = {}
    for pair in associate(turns, scenes, settings):
        a, b = nodes[pair.a], nodes[pair.b]
        record = edge_id(a, "co_occurs", b)
        found[record] = Edge(id=record, rev=rev, source=a, target=b, n=pair.n, weight=pair.weight)
    return found


def _counted(
    turns: Sequence[Sequence[int]], scenes: Sequence[int], reach: int
) -> tuple[Ints, Ints, int]:
    """Each pair as a · size + b, ascending, with its contexts; and ``size``.

    A pair within a scene is one number too, scene · size² + a · size + b, so that "no turn of the
    scene holds both" is a search in sorted numbers. It fits 63 bits for a million of each.
    """
    import numpy as np

    lengths = np.fromiter((min(len(turn), MOST_NODES) for turn in turns), np.int64, len(turns))
    nodes = np.fromiter(
        chain.from_iterable(turn[:MOST_NODES] for turn in turns), np.int64, int(lengths.sum())
    )
    size = int(nodes.max(initial=0)) + 1
    scene = np.unique(np.asarray(scenes, np.int64), return_inverse=True)[1].astype(np.int64)
    ends = np.cumsum(lengths)
    turn = np.repeat(np.arange(len(turns)), lengths)
    base = scene[turn] * size**2

    def keys(starts: Ints, counts: Ints) -> Ints:
        """Every mention with the ``counts`` mentions from ``starts`` on."""
        left = np.repeat(np.arange(len(nodes)), counts)
        first = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        x, y = nodes[left], nodes[first + np.arange(len(left))]
        found: Ints = base[left] + np.minimum(x, y) * size + np.maximum(x, y)
        distinct: Ints = found[x != y]
        return distinct

    own = np.arange(len(nodes))
    together = keys(own + 1, ends[turn] - own - 1)
    apart: list[Ints] = []
    for distance in range(1, reach + 1):
        other = np.minimum(turn + distance, len(turns) - 1)
        near = (turn + distance < len(turns)) & (scene[other] == scene[turn])
        found = keys(ends[other] - lengths[other], np.where(near, lengths[other], 0))
        apart.append(found[~np.isin(found, together)])
    codes, n = np.unique(np.concatenate([together, *apart]) % size**2, return_counts=True)
    return codes, n, size


def _npmi(a: Ints, b: Ints, n: Ints, alpha: float, size: int) -> Floats:
    """The mean of npmi(a → b) and npmi(b → a), held in 0 … 1; see the top of the module."""
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
    """Which pairs are among the ``top`` of either end, by weight, then contexts, then number."""
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
    """Which pair is the strongest between its two communities, over all that have any."""
    import numpy as np

    size = int(b.max(initial=-1)) + 1
    edges = zip(*(each[kept].tolist() for each in (a, b, weight)), strict=True)
    community = np.asarray(communities(size, list(edges)), np.int64)
    low = np.minimum(community[a], community[b])
    high = np.maximum(community[a], community[b])
    order = np.lexsort((np.arange(len(a)), -n, -weight))
    order = order[low[order] != high[order]]
    _, first = np.unique((low * size + high)[order], return_index=True)
    bridges = np.zeros(len(a), np.bool_)
    bridges[order[first]] = True
    return bridges
