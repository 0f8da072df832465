"""A case with its store, ready to be asked; and what a system is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import process_time
from typing import TYPE_CHECKING, Protocol

from clsm_cli.evaluation.dataset import Chat
from clsm_cli.evaluation.remembering import Remembering

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from clsm_cli.evaluation.dataset import Case, Dataset, Query
    from clsm_cli.evaluation.retrieved import Retrieved
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.layout import Store


@dataclass(frozen=True, eq=False)
class Bench:
    """One case, its stores made.

    Attributes:
        store: Consolidated, as a user's is; what is asked. Never written by who asks.
        raw: The same as it was ingested; the store itself for one that was there already.
        now: When it is asked, unless a query says otherwise.
        whole: Tokens of what an agent without a memory would load: the whole conversation, or
            its static files (SOUL, USER, MEMORY and the last two daily notes).
    """

    dataset: Dataset
    case: Case
    store: Store
    raw: Store
    now: datetime
    whole: int
    shop: Workshop
    engine: Engine

    def clock(self) -> float:
        """Processor seconds, to measure a query by."""
        return self.engine.clock() if isinstance(self.engine, Remembering) else process_time()

    @cached_property
    def told(self) -> dict[str, str]:
        """Id → text of each turn of a conversation; of notes the labels are not of turns."""
        source = self.case.source
        return {turn.id: turn.text for turn in source.turns} if isinstance(source, Chat) else {}

    def time_of(self, query: Query) -> str:
        """ISO time at which a query is asked."""
        return query.at or self._now

    @cached_property
    def _now(self) -> str:
        return self.now.isoformat()


class System(Protocol):
    """A way to answer queries.

    Attributes:
        name: As in tables.
        about: What it is, in one line, with the values of its parameters; two systems of one name
            that answer differently differ in it.
    """

    @property
    def name(self) -> str:
        """As in tables."""
        ...

    @property
    def about(self) -> str:
        """What it is."""
        ...

    def ask(self, bench: Bench, queries: Sequence[Query]) -> Iterator[Retrieved]:
        """What it returns for each query, in turn; the same for the same store and query."""
        ...
