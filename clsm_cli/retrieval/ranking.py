"""Passages ranked for a question, in reading order: candidates → first pass → second pass → score.

    score = Σ weight · signal     (``answer.Signals``, weights in ``config.RecallSettings``)

Candidates are the passages nearest by words, by meaning and by date; both scans are exact. What is
dearer, late interaction and the look at a passage's surroundings, is done for candidates alone, so
its cost does not grow with the store.
"""

from __future__ import annotations

from heapq import nlargest
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation, dense_search, lexical_search, rerank
from clsm_cli.retrieval.rerank import EvidenceScorer, Neighbourhood
from clsm_cli.scoring import confidence
from clsm_cli.scoring.match import weighted
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.embedding.query_vectors import QueryVectors
    from clsm_cli.retrieval.activation import ActivationSource
    from clsm_cli.retrieval.answer import Signals
    from clsm_cli.retrieval.dense_search import Engine, Nearest
    from clsm_cli.retrieval.lexical_search import LexicalMatches
    from clsm_cli.retrieval.question import Question
    from clsm_cli.scoring.confidence import Evidence
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Traits


FIRST = 10
"""Candidates of which the surest decides whether anything is said: what a reader sees."""


class Candidate(NamedTuple):
    """A passage that may answer.

    Attributes:
        score: Σ weight · signal, relative to this query.
        confidence: That it answers, 0 … 1, comparable between queries (``scoring.confidence``).
    """

    row: int
    score: float
    confidence: float
    signals: Signals
    evidence: Evidence
    traits: Traits
    way: ActivationSource | None = None


class Ranked(NamedTuple):
    """What was found for a question.

    Attributes:
        confidence: That something answers, which is that of the surest of the first ``FIRST``.
        cosines: Of every stored sentence vector to the question, by its row; empty without a model.
        unread: The confidence before any of them was read (``answer_reading``).
    """

    candidates: list[Candidate]
    confidence: float
    cosines: Sequence[float]
    unread: float


def rank(
    index: Index,
    question: Question,
    vectors: QueryVectors | None,
    asked: Sequence[float] | None,
    engine: Engine,
    settings: RecallSettings,
    allowed: Collection[int] | None = None,
) -> Ranked:
    """Every passage with evidence for the question, best first.

    Args:
        vectors: Of ``question.dense``; None: words only.
        asked: Sentence vector of the question as it was asked, in which its names stand.
        allowed: Passages that may be returned; None for all.
    """
    strange = dense_search.unfamiliarity(vectors, question) if vectors is not None else {}
    found = lexical_search.search(index, question, settings, strange, allowed)
    near: Nearest | None = None
    plain: Sequence[float] = ()
    if vectors is not None and asked is not None:
        plain = dense_search.products(index, engine, asked)
        near = dense_search.nearest(index, engine, vectors.sentence, settings.candidates, allowed)
    rows = _candidates(index, question, found, near, settings, allowed)
    around = Neighbourhood(index, rows)
    if not question.asks_for_gist:
        rows = [row for row in rows if around.near[row].kind != "gist"]
    late = None
    if vectors is not None:
        weights = dense_search.token_weights(vectors, question.dense, found, settings.least_idf)
        late = dense_search.late_interaction(index, engine, vectors, weights, around.near)
    over: Collection[str] = ()
    if settings.weight_outdated and question.asks_of_now:
        keys = sorted({around.near[row].key for row in rows})
        over = graph_queries.outdated_sources(index.connection, keys)
    view = EvidenceScorer(question, found, near, plain, late, around, over)
    found_first = view.signals(rows)
    looked, ways = rerank.add_second_stage(
        index, question, rows, found_first, around, near, late, settings
    )
    factors = rerank.signal_weights(settings)
    ranked = []
    for row, values in zip(rows, looked, strict=True):
        evidence = view.evidence(row)
        ranked.append(
            Candidate(
                row=row,
                score=round(weighted(values, factors), 6),
                confidence=round(confidence.probability(evidence), 6),
                signals=values,
                evidence=evidence,
                traits=around.near[row],
                way=ways.get(row),
            )
        )
    ranked.sort(key=_place)
    first = ranked[:FIRST]
    sure = max((each.confidence for each in first), default=0.0)
    return Ranked(ranked, sure, near.cosines if near is not None else (), sure)


def _place(candidate: Candidate) -> tuple[float, str, int, int]:
    """Sort key: best first, ties by key, which does not depend on rows."""
    traits = candidate.traits
    return -candidate.score, traits.key, traits.part, candidate.row


def _candidates(
    index: Index,
    question: Question,
    found: LexicalMatches,
    near: Nearest | None,
    settings: RecallSettings,
    allowed: Collection[int] | None,
) -> list[int]:
    """The rows to score, in order of row."""
    chosen = set(_best(index, found.scores, settings.candidates))
    chosen.update(_best(index, found.literal, settings.candidates))
    if near is not None:
        chosen.update(near.passages)
    others: list[Iterable[int]] = [
        index.on_days(*period, settings.candidates) for period in question.periods
    ]
    if near is not None and settings.weight_graph:
        nearest = [*near.passages[:1], *_best(index, found.scores, 1)]
        others.append(activation.linked_passages(index, question, nearest))
    for first, until in question.periods if question.asks_for_gist else ():
        from clsm_cli.store.index.ranking_queries import Filters

        others.append(index.matching_rows(Filters(kind="gist", first=first, until=until)))
    for rows in others:
        chosen.update(row for row in rows if allowed is None or row in allowed)
    return sorted(chosen)


def _best(index: Index, scores: dict[int, float], limit: int) -> list[int]:
    """The rows with the highest scores; ties at the end by key."""
    if len(scores) <= limit:
        return list(scores)
    last = nlargest(limit, scores.values())[-1]
    above = [row for row, score in scores.items() if score > last]
    equal = [row for row, score in scores.items() if score == last]
    room = limit - len(above)
    return above + (equal if len(equal) == room else index.in_order(equal)[:room])
