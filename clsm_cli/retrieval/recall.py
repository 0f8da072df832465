"""Recall, in reading order: route → passes → pack → log.

A pass (``_run_pass``) is a sequence of stages over one immutable view of the index: question → find
→ rank → verdict → concepts → order → items. All stages except find and rank check the words first,
and load nothing for a simple question.

The first pass skips archived items, except passages that contain a rare word of the question
(``Search.with_rare``). The second pass also searches the archive. It runs if the first found
nothing, or is in doubt while an archived passage is among the nearest in meaning.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from heapq import nlargest
from math import exp

from clsm_cli.config import RecallSettings
from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.model.ids import digest
from clsm_cli.retrieval import (
    candidates,
    concepts,
    definitions,
    demotion,
    entity_linking,
    learned_weights,
    ranking,
    result_items,
    supersession,
    verdict,
)
from clsm_cli.retrieval.answer import Answer, Budget, Concept, DroppedItem, KnownFact, Memory
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.retrieval.question import (
    ANY_TIME,
    Query,
    Question,
    TimeScope,
    may_name_time,
    resolve_references,
    understand,
)
from clsm_cli.retrieval.ranking import Ranked
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.indexed_files import Progress
from clsm_cli.store.index.opening import Embedder, OpenedIndex, open_index
from clsm_cli.store.layout import Store


def recall(
    store: Store,
    queries: Iterable[Query],
    engine: Engine,
    embedder: Embedder,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """Answer queries from the store one after the other, without ever waiting for a lock."""
    missing: str | None = None
    try:
        engine.open()
    except (ModelMissingError, ModelDigestError) as error:
        missing = f"{error}; this answer is from words alone"
    with open_index(store, None if missing else embedder, progress) as opened:
        opened.warnings[:0] = [missing] if missing else []
        for query in queries:
            yield _answer(opened, query, None if missing else engine)


def _answer(opened: OpenedIndex, query: Query, engine: Engine | None) -> Answer:
    index = opened.index
    route, cues, is_doubtful = _route(index, query)
    result = two_pass_search(index, query, engine) if route != "none" or is_doubtful else None
    if is_doubtful and result is not None:
        is_sure = min(result.ranked.unread, result.ranked.confidence) >= SURE
        route, result = ("ltm", result) if is_sure else ("none", None)
    answer = Answer(
        recall_id="",
        query=query.text,
        now=query.now,
        route=route,
        confidence=0.0,
        concepts=(),
        memories=(),
        budget=Budget(query.budget, 0, query.unit),
        embedder=engine.name if engine is not None else None,
        as_of=query.as_of,
        known_at=query.known_at,
        cues=cues,
        warnings=tuple(opened.warnings),
    )
    if result is not None:
        if query.is_gated and not result.memories:
            result = _search_names(index, query, engine) or result
        if query.is_gated and query.min_score is None:
            result = _without_unsure(index, query, result)
        facts, kept, budget = _pack_with_facts(index, query, result)
        remarks = filter(None, [result.question.scope.warning])
        answer = answer._replace(
            confidence=max((m.confidence for m in kept), default=result.ranked.confidence),
            concepts=result.concepts,
            memories=tuple(kept),
            budget=budget,
            facts=facts,
            warnings=(*answer.warnings, *remarks, *opened.late_warnings()),
        )
    return answer._replace(recall_id=_recall_id(answer, query))


SURE = 0.5
"""Confidence, by signs and after reading, from which an answer is given even to a request whose
form needs no memory ("write a retry loop"). On a memory of three weeks, requests about its subjects
have 0.51 to 0.98, others at most 0.17 by signs.
"""


def _route(index: Index, query: Query) -> tuple[str, tuple[str, ...], bool]:
    """Which memory the query needs, the cues that decided it, and whether only its form speaks against any."""
    if not (query.is_gated or query.current):
        return "ltm", (), False
    from clsm_cli.text import route

    text = query.text
    named = entity_linking.link_entities(index, text, {}) or entity_linking.names_inside(
        index, text
    )
    decided = route.choose_route(text, has_current=bool(query.current), known=bool(named))
    if decided.route == "none" and not query.is_gated:
        return "ltm", decided.cues, False
    return decided.route, decided.cues, decided.is_doubtful


class SearchResult(NamedTuple):
    """The result of a search.

    Attributes:
        ranked: Every passage with evidence, best first; empty if the question contradicts itself.
        concepts: Concepts of the passages above the threshold.
        memories: Items of these passages.
    """

    question: Question
    ranked: Ranked
    concepts: tuple[Concept, ...] = ()
    memories: Sequence[Memory] = ()


ARCHIVE_DOUBT = 4.0
"""Confidence, as a multiple of the floor, below which the archive is searched too. Facts told once
and asked for after the store had grown tenfold are then recalled as if nothing were archived; at 2,
five points fewer (docs/experiments.md).
"""
NEAREST = 3
"""Passages nearest in meaning, of which one must be archived for a second pass in doubt, or a
former block of a document for the last pass. With 1, seven points of its gain are
lost; 5 gain nothing.
"""


def two_pass_search(index: Index, query: Query, engine: Engine | None) -> SearchResult:
    """Search for a query; if the result is empty or in doubt, search the archive too.

    If it is still empty, what documents no longer say may answer, marked with the day of its end.
    As of a past time, passages told by then answer; only if none does, those told later.
    """
    settings = learned_weights.learned_settings(index.store, query.now, query.seed)
    view = index if query.past is None else index.as_of(query.past, query.known_at)
    first = _run_pass(view, query, engine, settings)
    if view.after_cutoff and not first.memories:
        later = _run_pass(view.only_after_cutoff(), query, engine, settings)
        return later if later.memories else first
    if not view.has_archived() or (first.memories and _is_current_answer(index, first, settings)):
        result = first
    else:
        result = _run_pass(index.with_archive(), query, engine, settings)
        # The second pass may read other passages; it must not suppress an answer of the first.
        result = first if first.memories and not result.memories else result
    if result.memories or query.past is not None:
        return result
    with_former = index.with_former()
    if not index.with_archive().hides(_nearest(first), with_former):
        return result
    former = _run_pass(with_former, query, engine, settings)
    return former if former.memories else result


def _is_current_answer(index: Index, result: SearchResult, settings: RecallSettings) -> bool:
    """Whether an answer is sure, or nothing that is archived is among the nearest in meaning."""
    nearest = _nearest(result)  # none without a model: then something near may be archived
    is_sure = result.ranked.confidence >= ARCHIVE_DOUBT * settings.floor
    return is_sure or bool(nearest and not index.hides(nearest, index.with_archive()))


def _nearest(result: SearchResult) -> list[int]:
    """The sentence vectors nearest to the question, by row."""
    cosines = result.ranked.cosines
    return nlargest(NEAREST, range(len(cosines)), key=cosines.__getitem__)


def _run_pass(
    index: Index, query: Query, engine: Engine | None, settings: RecallSettings
) -> SearchResult:
    """Run the stages over one view of the index."""
    question, ranked = retrieve_passages(index, query, engine, settings)
    ranked, kept, concepts_only = verdict.judge_candidates(
        index, question, ranked, settings, query.min_score, has_model=engine is not None
    )
    named: tuple[Concept, ...] = ()
    memories: Sequence[Memory] = ()
    if kept:
        named = concepts.rank_concepts(index, query.text, kept, settings.concepts, ranked.cosines)
    if kept and not concepts_only:
        kept = definitions.definition_first(index, question, kept)
        superseded = {}
        if settings.rivals:
            superseded = supersession.find_superseded(
                index, question, kept, ranked.cosines, now=query.now, past=query.past
            )
            kept = demotion.demote(index, question, kept, settings.rivals, superseded)
        memories = result_items.build_items(index, question, kept, query, settings, superseded)
    if question.asks_for_all:
        from clsm_cli.retrieval import period_digest

        memories = period_digest.with_digest(index, query, question, memories)
    if question.asks_for_all or question.asks_for_tasks:
        from clsm_cli.retrieval import open_tasks

        memories = open_tasks.with_open_and_due(index, query, question, memories)
    return SearchResult(question, ranked, named, memories)


def retrieve_passages(
    index: Index, query: Query, engine: Engine | None, settings: RecallSettings
) -> tuple[Question, Ranked]:
    """Rank the passages of a view of the index for a query; without an engine, by words only.

    A question has several texts, and each stage reads one of them:

    - ``Query.text`` as typed: concepts, and the id of the recall
    - ``Question.text``, with misspelt names corrected and the words of back-references appended:
      its terms, codes and names, the answer head, the pair head
    - ``TimeScope.rest``, that without time words: whether it asks for anything besides a time
    - ``Question.embedding_text``, the rest in the first person of the speaker named: sentence and
      token vectors
    - ``TimeScope.event``: a question of its own, asked first for what came before or after an event

    Returns:
        The question, and the passages with evidence, best first: none if the question contradicts
        itself.
    """
    corrected, warning = entity_linking.correct_names(index, query.text, engine)
    query = query._replace(text=corrected)
    question = _analyse(index, query)
    if warning:
        joined = "; ".join(filter(None, (warning, question.scope.warning)))
        question = question._replace(scope=question.scope._replace(warning=joined))
    if question.scope.event:
        question = _place_event(index, query, question, engine, settings)
    if question.scope.contradictory:
        return question, Ranked(candidates=[], confidence=0.0, cosines=(), unread=0.0)
    candidate_set = candidates.find_candidates(index, question, engine, settings, query.filters)
    ranked = ranking.rank(candidate_set)
    if question.scope.rows:
        from clsm_cli.retrieval import time_scope

        ranked = time_scope.in_scope_order(question.scope, ranked)
    return question, ranked


def _place_event(
    index: Index, query: Query, question: Question, engine: Engine | None, settings: RecallSettings
) -> Question:
    """Search for the event of a before/after question, and set the question's scope beside it."""
    from clsm_cli.retrieval import time_scope

    scope, asked = question.scope, query._replace(text=question.scope.event)
    event, ranked = retrieve_passages(index, asked, engine, settings)
    if engine is not None:
        ranked = verdict.read_best(index, event, ranked, settings.weight_reading)
    scope = time_scope.resolve_event(index, scope, query.past or query.now, ranked, settings.floor)
    if not scope.rows:
        return question._replace(scope=scope)
    return _analyse(index, query._replace(text=question.text, current=()), scope)


def _analyse(index: Index, query: Query, scope: TimeScope | None = None) -> Question:
    """Analyse a query: back-references, time scope unless it is known, speakers, content."""
    text = query.text
    if query.current:
        text = resolve_references(text, query.current)
    if scope is None and any(may_name_time(text)):
        from clsm_cli.retrieval import time_scope

        scope = time_scope.resolve(index, text, query.past or query.now)
    scope = scope or ANY_TIME
    rest = scope.rest if scope.periods else ""
    question = understand(text, scope.periods, index.speakers(), rest)
    return question._replace(
        scope=scope,
        asks_of_now=question.asks_of_now and query.past is None,
        asks_for_gist=question.asks_for_gist
        or (query.filters is not None and query.filters.kind == "gist"),
    )


def _search_names(index: Index, query: Query, engine: Engine | None) -> SearchResult | None:
    """Search for the names in a message that asks nothing: "remind me to phone Coen tomorrow"."""
    from clsm_cli.text import factuality, route

    names = entity_linking.names_inside(index, query.text)
    rest = " ".join(word for word in query.text.split() if not any(n in word for n in names))
    if not names or factuality.asserts_nothing(query.text) or route.is_small_talk(rest):
        return None
    result = two_pass_search(index, query._replace(text=" ".join(names)), engine)
    return result if result.memories else None


GATED_LEAST, GATED_LEAST_ASKED = 0.1, 0.05
"""Confidence that each item put before a message must have, and each before one that asks, where
even the least likely may be the answer. On the sample memory, no query loses its evidence, and one
item in ten goes.
"""


def _without_unsure(index: Index, query: Query, result: SearchResult) -> SearchResult:
    """Drop items that nobody asked for and that hardly belong to the message.

    A message that asks nothing needs no word of the files that the agent reads anyway. Where none is sure, identifiers or a time decided, and all stay; and what replaced an item that
    stays stays with it.
    """
    from clsm_cli.text import factuality

    if result.ranked.confidence < index.store.settings.recall.floor:
        return result
    is_asked = factuality.asserts_nothing(query.text)
    least = GATED_LEAST_ASKED if is_asked else GATED_LEAST
    read = () if is_asked else index.store.settings.context.loaded
    kept = [
        memory
        for memory in result.memories
        if memory.confidence >= least
        and not (memory.sources and memory.sources[0].path.rpartition("/")[2] in read)
    ]
    needed = {memory.replaced_by for memory in kept}
    memories = [memory for memory in result.memories if memory in kept or memory.id in needed]
    return result._replace(memories=memories, concepts=result.concepts if memories else ())


def _pack_with_facts(
    index: Index, query: Query, result: SearchResult
) -> tuple[tuple[KnownFact, ...], list[Memory], Budget]:
    """The facts (if the query wants any) and memories that fit into the budget.

    Facts that a packed memory says are left out; room that the facts do not need goes to the
    memories.
    """
    if not (query.with_facts and result.memories):
        return (), *pack_memories(result.memories, query.budget, query.unit)
    from clsm_cli.retrieval import known_facts

    ranked = result.ranked.candidates
    taken = int(known_facts.BUDGET_SHARE * query.budget)
    facts: tuple[KnownFact, ...] = ()
    for _ in range(2):
        kept, budget = pack_memories(result.memories, query.budget - taken, query.unit)
        facts = known_facts.find_facts(index, result.concepts, ranked, kept, taken, query.unit)
        taken = sum(fact.size(query.unit) for fact in facts)
    return facts, kept, budget._replace(limit=query.budget, used=budget.used + taken)


STEEPNESS = 12.0
"""Steepness of an item's value in its score: a conditional logit over the items."""


def pack_memories(memories: Sequence[Memory], limit: int, unit: str) -> tuple[list[Memory], Budget]:
    """Fill the budget with the items of the largest total value, and list the dropped ones.

    The value of an item is e^(12 · score), proportional to the probability that it is the evidence.
    The 0/1 knapsack (CMA, section 3.2) packs more evidence than the order of rank: on LoCoMo 89.7 %
    against 88.4 % at a reduction of 96.5 %, the same in 1,000 tokens.
    """
    sizes = [memory.size(unit) for memory in memories]
    kept = set(range(len(memories)))
    if sum(sizes) > limit:
        from clsm_cli.scoring import packing

        worth = [exp(STEEPNESS * memory.score) for memory in memories]
        kept = set(packing.knapsack(worth, sizes, max(0, limit)))
    dropped = [
        DroppedItem(memory.id, memory.tokens, "budget")
        for place, memory in enumerate(memories)
        if place not in kept
    ]
    chosen = [memories[place] for place in sorted(kept)]
    used = sum(memory.size(unit) for memory in chosen)
    return chosen, Budget(limit, used, unit, tuple(dropped))


def _recall_id(answer: Answer, query: Query) -> str:
    """Hash of query, options, now and answer, without paths on this machine."""
    without_paths = tuple(
        memory._replace(sources=tuple(s._replace(file="", line=0) for s in memory.sources))
        for memory in answer.memories
    )
    hashed = [query, answer._replace(memories=without_paths)]
    return f"r-{digest(json.dumps(hashed, ensure_ascii=False))}"


def touch(store: Store, answer: Answer) -> None:
    """Log that these memories were used; a disk error must not spoil the answer."""
    from datetime import datetime

    from clsm_cli.model.clocks import utc_text
    from clsm_cli.store import atomic
    from clsm_cli.store.activations import Activation

    used = [
        (item_id, learned_weights.leading_signal(memory))
        for memory in answer.memories
        for item_id in (memory.id, *memory.states)
    ]
    line = Activation(
        recall=answer.recall_id,
        at=utc_text(datetime.fromisoformat(answer.now)),
        ids=tuple(item_id for item_id, _ in used),
        led=tuple(signal for _, signal in used),
        concepts=tuple(concept.id for concept in answer.concepts),
    )
    with contextlib.suppress(DiskError):
        atomic.append(store.flow / "activation.jsonl", line.render(), durable=False)
