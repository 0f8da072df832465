"""What all probes share: stores made by the real ingest and consolidation, questions, verdicts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.evaluation import benches, stores
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Query
from clsm_cli.evaluation.stores import MadeStore
from clsm_cli.evaluation.systems import baselines, system_registry
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from clsm_cli.evaluation.loaders.parsing import LabelledTurn
    from clsm_cli.evaluation.measures import Item, Retrieved
    from clsm_cli.evaluation.stores import StoreFactory
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.layout import Store

CLSM, BM25, MINILM = system_registry.CLSM, "BM25", system_registry.MINILM
SYSTEMS = (CLSM, BM25, MINILM)


class Probe(NamedTuple):
    """A test of one ability.

    Attributes:
        bars: The least of each figure; a system that has no such figure need not reach it.
        run: Makes its stores with a factory, asks with an open engine, from a seed; the figures of
            each system. It raises DiskError where the work folder cannot be written.
    """

    bars: dict[str, float]
    run: Callable[[StoreFactory, Engine, int], dict[str, dict[str, float]]]

    def passes(self, figures: dict[str, float]) -> bool:
        """Whether the figures of a system reach the bars."""
        return all(figures[name] >= bar for name, bar in self.bars.items() if name in figures)


def make_bench(
    factory: StoreFactory, engine: Engine, name: str, turns: Iterable[LabelledTurn]
) -> Bench:
    """A conversation, consolidated, and asked a day after its last turn."""
    (made,) = benches.make_benches(_dataset(name, turns), probe_factory(factory), engine)
    return made


def growing_benches(
    factory: StoreFactory, engine: Engine, name: str, parts: Sequence[Sequence[LabelledTurn]]
) -> list[Bench]:
    """One store that grows: a bench after each part was taken in and a night had passed."""
    own = probe_factory(factory)
    made = stores.chat_store(own, name, Chat((), tuple(parts[0])))
    found: list[Bench] = []
    for number, part in enumerate(parts):
        factory.progress(name, number, len(parts))
        now = stores.day_after(turn.time for turn in part)
        content = stores.json_lines(part) if number else b""

        def grow(store: Store, content: bytes = content, now: datetime = now) -> None:
            if content:
                source = store.root.with_suffix(".jsonl")
                atomic.put(source, content)
                stores.ingest_files(own, store, (str(source),), now)
            stores.run_consolidation(own, store, now)

        label = f"part-{number}-{atomic.sha256(content)}"
        store = stores.cached_copy(own, made, label, grow)
        made = MadeStore(store, now)
        dataset = _dataset(name, (turn for each in parts[: number + 1] for turn in each))
        case = dataset.cases[0]
        whole = baselines.context_tokens(case, store)
        found.append(Bench(dataset, case, store, store, now, whole, factory=own, engine=engine))
    return found


def ask_systems(bench: Bench, queries: Sequence[Query]) -> dict[str, list[Retrieved]]:
    """What each system returns for each query."""
    systems = (
        system_registry.recall_system(CLSM),
        *map(system_registry.baseline_named, SYSTEMS[1:]),
    )
    return {system.name: list(system.ask(bench, queries)) for system in systems}


def first_rank(items: Iterable[Item], ids: Iterable[str]) -> float:
    """Place from 1 of the first item that shows or rests on one of some turns; inf without one."""
    wanted = frozenset(ids)
    for place, item in enumerate(items, 1):
        if not wanted.isdisjoint(item.turns):
            return float(place)
    return float("inf")


def true_share(held: Iterable[bool]) -> float:
    """Share of what is true; 0 of nothing."""
    listed = list(held)
    return sum(listed) / len(listed) if listed else 0.0


def _dataset(name: str, turns: Iterable[LabelledTurn]) -> Dataset:
    """A conversation as a set without labels: a probe looks at answers by itself."""
    case = Case(name, Chat((), tuple(turns)), ())
    return Dataset("probe", name, "", "turn", "recall@10", (case,))


def probe_factory(factory: StoreFactory) -> StoreFactory:
    """The factory with the time of the probe's own conversations, whatever ``--now`` says."""
    return replace(factory, folder=factory.folder / "probes", now=None)
