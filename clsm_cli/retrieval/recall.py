"""Recall, in reading order: query → candidates → concepts → pack → explain → touch."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.model.ids import digest
from clsm_cli.retrieval import concepts, ranking
from clsm_cli.retrieval.answer import Answer, Budget, Dropped, Memory, Source, Why
from clsm_cli.store import atomic, logs
from clsm_cli.store.index.opening import open_index
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.refresh import Progress
    from clsm_cli.store.layout import Store


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked, and how much may come back; ``now`` ISO 8601 with offset."""

    text: str
    now: str
    k: int
    budget: int
    touch: bool = True


def recall(
    store: Store,
    query: Query,
    embedder: Embedder,
    encode: Callable[[str], Any],
    progress: Progress | None = None,
) -> Answer:
    """Answer a query from the store; never waits for a lock.

    Args:
        store: Where.
        query: What.
        embedder: Makes the vectors of passages that have none yet.
        encode: Makes the unit vector of the query, float32 [384]; raises ModelMissingError or
            ModelDigestError when it cannot.
        progress: Told how many passages are embedded when an index is made.
    """
    warnings: list[str] = []
    vector: Any | None = None
    usable: Embedder | None = embedder
    try:
        vector = encode(query.text)
    except (ModelMissingError, ModelDigestError) as error:
        warnings.append(f"{error}; this answer is from words alone")
        usable = None
    with open_index(store, usable, progress) as opened:
        index = opened.index
        candidates = ranking.rank(index, query.text, vector, store.settings.recall)
        answer = _answer(index, query, candidates, usable.engine if usable else None)
        answer = replace(answer, warnings=(*warnings, *opened.warnings))
    answer = replace(answer, recall_id=_recall_id(answer, query))
    if query.touch and answer.memories:
        _touch(store, answer)
    return answer


def _answer(
    index: Index, query: Query, candidates: list[Candidate], embedder: str | None
) -> Answer:
    settings = index.store.settings.recall
    ordered = _unique(index, candidates, query.k)
    memories, budget = pack([_memory(index, c, p) for c, p in ordered], query.budget)
    return Answer(
        recall_id="",
        query=query.text,
        now=query.now,
        route="ltm",
        confidence=max((memory.confidence for memory in memories), default=0.0),
        concepts=concepts.rank(index, query.text, candidates, settings.concepts),
        memories=tuple(memories),
        budget=budget,
        embedder=embedder,
    )


def _unique(
    index: Index, candidates: Sequence[Candidate], k: int
) -> list[tuple[Candidate, Passage]]:
    """The best ``k`` passages, each once, ties in a fixed order.

    A turn may stand twice: in the inbox and in its episode until the next segmentation, or in the
    episodes of two machines.
    """
    chosen: dict[str, tuple[Candidate, Passage]] = {}
    start = 0
    while len(chosen) < k and start < len(candidates):
        end = start + 2 * k
        while end < len(candidates) and candidates[end].score == candidates[end - 1].score:
            end += 1
        batch = candidates[start:end]
        passages = index.passages([candidate.row for candidate in batch])
        ranked = sorted(
            ((c, passages[c.row]) for c in batch),
            key=lambda pair: (
                -pair[0].score,
                pair[1].time or "",
                pair[1].id,
                pair[1].episode or "~",
            ),
        )
        for candidate, passage in ranked:
            chosen.setdefault(passage.id, (candidate, passage))
        start = end
    return list(chosen.values())[:k]


def _memory(index: Index, candidate: Candidate, passage: Passage) -> Memory:
    return Memory(
        id=passage.id,
        kind=passage.kind,
        text=passage.text,
        stream=passage.stream,
        score=round(candidate.score, 4),
        confidence=round(candidate.confidence, 4),
        tokens=tokens.count_tokens(passage.text),
        trust=passage.trust,
        session=passage.path if passage.document else passage.session,
        sources=_sources(index, passage),
        why=Why(bm25=round(candidate.bm25, 4), cosine=round(candidate.cosine or 0.0, 4)),
        heading=passage.heading,
        speaker=passage.speaker,
    )


def _sources(index: Index, passage: Passage) -> tuple[Source, ...]:
    """The turn itself; for a statement its own line, then the turns it rests on."""
    found = [passage]
    for key in passage.sources:
        found += [p for p in index.by_key(key) if p.key == key and p.part == 0]
    return tuple(
        Source(
            path=p.path,
            line_start=p.line_start,
            line_end=p.line_end,
            turn_ids=(p.foreign_id or p.key,),
            timestamp=p.time,
        )
        for p in found
    )


def pack(memories: Sequence[Memory], limit: int) -> tuple[list[Memory], Budget]:
    """Fill the budget in rank order; what does not fit is named, what still fits goes in."""
    kept: list[Memory] = []
    dropped: list[Dropped] = []
    used = 0
    for memory in memories:
        if used + memory.tokens <= limit:
            kept.append(memory)
            used += memory.tokens
        else:
            dropped.append(Dropped(memory.id, memory.tokens, "budget"))
    return kept, Budget(limit=limit, used=used, dropped=tuple(dropped))


def _recall_id(answer: Answer, query: Query) -> str:
    """Hash of query, options, now and answer."""
    content = json.dumps(asdict(answer), sort_keys=True, ensure_ascii=False)
    return f"r-{digest(query.text, str(query.k), str(query.budget), query.now, content)}"


def _touch(store: Store, answer: Answer) -> None:
    """Remember that these were used; a disk that refuses must not spoil the answer."""
    line = logs.Activation(
        answer.recall_id, answer.now, tuple(memory.id for memory in answer.memories)
    )
    try:
        atomic.append(store.flow / "activation.jsonl", logs.render(line), durable=False)
    except DiskError:
        return
