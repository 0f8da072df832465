"""Rank single passages with the shipped weights, and with weights fitted on the other cases.

What ``recall`` makes of a ranking, windows and statements, is left out here: this is how well the
signals alone put the evidence first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from clsm_cli.evaluation.measures import Retrieved, passage_item
from clsm_cli.retrieval.answer import Signals
from clsm_cli.retrieval.ranking import signal_weights
from clsm_cli.retrieval.recall import Query as Asking
from clsm_cli.retrieval.recall import retrieve_passages
from clsm_cli.store.index.opening import open_index
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from clsm_cli.config import RecallSettings
    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Query, Unit
    from clsm_cli.evaluation.measures import Item
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.ranking import Ranked
    from clsm_cli.store.index.index_queries import Index

    Floats = NDArray[np.float64]
    Sample = tuple[Floats, Sequence[int]]
    """The candidates of one question, float64 [candidates, signals], and the places of the gold ones."""
    Weights = dict[str, Floats]
    """Case → weights in the order of ``SIGNALS``."""


SIGNALS: tuple[str, ...] = Signals._fields
"""The signals of a candidate, in the order of its row of ``CandidateTable.signals``."""
NOT_CONTENT = frozenset({"participant", "date", "temporal", "question"})
"""Signals that look at who, when and the form of a sentence, not at what it says."""
ITEMS = 50
"""Items of an answer that are looked at."""
UNLIMITED = 1 << 30
"""Tokens."""
MOST = 200
"""Items of a ranking."""


@dataclass(frozen=True, eq=False)
class CandidateTable:
    """All candidates of one query, in order of time, then of their ids.

    Attributes:
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

    def gold(self, query: Query, unit: Unit) -> tuple[int, ...]:
        """Places of the candidates that hold evidence."""
        return tuple(
            place
            for place, item in enumerate(self.items)
            if any(item.holds(piece, unit) for piece in query.gold)
        )


class QueryRunner:
    """Puts queries to one store; nothing is written. ``unit`` is what evidence is named by."""

    def __init__(self, index: Index, settings: RecallSettings, engine: Engine, unit: Unit) -> None:
        self._index, self._settings, self._engine, self._unit = index, settings, engine, unit
        self._known: dict[int, tuple[str, Item]] = {}

    def find(self, text: str, at: str) -> Ranked:
        """What retrieval finds for a query that is asked at an ISO time."""
        query = Asking(text, at, ITEMS, UNLIMITED)
        return retrieve_passages(self._index, query, self._engine, self._settings).ranked

    def run(self, ranked: Ranked) -> CandidateTable:
        """All candidates of one query, as a table."""
        import numpy as np

        new = [each.row for each in ranked.candidates if each.row not in self._known]
        for row, passage in self._index.passages(new).items():
            item = passage_item(passage, tokens.count_tokens(passage.text))
            self._known[row] = passage.time or "", item
        found = sorted(
            ranked.candidates,
            key=lambda each: (self._known[each.row][0], self._known[each.row][1].id),
        )
        items = tuple(self._known[each.row][1] for each in found)
        measured = np.array([each.signals for each in found], dtype=np.float64)
        return CandidateTable(
            items=items,
            units=tuple(each.day if self._unit == "day" else each.turns[0] for each in items),
            signals=measured.reshape(-1, len(SIGNALS)),
            confidence=ranked.confidence,
        )


RIDGE = 1e-3
"""Pull of the weights to 0 per question; keeps a signal that never varies from having any weight."""
STEPS = 30
"""Newton steps at most; about eight are needed."""


def fit(samples: Sequence[Sample], frozen: Sequence[int] = ()) -> Floats:
    """The weights w, float64 [signals], under which gold candidates are likeliest to be chosen.

    Each question is a choice among its candidates x_i, p_i = exp(w·x_i) / Σ_j exp(w·x_j), and

        L(w) = Σ_questions mean_gold log p_g − ½ · ridge · questions · |w|²

    is concave, so Newton's method finds its one maximum whatever the start (McFadden 1974; as a
    ranking loss, ListNet's top-one likelihood, Cao et al. 2007). Its gradient is Σ (x̄_gold − E_p x),
    its Hessian −Σ Cov_p(x); exponents are shifted by their maximum.

    >>> import numpy as np
    >>> steep = np.array([[1.0, 0.0], [0.0, 0.0]]), (0,)
    >>> weights = fit([steep] * 10)
    >>> bool(weights[0] > 1), float(weights[1])
    (True, 0.0)
    """
    import numpy as np

    width = samples[0][0].shape[1]
    free = [at for at in range(width) if at not in frozen]
    sizes = np.array([len(signals) for signals, _ in samples])
    table = np.concatenate([signals[:, free] for signals, _ in samples])
    gold = np.stack([signals[list(places)][:, free].mean(axis=0) for signals, places in samples])
    starts, owner = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(samples)), sizes)
    ridge = RIDGE * len(samples)

    def look(weights: Floats) -> tuple[float, Floats, Floats]:
        """L, its gradient, and its Hessian negated."""
        scores = table @ weights
        highest = np.maximum.reduceat(scores, starts)
        shares = np.exp(scores - highest[owner])
        totals = np.add.reduceat(shares, starts)
        value = (gold @ weights - np.log(totals) - highest).sum() - ridge / 2 * (weights @ weights)
        weighted = table * (shares / totals[owner])[:, None]
        means = np.add.reduceat(weighted, starts)
        curvature = weighted.T @ table - means.T @ means + ridge * np.eye(len(free))
        return float(value), (gold - means).sum(axis=0) - ridge * weights, curvature

    weights = np.zeros(len(free))
    for _ in range(STEPS):
        value, gradient, curvature = look(weights)
        step = np.linalg.solve(curvature, gradient)
        while look(weights + step)[0] < value and np.abs(step).max() > 1e-9:
            step /= 2
        weights = weights + step
        if np.abs(step).max() < 1e-6:
            break
    found = np.zeros(width)
    found[free] = weights
    return found


def shipped_weights(asked: Sequence[AskedCase], left_out: Collection[str] = ()) -> Weights:
    """The weights in the settings of each store; of some signals 0 instead."""
    import numpy as np

    kept = np.array([name not in left_out for name in SIGNALS])
    return {
        each.bench.case.name: np.array(signal_weights(each.bench.raw.settings.recall)) * kept
        for each in asked
    }


def leave_one_out(asked: Sequence[AskedCase], frozen: Collection[str] = ()) -> Weights:
    """Weights for each case, fitted on the queries of all others (``fit``).

    Signals without a shipped weight get none, nor do ``frozen`` ones. Empty where fewer than two
    cases have queries with gold among their candidates: others teach nothing.
    """
    samples = {each.bench.case.name: each.samples for each in asked}
    if sum(map(bool, samples.values())) < 2:
        return {}
    shipped = list(shipped_weights(asked, frozen).values())
    places = [place for place in range(len(SIGNALS)) if not any(row[place] for row in shipped)]
    return {
        left_out: fit(
            [one for name in samples if name != left_out for one in samples[name]], places
        )
        for left_out in samples
    }


@dataclass(frozen=True, eq=False)
class AskedCase:
    """A case, some of its queries, and the candidates of each."""

    bench: Bench
    queries: tuple[Query, ...]
    runs: tuple[CandidateTable, ...]

    @cached_property
    def samples(self) -> list[Sample]:
        """What weights can be fitted to: the queries that have gold among their candidates."""
        unit = self.bench.dataset.unit
        pairs = zip(self.queries, self.runs, strict=True)
        return [(run.signals, gold) for query, run in pairs if (gold := run.gold(query, unit))]


def ask_all(benches: Sequence[Bench], queries: Sequence[Sequence[Query]]) -> list[AskedCase]:
    """The candidates of all queries, one case after the other."""
    return [
        AskedCase(bench, tuple(those), tuple(_ask(bench, those)))
        for bench, those in zip(benches, queries, strict=True)
    ]


def _ask(bench: Bench, queries: Sequence[Query]) -> Iterator[CandidateTable]:
    with open_index(bench.raw, bench.factory.embedder) as opened:
        asker = QueryRunner(
            opened.index, bench.raw.settings.recall, bench.engine, bench.dataset.unit
        )
        for number, query in enumerate(queries):
            bench.factory.progress(f"passages of {bench.case.name}", number, len(queries))
            yield asker.run(asker.find(query.text, bench.time_of(query)))


SHIPPED, CONTENT = "clsm ranking", "clsm content"
REFIT, REFIT_CONTENT = "clsm refit", "clsm content refit"
"""Single passages by the shipped weights, or by some fitted on the other cases; ``CONTENT``: without
the signals of who, when and the form of a sentence."""


def rank_asked(asked: Sequence[AskedCase]) -> dict[str, list[list[Retrieved]]]:
    """The rankings of all queries by each system that there are weights for, by case."""
    systems = {
        SHIPPED: shipped_weights(asked),
        CONTENT: shipped_weights(asked, NOT_CONTENT),
        REFIT: leave_one_out(asked),
        REFIT_CONTENT: leave_one_out(asked, NOT_CONTENT),
    }
    return {
        name: [
            [
                run.ranked(weights[each.bench.case.name])
                if query.gold
                else Retrieved((), confidence=run.confidence)
                for query, run in zip(each.queries, each.runs, strict=True)
            ]
            for each in asked
        ]
        for name, weights in systems.items()
        if weights
    }
