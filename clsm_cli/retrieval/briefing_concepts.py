"""Concepts of a briefing: those that the session's subject activates, with their summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clsm_cli.model.episodes import lowest_trust
from clsm_cli.retrieval.briefing import Concepts, Item, make_item
from clsm_cli.retrieval.recall import Query, recall
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.model.trust import Trust
    from clsm_cli.retrieval.answer import Concept
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store


def activated_concepts(
    store: Store,
    query: str,
    now: str,
    engine: Engine,
    embedder: Embedder,
    progress: Callable[[str, int, int], None],
) -> Concepts:
    """What recall finds a query to be about, strongest first; it is not counted as a use."""
    settings = store.settings.recall
    asked = Query(query, now, settings.k, settings.budget)
    (answer,) = recall(
        store,
        [asked],
        engine,
        embedder,
        lambda done, total: progress("making the index", done, total),
    )
    with open_index(store, None) as opened:
        items = tuple(_of_concept(opened.index, concept) for concept in answer.concepts)
    return Concepts(items, answer.warnings)


def _of_concept(index: Index, concept: Concept) -> Item:
    node = index.node(concept.id)
    names = f" ({', '.join(concept.aliases)})" if concept.aliases else ""
    summary = f": {node.summary}" if node and node.summary else ""
    trust: list[Trust] = [
        cast("Trust", passage.trust)
        for key in (node.sources if node else ())
        for passage in index.by_key(key)
        if passage.key == key
    ]
    return make_item(
        concept.id,
        "concept",
        f"{concept.label}{names}{summary}",
        stream=concept.stream,
        trust=lowest_trust(trust) if trust else "agent",
        time=node.last if node else None,
    )
