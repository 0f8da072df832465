"""The faults of a set: mended or left out, and said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container

SHOWN = 10
"""Places that a sentence names at most."""
_LONGEST = 80
"""Characters of a place."""


class Fault(NamedTuple):
    """A kind of fault and what is done about it, for one of them and for many."""

    one: str
    many: str


NO_GOLD = Fault(
    "query is left out, nothing that answers it is known",
    "queries are left out, nothing that answers them is known",
)
NO_CATEGORY = Fault("query has no category", "queries have no category")
NO_TEXT = Fault("turn without text is left out", "turns without text are left out")
TURN_TWICE = Fault(
    "turn has the id of another one and got one of its own",
    "turns have ids of others and got ones of their own",
)
CASE_TWICE = Fault(
    "conversation has the name of another one and got one of its own",
    "conversations have names of others and got ones of their own",
)
NO_QUERIES = Fault(
    "conversation without queries is left out", "conversations without queries are left out"
)


class Faults:
    """Collects the faults of a set.

    >>> faults = Faults()
    >>> faults.add(NO_CATEGORY, "26-3")
    >>> faults.sentences()
    ('1 query has no category: 26-3',)
    """

    def __init__(self) -> None:
        self._found: dict[Fault, list[str]] = {}

    def add(self, fault: Fault, where: str) -> None:
        """One more, with the id of what has it."""
        self._found.setdefault(fault, []).append(where)

    def unique(self, name: str, known: Container[str], fault: Fault, inside: str = "") -> str:
        """A name that is not known: the first that has it keeps it, others get a number.

        Args:
            name: As given.
            known: Names that are taken.
            fault: What it is when the name is taken.
            inside: Name of what this is a part of, to say where the fault is.

        >>> faults = Faults()
        >>> faults.unique("D1:2", {"D1:1"}, TURN_TWICE), faults.unique("D1:1", {"D1:1"}, TURN_TWICE)
        ('D1:2', 'D1:1~2')
        """
        if name not in known:
            return name
        number = 2
        while f"{name}~{number}" in known:
            number += 1
        self.add(fault, f"{inside} {name}~{number}".strip())
        return f"{name}~{number}"

    def sentences(self) -> tuple[str, ...]:
        """One sentence for each kind, in the order in which they were met."""
        return tuple(_sentence(fault, places) for fault, places in self._found.items())


def _sentence(fault: Fault, places: list[str]) -> str:
    shown = [each if len(each) <= _LONGEST else f"{each[:_LONGEST]}…" for each in places[:SHOWN]]
    more = [f"and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
    what = fault.one if len(places) == 1 else fault.many
    return f"{len(places)} {what}: {'; '.join([*shown, *more])}"
