"""What the heads say of a document or chat: its role, and of each unit what it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from clsm_cli.heads import classifier
from clsm_cli.heads.document_features import document_features
from clsm_cli.heads.unit_features import unit_features
from clsm_cli.heads.units import units

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clsm_cli.heads.unit_features import Unit
    from clsm_cli.model.episodes import Turn

ROLES = ("log", "living", "instruction", "reference", "list")
ABOUT = (*ROLES, "owner", "template")
"""What a document may be, as inputs of the unit head; all zero for a chat."""
DIMENSIONS = 384
"""Numbers of what a unit's words mean (``embedding/words``); zeros where the model is not there."""
Meanings: TypeAlias = "Callable[[Sequence[str]], Sequence[Sequence[float]]]"
UNKNOWN = (0.0,) * DIMENSIONS


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


def weighed(
    turns: Sequence[Turn],
    about: Mapping[str, float] | None,
    words: Meanings | None = None,
) -> list[Weighed]:
    """The units of a document or chat with what they are worth.

    Args:
        turns: Its turns, in order.
        about: What ``about_document`` says of it; None for a chat.
        words: What the words of texts mean, ``DIMENSIONS`` numbers each; None without the model.
    """
    found = units(turns)
    shapes = unit_features(turns, found)
    texts = [turns[unit.turn].text[unit.start : unit.end] for unit in found]
    known = words(texts) if words else [UNKNOWN] * len(texts)
    rows = [inputs_of(*row, about) for row in zip(shapes, known, strict=True)]
    chances = classifier.load("unit").probabilities(rows)
    return [Weighed(unit, told) for unit, told in zip(found, chances, strict=True)]


def inputs_of(
    shape: Sequence[float], words: Sequence[float], about: Mapping[str, float] | None
) -> list[float]:
    """The inputs of the unit head: a unit's shape, what its document is, what its words mean.

    >>> inputs_of([1.0], [0.5], None)
    [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5]
    """
    return [*shape, *(about.get(name, 0.0) if about else 0.0 for name in ABOUT), *words]
