"""Formulas that only the systems compared with clsm need.

Reciprocal rank fusion, information gain, MMR, PageRank, and spreading activation.
"""

from __future__ import annotations

from math import fsum, log
from typing import TYPE_CHECKING, TypeVar

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Graph = Mapping[int, Mapping[int, float]]

Id = TypeVar("Id", str, int)
K = 60
"""Dampens the top ranks (Cormack, Clarke and Büttcher, SIGIR 2009)."""


def reciprocal_ranks(
    rankings: Sequence[Sequence[Id]], weights: Sequence[float] | None = None, k: int = K
) -> dict[Id, float]:
    """Reciprocal rank fusion, best first; ties by id.

        score(d) = Σ over lists that hold d of w / (k + rank of d),  ranks from 1

    Args:
        rankings: Ids, best first; of an id that a list repeats the best rank counts.
        weights: One a list; None: 1 each.
        k: Ranks by which the votes of a list are flattened.

    >>> fused = reciprocal_ranks([["a", "b"], ["b", "c"]])
    >>> [(name, round(score * 61 * 62, 6)) for name, score in fused.items()]
    [('b', 123.0), ('a', 62.0), ('c', 61.0)]
    """
    votes: dict[Id, list[float]] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, name in enumerate(dict.fromkeys(ranking), 1):
            votes.setdefault(name, []).append(weight / (k + rank))
    return best_first({name: fsum(found) for name, found in votes.items()})


def best_first(scores: Mapping[Id, float]) -> dict[Id, float]:
    """By score, ties by id."""
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


MU = 200.0
"""Words that the collection adds to each passage (Dirichlet smoothing)."""


def gain(terms: Iterable[tuple[int, float]], length: int, mu: float = MU) -> float:
    """Mean over the terms of log P(t | passage) − log P(t | collection), in nats.

        P(t | passage) = (tf + µ · P(t | collection)) / (length + µ)

    Above 0 the passage says more about the question than any text of the collection would, 0 is
    the average, below 0 it distracts. Smoothing keeps the logarithm finite. A term that the
    collection does not have says nothing and is left out; without terms the gain is 0.
    Source: Zhai and Lafferty 2001.

    Args:
        terms: For each distinct term of the question how often the passage has it, and its share
            of all words of the collection.
        length: Words of the passage.
        mu: Weight of the collection, in words.

    One term of probability 0.01: once in 20 words (1 + 2) / 220 against 0.01, and not at all:

    >>> round(gain([(1, 0.01)], 20), 3), round(gain([(0, 0.01)], 20), 3), gain([(0, 0.0)], 20)
    (0.31, -0.095, 0.0)
    """
    if length < 0 or mu <= 0:
        raise ValueError("a passage has no negative length, and mu is above 0")
    gains = []
    for count, share in terms:
        if count < 0 or not 0 <= share <= 1:
            raise ValueError("a count is not negative, and a share from 0 to 1")
        if share > 0:
            gains.append(log((count + mu * share) / ((length + mu) * share)))
    return fsum(gains) / len(gains) if gains else 0.0


LAMBDA = 0.7
"""Share of relevance against novelty (Smriti)."""


def mmr(
    scores: Sequence[float],
    similarity: Callable[[int, int], float],
    lambda_: float = LAMBDA,
    *,
    k: int,
    floor: float = 0.0,
) -> list[int]:
    """Positions of the best ``k`` items, in the order in which they add most.

        r(i) = max(0, (score(i) − floor) / (highest score − floor))            0 … 1
        next = argmax r(i) · (λ − (1 − λ) · max similarity to what is chosen)

    After Carbonell and Goldstein 1998, with two differences. Scores are brought to 0 … 1 first: on
    fused ranks (about 1/60) the similarity would decide alone. And what an item repeats is taken
    off in proportion to its own relevance, not as a fixed amount, which would let something
    irrelevant pass a copy of relevance below (1 − λ) / λ. So a copy falls behind any item with
    more than (2λ − 1) / λ of its relevance (λ 0.7: 57 %), and never behind one with less, let
    alone none; this holds for λ ≥ ½.

    Ties go to the earlier item. Cost: k · n similarities.

    Args:
        scores: Of the items, in any order and scale.
        similarity: Of two items by position, up to 1; below 0 counts as 0.
        lambda_: From ½ to 1; 1 is the order of the scores.
        k: How many at most.
        floor: Score of something irrelevant, as of a document that is last in every fused list.
            Not simply the least score: the weakest of three good items is still good.

    The second is a copy of the first; the third is another relevant item, the last irrelevant.
    After the first the second is worth 0.9 · (0.7 − 0.3) = 0.36, the third 0.8 · 0.7 = 0.56:

    >>> mmr([1.0, 0.9, 0.8, 0.1], lambda i, j: float({i, j} == {0, 1}), k=4)
    [0, 2, 1, 3]
    """
    if not 0.5 <= lambda_ <= 1:
        raise ValueError(f"lambda must be from 0.5 to 1, not {lambda_}")
    width = max(scores, default=0.0) - floor
    relevance = [max(0.0, (score - floor) / width) if width > 0 else 0.0 for score in scores]
    repeated = [0.0] * len(relevance)
    left = sorted(range(len(relevance)), key=lambda i: -scores[i])
    chosen: list[int] = []
    while left and len(chosen) < k:
        if not chosen or relevance[left[0]] == 0.0:
            best = left[0]  # where nothing is relevant the scores decide
        else:
            best = max(
                left, key=lambda i: (relevance[i] * (lambda_ - (1 - lambda_) * repeated[i]), -i)
            )
        chosen.append(best)
        left.remove(best)
        for i in left:
            repeated[i] = max(repeated[i], min(1.0, similarity(best, i)))
    return chosen


LONGEST = 1000
"""Rounds at most: for a restart near 0, where each round gains almost nothing."""


def pagerank(
    graph: Graph,
    seeds: Mapping[int, float],
    *,
    restart: float = 0.5,
    tolerance: float = 1e-9,
) -> dict[int, float]:
    """Personalised PageRank: the share of each node in the walk, above 0, together 1.

        p ← r · s + (1 − r) · (Wᵀ p + m_dangling · s)

    s is the share of each seed, r the chance to begin anew at a seed, and row i of W holds where the
    walk goes from i: W_ij = w_ij / Σ_j w_ij. Every row sums to 1, so the whole mass stays 1.
    HippoRAG (Gutiérrez et al. 2024) ranks passages so, with r = 0.5.

    Without seeds there is nothing.

    By power iteration, until a round moves less than ``tolerance`` of the mass in all. The error
    shrinks by 1 − r each round: about 30 rounds at r = ½. A walk that meets a node without a way
    out begins anew at a seed.

    Args:
        graph: Node → neighbour → weight ≥ 0. An undirected edge stands in both directions.
        seeds: Node → weight ≥ 0; they need not be nodes of ``graph``.
        restart: Chance to begin anew, above 0, at most 1.
        tolerance: Mass.

    Node 1 is the seed, and 2 its only neighbour: p_1 = ½ + ½ p_2 and p_2 = ½ p_1.

    >>> {node: round(p, 4) for node, p in pagerank({1: {2: 1.0}, 2: {1: 1.0}}, {1: 3.0}).items()}
    {1: 0.6667, 2: 0.3333}
    """
    total = fsum(seeds.values())
    if total <= 0:
        return {}
    source = {node: seeds[node] / total for node in sorted(seeds) if seeds[node] > 0}
    rows = _rows(graph)
    shares = source
    for _ in range(LONGEST):
        after = _step(rows, shares, source, restart)
        moved = fsum(abs(share - shares.get(node, 0.0)) for node, share in after.items())
        shares = after
        if moved < tolerance:
            break
    whole = fsum(shares.values())
    return {node: shares[node] / whole for node in sorted(shares)}


def _rows(graph: Graph) -> dict[int, list[tuple[int, float]]]:
    """W of ``pagerank``; nodes without a way out have no row."""
    rows = {}
    for node in sorted(graph):
        kept = [(other, weight) for other, weight in sorted(graph[node].items()) if weight > 0]
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


class Link(NamedTuple):
    """One direction of an edge, as it is now.

    Attributes:
        source: Node that passes activation on.
        target: Node that receives it.
        strength: What it conducts, 0 … 1; more counts as 1.
        degree: Edges of the target.
        dormant: Whether the target is dormant.
    """

    source: int
    target: int
    strength: float
    degree: int
    dormant: bool


class Spreading(NamedTuple):
    """How activation spreads. CLS-M as published: 3, 0.5, 0.1 (later 0.15), and 0.2 of damping."""

    hops: int = 3
    """Edges of the longest path."""
    decay: float = 0.5
    """Share that one edge passes on, 0 … 1."""
    threshold: float = 0.1
    """Activation below which nothing arrives."""
    damping: float = 0.5
    """Exponent d ≥ 0: what a node receives is multiplied by degree^−d (the fan effect)."""
    dormant: float = 1.5
    """By how much a dormant node raises the threshold."""


def spread(
    seeds: Mapping[int, float],
    links: Callable[[Sequence[int]], Iterable[Link]],
    spreading: Spreading,
) -> dict[int, float]:
    """The activation of all nodes that it reaches from ``seeds`` (CLS-M §4.2; Collins & Loftus 1975).

    From a node i that just became more active, a neighbour j receives

        s = a_i · w_ij · decay · degree(j)^−damping

    and keeps the most that it ever received: a_j ← max(a_j, s). So activation tells the best single
    path; many weak paths never beat a strong one. What is below the threshold does not arrive. All
    nodes of a hop pass on what they held when it began, so nothing depends on the order of links.

    Args:
        seeds: Node → activation that it begins with, 0 … 1.
        links: The links that leave the given nodes (sorted, each once); called at most ``hops``
            times.
        spreading: How it spreads.

    A chain 1 – 2 – 3 – 4 – 5 of full strength, without damping: a half, a quarter, an eighth.

    >>> chain = [Link(i, i + 1, 1.0, 2, False) for i in range(1, 5)]
    >>> def ahead(nodes): return [link for link in chain if link.source in nodes]
    >>> spread({1: 1.0}, ahead, Spreading(damping=0.0))
    {1: 1.0, 2: 0.5, 3: 0.25, 4: 0.125}
    >>> list(spread({1: 1.0}, ahead, Spreading(damping=0.0, threshold=0.15)))
    [1, 2, 3]
    """
    reached = {node: seeds[node] for node in sorted(seeds)}
    frontier = list(reached)
    for _ in range(spreading.hops):
        risen: dict[int, float] = {}
        for link in links(frontier) if frontier else ():
            fan = max(link.degree, 1) ** -spreading.damping
            received = reached[link.source] * (min(link.strength, 1.0) * spreading.decay * fan)
            needed = spreading.threshold * (spreading.dormant if link.dormant else 1.0)
            held = max(reached.get(link.target, 0.0), risen.get(link.target, 0.0))
            if received >= needed and received > held:
                risen[link.target] = received
        frontier = sorted(risen)
        reached |= {node: risen[node] for node in frontier}
    return reached
