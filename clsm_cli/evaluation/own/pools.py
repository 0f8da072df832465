"""What a person judges: the first items of several systems, so that no one of them is favoured.

Pooling as in TREC (Spärck Jones & van Rijsbergen 1975; Voorhees & Harman 2005): the first ten of
each system, each item once, in an order that does not tell who found it. What no system finds is not
judged, so recall on such a set is relative to the pool; evidence added by hand counts as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.config import with_changes
from clsm_cli.evaluation.bench import Bench
from clsm_cli.evaluation.dataset import Case, Dataset, Existing
from clsm_cli.evaluation.dataset import Query as Labelled
from clsm_cli.evaluation.systems import pool, registry
from clsm_cli.evaluation.systems.recall import Recall
from clsm_cli.model.ids import digest
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.evaluation.bench import System
    from clsm_cli.evaluation.retrieved import Retrieved
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.layout import Store

DEPTH = 10
"""Items of each system."""
BESIDE = ("BM25", "MiniLM")
"""Systems beside clsm."""


class Found(NamedTuple):
    """An item of a pool.

    Attributes:
        id: Of the memory or turn, as a label names it.
        text: In one line.
        day: ISO date; empty: none.
    """

    id: str
    text: str
    day: str


class Pools:
    """Asks the systems.

    Args:
        store: What is asked; it is not changed.
        shop: With the time at which it is asked in ``now``, and what embeds.
        engine: Makes the vectors of queries; open.
    """

    def __init__(self, store: Store, shop: Workshop, engine: Engine) -> None:
        self._bench = _bench(store, (), shop, engine, floor=0.0)
        beside = [each for each in registry.baselines() if each.name in BESIDE]
        self._systems: list[System] = [Recall(registry.CLSM), *beside]

    def of(self, text: str, hidden: frozenset[str] = frozenset()) -> list[Found]:
        """The items that are to be judged for a query.

        Args:
            text: The query.
            hidden: Keys of turns that are no answer, as the query was taken from them.
        """
        query = Labelled(id="", text=text)
        said = {each.id: each.text for each in pool.of(self._bench).passages}
        found: dict[str, Found] = {}
        for system in self._systems:
            (retrieved,) = system.ask(self._bench, [query])
            for item in retrieved.items[:DEPTH]:
                shown = " ".join(said.get(item.id, item.text).split())  # of a window its own block
                found.setdefault(shown, Found(_bare(item.id), shown, item.day))
        kept = (each for each in found.values() if each.id not in hidden)
        return sorted(kept, key=lambda each: digest(text, each.id))


def confidences(
    store: Store, queries: Sequence[Labelled], shop: Workshop, engine: Engine, floor: float
) -> Iterator[Retrieved]:
    """What clsm returns with another floor.

    Args:
        store: What is asked; it is not changed.
        queries: What.
        shop: With the time at which it is asked in ``now``.
        engine: Makes the vectors of queries; open.
        floor: Confidence below which an answer is left out.
    """
    return Recall(registry.CLSM).ask(_bench(store, queries, shop, engine, floor=floor), queries)


def _bench(
    store: Store, queries: Sequence[Labelled], shop: Workshop, engine: Engine, *, floor: float
) -> Bench:
    """The store itself, asked with another floor."""
    assert shop.now is not None
    case = Case("own", Existing(store.root), tuple(queries))
    dataset = Dataset("queries", "own", "", "memory", "recall@10", (case,))
    changed = store._replace(settings=with_changes(store.settings, {"recall.floor": floor}))
    return Bench(dataset, case, changed, store, shop.now, 0, shop, engine)


def _bare(name: str) -> str:
    """The key of a turn, for a part of a long one too."""
    key, _, part = name.rpartition("-")
    return key if part.isdigit() and len(key) == _KEY else name


_KEY = 12
"""Characters of the key of a turn; a part of a long one has a number behind it."""
