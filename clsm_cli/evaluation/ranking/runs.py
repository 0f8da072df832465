"""A query in, its candidates out: every passage that retrieval looked at, with its signals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.evaluation.retrieved import Retrieved, of_passage
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval import signals
from clsm_cli.retrieval.finding import find
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.config import RecallSettings
    from clsm_cli.evaluation.dataset import Unit
    from clsm_cli.evaluation.retrieved import Item
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.retrieval.ranking import Ranked
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store

    Floats = NDArray[np.float64]

SIGNALS: tuple[str, ...] = signals.Signals._fields
"""The signals of a candidate, in the order of its row of ``Run.signals``."""
NOT_CONTENT = frozenset({"participant", "date", "temporal", "question"})
"""Signals that look at who, when and the form of a sentence, not at what it says."""
ITEMS = 50
"""Items of an answer that are looked at."""
UNLIMITED = 1 << 30
"""Tokens."""
MOST = 200
"""Items of a ranking."""


@dataclass(frozen=True, eq=False)
class Run:
    """All candidates of one query, in order of time, then of their ids.

    Attributes:
        items: Of each candidate.
        units: What each stands for: parts of a turn for the turn, and where days are asked for its
            turns for the day.
        signals: float64 [candidates, len(SIGNALS)], each 0 … 1.
        confidence: That any is relevant.
    """

    items: tuple[Item, ...]
    units: tuple[str, ...]
    signals: Floats
    confidence: float

    def ranked(self, weights: Floats) -> Retrieved:
        """The first 200 units by Σ weight · signal; each by its best candidate, ties by time."""
        import numpy as np

        found: dict[str, Item] = {}
        for place in np.argsort(-(self.signals @ weights), kind="stable").tolist():
            found.setdefault(self.units[place], self.items[place])
            if len(found) == MOST:
                break
        return Retrieved(tuple(found.values()), confidence=self.confidence)

    def nothing(self) -> Retrieved:
        """What is returned for a query without evidence: how sure the ranking is, and no item."""
        return Retrieved((), confidence=self.confidence)


def weights(settings: RecallSettings) -> tuple[float, ...]:
    """The shipped weights in the order of ``SIGNALS``."""
    return tuple(signals.weights(settings))


class Asker:
    """Puts queries to one store; nothing is written.

    Args:
        index: Of the store, fresh.
        settings: How it is asked.
        engine: Makes the vectors of queries.
        unit: What evidence is named by.
    """

    def __init__(self, index: Index, settings: RecallSettings, engine: Engine, unit: Unit) -> None:
        self._index = index
        self._settings = settings
        self._engine = engine
        self._unit = unit
        self._known: dict[int, _Known] = {}

    def find(self, text: str, at: str) -> Ranked:
        """What retrieval finds for a query that is asked at an ISO time."""
        query = Query(text, at, ITEMS, UNLIMITED)
        return find(self._index, query, self._engine, self._settings, has_model=True).ranked

    def run(self, ranked: Ranked) -> Run:
        """All candidates of what was found."""
        import numpy as np

        self._learn([candidate.row for candidate in ranked.candidates])
        pairs = sorted(
            ((self._known[candidate.row], candidate.signals) for candidate in ranked.candidates),
            key=lambda pair: (pair[0].time, pair[0].item.id),
        )
        measured = np.array([values for _, values in pairs], dtype=np.float64)
        return Run(
            items=tuple(known.item for known, _ in pairs),
            units=tuple(known.unit for known, _ in pairs),
            signals=measured.reshape(-1, len(SIGNALS)),
            confidence=ranked.confidence,
        )

    def _learn(self, rows: Sequence[int]) -> None:
        """Look at passages that were not met yet."""
        new = [row for row in rows if row not in self._known]
        for row, passage in self._index.passages(new).items():
            item = of_passage(passage, tokens.count_tokens(passage.text))
            self._known[row] = _Known(passage.time or "", item, _unit_of(item, self._unit))


class _Known(NamedTuple):
    """A passage that was met."""

    time: str
    item: Item
    unit: str


def _unit_of(item: Item, unit: Unit) -> str:
    """What an item stands for; quotes may stand in any part of a turn, so there it is the part."""
    if unit == "quote":
        return item.id
    return item.day if unit == "day" else item.turns[0]


def answered(
    store: Store,
    questions: Iterable[str],
    embedder: Embedder,
    engine: Engine,
    now: datetime,
    items: int = ITEMS,
) -> list[Answer]:
    """What recall gives for some questions, without a limit of tokens or a trace."""
    queries = [Query(text, now.isoformat(), items, UNLIMITED) for text in questions]
    return list(recall(store, queries, engine, embedder))
