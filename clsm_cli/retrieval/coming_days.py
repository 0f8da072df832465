"""What is due on days to come, as the answer to a question for nothing else: "what do I have on Friday?".

What was said on a day tells of one that is over. Of a day to come, those passages tell that name it, as
``clsm context`` reads them.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from clsm_cli.retrieval import briefing, open_tasks
from clsm_cli.store.index.ranking_queries import Filters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.retrieval.question import Query, Question
    from clsm_cli.store.index.index_queries import Index


def with_due(
    index: Index, query: Query, question: Question, memories: Sequence[Memory]
) -> list[Memory]:
    """The items for a question, and by day what is due in its periods from today on.

    Tasks, and what was said on a day that has begun, come first.
    """
    today = datetime.fromisoformat(query.now).astimezone(index.store.zone).date()
    asked = [(max(first, today.toordinal()), until) for first, until in question.periods]
    sure = open_tasks.confidence_of(index)
    if query.past or sure < (query.min_score or 0) or all(first >= end for first, end in asked):
        return [*memories]
    due = [
        line.item
        for line in briefing.prepare(index.store).lines
        if line.item.told_on <= today.isoformat() and open_tasks.is_due(line.item.due, asked)
    ]
    visible = index.matching_rows(query.filters or Filters())
    coming: dict[str, Memory] = {}
    for each in sorted(due, key=lambda item: (item.due or "", bool(item.perhaps_until))):
        # A sentence of a turn or block has the number behind the key.
        rows = [
            row for row in index.rows_of((each.id, each.id.rpartition("-")[0])) if row in visible
        ]
        for told in index.passages(rows[:1]).values():
            item = open_tasks.item_of(index, told, sure)
            coming.setdefault(told.id, item._replace(perhaps_until=each.perhaps_until))
    if question.asks_for_tasks or question.periods[0][0] <= today.toordinal():
        known = {turn for each in memories for source in each.sources for turn in source.turn_ids}
        found = [*memories, *(each for key, each in coming.items() if key not in known)]
    else:
        found = [*coming.values(), *(each for each in memories if each.id not in coming)]
    return found[: query.k]
