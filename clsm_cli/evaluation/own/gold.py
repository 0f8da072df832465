"""What labels name, looked up in the store: memories, turns and concepts."""

from __future__ import annotations

import re
from collections import Counter
from difflib import get_close_matches
from typing import TYPE_CHECKING

from clsm_cli.evaluation.dataset import key, keys
from clsm_cli.forgetting import memory
from clsm_cli.model.graph import Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.forgetting.memory import Memory
    from clsm_cli.store.layout import Store

_PART = re.compile(r"(?<=\A[0-9a-f]{12})-[0-9]+\Z")
"""A part of a long turn stands for the whole turn."""
_TIME = "9999-12-31T23:59:59Z"
"""UTC time at which hand edits are thought to be settled; nothing is written."""


class Known:
    """What a store holds, by every name that a label may use.

    Args:
        held: The store, whole.
    """

    def __init__(self, held: Memory) -> None:
        self._held = held
        foreign = [told.turn.foreign_id for told in held.told.values()]
        self._often = Counter(each for each in foreign if each is not None)
        self._turns = {
            told.turn.foreign_id: turn
            for turn, told in held.told.items()
            if told.turn.foreign_id is not None and self._often[told.turn.foreign_id] == 1
        }
        self._names = {
            record.id: keys((record.id, record.label, *record.aliases))
            for record in held.records.values()
            if isinstance(record, Node)
        }

    def piece(self, name: str) -> str | None:
        r"""The piece of evidence that the id of a memory or a turn stands for; None: unknown.

        A turn goes by its key and, where no other has it, by the id it came with. A statement is
        shown by what it rests on as well: its words came from there.

        Returns:
            Ids, each with a newline behind it; see ``dataset.Unit``.
        """
        bare = _PART.sub("", name)
        statement = self._held.statements.get(bare)
        turns = (bare,) if statement is None else statement.sources
        ids = [] if statement is None else [statement.id]
        for turn in turns:
            ids += self._of_turn(turn)
        return "".join(f"{each}\n" for each in dict.fromkeys(ids)) or None

    def _of_turn(self, name: str) -> list[str]:
        turn = name if name in self._held.told else self._turns.get(name)
        if turn is None:
            return []
        foreign = self._held.told[turn].turn.foreign_id
        return [turn, foreign] if foreign is not None and self._often[foreign] == 1 else [turn]

    def concept(self, name: str) -> frozenset[str] | None:
        """The keys of all names of the node that a name stands for; None: there is no such node."""
        wanted = key(name)
        return next((names for names in self._names.values() if wanted in names), None)

    def like(self, name: str) -> str:
        """The node whose id is nearest to a name that none has; empty: none is near."""
        return next(iter(get_close_matches(name.casefold(), sorted(self._names), 1)), "")


def known(store: Store) -> Known:
    """What a store holds, by name."""
    return Known(held(store))


def held(store: Store) -> Memory:
    """What a store holds."""
    return memory.read(store, _TIME)


def distinct(pieces: Iterable[str]) -> tuple[str, ...]:
    r"""Pieces of ids without those that another one makes needless.

    Whoever shows a turn shows a statement that rests on it, so a label that names both names one.

    >>> distinct(["s\nt\n", "t\n", "u\n"])
    ('t\n', 'u\n')
    """
    listed = list(dict.fromkeys(pieces))
    sets = [frozenset(piece.split()) for piece in listed]
    return tuple(
        piece
        for place, piece in enumerate(listed)
        if not any(other < sets[place] for other in sets) and sets[place] not in sets[:place]
    )
