"""A year of use, simulated: what forgetting costs in recall, and what it spares.

A labelled memory is made by the real ingest and consolidation, at the time of its last day. A
twentieth of its statements and of its episodes is pinned, drawn at random. Then, for 365 days, an
agent asks five questions a day through the real recall with the real touch, and ``decay`` runs every
seventh night, told what day it is. Nothing new is learnt, so what changes is due to forgetting alone.

What is asked follows Zipf's law with an exponent of 2, P(r) ~ 1/r^2, over the labelled queries in a
random order: of 45 the first is asked three times a day, the tenth once a month, and about nine not
once in the year (the need for a memory falls with a power of its rank: Anderson & Schooler 1991).

At the end of some months every labelled query is asked without a touch, as of that day. *Recall@10*
is the share of a query's quotes that stand in its first ten items. *Used or pinned* are the quotes
that an answer of the year has shown so far, or that a pinned memory holds; *never asked* those of
queries that were not asked so far, whether or not the answer to another query showed them. Each
group is compared with the first day over the same quotes. *Considered* are the passages that a query
is compared with: those that its first pass sees, and all once more where a second pass was taken.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from statistics import fmean
from typing import TYPE_CHECKING

from clsm_cli.consolidation.pin import pin
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import single_blanks
from clsm_cli.evaluation.loaders import memory
from clsm_cli.evaluation.studies import memory_contents
from clsm_cli.evaluation.studies.year_report import (
    ALL,
    NEVER,
    USED,
    Month,
    YearQuery,
    YearReport,
    kept,
    targets,
)
from clsm_cli.evaluation.systems.recall import ITEMS, UNLIMITED
from clsm_cli.forgetting.decay import Request, decay
from clsm_cli.records import NamedTuple
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import considered, recall, touch
from clsm_cli.store import episodes
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Query as Labelled
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.year_report import Kept
    from clsm_cli.forgetting.report import StreamState
    from clsm_cli.model.streams import Stream
    from clsm_cli.retrieval.answer import Answer
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.layout import Store

DAYS = 365
QUESTIONS = 5
"""Asked on each day."""
WEEK = 7
"""Days from one decay to the next; one runs before each measurement too."""
EXPONENT = 2.0
"""Of Zipf's law."""
PINNED = 0.05
"""Share of the current statements, and of the episodes, that are pinned."""
MONTHS = (0, 1, 2, 3, 6, 9, 12)
"""At whose end everything is measured."""
FIRST = 10
"""Items of an answer that are looked at."""


def run_year(path: Path, shop: Workshop, engine: Engine, seed: int) -> YearReport:
    """Simulate a year of use of a labelled memory.

    Args:
        path: Folder with ``workspace``, ``sessions`` and ``labels``.
        shop: Where the store is made.
        engine: Makes the vectors of questions; open.
        seed: Of what is pinned and what is asked, and of the bootstrap.

    Raises:
        BadInputError: Labels or notes cannot be read.
        RefusedError: A run would withdraw much at once.
    """
    queries = [each for each in memory.load(path).cases[0].queries if not each.negative]
    made = stores.of_folders(shop, path, memory.FOLDERS)
    store = stores.consolidated(shop, made, "year")
    pinned = _pin(store, made.now, seed)
    year = _Year(store, queries, shop, engine, seed)
    year.see(pinned.texts)
    months = [year.month(0, made.now)]
    ends = {round(DAYS * month / 12): month for month in MONTHS[1:]}
    for number, places in enumerate(schedule(len(queries), seed), 1):
        shop.progress("days", number, DAYS)
        now = made.now + timedelta(number)
        year.ask(now, places)
        if number % WEEK == 0 or number in ends:
            year.sleep(now)
        if number in ends:
            months.append(year.month(ends[number], now))
    return YearReport(
        data={
            "queries": len(queries),
            "quotes": sum(len(each.gold) for each in queries),
            "questions": DAYS * QUESTIONS,
            "never asked": sum(not year.asked[place] for place in range(len(queries))),
            "pinned": len(pinned.ids),
            "passages": round(months[0].considered),
        },
        months=tuple(months),
        targets=targets(months),
        queries=tuple(year.queries()),
    )


def schedule(queries: int, seed: int) -> list[list[int]]:
    """The places of the queries that are asked, day by day.

    >>> asked = [place for day in schedule(45, seed=0) for place in day]
    >>> len(asked) == DAYS * QUESTIONS, len(set(asked)) < 45
    (True, True)
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    order = generator.permutation(queries)
    weights = np.arange(1, queries + 1, dtype=np.float64) ** -EXPONENT
    drawn = generator.choice(order, size=(DAYS, QUESTIONS), p=weights / weights.sum())
    days: list[list[int]] = drawn.tolist()
    return days


class _Pinned(NamedTuple):
    """What was pinned, and every text that it keeps, with single blanks."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]


def _pin(store: Store, now: datetime, seed: int) -> _Pinned:
    """Pin some current statements and some episodes, by the same use case as ``clsm pin``."""
    import numpy as np

    held = memory_contents.read(store).held
    statements = {row.id: (row.text,) for row in held if row.is_current}
    told = {
        episode.id: tuple(turn.text for turn in episode.turns)
        for flow in store.flows()
        for episode in map(episodes.read, episodes.files(flow))
    }
    generator = np.random.default_rng([seed, 1])  # what is asked must not depend on what is pinned
    texts: dict[str, tuple[str, ...]] = {}
    for group in (statements, told):
        names = sorted(group)
        drawn = generator.permutation(len(names))[: round(PINNED * len(names))]
        texts |= {names[at]: group[names[at]] for at in sorted(drawn.tolist())}
    pin(store, tuple(texts), now, lambda _: None)
    plain = (single_blanks(text) for group in texts.values() for text in group)
    return _Pinned(tuple(texts), tuple(plain))


class _Year:
    """A store that is used, and what its use has shown so far."""

    def __init__(
        self, store: Store, queries: Sequence[Labelled], shop: Workshop, engine: Engine, seed: int
    ) -> None:
        self.asked: Counter[int] = Counter()
        """How often each query was asked, by its place."""
        self._store = store
        self._queries = queries
        self._shop = shop
        self._engine = engine
        self._seed = seed
        self._shown: set[str] = set()  # quotes
        self._archived: dict[Stream, StreamState] = {}
        self._found: dict[int, list[list[bool]]] = {}  # month → query → quote: in the first ten

    def see(self, texts: Iterable[str]) -> None:
        """Remember the quotes that stand in some texts, of whatever query they are."""
        quotes = {quote for query in self._queries for quote in query.gold} - self._shown
        for text in map(single_blanks, texts):
            self._shown.update(quote for quote in quotes if quote in text)

    def ask(self, now: datetime, places: Sequence[int]) -> None:
        """Ask some queries as an agent does."""
        limits = self._store.settings.recall
        asked = [
            Query(self._queries[place].text, now.isoformat(), limits.k, limits.budget)
            for place in places
        ]
        for answer in recall(self._store, asked, self._engine, self._shop.embedder):
            touch(self._store, answer)
            self.see(memory.text for memory in answer.memories)
        self.asked.update(places)

    def sleep(self, now: datetime) -> None:
        """Let fade what was not used for long."""
        self._archived = decay(self._store, Request(now=now, explicit=True)).streams

    def month(self, number: int, now: datetime) -> Month:
        """Ask every query without a trace, and look at the store."""
        limits = self._store.settings.recall
        texts = [query.text for query in self._queries]
        time = now.isoformat()
        unlimited = [Query(text, time, ITEMS, UNLIMITED) for text in texts]
        answers = recall(self._store, unlimited, self._engine, self._shop.embedder)
        self._found[number] = [
            _first(answer, query) for answer, query in zip(answers, self._queries, strict=True)
        ]
        queries = [Query(text, time, limits.k, limits.budget) for text in texts]
        looked = list(considered(self._store, queries, self._engine, self._shop.embedder))
        with open_index(self._store, self._shop.embedder) as opened:
            everything = len(opened.index.current_rows())
        return Month(
            month=number,
            day=now.date().isoformat(),
            kept=dict(self._kept(number)),
            considered=fmean(each.passages for each in looked),
            closely=fmean(each.candidates for each in looked),
            second=sum(each.passages > everything for each in looked),
            archived=dict(self._archived),
        )

    def _kept(self, number: int) -> Iterator[tuple[str, Kept]]:
        counted: dict[str, Callable[[int, str], bool]] = {
            ALL: lambda _place, _quote: True,
            USED: lambda _place, quote: quote in self._shown,
            NEVER: lambda place, _quote: not self.asked[place],
        }
        for group, counts in counted.items():
            chosen = [
                [at for at, quote in enumerate(query.gold) if counts(place, quote)]
                for place, query in enumerate(self._queries)
            ]
            now, before = (
                [fmean(row[at] for at in ats) for row, ats in zip(rows, chosen, strict=True) if ats]
                for rows in (self._found[number], self._found[0])
            )
            if now:
                yield group, kept(now, before, sum(map(len, chosen)), self._seed)

    def queries(self) -> Iterator[YearQuery]:
        """Each query with its recall by month."""
        for place, query in enumerate(self._queries):
            recalled = {month: fmean(rows[place]) for month, rows in self._found.items()}
            yield YearQuery(query.id, query.category, self.asked[place], recalled)


def _first(answer: Answer, query: Labelled) -> list[bool]:
    """Whether each quote stands in one of the first items."""
    texts = [single_blanks(memory.text) for memory in answer.memories[:FIRST]]
    return [any(quote in text for text in texts) for quote in query.gold]
