"""The open tasks, as the answer to a question that only asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.model.graph import Statement
from clsm_cli.retrieval.answer import Memory, Signals
from clsm_cli.retrieval.result_items import source_of
from clsm_cli.scoring import confidence
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.text import tokens

if TYPE_CHECKING:
    from clsm_cli.retrieval.question import Query
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage


def find(index: Index, query: Query) -> list[Memory]:
    """One item per open task: those with a due day in its order, then the others, newest first."""
    rows = {*index.matching_rows(Filters(kind="statement", stream="tasks"))}
    rows &= {*index.matching_rows(query.filters or Filters())}
    task_confidence = round(
        confidence.probability(Evidence(1.0, None, 1.0, passages=index.size()[0])), 4
    )
    if task_confidence < (query.min_score or 0):
        return []
    passages = sorted(index.passages(sorted(rows)).values(), key=lambda each: each.id)
    passages.sort(key=lambda each: each.time or "", reverse=True)
    records = [(each, index.record(each.key)) for each in passages]
    tasks = [
        (record.due or "~", each)
        for each, record in records
        if isinstance(record, Statement) and record.state in ("open", "blocked")
    ]
    tasks.sort(key=lambda each: each[0])
    return [_item(index, each, task_confidence) for _, each in tasks[: query.k]]


def _item(index: Index, task: Passage, task_confidence: float) -> Memory:
    turns = [turn for key in task.sources for turn in index.by_key(key)[:1] if turn.current]
    return Memory(
        id=task.id,
        kind=task.kind,
        text=task.text,
        stream=task.stream,
        score=1.0,
        confidence=task_confidence,
        tokens=tokens.count_tokens(task.text),
        trust=task.trust,
        session=task.session,
        sources=tuple(source_of(index, each) for each in (*turns, task)),
        why=Signals(meaning=1.0),
        shares=Signals(meaning=1.0),
    )
