"""Candidate passages for a question: the best by words, by meaning, by date and over the graph.

The scans by words and by meaning are exact. The expensive steps, late interaction and the
surroundings of a passage, are limited to candidates, so their cost does not grow with the store.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation, lexical_search
from clsm_cli.retrieval.dense_search import Meaning
from clsm_cli.retrieval.question import ANY_TIME
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.ranking_queries import Filters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.dense_search import Engine, LateInteraction
    from clsm_cli.retrieval.lexical_search import LexicalMatches
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import GroupMember, Traits


class CandidateSet(NamedTuple):
    """The candidates for a question, with their surroundings.

    Attributes:
        view: View of the index in which they were found.
        traits: Traits of each candidate, by row, in order of row.
        surroundings: The same, and those of the passages beside them.
        members: The passages of each of their groups.
        cosines: Of every stored sentence vector to ``Question.embedding_text``, by row; empty
            without a model.
        asked_cosines: The same to the question as asked.
    """

    view: Index
    settings: RecallSettings
    question: Question
    traits: dict[int, Traits]
    surroundings: dict[int, Traits]
    members: dict[int, list[GroupMember]]
    words: LexicalMatches
    cosines: Sequence[float]
    asked_cosines: Sequence[float]
    late: LateInteraction | None

    def maxsim(self, *, with_next: bool) -> list[float | None]:
        """Late interaction of each candidate with its neighbours as one text; None without a vector."""
        late = self.late
        return [
            late.window_scores(row, traits.previous, traits.next if with_next else None)
            if late is not None and traits.vector >= 0
            else None
            for row, traits in self.traits.items()
        ]

    def tie_break(self, row: int) -> tuple[str, int, int]:
        """Sort key for equal scores: the passage's key first, which does not depend on rows."""
        traits = self.surroundings[row]
        return traits.key, traits.part, row


def find_candidates(
    index: Index,
    question: Question,
    engine: Engine | None,
    settings: RecallSettings,
    filters: Filters | None = None,
) -> CandidateSet:
    """Every passage with evidence for the question.

    Args:
        engine: Open; None: search by words only.
        filters: Of the passages that may be returned.
    """
    allowed = allowed_rows(index, question, settings, filters)
    index = index.with_rare(question.terms)
    limit, meaning = settings.candidates, Meaning(index, question, engine)
    nearest = meaning.nearest(limit, allowed)
    words = lexical_search.search(index, question, settings, meaning.out_of_vocabulary(), allowed)
    by_words = _best_rows(index, words.scores, limit)
    others: list[Iterable[int]] = [index.on_days(*period, limit) for period in question.periods]
    if meaning.cosines and settings.weight_graph:
        best = [*nearest[:1], *_best_rows(index, words.scores, 1)]
        others.append(activation.linked_passages(index, question, best))
    for first, until in question.periods if question.asks_for_gist else ():
        others.append(index.matching_rows(Filters(kind="gist", first=first, until=until)))
    rows = {*by_words, *_best_rows(index, words.exact_match, limit), *nearest}
    rows |= {row for more in others for row in more if allowed is None or row in allowed}
    traits_by_row = index.traits(sorted(rows))
    beside_rows = {
        row
        for traits in traits_by_row.values()
        for row in (traits.previous, traits.next)
        if row is not None
    }
    surroundings = traits_by_row | index.traits(sorted(beside_rows - traits_by_row.keys()))
    is_wanted = question.asks_for_gist
    return CandidateSet(
        index,
        settings,
        question,
        traits={
            row: traits_by_row[row]
            for row in sorted(traits_by_row)
            if is_wanted or traits_by_row[row].kind != "gist"
        },
        surroundings=surroundings,
        members=index.members(sorted({traits.group for traits in traits_by_row.values()})),
        words=words,
        cosines=meaning.cosines,
        asked_cosines=meaning.asked_cosines,
        late=meaning.late_interaction(words.idf, settings.least_idf, surroundings),
    )


def allowed_rows(
    index: Index, question: Question, settings: RecallSettings, filters: Filters | None
) -> Collection[int] | None:
    """The passages that pass the filters and a hard scope; None: all."""
    scope = question.scope if settings.time_filter else ANY_TIME
    allowed = None if filters is None else index.matching_rows(filters)
    if not scope.hard:
        return allowed
    if scope.event:
        inside = frozenset(scope.rows) - index.hidden()
    elif scope.sessions:
        from clsm_cli.store.index import session_queries

        inside = session_queries.session_rows(index.connection, scope.sessions) - index.hidden()
    else:
        days = (Filters(first=first, until=until) for first, until in scope.periods)
        inside = frozenset().union(*map(index.matching_rows, days))
    return inside if allowed is None else inside & frozenset(allowed)


def _best_rows(index: Index, scores: dict[int, float], limit: int) -> list[int]:
    """The rows with the highest scores; ties at the limit are decided by key."""
    if len(scores) <= limit:
        return list(scores)
    last = nlargest(limit, scores.values())[-1]
    above = [row for row, score in scores.items() if score > last]
    equal = [row for row, score in scores.items() if score == last]
    room = limit - len(above)
    return above + (equal if len(equal) == room else index.in_order(equal)[:room])
