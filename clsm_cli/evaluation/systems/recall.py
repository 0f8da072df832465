"""clsm itself, and the published systems that it can answer as."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import TYPE_CHECKING

from clsm_cli.config import Settings
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
        settings: Instead of the store's; None: those.
    """

    name: str
    preset: str | None = None
    settings: Settings | None = None

    @property
    def about(self) -> str:
        """What answers, how much is asked for, and the settings that are not the shipped ones."""
        what = (
            f"clsm recall, {ITEMS} items, no limit of tokens"
            if self.preset is None
            else f"clsm recall --preset {self.preset}, as many items and tokens as by default"
        )
        changed = differences(self.settings or Settings())
        return "; ".join([what, *(f"{name} {value}" for name, value in changed.items())])

    def ask(self, bench: Bench, queries: Sequence[Labelled]) -> Iterator[Retrieved]:
        """What it returns for each query, in turn; the time of the first includes opening the index."""
        store = bench.store
        if self.settings is not None:
            store = store._replace(settings=self.settings)
        k, budget = ITEMS, UNLIMITED
        if self.preset is not None:
            k, budget = store.settings.recall.k, store.settings.recall.budget
        asked = [
            Query(each.text, bench.time_of(each), k, budget, preset=self.preset) for each in queries
        ]
        answers = recall(store, asked, bench.engine, bench.shop.embedder)
        began = process_time()
        for answer in answers:
            yield of_answer(answer, 1000 * (process_time() - began))
            began = process_time()


def differences(settings: Settings) -> dict[str, object]:
    """The settings that are not the shipped ones, by their dotted names.

    >>> from clsm_cli.config import with_changes
    >>> differences(with_changes(Settings(), {"recall.weight_fact": 0.0}))
    {'recall.weight_fact': 0.0}
    """
    found: dict[str, object] = {}
    for group in Settings._fields:
        ours, shipped = getattr(settings, group), getattr(Settings(), group)
        for key in shipped._fields:
            if getattr(ours, key) != getattr(shipped, key):
                found[f"{group}.{key}"] = getattr(ours, key)
    return found
