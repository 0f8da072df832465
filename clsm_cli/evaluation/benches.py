"""The stores of a set, made by the real ``ingest`` and ``consolidate``, and opened to be asked."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.bench import Bench
from clsm_cli.evaluation.dataset import Chat, Existing
from clsm_cli.evaluation.nodes.store import planted
from clsm_cli.evaluation.systems import static
from clsm_cli.store import layout
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.dataset import Case, Dataset
    from clsm_cli.evaluation.stores import Made, Workshop
    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.layout import Store

NEVER = "2000-01-01T12:00:00+00:00"
"""Stands for the time of a store in which nothing is dated."""
PLANTED = "nodes"
"""Kind of the sets whose concepts are written into the store instead of being consolidated."""


def make(dataset: Dataset, shop: Workshop, engine: Engine) -> list[Bench]:
    """A bench for each case; stores of an earlier run are found again.

    Args:
        dataset: The labelled set.
        shop: Where the stores are made.
        engine: Makes the vectors of queries; open.

    Raises:
        BadInputError: Something in the set could not be ingested.
        DiskError: The work folder cannot be written.
        StoreNotFoundError: A store that should be there already is not.
    """
    benches = []
    for number, case in enumerate(dataset.cases):
        shop.progress(f"stores of {dataset.name}", number, len(dataset.cases))
        benches.append(_bench(dataset, case, shop, engine))
    return benches


def made(case: Case, shop: Workshop) -> Made:
    """The store of a case as it is ingested; one that was there already as it is."""
    if isinstance(case.source, Existing):
        return _existing(shop, case.source.root)
    if isinstance(case.source, Chat):
        return stores.of_chat(shop, case.name, case.source)
    return stores.of_folders(shop, case.source.root, case.source.names)


def _bench(dataset: Dataset, case: Case, shop: Workshop, engine: Engine) -> Bench:
    raw = made(case, shop)
    return Bench(
        dataset=dataset,
        case=case,
        store=_asked(dataset, case, raw, shop),
        raw=raw.store,
        now=raw.now,
        whole=static.whole(case, raw.store),
        shop=shop,
        engine=engine,
    )


def _asked(dataset: Dataset, case: Case, raw: Made, shop: Workshop) -> Store:
    """The store that is asked: consolidated, planted with the set's own concepts, or as it is."""
    if isinstance(case.source, Existing):
        return raw.store
    if dataset.kind == PLANTED:
        return planted(shop, case, raw)

    def sleep(store: Store) -> None:
        stores.sleep(shop, store, raw.now)

    return stores.kept(shop, raw, "consolidated", sleep)


def _existing(shop: Workshop, root: Path) -> Made:
    """A store that is there already, asked a day after the last that it holds."""
    store = layout.open_store(root, {})
    if shop.now is not None:
        return stores.Made(store, shop.now)
    with open_index(store, shop.embedder) as opened:
        passages = opened.index.passages(opened.index.current_rows()).values()
        times = [_full(passage.time, store) for passage in passages if passage.time]
    return stores.Made(store, stores.day_after(times or [NEVER]))


def _full(time: str, store: Store) -> str:
    """A time with its offset; a bare day is its noon, what names no zone is in the store's."""
    moment = datetime.fromisoformat(time if "T" in time else f"{time}T12:00:00")
    return (moment if moment.tzinfo else moment.replace(tzinfo=store.zone)).isoformat()
