"""The queries of a set put to systems: every store, every query, figures by system."""

from __future__ import annotations

from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

from clsm_cli.evaluation import asked, benches, measures
from clsm_cli.evaluation.compare import Asked
from clsm_cli.evaluation.nodes import rankers as concept_rankers
from clsm_cli.evaluation.ranking import asking
from clsm_cli.evaluation.ranking import rankers as passage_rankers
from clsm_cli.evaluation.systems import registry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.asked import Measured
    from clsm_cli.evaluation.bench import Bench, System
    from clsm_cli.evaluation.retrieved import Retrieved

RANKED = ("turn", "day")
"""Units whose single passages are ranked too: elsewhere a passage is no unit of the labels."""


class Field:
    """The benches of a set and its queries, those with an answer and those without.

    Attributes:
        headline: The measure that the set is judged by.
        of: Queries with an answer, of all benches.
        unanswerable: The others.
    """

    def __init__(self, made: Sequence[Bench]) -> None:
        self.benches = made
        self.headline = made[0].dataset.headline
        self._answerable = [[q for q in each.case.queries if not q.negative] for each in made]
        self._negative = [[q for q in each.case.queries if q.negative] for each in made]
        cases = zip(made, self._answerable, strict=True)
        self.of = Asked(
            [query for queries in self._answerable for query in queries],
            [bench.case.name for bench, queries in cases for _ in queries],
        )
        self.unanswerable = [query for queries in self._negative for query in queries]
        self._near = cache(self._returned_by_meaning)

    def ask(self, system: System) -> list[Measured]:
        """What a system makes of the queries with an answer."""
        return [
            measured
            for place, bench in enumerate(self.benches)
            for measured in asked.ask(
                system, bench, self._answerable[place], partial(self._near, place)
            )
        ]

    def refuse(self, system: System) -> list[Measured]:
        """What a system makes of those without."""
        return [
            measured
            for bench, queries in zip(self.benches, self._negative, strict=True)
            if queries
            for measured in asked.ask(system, bench, queries, lambda: None)
        ]

    def ranked(self) -> Iterator[tuple[str, list[Measured], str]]:
        """Name, figures and meaning of the systems that need all cases at once."""
        dataset = self.benches[0].dataset
        if dataset.kind == benches.PLANTED:
            found, about = (
                concept_rankers.rank(self.benches, self._answerable),
                concept_rankers.ABOUT,
            )
        elif dataset.unit in RANKED:
            found, about = passage_rankers.ranked(self._passages), passage_rankers.ABOUT
        else:
            return
        for name, by_case in found.items():
            measured: list[Measured] = []
            for place, (bench, returned) in enumerate(zip(self.benches, by_case, strict=True)):
                queries = self._answerable[place]
                measured += asked.measured(bench, queries, returned, self._near(place))
            yield name, measured, about[name]

    @cached_property
    def _passages(self) -> list[asking.Asked]:
        """The candidates of all queries, with their signals."""
        return asking.ask_all(self.benches, self._answerable)

    def _returned_by_meaning(self, place: int) -> list[Retrieved] | None:
        """What MiniLM alone returns, cut to what counts; None where no evidence is labelled."""
        bench, queries = self.benches[place], self._answerable[place]
        if not any(query.gold for query in queries):
            return None
        return [
            found._replace(items=tuple(measures.delivered(found.items, bench.dataset.k)))
            for found in registry.named(registry.MINILM).ask(bench, queries)
        ]
