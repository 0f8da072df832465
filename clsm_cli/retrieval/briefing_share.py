"""The sections of a briefing under one budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval.answer import Budget, Dropped
from clsm_cli.scoring import transport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clsm_cli.retrieval.briefing import Item

SECTIONS = ("now", "due", "lately", "tasks", "rules", "who", "concepts")
"""In the order in which they are read."""
STREAM = {
    "now": "flow",
    "due": "tasks",
    "lately": "flow",
    "tasks": "tasks",
    "rules": "projects",
    "who": "identity",
    "concepts": "projects",
}
"""The stream whose means a section is meant for."""
STREAMS = tuple(transport.PRESERVATION)
CROSS = {
    frozenset(("identity", "projects")): 0.15,
    frozenset(("identity", "tasks")): 0.05,
    frozenset(("identity", "flow")): 0.02,
    frozenset(("projects", "tasks")): 0.30,
    frozenset(("projects", "flow")): 0.10,
    frozenset(("tasks", "flow")): 0.15,
}
"""Affinity of two streams (Smriti); 1 of a stream to itself."""
NEED = {"now": 8.0, "lately": 4.0, "concepts": 4.0}
"""Odds by which a section is rather kept than others, which have 1 (own choice): it is short, and
what the session goes on from."""
ROUND = ("now", "due", "concepts", "lately", "rules", "tasks", "who")
"""Who may use what the others left, in this order."""


def share_out(
    sections: Mapping[str, Sequence[Item]], limit: int, unit: str
) -> tuple[dict[str, int], dict[str, list[Item]], Budget]:
    """Fill every section, best items first, with its share of the budget.

    The streams' means are as their demand, the size of their sections (at most the whole budget)
    times their preservation ratio; ``scoring.transport`` carries them to the sections. What no
    whole item of a section fits into goes to the others.

    Args:
        sections: Items by section, best first.
        limit: What all items may have together.
        unit: tokens or characters.

    Returns:
        Shares and chosen items by section, and the budget with what was cut.
    """

    def size(item: Item) -> int:
        return item.tokens if unit == "tokens" else len(item.text)

    names = [name for name in SECTIONS if sections.get(name)]
    sizes = [sum(map(size, sections[name])) for name in names]
    demands = [
        min(limit, sum(s for name, s in zip(names, sizes, strict=True) if STREAM[name] == stream))
        * transport.PRESERVATION[stream]
        for stream in STREAMS
    ]
    affinity = [
        [NEED.get(name, 1.0) * _affinity(STREAM[name], each) for each in STREAMS] for name in names
    ]
    budgets = transport.share(sizes, demands, affinity, limit).budgets
    shares = dict(zip(names, budgets, strict=True))
    chosen: dict[str, set[int]] = {name: set() for name in names}
    room = dict(shares)
    for name in names:
        room[name] -= _fill(sections[name], chosen[name], room[name], size)
    left = sum(room.values())
    for name in sorted(names, key=ROUND.index):
        left -= _fill(sections[name], chosen[name], left, size)
    kept = {
        name: [each for place, each in enumerate(sections[name]) if place in chosen[name]]
        for name in names
    }
    dropped = tuple(
        Dropped(each.id, each.tokens, "budget")
        for name in names
        for place, each in enumerate(sections[name])
        if place not in chosen[name]
    )
    used = sum(size(each) for items in kept.values() for each in items)
    return shares, kept, Budget(limit, used, unit, dropped)


def _fill(items: Sequence[Item], chosen: set[int], room: int, size: Callable[[Item], int]) -> int:
    """Choose what still fits, best first; returns how much that is."""
    used = 0
    for place, item in enumerate(items):
        if place not in chosen and used + size(item) <= room:
            chosen.add(place)
            used += size(item)
    return used


def _affinity(one: str, other: str) -> float:
    return 1.0 if one == other else CROSS[frozenset((one, other))]
