"""Packing a briefing into a budget: the most useful for its size, from as many threads as possible."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from clsm_cli.retrieval.answer import Budget, Dropped
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.tokens import count_tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.briefing import Item

DENSITY = 0.5
"""Power of an item's size that its worth is divided by: 1 fills a budget with fragments, 0 with
paragraphs. This and the next: chosen on labelled workspaces, docs/experiments.md."""
AGAIN = 0.7
"""Share of its worth that each further item of one section of a file has."""


class Candidate(NamedTuple):
    """An item with its section, what it is worth now, and the thread it is part of."""

    item: Item
    section: str
    value: float
    thread: str


def pack(found: Sequence[Candidate], limit: int, unit: str) -> tuple[dict[str, list[Item]], Budget]:
    """Choose what fits, the best first; each further item of a thread is worth less.

    Returns:
        The chosen items by section, best first, and the budget with what was cut.
    """

    def size(each: Candidate) -> int:
        """Of the item, and of its heading and its file's name where these are not shown yet."""
        item = each.item
        above = "" if (each.section, item.path) in shown else item.name
        above += "" if threads.get(each.thread) else f" {item.about}"
        if unit == "tokens":
            return item.tokens + count_tokens(above)
        return len(item.text) + len(above.strip())

    shown: set[tuple[str, str]] = set()
    threads: dict[str, int] = {}

    def score(place: int) -> float:
        each = found[place]
        told = AGAIN ** threads.get(each.thread, 0)
        return float(each.value * told / max(1, each.item.tokens) ** DENSITY)

    # What is told only lowers what is left, so the best is certain once its score is up to date.
    heap = [(-score(place), place) for place in range(len(found))]
    heapify(heap)
    kept: dict[str, list[Item]] = {}
    dropped: list[Dropped] = []
    used = 0
    while heap:
        known, place = heappop(heap)
        now = -score(place)
        if now > known:
            heappush(heap, (now, place))
            continue
        each = found[place]
        if used + size(each) > limit:
            dropped.append(Dropped(each.item.id, each.item.tokens, "budget"))
            continue
        used += size(each)
        shown.add((each.section, each.item.path))
        kept.setdefault(each.section, []).append(each.item)
        threads[each.thread] = threads.get(each.thread, 0) + 1
    return kept, Budget(limit, used, unit, tuple(dropped))
