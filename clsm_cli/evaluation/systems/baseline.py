"""A baseline: passages in some order, and the concepts that the first of them mention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.evaluation.retrieved import Retrieved
from clsm_cli.evaluation.systems import pool as pools
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clsm_cli.evaluation.bench import Bench
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.systems.pool import Pool


class Ranked(NamedTuple):
    """An order of passages.

    Attributes:
        places: Of passages in the pool, best first; what is not named is not returned.
        confidence: That the memory holds an answer; None: the method has no scale for it.
    """

    places: Sequence[int]
    confidence: float | None = None


if TYPE_CHECKING:
    Rank = Callable[[str, str], Ranked]
    """The words of a query and the ISO time at which it is asked → an order."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A way to rank passages that needs nothing of clsm but their text; see ``bench.System``.

    Attributes:
        begin: Gets ready for the passages of a bench; that time counts for no query.
        most: Passages returned at most.
    """

    name: str
    about: str
    begin: Callable[[Pool], Rank]
    most: int = pools.MOST

    def ask(self, bench: Bench, queries: Sequence[Query]) -> Iterator[Retrieved]:
        """What it returns for each query, in turn."""
        pool = pools.of(bench)
        rank = self.begin(pool)
        for query in queries:
            began = bench.clock()
            ranked = rank(query.text, bench.time_of(query))
            places = ranked.places[: self.most]
            yield Retrieved(
                items=tuple(pool.items[place] for place in places),
                concepts=pool.concepts(places[: bench.dataset.k]),
                confidence=ranked.confidence,
                milliseconds=1000 * (bench.clock() - began),
            )
