"""clsm itself, and the published systems that it can answer as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.retrieved import Retrieved, of_answer
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.dataset import Query as Labelled

ITEMS = 50
"""Items of clsm's own answers: every measure cuts the same ranking."""
UNLIMITED = 1 << 30
"""Tokens."""


@dataclass(frozen=True, slots=True)
class Recall:
    """``clsm recall`` on the consolidated store; see ``bench.System``.

    clsm's own retrieval is asked for more than it returns by default, without a limit of tokens. A
    preset is asked as ``clsm recall --preset`` asks it, as what it returns depends on the budget.

    Attributes:
        preset: The published system whose retrieval answers; None for clsm's own.
    """

    name: str
    preset: str | None = None

    @property
    def about(self) -> str:
        """What answers, and how much is asked for."""
        if self.preset is None:
            return f"clsm recall, {ITEMS} items, no limit of tokens"
        return f"clsm recall --preset {self.preset}, as many items and tokens as by default"

    def ask(self, bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        """What it returns for each query, in turn; the time of the first includes opening the index."""
        settings = bench.store.settings.recall
        k, budget = (ITEMS, UNLIMITED) if self.preset is None else (settings.k, settings.budget)
        asked = [
            Query(each.text, bench.time_of(each), k, budget, preset=self.preset) for each in queries
        ]
        answers = recall(bench.store, asked, bench.engine, bench.shop.embedder)
        began = bench.clock()
        for answer in answers:
            yield of_answer(answer, 1000 * (bench.clock() - began))
            began = bench.clock()


@dataclass(frozen=True, slots=True)
class Packed:
    """``clsm recall --budget N``: it packs for what is left; see ``bench.System``.

    Only what fits 1,000 tokens and the reduced contexts is asked for, and only that is measured.
    """

    name: str

    @property
    def about(self) -> str:
        """What answers."""
        return f"clsm recall with a budget of tokens, {ITEMS} items at most"

    def ask(self, bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        """What it returns for each query, in turn."""
        found = measures.budgets(bench.whole)
        budgets = sorted({found[name] for name in measures.PACKED})
        asked = [
            Query(each.text, bench.time_of(each), ITEMS, budget)
            for each in queries
            for budget in budgets
        ]
        answers = recall(bench.store, asked, bench.engine, bench.shop.embedder)
        for _ in queries:
            yield Retrieved(
                (), packed={budget: of_answer(next(answers)).items for budget in budgets}
            )
