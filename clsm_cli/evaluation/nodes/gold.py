"""Which concepts belong to a question: those in the turns that answer it, and in its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import keys
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.nodes.inventory import Concept, Inventory

LEAST_GOLD = 2
"""Gold concepts of a question that counts."""


def names(concept: Concept) -> frozenset[str]:
    """The keys of all names of a concept: id, label and aliases."""
    return keys((node_id(concept.label), concept.label, *concept.aliases))


def pose(queries: Iterable[Query], inventory: Inventory) -> tuple[Query, ...]:
    """The questions with at least two gold concepts, labelled with these instead of with turns.

    Args:
        queries: Of one conversation, their gold the ids of turns.
        inventory: Its concepts.
    """
    held: dict[str, list[Concept]] = {}
    for concept in inventory.concepts:
        for turn in concept.turns:
            held.setdefault(turn, []).append(concept)
    posed = []
    for query in queries:
        named = inventory.found_in(query.text)
        answer = inventory.found_in(query.answer)
        gold = answer.union(each.stems for turn in query.gold for each in held.get(turn, ()))
        if len(gold) >= LEAST_GOLD:
            found = [each for each in inventory.concepts if each.stems in gold]
            told = tuple(names(each) for each in found if each.stems in answer - named)
            concepts = tuple(map(names, found))
            posed.append(query._replace(gold=(), concepts=concepts, told=told))
    return tuple(posed)
