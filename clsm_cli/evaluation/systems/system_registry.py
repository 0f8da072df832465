"""The registry of compared systems: clsm, published ones, baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.measures import Retrieved, answer_result
from clsm_cli.evaluation.presets import published
from clsm_cli.evaluation.presets.library import Library
from clsm_cli.evaluation.systems import baselines
from clsm_cli.evaluation.systems.baselines import System, baseline
from clsm_cli.retrieval.recall import recall
from clsm_cli.retrieval.retrieve import Query
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Query as Labelled

ITEMS = 50
"""Items of clsm's own answers: every measure cuts the same ranking."""
UNLIMITED = 1 << 30
"""Tokens."""


def recall_system(name: str, change: Callable[[Bench], Bench] = lambda bench: bench) -> System:
    """``clsm recall`` on the consolidated store, or on one that is changed before it is asked.

    It is asked for more than it returns by default, without a limit of tokens.
    """

    def ask(bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        bench = change(bench)
        asked = [Query(each.text, bench.time_of(each), ITEMS, UNLIMITED) for each in queries]
        answers = recall(bench.store, asked, bench.engine, bench.factory.embedder)
        yield from map(answer_result, answers)

    return System(name, ask)


def preset_system(name: str) -> System:
    """The retrieval of a published system, with clsm's default tokens; it has no confidence."""

    def ask(bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        settings = bench.store.settings.recall
        with open_index(bench.store, bench.factory.embedder) as opened:
            library = Library(opened.index, bench.engine)
            for each in queries:
                query = Query(each.text, bench.time_of(each), settings.k, settings.budget)
                yield published.retrieve(library, query, name)

    return System(name, ask)


def _ask_packed(bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
    """Only what fits 1,000 tokens and the reduced contexts is asked for, and only that is measured."""
    found = measures.budgets(bench.whole)
    budgets = sorted({found[name] for name in measures.PACKED})
    asked = [
        Query(each.text, bench.time_of(each), ITEMS, budget)
        for each in queries
        for budget in budgets
    ]
    answers = recall(bench.store, asked, bench.engine, bench.factory.embedder)
    for _ in queries:
        yield Retrieved(
            (), packed={budget: answer_result(next(answers)).items for budget in budgets}
        )


PACKED = System("clsm, packed", _ask_packed)
"""clsm told how many tokens are left: it packs for them, where all others are cut in rank order."""
CLSM = "clsm"
"""clsm as it is shipped."""
MINILM = "MiniLM"
"""The embedding alone, which others are compared with (reach)."""
BASELINES = {
    name: baseline(name, begin)
    for name, begin in {
        "grep": baselines.grep,
        "BM25": baselines.bm25,
        MINILM: baselines.minilm,
        "RRF": baselines.rrf,
        "fusion": baselines.fusion,
        "static": baselines.static,
    }.items()
}
"""What a user has without clsm, by name."""
