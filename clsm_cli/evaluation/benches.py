"""Benches: a case with its stores, ready to be queried."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from clsm_cli.evaluation import stores, systems
from clsm_cli.evaluation.dataset import Chat, Existing
from clsm_cli.evaluation.measures import passage_item
from clsm_cli.evaluation.nodes.planted import plant_nodes
from clsm_cli.model.ids import digest
from clsm_cli.store import layout
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.config import Settings
    from clsm_cli.evaluation.dataset import Case, Dataset, Query
    from clsm_cli.evaluation.stores import MadeStore, StoreFactory
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store


@dataclass(frozen=True, eq=False)
class Bench:
    """One case with its stores, as ingested (``raw``) and consolidated, which are never written again.

    ``whole`` is the tokens of what an agent without a memory would load: the whole conversation, or
    its static files (SOUL, USER, MEMORY and the last two daily notes).
    """

    dataset: Dataset
    case: Case
    store: Store
    raw: Store
    now: datetime
    whole: int
    factory: StoreFactory
    engine: Engine

    @cached_property
    def turn_texts(self) -> dict[str, str]:
        """Id → text of each turn of a conversation; of notes the labels are not of turns."""
        source = self.case.source
        return {turn.id: turn.text for turn in source.turns} if isinstance(source, Chat) else {}

    def time_of(self, query: Query) -> str:
        """ISO time at which a query is asked."""
        return query.at or self.now.isoformat()


NEVER = "2000-01-01T12:00:00+00:00"
"""Stands for the time of a store in which nothing is dated."""
PLANTED = "nodes"
"""Kind of the sets whose concepts are written into the store instead of being consolidated."""


def make_benches(dataset: Dataset, factory: StoreFactory, engine: Engine) -> list[Bench]:
    """A bench for each case; stores of an earlier run are found again.

    Raises:
        BadInputError: Something in the set could not be ingested.
        StoreNotFoundError: A store that should be there already is not.
    """
    benches = []
    for number, case in enumerate(dataset.cases):
        factory.progress(f"stores of {dataset.name}", number, len(dataset.cases))
        raw = make_store(case, factory)
        store = _asked(dataset, case, raw, factory)
        whole = systems.context_tokens(case, raw.store)
        benches.append(
            Bench(dataset, case, store, raw.store, raw.now, whole, factory=factory, engine=engine)
        )
    return benches


def make_store(case: Case, factory: StoreFactory, settings: Settings | None = None) -> MadeStore:
    """The store of a case as it is ingested; one that was there already as it is."""
    if isinstance(case.source, Existing):
        return _existing(factory, case.source.root)
    if isinstance(case.source, Chat):
        return stores.chat_store(factory, case.name, case.source, settings)
    return stores.folder_store(factory, case.source.root, case.source.names, settings)


def consolidated(factory: StoreFactory, made: MadeStore, settings: Settings | None = None) -> Store:
    """A copy of a store after its night."""

    def sleep(store: Store) -> None:
        store = store._replace(settings=settings or store.settings)
        stores.run_consolidation(factory, store, made.now)

    name = f"consolidated-{digest(json.dumps(settings))}" if settings else "consolidated"
    return stores.cached_copy(factory, made, name, sleep)


def _asked(dataset: Dataset, case: Case, raw: MadeStore, factory: StoreFactory) -> Store:
    """The store that is asked: consolidated, planted with the set's own concepts, or as it is."""
    if isinstance(case.source, Existing):
        return raw.store
    if dataset.kind == PLANTED:
        return plant_nodes(factory, case, raw)
    return consolidated(factory, raw)


def _existing(factory: StoreFactory, root: Path) -> MadeStore:
    """A store that is there already, asked a day after the last that it holds."""
    store = layout.open_store(root, {})
    if factory.now is not None:
        return stores.MadeStore(store, factory.now)
    with open_index(store, factory.embedder) as opened:
        passages = opened.index.passages(opened.index.current_rows()).values()
    times = (_full(passage.time, store) for passage in passages if passage.time)
    last = max(times, key=datetime.fromisoformat, default=NEVER)
    return stores.MadeStore(store, stores.day_after([last]))


def _full(time: str, store: Store) -> str:
    """A time with its offset; a bare day is its noon, what names no zone is in the store's."""
    moment = datetime.fromisoformat(time if "T" in time else f"{time}T12:00:00")
    return (moment if moment.tzinfo else moment.replace(tzinfo=store.zone)).isoformat()


SAID = "passage"
"""Kind of the passages that were said or written; all other kinds consolidation made."""


def sizes(benches: Sequence[Bench]) -> dict[str, int]:
    """Cases, queries by kind, pieces of evidence, and passages, by name."""
    queries = [query for bench in benches for query in bench.case.queries]
    passages = (passage for bench in benches for passage in _passages(bench))
    return {
        "cases": len(benches),
        "queries": sum(not query.negative for query in queries),
        "without an answer": sum(bool(query.negative) for query in queries),
        "evidence": sum(len(query.gold) for query in queries),
        "labelled concepts": sum(len(query.concepts) for query in queries),
        "passages": sum(passage.kind == SAID for passage in passages),
        "tokens of the context": sum(bench.whole for bench in benches),
    }


def stored_share(benches: Sequence[Bench]) -> float | None:
    """CAIM's memory storage (§4): the share of the evidence that became a memory.

    A piece of evidence is stored when a statement has its words, or rests on a passage that holds
    it. What was said is kept in any case; this is about what consolidation made of it. None where
    no evidence is labelled, or whole days are.
    """
    pieces: list[bool] = []
    for bench in benches:
        if bench.dataset.unit != "day":
            passages = _passages(bench)
            made = [passage for passage in passages if passage.kind != SAID]
            resting = {key for passage in made for key in passage.sources}
            told = [passage for passage in passages if passage.key in resting]
            items = [passage_item(passage, 0) for passage in (*made, *told)]
            gold = [piece for query in bench.case.queries for piece in query.gold]
            held = {p for p in {*gold} if any(i.holds(p, bench.dataset.unit) for i in items)}
            pieces += [piece in held for piece in gold]
    return sum(pieces) / len(pieces) if pieces else None


def _passages(bench: Bench) -> list[Passage]:
    with open_index(bench.store, bench.factory.embedder) as opened:
        return list(opened.index.passages(opened.index.current_rows()).values())
