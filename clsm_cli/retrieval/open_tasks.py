"""What is open or due, as the answer to a question that asks for nothing else.

"What is open?" asks for the open tasks: all, or those of a name or period. "What do I have on
Friday?" asks for days: what was said on a day tells of one that is over, but of a day to come those
passages tell that name it, as ``clsm context`` reads them.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING

from clsm_cli.model.graph import Statement
from clsm_cli.retrieval import entity_linking
from clsm_cli.retrieval.answer import Memory, Signals
from clsm_cli.retrieval.result_items import source_of
from clsm_cli.scoring import confidence
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.text import tokens
from clsm_cli.text.sentences import capitals_inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.question import Query, Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage


_LABEL = re.compile(r"(?:^|: | › )([^:›]+)(?=: | › )|@(\w+)")
"""What stands before a task as its heading, or whoever has to do it."""


def with_open_and_due(
    index: Index, query: Query, question: Question, memories: Sequence[Memory]
) -> Sequence[Memory]:
    """The items for a question, or in their place or beside them what is open or due."""
    if question.asks_for_all:
        return with_due(index, query, question, memories)
    tasks = find_tasks(index, query, question)
    if question.periods and not question.task_terms:
        tasks = with_due(index, query, question, tasks)
    return tasks or memories


def find_tasks(index: Index, query: Query, question: Question) -> list[Memory]:
    """One item per open task: those with a due day in its order, then the others, newest first.

    A name in the question, or words of a heading above tasks, selects the tasks that have it, those
    labelled with it first; a period, or "overdue", those that are due in it. Empty if the question
    has other words: "is the window open?" asks for no task.
    """
    rows = {*index.matching_rows(Filters(kind="statement", stream="tasks"))}
    rows &= {*index.matching_rows(query.filters or Filters())}
    task_confidence = certain_confidence(index)
    if task_confidence < (query.min_score or 0):
        return []
    passages = sorted(index.passages(sorted(rows)).values(), key=lambda passage: passage.id)
    passages.sort(key=lambda passage: passage.time or "", reverse=True)
    records = [(passage, index.record(passage.key)) for passage in passages]
    today = datetime.fromisoformat(query.now).astimezone(index.store.zone).toordinal()
    periods = ((1, today),) if "overdu" in question.terms else question.periods
    tasks = [
        (not _is_labelled(passage.text, question.task_terms), record.due or "~", passage)
        for passage, record in records
        if isinstance(record, Statement)
        and record.state in ("open", "blocked")
        and question.task_terms <= {*tokens.stems(passage.text)}
        and is_due_in(record.due, periods)
    ]
    tasks.sort(key=lambda task: task[:2])
    is_heading = bool(tasks) and not tasks[0][0]
    if not is_heading and not _are_names(index, query.text, question.task_terms):
        return []
    return [item_of(index, passage, task_confidence) for *_, passage in tasks[: query.k]]


def with_due(
    index: Index, query: Query, question: Question, memories: Sequence[Memory]
) -> list[Memory]:
    """The items for a question, and by day what is due in its periods from today on.

    Tasks, and what was said on a day that has begun, come first.
    """
    from clsm_cli.retrieval import briefing

    today = datetime.fromisoformat(query.now).astimezone(index.store.zone).date()
    day = today.isoformat()
    asked = [(max(first, today.toordinal()), until) for first, until in question.periods]
    sure = certain_confidence(index)
    if query.past or sure < (query.min_score or 0) or all(first >= end for first, end in asked):
        return [*memories]
    due = [
        item
        for item in (line.on(day).item for line in briefing.prepare(index.store).lines)
        if item.told_on <= day and is_due_in(item.due, asked)
    ]
    visible = index.matching_rows(query.filters or Filters())
    coming: dict[str, Memory] = {}
    for due_item in sorted(due, key=lambda item: (item.due or "", bool(item.perhaps_until))):
        # A sentence of a turn or block has the number behind the key.
        rows = [
            row
            for row in index.rows_of((due_item.id, due_item.id.rpartition("-")[0]))
            if row in visible
        ]
        for passage in index.passages(rows[:1]).values():
            item = item_of(index, passage, sure)
            coming.setdefault(passage.id, item._replace(perhaps_until=due_item.perhaps_until))
    if question.asks_for_tasks or question.periods[0][0] <= today.toordinal():
        shown_turns = {
            turn for memory in memories for source in memory.sources for turn in source.turn_ids
        }
        items = [*memories, *(memory for key, memory in coming.items() if key not in shown_turns)]
    else:
        items = [*coming.values(), *(memory for memory in memories if memory.id not in coming)]
    return items[: query.k]


def certain_confidence(index: Index) -> float:
    """Confidence of an item that all of the question asks for."""
    evidence = Evidence(coverage=1.0, cosine=None, date=1.0, passages=index.size()[0])
    return round(confidence.signs_probability(evidence), 4)


def _are_names(index: Index, text: str, terms: frozenset[str]) -> bool:
    """Whether terms are words of a question that are written as names, or name something that is known."""
    if not terms:
        return True
    linked = graph_queries.nodes(index.connection, entity_linking.link_entities(index, text, {}))
    node_names = (name for node in linked.values() if node.kind != "concept" for name in node.names)
    return terms <= {*tokens.stems(" ".join((*capitals_inside(text), *node_names)))}


def _is_labelled(text: str, terms: frozenset[str]) -> bool:
    """Whether some terms are what stands before a task.

    >>> _is_labelled("Boat › Actions: Ada Byrne: new sails", frozenset({"ada"}))
    True
    >>> _is_labelled("Boat › Actions: new sails for Ada", frozenset({"ada"}))
    False
    """
    labels = (label[1] or label[2] for label in _LABEL.finditer(text))
    return bool(terms) and any(terms <= {*tokens.stems(label)} for label in labels)


def is_due_in(due: str | None, periods: Sequence[tuple[int, int]]) -> bool:
    """Whether a day lies in one of some periods, if there is any."""
    if not periods:
        return True
    day = date.fromisoformat(due[:10]).toordinal() if due else 0
    return any(first <= day < end for first, end in periods)


def item_of(index: Index, passage: Passage, its_confidence: float) -> Memory:
    """The item of a passage that answers whatever its words, with the turns that a statement rests on."""
    turns = [turn for key in passage.sources for turn in index.by_key(key)[:1] if turn.current]
    return Memory(
        id=passage.id,
        kind=passage.kind,
        text=passage.text,
        stream=passage.stream,
        score=1.0,
        confidence=its_confidence,
        tokens=tokens.count_tokens(passage.text),
        trust=passage.trust,
        session=passage.session,
        sources=tuple(source_of(index, source) for source in (*turns, passage)),
        why=Signals(meaning=1.0),
        shares=Signals(meaning=1.0),
        heading=passage.heading,
        speaker=passage.speaker,
    )
