"""What is returned for a found passage: a turn as it is, a block as a readable window.

A block is what a note is best ranked by, a section what it is best read by; a window of about 450
characters (``recall.window``) round the block is near both in recall by item. By token single blocks
hold more evidence, so a small budget has smaller windows, or none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

LONGEST = 1600
"""Characters a window may have to show a numbered list whole: its steps belong together."""
LISTS = 4
"""Times its length that a window may have for that, where this is less."""
PARTS = 16
"""Parts of a budget of which a window has one at most: what stands round one item costs others theirs."""
_STEP = re.compile(r"\d{1,3}[.)]\s")


def window_limit(most: int, budget: int, unit: str) -> int:
    """Characters to which a window grows within a budget.

    >>> window_limit(450, 2000, "tokens"), window_limit(450, 1000, "tokens"), window_limit(450, 1000, "characters")
    (450, 250, 62)
    """
    characters = 4 * budget if unit == "tokens" else budget
    return min(most, characters // PARTS)


def window_passages(
    index: Index, row: int, passage: Passage, taken: Collection[str], length: int
) -> list[Passage]:
    """The passages that are shown for one: itself, and for a block its neighbours in the section.

    Args:
        length: Characters a window grows to; 0: there are none.

    Returns:
        In the order of the note; the passage alone if it is no current block.
    """
    if passage.document is None or not passage.current or not length:
        return [passage]
    section = index.section(row)
    place = next((i for i, other in enumerate(section) if other.id == passage.id), None)
    if place is None:
        return [passage]
    start, end = grow_window(
        [len(other.text) for other in section], place, _blocked(section, taken), length
    )
    start, end = _with_whole_lists(section, place, start, end, min(LONGEST, LISTS * length))
    return [other for other in section[start:end] if other.id not in taken]


def _with_whole_lists(
    section: Sequence[Passage], place: int, start: int, end: int, most: int
) -> tuple[int, int]:
    """Widen a window to the numbered lists that it cuts, unless they are too long."""
    for edge in (start, end - 1):
        first, last = numbered_run(section, edge)
        wide = min(start, first), max(end, last)
        if sum(len(other.text) for other in section[slice(*wide)]) <= most:
            start, end = wide
        elif last <= place:
            start = max(start, last)
        elif first > place:
            end = min(end, first)
    return start, end


def _blocked(section: Sequence[Passage], taken: Collection[str]) -> set[int]:
    return {i for i, other in enumerate(section) if other.id in taken}


def grow_window(
    lengths: Sequence[int], place: int, blocked: Collection[int], most: int
) -> tuple[int, int]:
    """Grow a window from one block, below and above in turn.

    Returns:
        First block, and the one after the last.

    >>> grow_window([200, 100, 100, 300], 1, (), 450)
    (0, 3)
    """
    start, end, size = place, place + 1, lengths[place]
    below = above = True
    while below or above:
        below = below and end < len(lengths) and end not in blocked
        below = below and size + lengths[end] <= most
        if below:
            size += lengths[end]
            end += 1
        above = above and start > 0 and start - 1 not in blocked
        above = above and size + lengths[start - 1] <= most
        if above:
            start -= 1
            size += lengths[start]
    return start, end


def numbered_run(section: Sequence[Passage], place: int) -> tuple[int, int]:
    """The run of numbered items that a block is one of: first, and the one after the last."""
    if not _STEP.match(section[place].text):
        return place, place + 1
    start, end = place, place + 1
    while start > 0 and _STEP.match(section[start - 1].text):
        start -= 1
    while end < len(section) and _STEP.match(section[end].text):
        end += 1
    return start, end
