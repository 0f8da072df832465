"""Recall, in reading order: question → candidates → floor → items → concepts → pack → touch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.model.ids import digest
from clsm_cli.retrieval import concepts, items, ranking
from clsm_cli.retrieval.answer import Answer, Budget, Dropped, Memory
from clsm_cli.retrieval.question import understand
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.retrieval.meaning import Engine
    from clsm_cli.store.index.files import Progress
    from clsm_cli.store.index.filters import Filters
    from clsm_cli.store.index.opening import Embedder, Opened
    from clsm_cli.store.layout import Store


class Query(NamedTuple):
    """What is asked, and how much may come back.

    Attributes:
        now: ISO 8601 with offset.
        k: Turns, statements and windows of notes at most.
        budget: Text at most, in ``unit`` (tokens or characters).
        min_score: Confidence from 0 to 1 below which an item is left out; None: the setting.
        filters: Which memories may come back; None for all.
        as_of: Day or time the question is asked from; relative expressions count from it.
    """

    text: str
    now: str
    k: int
    budget: int
    unit: str = "tokens"
    min_score: float | None = None
    filters: Filters | None = None
    as_of: str | None = None


def recall(
    store: Store,
    queries: Iterable[Query],
    engine: Engine,
    embedder: Embedder,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """Answer queries from the store, one after the other; never waits for a lock.

    Args:
        store: Where.
        queries: What.
        engine: Makes the vectors of the queries.
        embedder: Makes the vectors of passages that have none yet.
        progress: Told how many passages are embedded when an index is made.
    """
    missing = _model_fault(engine)
    with open_index(store, None if missing else embedder, progress) as opened:
        opened.warnings[:0] = [missing] if missing else []
        for query in queries:
            yield _answer(opened, query, engine, has_model=not missing)


def touch(store: Store, answer: Answer) -> None:
    """Remember that these memories were used; a disk that refuses must not spoil the answer."""
    from clsm_cli.store import atomic, logs

    line = logs.Activation(
        answer.recall_id, answer.now, tuple(memory.id for memory in answer.memories)
    )
    try:
        atomic.append(store.flow / "activation.jsonl", logs.render(line), durable=False)
    except DiskError:
        return


def _model_fault(engine: Engine) -> str | None:
    """Why there is no meaning to search by; None if there is."""
    try:
        engine.open()
    except (ModelMissingError, ModelDigestError) as error:
        return f"{error}; this answer is from words alone"
    return None


def _answer(opened: Opened, query: Query, engine: Engine, *, has_model: bool) -> Answer:
    index = opened.index
    settings = index.store.settings.recall
    question = understand(query.text, query.as_of or query.now, index.speakers())
    vectors = engine.encode(question.dense) if has_model else None
    allowed = None if query.filters is None else index.chosen(query.filters)
    ranked = ranking.rank(index, question, vectors, engine, settings, allowed)
    kept, faded = ranked.candidates, settings.faded
    if query.min_score is not None:
        kept = [candidate for candidate in kept if candidate.confidence >= query.min_score]
        faded = 0.0
    elif ranked.confidence < settings.floor:
        kept = []
    found = items.of(index, kept, query.k, settings, faded=faded)
    memories, budget = pack(found, query.budget, query.unit)
    answer = Answer(
        recall_id="",
        query=query.text,
        now=query.now,
        route="ltm",
        confidence=ranked.confidence,
        concepts=concepts.rank(index, query.text, kept, settings.concepts) if kept else (),
        memories=tuple(memories),
        budget=budget,
        embedder=engine.name if has_model else None,
        as_of=query.as_of,
        warnings=tuple(opened.warnings),
    )
    return answer._replace(recall_id=_recall_id(answer, query))


def pack(memories: Sequence[Memory], limit: int, unit: str) -> tuple[list[Memory], Budget]:
    """Fill the budget in rank order; what does not fit is named, what still fits goes in."""
    kept: list[Memory] = []
    dropped: list[Dropped] = []
    used = 0
    for memory in memories:
        size = memory.tokens if unit == "tokens" else len(memory.text)
        if used + size <= limit:
            kept.append(memory)
            used += size
        else:
            dropped.append(Dropped(memory.id, memory.tokens, "budget"))
    return kept, Budget(limit, used, unit, tuple(dropped))


def _recall_id(answer: Answer, query: Query) -> str:
    """Hash of query, options, now and answer."""
    return f"r-{digest(json.dumps([query, answer], ensure_ascii=False))}"
