"""The one place of the evaluation that knows retrieval: a question in, its candidates out."""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.retrieval import signals
from clsm_cli.retrieval.finding import find
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store.index.opening import open_index
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.index.passages import Passage
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


@dataclass(frozen=True, eq=False)
class Run:
    """All candidates of one question, in order of time.

    Attributes:
        units: int32 [n], place of the candidate's unit in ``Asker.units``.
        costs: int32 [n], tokens of its text.
        signals: float64 [n, len(SIGNALS)], each 0 … 1.
        bm25: float64 [n], raw; 0 without a common word.
        cosine: float64 [n], to the question without the names of speakers; nan without a vector.
        confidence: Of the answer.
    """

    units: NDArray[np.int32]
    costs: NDArray[np.int32]
    signals: Floats
    bm25: Floats
    cosine: Floats
    confidence: float


def weights(settings: RecallSettings) -> tuple[float, ...]:
    """The shipped weights in the order of ``SIGNALS``."""
    return tuple(signals.weights(settings))


def floor(settings: RecallSettings) -> float:
    """The confidence below which an item, or a whole answer, is left out."""
    return settings.floor


def without_names(text: str, names: Sequence[str]) -> str:
    """A question without some people's names.

    >>> without_names("When did Caroline's cat meet Mel?", ["Caroline", "Mel"])
    'When did cat meet ?'
    """
    words = "|".join(re.escape(word) for name in names for word in name.split())
    found = re.sub(rf"\b(?:{words})\b(?:['’]s)?", " ", text, flags=re.IGNORECASE)
    return " ".join(found.split())


class Asker:
    """Puts questions to one store.

    Args:
        index: Of the store, fresh.
        unit_of: A passage → the unit that labels name; None for a passage that does not count.
        engine: Makes the vectors of questions.
        now: When they are asked.
    """

    def __init__(
        self,
        index: Index,
        unit_of: Callable[[Passage], str | None],
        engine: Engine,
        now: datetime,
    ) -> None:
        self.units: dict[str, int] = {}
        self.texts: list[str] = []
        self._index = index
        self._unit_of = unit_of
        self._engine = engine
        self._now = now.isoformat()
        self._known: dict[int, _Known | None] = {}
        self._learn(index.current_rows())

    def ask(self, text: str) -> Run:
        """Rank the store for a question; nothing is written."""
        import numpy as np

        settings = self._index.store.settings.recall
        query = Query(text, self._now, ITEMS, UNLIMITED)
        ranked = find(self._index, query, self._engine, settings, has_model=True).ranked
        self._learn([candidate.row for candidate in ranked.candidates])
        pairs = [(known, c) for c in ranked.candidates if (known := self._known[c.row])]
        pairs.sort(key=lambda pair: pair[0])
        evidence = [c.evidence for _, c in pairs]
        measured = np.array([c.signals for _, c in pairs], dtype=np.float64)
        return Run(
            units=np.array([known.unit for known, _ in pairs], dtype=np.int32),
            costs=np.array([known.cost for known, _ in pairs], dtype=np.int32),
            signals=measured.reshape(-1, len(SIGNALS)),
            bm25=np.array([each.bm25 for each in evidence], dtype=np.float64),
            cosine=np.array([each.cosine for each in evidence], dtype=np.float64),
            confidence=ranked.confidence,
        )

    def _learn(self, rows: Sequence[int]) -> None:
        """Look at passages that were not met yet."""
        new = [row for row in rows if row not in self._known]
        for row, passage in self._index.passages(new).items():
            unit = self._unit_of(passage)
            if unit is None:
                self._known[row] = None
                continue
            place = self.units.setdefault(unit, len(self.units))
            if place == len(self.texts):
                self.texts.append(passage.text)
            cost = tokens.count_tokens(passage.text)
            self._known[row] = _Known(passage.time or "", passage.id, place, cost)


class _Known(NamedTuple):
    """A passage that counts; ordered by time, then id."""

    time: str
    id: str
    unit: int
    cost: int


@contextlib.contextmanager
def asking(
    store: Store,
    unit_of: Callable[[Passage], str | None],
    embedder: Embedder,
    engine: Engine,
    now: datetime,
) -> Iterator[Asker]:
    """Open a store for questions."""
    with open_index(store, embedder) as opened:
        yield Asker(opened.index, unit_of, engine, now)


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
