"""Recall, in reading order: route → passes (retrieve → read → floor → concepts → items) → pack → touch.

A pass goes from the words of a query to ranked passages: parse → when → what → rank. All but the ranking
looks at the words first, and loads nothing where a question is simple.

The first pass leaves out archived items, except passages that hold a rare word of the question
(``Search.wake_archived``). The second pass searches the archive too. It is made where the first found
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
    answer_reading,
    concepts,
    demotion,
    learned_weights,
    ranking,
    result_items,
    supersession,
    time_scope,
)
from clsm_cli.retrieval.answer import Answer, Budget, Dropped, Memory
from clsm_cli.retrieval.question import understand
from clsm_cli.retrieval.ranking import Ranked
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.answer import Concept, Fact
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.dialogue_context import DialogueTurn
    from clsm_cli.retrieval.question import Question, TimeScope
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.indexed_files import Progress
    from clsm_cli.store.index.opening import Embedder, Opened
    from clsm_cli.store.index.ranking_queries import Filters
    from clsm_cli.store.layout import Store


class Query(NamedTuple):
    """What is asked, and how much may come back.

    Attributes:
        k: Turns, statements and windows of notes at most.
        budget: Text at most, in ``unit`` (tokens or characters).
        min_score: Confidence from 0 to 1 below which an item is left out; None: the setting.
        as_of: When it should have been true; relative expressions count from it.
        known_at: When it should have been known; None for now.
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


def recall(
    store: Store,
    queries: Iterable[Query],
    engine: Engine,
    embedder: Embedder,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """Answer queries from the store, one after the other; never waits for a lock."""
    missing = _model_fault(engine)
    with open_index(store, None if missing else embedder, progress) as opened:
        opened.warnings[:0] = [missing] if missing else []
        for query in queries:
            yield _answer(opened, query, None if missing else engine)


def _model_fault(engine: Engine) -> str | None:
    """Why the model cannot be used; None if it can."""
    try:
        engine.open()
    except (ModelMissingError, ModelDigestError) as error:
        return f"{error}; this answer is from words alone"
    return None


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
        said = _said(query, found)
        facts, kept, budget = _packed(index, query, found, said)
        own = kept[len(said) :]
        answer = answer._replace(
            confidence=max((m.confidence for m in own), default=found.ranked.confidence),
            concepts=found.concepts,
            memories=tuple(kept),
            budget=budget,
            facts=facts,
            warnings=(*answer.warnings, *found.warnings, *opened.late_warnings()),
        )
    return answer._replace(recall_id=_recall_id(answer, query))


def _route(index: Index, query: Query) -> tuple[str, tuple[str, ...]]:
    """Which memory the query needs, and by which cues; a question about memory itself is one."""
    if not (query.is_gated or query.current):
        return "ltm", ()
    from clsm_cli.text import route

    known = bool(concepts.link_entities(index, query.text, {}))
    decided = route.choose_route(query.text, has_current=bool(query.current), known=known)
    if decided.route == "none" and not query.is_gated:
        return "ltm", decided.cues
    return decided.route, decided.cues


class RetrievalResult(NamedTuple):
    """What a query found.

    Attributes:
        ranked: Every passage with evidence, best first; none where it cannot be answered.
        concepts: Above the floor, and so ``memories``.
    """

    question: Question
    ranked: Ranked
    warnings: tuple[str, ...]
    concepts: tuple[Concept, ...] = ()
    memories: Sequence[Memory] = ()


DOUBT = 3.6
"""How many times the floor an answer must be sure to do without the archive. Facts that were told once and
asked for after the store had grown tenfold are recalled as if nothing were archived; at 2 times seven
points fewer."""
NEAREST = 3
"""Passages nearest to the question in meaning, of which one must be archived to look there in doubt. With
one, seven points of what the doubt brought are lost; with five nothing is gained."""


def search(index: Index, query: Query, engine: Engine | None) -> RetrievalResult:
    """What a query finds; if that is not enough, what it finds with the archive included.

    The index is left looking as the last pass did.
    """
    from datetime import datetime

    moment, settings = datetime.fromisoformat(query.now), index.store.settings.recall
    learnt = learned_weights.learn_multipliers(index.store, moment, query.seed) or {}
    weights = {f"weight_{n}": getattr(settings, f"weight_{n}") * f for n, f in learnt.items()}
    settings = settings._replace(**weights)
    index.look_into_archive(shown=False)
    first = _run_pass(index, query, engine, settings)
    if not index.has_archived():
        return first
    is_sure = first.ranked.confidence >= DOUBT * settings.floor
    if first.memories and (is_sure or not _archive_is_near(index, first)):
        return first
    index.look_into_archive(shown=True)
    second = _run_pass(index, query, engine, settings)
    # What is read is other in the archive: it hides no answer that was found without.
    return first if first.memories and not second.memories else second


def _archive_is_near(index: Index, found: RetrievalResult) -> bool:
    """Whether one of the passages nearest in meaning is archived; without a model nobody knows."""
    cosines = found.ranked.cosines
    nearest = nlargest(NEAREST, range(len(cosines)), key=cosines.__getitem__)
    return not cosines or index.has_archived_vector(nearest)


def _run_pass(
    index: Index, query: Query, engine: Engine | None, settings: RecallSettings
) -> RetrievalResult:
    found = retrieve_passages(index, query, engine, settings)
    if engine is not None:
        found = found._replace(ranked=answer_reading.read(index, found.question, found.ranked))
    named, memories = _chosen(index, query, found, settings)
    return found._replace(concepts=named, memories=memories)


def retrieve_passages(
    index: Index, query: Query, engine: Engine | None, settings: RecallSettings
) -> RetrievalResult:
    """Rank the passages for a query; the index is left looking at the time that the query is about.

    Args:
        engine: Open; None: words only.
    """
    is_past = query.as_of is not None or query.known_at is not None
    index.look_at(query.at if is_past else None, query.known_at)
    text = query.text
    if query.current:
        from clsm_cli.retrieval import dialogue_context

        text = dialogue_context.resolve_references(text, query.current)
    when = time_scope.resolve(index, text, query.at)
    question = understand(text, when.periods, index.speakers(), when.rest if when.periods else "")
    question = question._replace(
        asks_of_now=question.asks_of_now and not is_past,
        asks_for_gist=question.asks_for_gist
        or (query.filters is not None and query.filters.kind == "gist"),
    )
    warnings = (when.warning,) if when.warning else ()
    if when.contradictory:
        return RetrievalResult(question, Ranked([], 0.0, (), 0.0), warnings)
    allowed = None if query.filters is None else index.matching_rows(query.filters)
    if when.hard and settings.time_filter:
        allowed = _inside(index, when, allowed)
    index.wake_archived(question.terms)
    ranked = ranking.rank(index, question, engine, settings, allowed)
    return RetrievalResult(question, ranked, warnings)


def _inside(index: Index, when: TimeScope, allowed: Collection[int] | None) -> Collection[int]:
    """The passages of the days or conversations that a question leaves."""
    from clsm_cli.store.index import ranking_queries, session_queries

    if when.sessions:
        inside = session_queries.session_rows(index.connection, when.sessions) - index.hidden()
    else:
        days = (ranking_queries.Filters(first=first, until=until) for first, until in when.periods)
        inside = frozenset().union(*map(index.matching_rows, days))
    return inside if allowed is None else inside & frozenset(allowed)


HINTING = 0.5
"""Share of the floor above which, by signs, a question without an answer is still told the concepts that are
nearest to it: they claim nothing."""


def _chosen(
    index: Index, query: Query, found: RetrievalResult, settings: RecallSettings
) -> tuple[tuple[Concept, ...], list[Memory]]:
    """Concepts and memories that are sure enough, best first.

    Below the floor there are no memories, unless the best one holds what the question identifies
    something by.
    """
    kept, has_gist = _gists_first(found)
    faded, is_silent = settings.faded, False
    if query.min_score is not None:
        kept = [candidate for candidate in kept if candidate.confidence >= query.min_score]
        faded = float("-inf")  # a score may be below 0
    elif not (has_gist or _holds_identifiers(index, found)):
        is_silent = found.ranked.confidence < settings.floor
        hints = found.ranked.unread >= HINTING * settings.floor
        kept = kept if hints or not is_silent else []
    kept = demotion.drop_lookalikes(index, found.question, kept, settings)
    if not kept:
        return (), []
    named = concepts.rank(index, query.text, kept, settings.concepts, found.ranked.cosines)
    if is_silent:
        return named, []
    question, cosines = found.question, found.ranked.cosines
    past = query.as_of or query.known_at
    ended = supersession.found(index, question, kept, cosines, past) if settings.rivals else {}
    kept = demotion.demote(index, question, kept, settings, ended)
    quota = demotion.SourceQuota(question, query.k, settings)
    window = result_items.window_limit(settings.window, query.budget, query.unit)
    settings = settings._replace(window=window)
    items = result_items.build_items(index, kept, query.k, settings, quota, ended, faded=faded)
    return named, items


_CODE = 5
"""Characters of a word of letters and digits that is a code, and no ordinal or version ("2nd", "v12")."""


def _holds_identifiers(index: Index, found: RetrievalResult) -> bool:
    """Whether the best passage contains every number, code and address of the question, if any."""
    mixed = [term for term in found.question.terms if not (term.isalpha() or term.isdigit())]
    written = [*found.question.keys, *(word for word in mixed if len(word) >= _CODE)]
    return bool(written) and all(
        any(row == candidate.row for row, _, _ in index.postings(word))
        for candidate in found.ranked.candidates[:1]
        for word in written
    )


_AHEAD = 1e-3
"""Of a score, by which a gist that is asked for stands before the next item."""


def _gists_first(found: RetrievalResult) -> tuple[list[Candidate], bool]:
    """The passages, and before them the gists of the months asked about; whether there are any.

    Gists of other months are left out.
    """
    ranked, question = found.ranked.candidates, found.question
    if not question.asks_for_gist:
        return ranked, False
    from datetime import date

    from clsm_cli.text.time import periods

    def is_of_asked_month(day: int) -> bool:
        first, until = (each.toordinal() for each in periods.month(date.fromordinal(day)))
        return any(begin <= first and until <= end for begin, end in question.periods)

    known = [each for each in ranked if each.traits.kind == "gist"]
    gists = [each for each in known if each.traits.day and is_of_asked_month(each.traits.day)]
    left_out = known if question.periods else gists
    top = ranked[0].score if ranked else 0.0
    first = [
        each._replace(score=round(top + _AHEAD * (len(gists) - n), 6))
        for n, each in enumerate(gists)
    ]
    return [*first, *(each for each in ranked if each not in left_out)], bool(gists)


def _said(query: Query, found: RetrievalResult) -> list[Memory]:
    """What was said in the current conversation, in at most half the budget."""
    if not query.current:
        return []
    from clsm_cli.retrieval import dialogue_context

    half = query.budget // (2 if query.unit == "tokens" else 8)
    terms = found.question.terms
    return dialogue_context.context_memories(
        dialogue_context.select_turns(query.current, terms, half), terms
    )


def _packed(
    index: Index, query: Query, found: RetrievalResult, said: Sequence[Memory]
) -> tuple[tuple[Fact, ...], list[Memory], Budget]:
    """What fits into the budget: facts about what the query names, if it asks for any, and memories.

    The facts are what the memories beside them leave unsaid; the room that they do not need is theirs.
    """
    if not (query.with_facts and found.memories):
        return (), *pack(found.memories, query.budget, query.unit, said)
    from clsm_cli.retrieval import known_facts

    candidates = found.ranked.candidates
    taken = int(known_facts.SHARE * query.budget)
    facts: tuple[Fact, ...] = ()
    for _ in range(2):
        kept, budget = pack(found.memories, query.budget - taken, query.unit, said)
        facts = known_facts.find(index, found.concepts, candidates, kept, taken, query.unit)
        taken = sum(fact.size(query.unit) for fact in facts)
    used = budget.used + taken
    return facts, kept, budget._replace(limit=query.budget, used=used)


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
        (each, learned_weights.leading_signal(memory))
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
