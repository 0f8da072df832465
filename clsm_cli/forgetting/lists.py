"""Lists of a note that are about somebody as a whole, though one line alone has the name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.text.person_words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from clsm_cli.forgetting.person import Person
    from clsm_cli.model.episodes import Turn

MOST = 3
"""Words of a value that is a name and nothing more."""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s")
_LABELLED = re.compile(r"\s*(?:[-*+]\s+)?\**([^:\n]{1,40}?)\**:\**\s+(.+)\Z")


def is_item(turn: Turn) -> bool:
    """Whether a block is an item of a list."""
    return _ITEM.match(turn.text) is not None


def items(
    person: Person, turns: Sequence[Turn], gone: AbstractSet[str]
) -> Iterator[tuple[int, str]]:
    """Places of items of a list that is about somebody, and why it is.

    Either the list begins with a line that names them and ends with a colon, or one of its items
    gives the name by itself ("- Name: Piet").

    Args:
        person: Who goes.
        turns: In their order.
        gone: Keys of those that go.
    """
    for place, turn in enumerate(turns):
        if turn.key not in gone or not person.is_named_in(turn.text):
            continue
        if turn.text.rstrip().endswith(":") and not is_item(turn):
            for other in _onwards(turns, place + 1, 1):
                yield other, "in a list about them"
        label = _LABELLED.match(turn.text)
        value = label.group(2) if label else ""
        if label and person.is_named_in(value) and len(words_of(value)) <= MOST:
            for other in (*_onwards(turns, place, 1), *_onwards(turns, place, -1)):
                yield other, f"“{label.group(1)}” in the same list is their name"


def _onwards(turns: Sequence[Turn], place: int, step: int) -> Iterator[int]:
    """Items from a place on, of its list; a label that comes again begins another."""
    if not (place < len(turns) and is_item(turns[place])):
        return
    known: set[str] = set()
    heading = turns[place].heading
    while 0 <= place < len(turns) and is_item(turns[place]) and turns[place].heading == heading:
        label = _LABELLED.match(turns[place].text)
        if label and label.group(1) in known:
            return
        known |= {label.group(1)} if label else set()
        yield place
        place += step
