"""clsm itself, and the published systems that it can answer as."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

from clsm_cli.evaluation import measures
from clsm_cli.evaluation.retrieved import of_answer
from clsm_cli.retrieval.query import Query
from clsm_cli.retrieval.recall import recall

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.dataset import Query as Labelled
    from clsm_cli.evaluation.retrieved import Retrieved

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
        began = process_time()
        for answer in answers:
            yield of_answer(answer, 1000 * (process_time() - began))
            began = process_time()


@dataclass(frozen=True, slots=True)
class Packed:
    """``clsm recall --budget N`` for each budget that is measured: it packs for what is left.

    All else is as clsm's own answer without a limit; see ``bench.System``.
    """

    name: str

    @property
    def about(self) -> str:
        """What answers."""
        return f"clsm recall, {ITEMS} items, asked again with each budget"

    def ask(self, bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        """What it returns for each query, in turn."""
        budgets = sorted({*measures.budgets(bench.whole).values()})
        asked = [
            Query(each.text, bench.time_of(each), ITEMS, budget)
            for each in queries
            for budget in (UNLIMITED, *budgets)
        ]
        answers = recall(bench.store, asked, bench.engine, bench.shop.embedder)
        for wide in answers:
            packed = {budget: of_answer(next(answers)).items for budget in budgets}
            yield of_answer(wide)._replace(packed=packed)
