"""Queries of a set put to the store of their case, as it was ingested."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from clsm_cli.evaluation.ranking.fitting import Sample
from clsm_cli.evaluation.ranking.runs import Asker
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.ranking.runs import Run


@dataclass(frozen=True, eq=False)
class Asked:
    """A case, some of its queries, and the candidates of each."""

    bench: Bench
    queries: tuple[Query, ...]
    runs: tuple[Run, ...]

    def pairs(self) -> Iterator[tuple[Query, Run]]:
        """Each query with its candidates."""
        return zip(self.queries, self.runs, strict=True)

    @cached_property
    def samples(self) -> list[Sample]:
        """What weights can be fitted to: the queries that have gold among their candidates."""
        unit = self.bench.dataset.unit
        found = []
        for query, run in self.pairs():
            places = tuple(
                place
                for place, item in enumerate(run.items)
                if any(item.holds(piece, unit) for piece in query.gold)
            )
            if places:
                found.append(Sample(run.signals, places))
        return found


def ask_all(benches: Sequence[Bench], queries: Sequence[Sequence[Query]]) -> list[Asked]:
    """The candidates of all queries, one case after the other.

    Args:
        benches: The cases.
        queries: What each is asked.
    """
    return [
        Asked(bench, tuple(those), tuple(_ask(bench, those)))
        for bench, those in zip(benches, queries, strict=True)
    ]


def _ask(bench: Bench, queries: Sequence[Query]) -> Iterator[Run]:
    with open_index(bench.raw, bench.shop.embedder) as opened:
        asker = Asker(opened.index, bench.raw.settings.recall, bench.engine, bench.dataset.unit)
        for number, query in enumerate(queries):
            bench.shop.progress(f"passages of {bench.case.name}", number, len(queries))
            yield asker.run(asker.find(query.text, bench.time_of(query)))
