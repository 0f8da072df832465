"""The concepts that a briefing shows for what the session is about."""

from collections.abc import Callable
from typing import cast

from clsm_cli.model.episodes import lowest_trust
from clsm_cli.model.trust import Trust
from clsm_cli.retrieval.answer import Concept
from clsm_cli.retrieval.briefing import Concepts
from clsm_cli.retrieval.briefing_items import BriefingItem, make_item
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.retrieval.question import Query
from clsm_cli.retrieval.recall import recall
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.layout import Store
from clsm_cli.text.plain import plain_words


def activated_concepts(
    store: Store,
    query: str,
    now: str,
    engine: Engine,
    embedder: Embedder,
    progress: Callable[[str, int, int], None],
) -> Concepts:
    """The concepts of a query, strongest first; not logged as a use."""
    settings = store.settings.recall
    asked = Query(query, now, settings.k, settings.budget)

    def report(done: int, total: int) -> None:
        progress("making the index", done, total)

    (answer,) = recall(store, [asked], engine, embedder, report)
    with open_index(store, None) as opened:
        items = tuple(_of_concept(opened.index, concept) for concept in answer.concepts)
    return Concepts(items, answer.warnings)


def _of_concept(index: Index, concept: Concept) -> BriefingItem:
    node = index.node(concept.id)
    names = f" ({', '.join(concept.aliases)})" if concept.aliases else ""
    summary = node.summary if node else ""
    if not plain_words(summary).startswith(plain_words(concept.label)):
        summary = f"{concept.label}{names}: {summary}" if summary else f"{concept.label}{names}"
    passages = [passage for key in (node.sources if node else ()) for passage in index.by_key(key)]
    trust = [cast("Trust", passage.trust) for passage in passages]
    return make_item(
        concept.id,
        "concept",
        summary,
        stream=concept.stream,
        trust=lowest_trust(trust) if trust else "agent",
        time=node.last if node else None,
    )
