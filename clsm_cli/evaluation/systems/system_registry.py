"""The registry of compared systems: clsm, published ones, baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.measures import Retrieved, answer_result
from clsm_cli.evaluation.presets import published
from clsm_cli.evaluation.presets.library import Library
from clsm_cli.evaluation.systems import baselines
from clsm_cli.evaluation.systems.baselines import System, baseline
from clsm_cli.retrieval.recall import Query, recall
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from clsm_cli.evaluation.benches import Bench
    from clsm_cli.evaluation.dataset import Query as Labelled

ITEMS = 50
"""Items of clsm's own answers: every measure cuts the same ranking."""
UNLIMITED = 1 << 30
"""Tokens."""


def recall_system(
    name: str,
    about: str = f"clsm recall, {ITEMS} items, no limit of tokens",
    change: Callable[[Bench], Bench] = lambda bench: bench,
) -> System:
    """``clsm recall`` on the consolidated store, or on one that is changed before it is asked.

    It is asked for more than it returns by default, without a limit of tokens.
    """

    def ask(bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        bench = change(bench)
        asked = [Query(each.text, bench.time_of(each), ITEMS, UNLIMITED) for each in queries]
        answers = recall(bench.store, asked, bench.engine, bench.factory.embedder)
        yield from map(answer_result, answers)

    return System(name, about, ask)


def preset_system(name: str) -> System:
    """The retrieval of a published system.

    What it returns depends on the budget, so it is given clsm's default. It has no confidence that
    the memory holds an answer.
    """

    def ask(bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        settings = bench.store.settings.recall
        with open_index(bench.store, bench.factory.embedder) as opened:
            library = Library(opened.index, bench.engine)
            for each in queries:
                query = Query(each.text, bench.time_of(each), settings.k, settings.budget)
                yield published.retrieve(library, query, name)

    return System(name, f"the retrieval of {name} as published, with clsm's default tokens", ask)


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


PACKED = System(
    "clsm, packed", f"clsm recall with a budget of tokens, {ITEMS} items at most", _ask_packed
)
"""clsm told how many tokens are left: it packs for them, where all others are cut in rank order."""
CLSM = "clsm"
"""clsm as it is shipped."""
MINILM = "MiniLM"
"""The embedding alone, which others are compared with (reach)."""
STATIC = "static"
"""What an agent loads at every start."""
_ALL = (
    baseline("grep", "passages by how many words of the query they hold", baselines.grep),
    baseline(
        "BM25",
        f"bm25s, Lucene's variant, k1 {baselines.K1}, b {baselines.B}, English stems and stop words",
        baselines.bm25,
    ),
    baseline(
        MINILM,
        "cosine of all-MiniLM-L6-v2 sentence vectors; a speaker whom the query names is I in it",
        baselines.minilm,
    ),
    baseline("RRF", "reciprocal rank fusion of BM25 and MiniLM, k 60", baselines.rrf),
    baseline(
        "fusion",
        f"{baselines.BM25_SHARE:g} BM25 + {1 - baselines.BM25_SHARE:g} cosine, each 0 to 1",
        baselines.fusion,
    ),
    baseline("recency", "the newest passages", baselines.recency),
    baseline(
        STATIC,
        "SOUL, USER, MEMORY and the last two daily notes; of a chat the last sessions",
        baselines.static,
    ),
)
BASELINES = tuple(each.name for each in _ALL)
"""Names of what a user has without clsm."""


def baseline_named(name: str) -> System:
    """The baseline of a name."""
    return {each.name: each for each in _ALL}[name]


def plain_systems() -> list[System]:
    """The baselines that need nothing of clsm."""
    return list(_ALL)


def preset_systems(names: Iterable[str]) -> list[System]:
    """Published systems by the names of their presets; each once, in their order."""
    return [preset_system(name) for name in dict.fromkeys(names)]
