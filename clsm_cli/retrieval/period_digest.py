"""Digest of a week or longer as one item: what was decided, learnt and done, and what else was told.

It lists what ``clsm log --month`` does (``text.period_parts``), if a question asks for all of such
a period, whether or not there is a gist of it. The passages of the period rank below it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.answer import Memory, Signals
from clsm_cli.retrieval.open_tasks import certain_confidence
from clsm_cli.retrieval.result_items import source_of
from clsm_cli.retrieval.time_scope import OPEN_FIRST, OPEN_UNTIL
from clsm_cli.scoring.salience import most_salient
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import session_queries
from clsm_cli.store.index.ranking_queries import Filters
from clsm_cli.text import period_parts, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.retrieval.question import Query, Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.session_queries import TrustedTurn

MIN_DAYS = 7
"""Days of a period that gets a digest; the notes of a shorter one are shown as they are (own choice, as are those below)."""
MAX_LINES = 5
"""Lines per part."""
MAX_EPISODES = 500
"""Episodes considered, the last ones: more than a month has, so that a decade costs no more."""
BUDGET_PARTS = 4
"""The digest takes at most the budget divided by this."""


class _Line(NamedTuple):
    id: str  # of its statement or episode
    text: str
    source: Passage  # the turn or block that says it


def with_digest(
    index: Index, query: Query, question: Question, memories: Sequence[Memory]
) -> list[Memory]:
    """The items for a question, with the digest of its period inserted after the gists."""
    items = [*memories]
    filters = query.filters or Filters()
    if (
        question.asks_for_all
        and not question.scope.rows
        and filters._replace(kind=None) == Filters()
    ):
        first, until = max(question.periods, key=lambda period: period[1] - period[0])
        if until - first >= MIN_DAYS and filters.kind in (None, "gist"):
            gists = sum(memory.kind == "gist" for memory in memories)
            items[gists:gists] = _digest(index, query, first, until, memories)
    return items[: query.k]


def _digest(
    index: Index, query: Query, first: int, until: int, memories: Sequence[Memory]
) -> list[Memory]:
    """The digest as a list; empty if nothing was told in the period, or its confidence is too low."""
    turns_told = [
        turn
        for turn in session_queries.trusted_on_days(index.connection, first, until)
        if turn.row not in index.hidden()
    ]
    parts, count = _period_lines(index, first, until, turns_told)
    if not parts:
        return []
    size = query.budget // BUDGET_PARTS
    # An open side of the period ends at the first or last turn.
    first = max(first, turns_told[-1].day) if first == OPEN_FIRST and turns_told else first
    until = min(until, turns_told[0].day + 1) if until == OPEN_UNTIL and turns_told else until
    days = f"{date.fromordinal(first)} to {date.fromordinal(until - 1)}"
    text, kept = _text(f"{days}, {count}", parts, size if query.unit == "tokens" else size // 4)
    sure = certain_confidence(index)
    item_confidence = max([sure, *(memory.confidence for memory in memories[:1])])
    if query.min_score is not None and item_confidence < query.min_score:
        return []
    signals = Signals(date=1.0)
    item = Memory(
        id=kept[0].id,  # clsm show opens the first line's record
        kind="gist",
        text=text,
        stream="flow",
        score=max((memory.score for memory in memories), default=1.0),
        confidence=item_confidence,
        tokens=tokens.count_tokens(text),
        trust="agent",
        session="",
        sources=tuple(dict.fromkeys(source_of(index, line.source) for line in kept)),
        why=signals,
        shares=signals,
    )
    return [item]


def _period_lines(
    index: Index, first: int, until: int, turns_told: Sequence[TrustedTurn]
) -> tuple[dict[str, list[_Line]], str]:
    """The lines of each part, by title, and the number of episodes."""
    rows = index.matching_rows(Filters(kind="statement", first=first, until=until))
    passages: dict[str, Passage] = {
        passage.key: passage
        for passage in index.passages(sorted(rows)).values()
        if passage.trust not in UNTRUSTED
    }
    records = ((passage, index.record(passage.key)) for passage in passages.values())
    statements = [
        replace(record, text=passage.text)
        for passage, record in records
        if isinstance(record, Statement) and record.valid_from is not None
        if not record.done_at
        or first <= date.fromisoformat(record.done_at[:10]).toordinal() < until
    ]
    statements.sort(key=lambda row: (row.valid_from or "", row.id), reverse=True)
    turns = grouped((turn.episode, turn) for turn in turns_told)
    episode_records = (index.record(episode) for episode in [*turns][:MAX_EPISODES])
    episodes = [record for record in episode_records if isinstance(record, EpisodeRecord)]
    keys = {
        episode: {turn.key for turn in episode_turns} for episode, episode_turns in turns.items()
    }
    parts = period_parts.sort_period(statements, episodes, keys)
    rest = most_salient(parts.others, ((turn.episode, turn.is_by_user) for turn in turns_told))
    begins = index.passages([episode_turns[-1].row for episode_turns in turns.values()])

    def episode_line(record: EpisodeRecord, text: str) -> _Line:
        return _Line(record.id, text, begins[turns[record.id][-1].row])

    def stated(rows: Iterable[Statement]) -> Iterator[_Line]:
        for row in rows:
            turns = index.by_key(row.sources[0]) if row.sources else []
            yield _Line(row.id, row.text, turns[0] if turns else passages[row.id])

    listed = {
        "Decided": [
            *stated(parts.decisions),
            *(episode_line(*decision) for decision in parts.reported_decisions),
        ],
        "Learnt": [*stated(parts.facts)],
        "Done": [*stated(parts.done)],
        "Told": [episode_line(record, period_parts.first_sentence(record)) for record in rest],
    }
    count = f"{len(episodes)} episode{'s' * (len(episodes) != 1)}"
    return {title: lines for title, lines in listed.items() if lines}, count


def _text(title: str, parts: dict[str, list[_Line]], size: int) -> tuple[str, list[_Line]]:
    """The digest's text, and the lines in it: ``MAX_LINES`` per part, up to ``size`` tokens."""
    text, kept = title, list[_Line]()
    for name, lines in parts.items():
        text += f"\n{name}"
        for line in lines[:MAX_LINES]:
            more = f"{text}\n- {' '.join(line.text.split())}"
            if kept and tokens.count_tokens(more) > size:
                break
            text, kept = more, [*kept, line]
    return text, kept
