"""A query with its limits and filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from clsm_cli.retrieval.dialogue_context import DialogueTurn
    from clsm_cli.store.index.ranking_queries import Filters


class Query(NamedTuple):
    """What is asked, and how much may come back.

    Attributes:
        now: ISO 8601 with offset.
        k: Turns, statements and windows of notes at most.
        budget: Text at most, in ``unit`` (tokens or characters).
        min_score: Confidence from 0 to 1 below which an item is left out; None: the setting.
        filters: Which memories may come back; None for all.
        as_of: Day or time at which it should have been true; relative expressions count from it.
        known_at: Day or time at which it should have been known; None for now.
        current: Messages of the current conversation, the oldest first.
        is_gated: Whether a message that needs no memory gets none.
        with_facts: Whether to tell, in a part of the budget, what holds of what it names.
        seed: Of the draw of weights from feedback; None: their means.
    """

    text: str
    now: str
    k: int
    budget: int
    unit: str = "tokens"
    min_score: float | None = None
    filters: Filters | None = None
    as_of: str | None = None
    known_at: str | None = None
    current: tuple[DialogueTurn, ...] = ()
    is_gated: bool = False
    with_facts: bool = False
    seed: str | None = None

    @property
    def at(self) -> str:
        """The time the question is about, if its words name none."""
        return self.as_of or self.known_at or self.now
