"""Recall, in reading order: route → passes → pack → log.

A pass (``_run_pass``) is a line of stages over one view of the index, which nothing changes: question → find →
rank → confidence → concepts → order → items. All but finding and ranking look at the words first, and load
nothing where a question is simple.

The first pass leaves out archived items, except passages that hold a rare word of the question
(``Search.with_rare``). The second pass searches the archive too. It is made where the first found
nothing, or is not sure of it while something archived is among the passages nearest in meaning.
"""

from __future__ import annotations

import contextlib
import json
from heapq import nlargest
from math import exp
from typing import TYPE_CHECKING

from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.model.ids import digest
from clsm_cli.retrieval import (
    candidates,
    concepts,
    demotion,
    entity_linking,
    feedback,
    ranking,
    result_items,
    supersession,
    verdict,
)
from clsm_cli.retrieval.answer import Answer, Budget, Dropped, Memory
from clsm_cli.retrieval.question import ANY_TIME, may_name_time, understand
from clsm_cli.retrieval.ranking import Ranked
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.answer import Concept, Fact
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.question import Query, Question, TimeScope
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.indexed_files import Progress
    from clsm_cli.store.index.opening import Embedder, Opened
    from clsm_cli.store.index.ranking_queries import Filters
    from clsm_cli.store.layout import Store


def recall(
    store: Store,
    queries: Iterable[Query],
    engine: Engine,
    embedder: Embedder,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """Answer queries from the store, one after the other; never waits for a lock."""
    missing: str | None = None
    try:
        engine.open()
    except (ModelMissingError, ModelDigestError) as error:
        missing = f"{error}; this answer is from words alone"
    with open_index(store, None if missing else embedder, progress) as opened:
        opened.warnings[:0] = [missing] if missing else []
        for query in queries:
            yield _answer(opened, query, None if missing else engine)


def _answer(opened: Opened, query: Query, engine: Engine | None) -> Answer:
    index = opened.index
    route, cues = _route(index, query)
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
    if route != "none":
        found = search(index, query, engine)
        if query.is_gated and not found.memories:
            found = _about_names(index, query, engine) or found
        facts, kept, budget = _packed(index, query, found)
        own = [each for each in kept if each.kind != "context"]
        told = filter(None, [found.question.scope.warning])
        answer = answer._replace(
            confidence=max((m.confidence for m in own), default=found.ranked.confidence),
            concepts=found.concepts,
            memories=tuple(kept),
            budget=budget,
            facts=facts,
            warnings=(*answer.warnings, *told, *opened.late_warnings()),
        )
    return answer._replace(recall_id=_recall_id(answer, query))


def _about_names(index: Index, query: Query, engine: Engine | None) -> Found | None:
    """What is known of the names in a message that asks nothing: "remind me to phone Coen tomorrow"."""
    from clsm_cli.text import factuality, route

    names = entity_linking.names_inside(index, query.text)
    rest = " ".join(word for word in query.text.split() if not any(n in word for n in names))
    if not names or factuality.states_nothing(query.text) or route.is_small_talk(rest):
        return None
    found = search(index, query._replace(text=" ".join(names)), engine)
    return found if found.memories else None


def _route(index: Index, query: Query) -> tuple[str, tuple[str, ...]]:
    """Which memory the query needs, and by which cues; a question about memory itself is one."""
    if not (query.is_gated or query.current):
        return "ltm", ()
    from clsm_cli.text import route

    known = entity_linking.names_something(index, query.text)
    decided = route.choose_route(query.text, has_current=bool(query.current), known=known)
    if decided.route == "none" and not query.is_gated:
        return "ltm", decided.cues
    return decided.route, decided.cues


class Found(NamedTuple):
    """What a query found.

    Attributes:
        ranked: Every passage with evidence, best first; none where it cannot be answered.
        concepts: Of the passages that are sure enough, and so ``memories``.
    """

    question: Question
    ranked: Ranked
    concepts: tuple[Concept, ...] = ()
    memories: Sequence[Memory] = ()


DOUBT = 3.6
"""How many times the floor an answer must be sure to do without the archive. Facts that were told once and
asked for after the store had grown tenfold are recalled as if nothing were archived; at 2 times five
points fewer."""
NEAREST = 3
"""Passages nearest to the question in meaning, of which one must be archived to look there in doubt. With
one, seven points of what the doubt brought are lost; with five nothing is gained."""


def search(index: Index, query: Query, engine: Engine | None) -> Found:
    """What a query finds; if that is not enough, what it finds with the archive included.

    As of a time, what was told by then answers; only if none of it does, what was told later.
    """
    settings = _settings(index.store, query)
    view = index if query.past is None else index.as_of(query.past, query.known_at)
    first = _run_pass(view, query, engine, settings)
    if view.told_later and not first.memories:
        later = _run_pass(view.told_after(), query, engine, settings)
        return later if later.memories else first
    is_sure = first.ranked.confidence >= DOUBT * settings.floor
    if not view.has_archived() or (
        first.memories and (is_sure or not _archive_is_near(index, first.ranked.cosines))
    ):
        return first
    second = _run_pass(index.with_archive(), query, engine, settings)
    # What is read is other in the archive: it hides no answer that was found without.
    return first if first.memories and not second.memories else second


def _settings(store: Store, query: Query) -> RecallSettings:
    """The settings for a query, with the weights that feedback taught."""
    from datetime import datetime

    settings, moment = store.settings.recall, datetime.fromisoformat(query.now)
    learnt = feedback.learn_multipliers(store, moment, query.seed) or {}
    weights = {f"weight_{n}": getattr(settings, f"weight_{n}") * f for n, f in learnt.items()}
    return settings._replace(
        window=result_items.window_limit(settings.window, query.budget, query.unit),
        faded=settings.faded if query.min_score is None else float("-inf"),  # it may be below 0
        **weights,
    )


def _archive_is_near(index: Index, cosines: Sequence[float]) -> bool:
    """Whether one of the passages nearest in meaning is archived; without a model nobody knows."""
    nearest = nlargest(NEAREST, range(len(cosines)), key=cosines.__getitem__)
    return not cosines or index.has_archived_vector(nearest)


def _run_pass(index: Index, query: Query, engine: Engine | None, settings: RecallSettings) -> Found:
    """Stage after stage over one view of the index; what a time was about stands above its passages."""
    question, ranked, *_ = retrieve_passages(index, query, engine, settings)
    if engine is not None:
        ranked = verdict.read(index, question, ranked)
    ranked = verdict.without_look_alikes(index, question, ranked)
    kept, is_silent = verdict.sure_enough(index, question, ranked, settings.floor, query.min_score)
    kept = verdict.without_fillers(index, question, kept, settings)
    cosines = ranked.cosines
    named: tuple[Concept, ...] = ()
    memories: list[Memory] = []
    if kept:
        named = concepts.rank_concepts(index, query.text, kept, settings.concepts, cosines)
    if kept and not is_silent:
        past = query.past
        ended = supersession.ended(index, question, kept, cosines, past) if settings.rivals else {}
        kept = demotion.demote(index, question, kept, settings, ended)
        memories = result_items.build_items(index, question, kept, query.k, settings, ended)
    if question.asks_for_all:
        from clsm_cli.retrieval import period_digest

        memories = period_digest.with_digest(index, query, question, memories)
    elif question.asks_for_tasks:
        from clsm_cli.retrieval import open_tasks

        memories = open_tasks.find(index, query, question) or memories
    return Found(question, ranked, named, memories)


def retrieve_passages(
    index: Index, query: Query, engine: Engine | None, settings: RecallSettings
) -> Found:
    """Rank the passages of a view of the index for a query; without an engine, by words only."""
    right, warning = entity_linking.set_right(index, query.text, engine)
    query = query._replace(text=right)
    question = _analyse(index, query)
    if warning:
        told = "; ".join(filter(None, (warning, question.scope.warning)))
        question = question._replace(scope=question.scope._replace(warning=told))
    if question.scope.event:
        question = _beside_event(index, query, question, engine, settings)
    if question.scope.contradictory:
        return Found(question, Ranked([], 0.0, (), 0.0))
    is_bound = question.scope.hard and settings.time_filter
    allowed = _allowed(index, query.filters, question.scope if is_bound else ANY_TIME)
    index = index.with_rare(question.terms)
    found = candidates.find(index, question, engine, settings, allowed)
    ranked = ranking.rank(found)
    if question.scope.rows:
        from clsm_cli.retrieval import time_scope

        ranked = time_scope.in_order(question.scope, ranked)
    return Found(question, ranked)


def _beside_event(
    index: Index, query: Query, question: Question, engine: Engine | None, settings: RecallSettings
) -> Question:
    """A question for what came before or after an event, placed where its words find that event."""
    from clsm_cli.retrieval import time_scope

    scope, asked = question.scope, query._replace(text=question.scope.event)
    event = retrieve_passages(index, asked, engine, settings)
    ranked = verdict.read(index, event.question, event.ranked) if engine else event.ranked
    scope = time_scope.resolve_event(index, scope, query.past or query.now, ranked, settings.floor)
    return (
        _read(index, query, question.text, scope) if scope.rows else question._replace(scope=scope)
    )


def _analyse(index: Index, query: Query) -> Question:
    """Read a query: what it refers back to, when and where it looks, who is meant, and the rest."""
    text, scope = query.text, ANY_TIME
    if query.current:
        from clsm_cli.retrieval import dialogue_context

        text = dialogue_context.resolve_references(text, query.current)
    if any(may_name_time(text)):
        from clsm_cli.retrieval import time_scope

        scope = time_scope.resolve(index, text, query.past or query.now)
    return _read(index, query, text, scope)


def _read(index: Index, query: Query, text: str, scope: TimeScope) -> Question:
    """What a query asks, by its text with its references resolved and the days that it means."""
    rest = scope.rest if scope.periods else ""
    question = understand(text, scope.periods, index.speakers(), rest)
    return question._replace(
        scope=scope,
        asks_of_now=question.asks_of_now and query.past is None,
        asks_for_gist=question.asks_for_gist
        or (query.filters is not None and query.filters.kind == "gist"),
    )


def _allowed(index: Index, filters: Filters | None, scope: TimeScope) -> Collection[int] | None:
    """The passages that a filter, and the days or conversations that are meant, leave; None: all."""
    allowed = None if filters is None else index.matching_rows(filters)
    if not scope.hard:
        return allowed
    from clsm_cli.store.index import ranking_queries, session_queries

    if scope.event:
        inside = frozenset(scope.rows) - index.hidden()
    elif scope.sessions:
        inside = session_queries.session_rows(index.connection, scope.sessions) - index.hidden()
    else:
        days = (ranking_queries.Filters(first=first, until=until) for first, until in scope.periods)
        inside = frozenset().union(*map(index.matching_rows, days))
    return inside if allowed is None else inside & frozenset(allowed)


def _packed(
    index: Index, query: Query, found: Found
) -> tuple[tuple[Fact, ...], list[Memory], Budget]:
    """What fits into the budget: facts about what the query names, if it asks for any, and memories.

    What was said in the current conversation comes first, in at most half the budget. The facts are what
    the memories beside them leave unsaid; the room that they do not need is theirs.
    """
    said: list[Memory] = []
    if query.current:
        from clsm_cli.retrieval import dialogue_context

        half, terms = query.budget // (2 if query.unit == "tokens" else 8), found.question.terms
        turns = dialogue_context.select_turns(query.current, terms, half)
        said = dialogue_context.context_memories(turns, terms)
    if not (query.with_facts and found.memories):
        return (), *pack(found.memories, query.budget, query.unit, said)
    from clsm_cli.retrieval import known_facts

    ranked = found.ranked.candidates
    taken = int(known_facts.SHARE * query.budget)
    facts: tuple[Fact, ...] = ()
    for _ in range(2):
        kept, budget = pack(found.memories, query.budget - taken, query.unit, said)
        facts = known_facts.find(index, found.concepts, ranked, kept, taken, query.unit)
        taken = sum(fact.size(query.unit) for fact in facts)
    return facts, kept, budget._replace(limit=query.budget, used=budget.used + taken)


STEEPNESS = 12.0
"""What a score is worth, as the exponent of its value: a conditional logit's choice among items."""


def pack(
    memories: Sequence[Memory], limit: int, unit: str, said: Sequence[Memory] = ()
) -> tuple[list[Memory], Budget]:
    """Fill the budget with the items that are worth most together, and list the rest.

    An item is worth e^(12 · score), in proportion to the probability that it is the evidence. The
    0/1 knapsack over that (CMA, section 3.2) holds more evidence than items in the order of rank:
    on LoCoMo 89.7 % against 88.4 % at a reduction of 96.5 %, as much in 1,000 tokens.

    Args:
        said: Of the current conversation, which was fitted to the budget already and comes first.
    """
    room = limit - sum(each.size(unit) for each in said)
    sizes = [each.size(unit) for each in memories]
    kept = set(range(len(memories)))
    if sum(sizes) > room:
        from clsm_cli.scoring import packing

        worth = [exp(STEEPNESS * memory.score) for memory in memories]
        kept = set(packing.knapsack(worth, sizes, max(0, room)))
    dropped = [
        Dropped(memory.id, memory.tokens, "budget")
        for place, memory in enumerate(memories)
        if place not in kept
    ]
    chosen = [*said, *(memories[place] for place in sorted(kept))]
    used = sum(each.size(unit) for each in chosen)
    return chosen, Budget(limit, used, unit, tuple(dropped))


def _recall_id(answer: Answer, query: Query) -> str:
    """Hash of query, options, now and answer; where files lie on this machine does not count."""
    told = [
        memory._replace(sources=tuple(s._replace(file="", line=0) for s in memory.sources))
        for memory in answer.memories
    ]
    answer = answer._replace(memories=tuple(told))
    return f"r-{digest(json.dumps([query, answer], ensure_ascii=False))}"


def touch(store: Store, answer: Answer) -> None:
    """Record that these memories were used; a failing disk must not spoil the answer."""
    from datetime import UTC, datetime

    from clsm_cli.store import atomic
    from clsm_cli.store.activations import Activation

    at = datetime.fromisoformat(answer.now).astimezone(UTC)
    used = [
        (each, feedback.leading_signal(memory))
        for memory in answer.memories
        for each in (memory.id, *memory.states)
    ]
    line = Activation(
        answer.recall_id,
        at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        tuple(each for each, _ in used),
        tuple(led for _, led in used),
        tuple(concept.id for concept in answer.concepts),
    )
    with contextlib.suppress(DiskError):
        atomic.append(store.flow / "activation.jsonl", line.render(), durable=False)
