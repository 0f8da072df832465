"""What the comparison of presets says: data only, rendered elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clsm_cli.evaluation.report import Figures, Pair


@dataclass(frozen=True, slots=True)
class PresetRow:
    """One retrieval.

    Attributes:
        figures: Group (``all``, a category) → measure → mean over its queries: precision, recall,
            f1 and coverage of the first ten concepts, how many there were, and of what was
            returned to read the share of the evidence in it and its tokens.
        covered: Queries with at least one gold concept.
        ratio: F1 of the default as a multiple of this one's; None where that is 0.
    """

    name: str
    figures: dict[str, Figures]
    covered: int
    ratio: float | None


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One query, and F1 of its concepts by retrieval."""

    id: str
    category: str
    f1: dict[str, float]


@dataclass(frozen=True, slots=True)
class PresetsReport:
    """Published retrievals and the default on one memory.

    Attributes:
        data: Sizes of the set.
        rows: The default first.
        pairs: For each preset what the default gives more, query by query.
    """

    data: dict[str, int]
    rows: tuple[PresetRow, ...]
    pairs: tuple[Pair, ...]
    queries: tuple[QueryRow, ...]
