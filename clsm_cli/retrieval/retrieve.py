"""From the words of a query to ranked passages, in reading order: parse → when → what → rank.

Everything but the ranking looks at the words first, and loads nothing where a question is simple.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.retrieval import ranking, time_scope
from clsm_cli.retrieval.question import understand
from clsm_cli.retrieval.ranking import Ranked
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.dialogue_context import DialogueTurn
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.time_scope import TimeScope
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Filters


class RetrievalResult(NamedTuple):
    """What a query found.

    Attributes:
        ranked: Every passage with evidence for it, best first; none where it cannot be answered.
    """

    question: Question
    ranked: Ranked
    warnings: tuple[str, ...]


def retrieve_passages(
    index: Index, query: Query, engine: Engine, settings: RecallSettings, *, has_model: bool
) -> RetrievalResult:
    """Rank the passages of a store for a query.

    Args:
        index: Fresh; it is left looking at the time that the query is about.
    """
    is_past = query.as_of is not None or query.known_at is not None
    index.look_at(query.at if is_past else None, query.known_at)
    text = matching_text(query)
    when = time_scope.resolve(index, text, query.at)
    periods = when.periods if when is not None else ()
    rest = when.rest if when is not None and periods else ""
    question = understand(text, periods, index.speakers(), rest)
    question = question._replace(
        asks_of_now=question.asks_of_now and not is_past,
        asks_for_gist=question.asks_for_gist
        or (query.filters is not None and query.filters.kind == "gist"),
    )
    warnings = (when.warning,) if when is not None and when.warning else ()
    if when is not None and when.contradictory:
        return RetrievalResult(question, Ranked([], 0.0, (), 0.0), warnings)
    allowed = _allowed(index, query, when if settings.time_filter else None)

    index.wake_archived(question.terms)
    vectors = plain = engine.encode(question.dense) if has_model else None
    if has_model and question.text != question.dense:
        plain = engine.encode(question.text)
    asked = plain.sentence if plain is not None else None
    ranked = ranking.rank(index, question, vectors, asked, engine, settings, allowed)
    return RetrievalResult(question, ranked, warnings)


def matching_text(query: Query) -> str:
    """The words to look for, with what they refer back to."""
    text = query.text
    if query.current:
        from clsm_cli.retrieval import dialogue_context

        text = dialogue_context.resolve_references(text, query.current)
    return text


def _allowed(index: Index, query: Query, when: TimeScope | None) -> Collection[int] | None:
    """The passages that may come back; None for all."""
    allowed = None if query.filters is None else index.matching_rows(query.filters)
    if when is None or not when.hard:
        return allowed
    from clsm_cli.store.index import session_queries
    from clsm_cli.store.index.ranking_queries import Filters

    if when.sessions:
        inside = session_queries.session_rows(index.connection, when.sessions) - index.hidden()
    else:
        inside = frozenset().union(
            *(
                index.matching_rows(Filters(first=first, until=until))
                for first, until in when.periods
            )
        )
    return inside if allowed is None else inside & frozenset(allowed)


class Query(NamedTuple):
    """What is asked, and how much may come back.

    Attributes:
        k: Turns, statements and windows of notes at most.
        budget: Text at most, in ``unit`` (tokens or characters).
        min_score: Confidence from 0 to 1 below which an item is left out; None: the setting.
        as_of: Day or time at which it should have been true; relative expressions count from it.
        known_at: Day or time at which it should have been known; None for now.
        current: Messages of the current conversation, the oldest first.
        is_gated: Whether a message that needs no memory gets none.
        with_facts: Whether to tell, in a part of the budget, what holds of what it names.
        seed: Of the draw of weights from feedback; None: their means.
    """

    text: str
    now: str
    k: int
    budget: int
    unit: str = "tokens"
    min_score: float | None = None
    filters: Filters | None = None
    as_of: str | None = None
    known_at: str | None = None
    current: tuple[DialogueTurn, ...] = ()
    is_gated: bool = False
    with_facts: bool = False
    seed: str | None = None

    @property
    def at(self) -> str:
        """The time the question is about, if its words name none."""
        return self.as_of or self.known_at or self.now
