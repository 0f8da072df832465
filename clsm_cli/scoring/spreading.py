"""Spreading activation over a graph that is fetched hop by hop (CLS-M §4.2; Collins & Loftus 1975).

From a node i that just became more active, a neighbour j receives

    s = a_i · w_ij · decay · degree(j)^−damping

and keeps the most that it ever received: a_j ← max(a_j, s). Activation so tells the best single
path; many weak paths never beat a strong one (that is what ``pagerank`` is for). What is below the
threshold does not arrive. All nodes of a hop pass on what they held when it began, and a node
passes on again only when its activation rose, so nothing depends on the order of links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


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


class Reached(NamedTuple):
    """A node that activation has reached.

    Attributes:
        activation: The most it received; of a seed, at least what it began with.
        hop: Edges that this activation came over; 0 for a seed.
        via: The node that this activation came from; None for a seed.
    """

    activation: float
    hop: int
    via: int | None


def spread(
    seeds: Mapping[int, float],
    links: Callable[[Sequence[int]], Iterable[Link]],
    spreading: Spreading,
) -> dict[int, Reached]:
    """All nodes that activation reaches from ``seeds``, seeds first, then hop by hop.

    The activation of a node is the best product over all walks of at most ``hops`` edges on which
    every step passes its threshold. Of equal ways the shorter wins, then that from the smaller
    node. A seed that receives more than it began with is a reached node like any other.

    Args:
        seeds: Node → activation that it begins with, 0 … 1.
        links: The links that leave the given nodes (sorted, each once). Called at most ``hops``
            times; only what was reached is ever asked about.
        spreading: How it spreads.

    A chain 1 – 2 – 3 – 4 – 5 of full strength, without damping: a half, a quarter, an eighth.

    >>> chain = [Link(i, i + 1, 1.0, 2, False) for i in range(1, 5)]
    >>> def ahead(nodes): return [link for link in chain if link.source in nodes]
    >>> found = spread({1: 1.0}, ahead, Spreading(damping=0.0))
    >>> [found[node].activation for node in (1, 2, 3, 4)], 5 in found
    ([1.0, 0.5, 0.25, 0.125], False)
    >>> list(spread({1: 1.0}, ahead, Spreading(damping=0.0, threshold=0.15)))
    [1, 2, 3]
    """
    reached = {node: Reached(seeds[node], 0, None) for node in sorted(seeds)}
    frontier = list(reached)
    for hop in range(1, spreading.hops + 1):
        if not frontier:
            break
        risen: dict[int, Reached] = {}
        for link in links(frontier):
            received = _received(reached[link.source].activation, link, spreading)
            held = reached.get(link.target)
            if received is None or (held is not None and received <= held.activation):
                continue
            best = risen.get(link.target)
            if best is None or (-received, link.source) < (-best.activation, best.via):
                risen[link.target] = Reached(received, hop, link.source)
        frontier = sorted(risen)
        reached.update((node, risen[node]) for node in frontier)
    return reached


def _received(activation: float, link: Link, spreading: Spreading) -> float | None:
    """What arrives over ``link``, or None if that is nothing, or below what the target needs."""
    fan = max(link.degree, 1) ** -spreading.damping
    received = activation * (min(link.strength, 1.0) * spreading.decay * fan)
    needed = spreading.threshold * (spreading.dormant if link.dormant else 1.0)
    return received if 0 < received >= needed else None


def path(reached: Mapping[int, Reached], node: int) -> list[int]:
    """The nodes from a seed to ``node``, along which its activation came.

    It cannot run in a circle. No edge passes on more than it gets, so along ``via`` activation
    never falls on the way back to the seed; and a node took its ``via`` only by rising above what
    it held. In a circle all would hold the same, and the one that rose last had risen to a value
    that it already held.

    If the way to a node on the path was improved in the very last hop, that better way is shown.

    Args:
        reached: What ``spread`` found.
        node: One of its nodes.

    >>> path({1: Reached(1.0, 0, None), 5: Reached(0.5, 1, 1), 3: Reached(0.2, 2, 5)}, 3)
    [1, 5, 3]
    """
    back = [node]
    while (before := reached[back[-1]].via) is not None:
        back.append(before)
    return back[::-1]
