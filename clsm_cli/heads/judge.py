"""What the heads say of a document or chat: its role, and of each unit what it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.heads import classifier
from clsm_cli.heads.document_features import document_features
from clsm_cli.heads.unit_features import unit_features
from clsm_cli.heads.units import units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.heads.unit_features import Unit
    from clsm_cli.model.episodes import Turn

ROLES = ("log", "living", "instruction", "reference", "list")
ABOUT = (*ROLES, "owner", "template")
"""What a document may be, as inputs of the unit head; all zero for a chat."""


class Weighed(NamedTuple):
    """A unit and what it is likely to be.

    Attributes:
        unit: The unit.
        chances: Probabilities of ``noise``, ``keep`` (useful weeks later), ``alone`` and ``with
            headings`` (understood so), and of each kind.
    """

    unit: Unit
    chances: Mapping[str, float]


def about_document(turns: Sequence[Turn]) -> dict[str, float]:
    """The probability of each of ``ABOUT`` for a document that some turns are the blocks of."""
    return classifier.load("document").probabilities([document_features(turns)])[0]


def weighed(turns: Sequence[Turn], about: Mapping[str, float] | None) -> list[Weighed]:
    """The units of a document or chat with what they are worth.

    Args:
        turns: Its turns, in order.
        about: What ``about_document`` says of it; None for a chat.
    """
    found = units(turns)
    rows = [inputs_of(shape, about) for shape in unit_features(turns, found)]
    chances = classifier.load("unit").probabilities(rows)
    return [Weighed(unit, told) for unit, told in zip(found, chances, strict=True)]


def inputs_of(shape: list[float], about: Mapping[str, float] | None) -> list[float]:
    """The inputs of the unit head: a unit's shape and what its document is.

    >>> inputs_of([1.0], None)
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    """
    return [*shape, *(about.get(name, 0.0) if about else 0.0 for name in ABOUT)]
