"""What a system's answers to a case are worth, kept in the work folder once they are known.

A run that was interrupted goes on behind the last case and system that it had finished. What is kept
is named by a digest of the program, the store, the system and the queries, so nothing stale is found;
answers themselves are not kept, they would be large.
"""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING, Any

from clsm_cli.evaluation import measures, program
from clsm_cli.evaluation.retrieved import credited
from clsm_cli.model.ids import digest
from clsm_cli.records import NamedTuple
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.bench import Bench, System
    from clsm_cli.evaluation.dataset import Query
    from clsm_cli.evaluation.result import Figures
    from clsm_cli.evaluation.retrieved import Retrieved

FOLDER = "measured"
"""Folder of what is kept, in the work folder."""
MAX_KEPT = 256 << 20
"""Bytes of a file of it."""


class Measured(NamedTuple):
    """One query by one system.

    Attributes:
        figures: Empty for a query without an answer.
        ranks: Place from 1 of the first item that holds each piece of gold; None: not returned.
        curve: Recall and precision by number of items.
        is_answered: Anything was returned.
    """

    figures: Figures
    ranks: tuple[int | None, ...]
    curve: tuple[tuple[float, float], ...]
    confidence: float | None
    is_answered: bool


def ask(
    system: System,
    bench: Bench,
    queries: Sequence[Query],
    without: Callable[[], list[Retrieved] | None],
) -> list[Measured]:
    """Ask a system, or find what an earlier run measured.

    Args:
        system: Who is asked.
        bench: Where.
        queries: What.
        without: What MiniLM alone returned to each of them, None where that is of no use; called
            only when it is needed.

    Raises:
        DiskError: The work folder cannot be written.
    """
    place = _place(system, bench, queries)
    if not bench.shop.fresh and (kept := _kept(place, len(queries))) is not None:
        return kept
    label = f"{system.name}, {bench.case.name}"
    found = []
    for at, retrieved in enumerate(system.ask(bench, queries)):
        bench.shop.progress(label, at, len(queries))
        found.append(retrieved)
    measured_now = measured(bench, queries, found, without())
    atomic.make_folder(place.parent)
    atomic.put(place, json.dumps(measured_now).encode())
    return measured_now


def measured(
    bench: Bench,
    queries: Sequence[Query],
    found: Sequence[Retrieved],
    without: Sequence[Retrieved] | None,
) -> list[Measured]:
    """What answers are worth, one by one."""
    setting = measures.Setting(bench.dataset.unit, bench.dataset.k, bench.whole)
    nearest = [None] * len(queries) if without is None else without
    return [
        _measured(query, _by_words(bench, query, retrieved), near, setting)
        for query, retrieved, near in zip(queries, found, nearest, strict=True)
    ]


def _by_words(bench: Bench, query: Query, found: Retrieved) -> Retrieved:
    """What was returned, counted as the evidence whose words stand in it."""
    packed = found.packed and {
        budget: credited(items, query.gold, bench.told) for budget, items in found.packed.items()
    }
    return found._replace(items=credited(found.items, query.gold, bench.told), packed=packed)


def _measured(
    query: Query, found: Retrieved, without: Retrieved | None, setting: measures.Setting
) -> Measured:
    if query.negative:
        return Measured({}, (), (), found.confidence, bool(found.items))
    if found.packed is not None:
        figures = measures.figures(query, found, None, setting)
        return Measured(figures, (), (), None, any(found.packed.values()))
    ranks = measures.ranks(query.gold, found.items, setting.unit)
    return Measured(
        measures.figures(query, found, without, setting),
        tuple(None if rank == inf else int(rank) for rank in ranks),
        tuple(measures.curve(query.gold, found.items, setting.unit, setting.k))
        if query.gold
        else (),
        found.confidence,
        bool(found.items),
    )


def _place(system: System, bench: Bench, queries: Sequence[Query]) -> Path:
    asked = [[query.id, query.text, query.at, query.gold] for query in queries]
    named = [sorted(concept) for query in queries for concept in query.concepts]
    store = bench.store
    key = digest(
        program.digest_of(program.ANSWERS),
        bench.dataset.digest,
        json.dumps([str(store.root), store.settings, bench.now.isoformat(), asked, named]),
        system.name,
        system.about,
        bench.shop.embedder.engine,
    )
    return bench.shop.folder / FOLDER / f"{key}.json"


def _kept(place: Path, count: int) -> list[Measured] | None:
    """What was kept; None where nothing was, or where it is not whole."""
    data = atomic.read(place, MAX_KEPT)
    try:
        rows: Any = json.loads(data) if data is not None else None
        if not isinstance(rows, list) or len(rows) != count:
            return None
        return [
            Measured(figures, tuple(ranks), tuple((r, p) for r, p in curve), confidence, answered)
            for figures, ranks, curve, confidence, answered in rows
        ]
    except (ValueError, TypeError):
        return None
