"""Passages ranked for a question, in reading order: candidates → first pass → second pass → score.

    score = Σ weight · signal     (``answer.Signals``, weights in ``config.RecallSettings``)

Candidates are the passages nearest by words, by meaning and by date; both scans are exact. What is
dearer, late interaction and the look at a passage's surroundings, is done for candidates alone, so
its cost does not grow with the store.

What a question asks for is told in one conversation or in many. A narrow question gains from what
stands around a good passage, in its group and its conversation; a broad one (``text.breadth``) from
the plain meaning of each passage instead. Where the turn before says it already, without asking,
this one is its echo. On LoCoMo that is worth six points of recall@10 of multi-hop questions.

A question that names no speaker is put to talks in which a fact may stand alone among small talk:
there what stands around a passage counts only as far as the passage itself is near in meaning, and
so does its meaning, whatever the breadth. Last, the best passages raise those they lead to over the
graph (``activation``).

The confidence of a candidate (``scoring.confidence``) comes from signs: cosines, shared words.
``answer_reading`` corrects it.
"""

from __future__ import annotations

import json
from heapq import nlargest
from math import fsum, log1p
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation, dense_search, lexical_search
from clsm_cli.retrieval.answer import Signals
from clsm_cli.retrieval.dense_search import cosine_at
from clsm_cli.scoring import confidence, match
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.match import spread, weighted
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.graph_queries import SourceDates
from clsm_cli.text.breadth import breadth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.activation import ActivationSource
    from clsm_cli.retrieval.dense_search import Engine, LateInteraction, Nearest
    from clsm_cli.retrieval.lexical_search import LexicalMatches
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Traits


FIRST = 10
"""Candidates of which the surest decides whether anything is said: what a reader sees."""
FIRST_PASS = Signals(0.5, 1.4, 0.9, 0.6, 0.8, 5.1, 0.4, -0.3, 2.0)
"""Weights by which the best of a conversation is found; fitted ones are no better."""
IN_NOTES = 7
"""How many times as much the words of a question count in a block of a note: a talk says them again and
again, a note where it answers. By 879 questions to 22 workspaces, and LoCoMo's."""
MANY_NAMES = 7
"""Names at which a passage counts as full of them."""
BELOW = 1e-4
"""Activation that a passage lacks to stand as high as the one that leads to it."""


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
        unread: The confidence before any of them was read.
    """

    candidates: list[Candidate]
    confidence: float
    cosines: Sequence[float]
    unread: float


def rank(
    index: Index,
    question: Question,
    engine: Engine | None,
    settings: RecallSettings,
    allowed: Collection[int] | None = None,
) -> Ranked:
    """Every passage with evidence for the question, best first.

    Args:
        engine: Open; None: words only.
        allowed: Passages that may be returned; None for all.
    """
    vectors = engine.encode(question.dense) if engine is not None else None
    strange = dense_search.unfamiliarity(vectors, question) if vectors is not None else {}
    found = lexical_search.search(index, question, settings, strange, allowed)
    near: Nearest | None = None
    plain: Sequence[float] = ()
    if engine is not None and vectors is not None:
        # As it was asked, in which its names stand.
        asked = vectors if question.text == question.dense else engine.encode(question.text)
        plain = dense_search.products(index, engine, asked.sentence)
        near = dense_search.nearest(index, engine, vectors.sentence, settings.candidates, allowed)
    around = _Surroundings(index, _candidates(index, question, found, near, settings, allowed))
    if not question.asks_for_gist:
        around.rows = [row for row in around.rows if around.near[row].kind != "gist"]
    late = None
    if engine is not None and vectors is not None:
        weights = dense_search.token_weights(vectors, question.dense, found, settings.least_idf)
        late = dense_search.late_interaction(index, engine, vectors, weights, around.near)
    first_pass = _FirstPass(index, question, settings, found, near, plain, late, around)
    signals = first_pass.signals()
    if near is not None and around.rows:
        signals = _second_pass(index, question, signals, around, near, late, settings)
    evidence = [first_pass.evidence(row) for row in around.rows]
    ranked = _scored(index, question, around, signals, evidence, late, settings)
    surest = max((each.confidence for each in ranked[:FIRST]), default=0.0)
    return Ranked(ranked, surest, near.cosines if near is not None else (), surest)


def _scored(
    index: Index,
    question: Question,
    around: _Surroundings,
    signals: Sequence[Signals],
    evidence: Sequence[Evidence],
    late: LateInteraction | None,
    settings: RecallSettings,
) -> list[Candidate]:
    """The candidates, best first; what activation reaches stands below what leads to it."""
    factors = {is_note: signal_weights(settings, is_note=is_note) for is_note in (False, True)}
    weights = {row: factors[around.near[row].is_document] for row in around.rows}
    told = list(zip(around.rows, signals, evidence, strict=True))
    own = {row: weighted(values, weights[row]) for row, values, _ in told}
    ways: Mapping[int, ActivationSource] = {}
    if late is not None and own and settings.weight_graph > 0:
        ways = activation.spread(index, question, _seeds(own, around), late)
    found = []
    for row, values, speaking in told:
        way, reached = ways.get(row), values
        if way is not None:
            room = (own[way.start] - own[row]) / settings.weight_graph - BELOW
            reached = values._replace(graph=max(0.0, min(way.worth, room)))
        score = round(weighted(reached, weights[row]), 6)
        sure = round(confidence.probability(speaking), 6)
        shown = way if reached.graph else None
        found.append(Candidate(row, score, sure, reached, speaking, around.near[row], shown))
    return sorted(found, key=lambda each: (-each.score, *around.place(each.row)))


def signal_weights(settings: RecallSettings, *, is_note: bool = False) -> Signals:
    """The weight of each signal, in a talk or a note."""
    found = Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))
    return found._replace(bm25=IN_NOTES * found.bm25) if is_note else found


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


class _Surroundings:
    """The traits of the candidates and of their neighbours, and the members of their groups."""

    def __init__(self, index: Index, rows: list[int]) -> None:
        self.rows = rows
        self.near = index.traits(rows)
        beside = {
            row
            for traits in self.near.values()
            for row in (traits.previous, traits.next)
            if row is not None
        }
        self.near |= index.traits(sorted(beside - self.near.keys()))
        self.members = index.members(sorted({self.near[row].group for row in rows}))

    def place(self, row: int) -> tuple[str, int, int]:
        """What decides between equal ones: the key, which does not depend on rows."""
        traits = self.near[row]
        return traits.key, traits.part, row


class _FirstPass:
    """A question's evidence, looked up passage by passage."""

    def __init__(
        self,
        index: Index,
        question: Question,
        settings: RecallSettings,
        found: LexicalMatches,
        near: Nearest | None,
        plain: Sequence[float],
        late: LateInteraction | None,
        around: _Surroundings,
    ) -> None:
        self._question = question
        self._words = found
        self._cosines = near.cosines if near is not None else ()
        self._plain = plain
        self._late = late
        self._around = around
        group_of = {m.row: group for group, members in around.members.items() for m in members}
        lengths = {group: sum(m.length for m in found) for group, found in around.members.items()}
        self._groups = lexical_search.score_groups(found, question, group_of, lengths)
        self._coverage = lexical_search.idf_coverage(found, question, around.near)
        self._unseen = lexical_search.unseen_share(found, question)
        self._before_it = self._maxsim(after=False)
        self._around_it = self._maxsim(after=True)
        self._about = {
            row for term in question.name_terms for row, _, _ in found.postings.get(term, ())
        }
        self._outdated: Collection[str] = ()
        if settings.weight_outdated and question.asks_of_now:
            keys = sorted({around.near[row].key for row in around.rows})
            self._outdated = graph_queries.outdated_sources(index.connection, keys)
        stated = [row for row in around.rows if around.near[row].kind == "statement"]
        dates = graph_queries.source_dates(index.connection, stated) if question.periods else {}
        self._fits = {
            row: _time_fit(question, around.near[row], dates.get(row, ())) for row in around.rows
        }

    def evidence(self, row: int) -> Evidence:
        """The evidence of a passage by itself, and how well it fits the time asked about."""
        traits = self._around.near[row]
        return Evidence(
            max(self._coverage.get(row, 0.0), self._words.literal.get(row, 0.0), self._of_day(row)),
            cosine_at(self._cosines, traits.vector),
            self._fits[row],
            asked=cosine_at(self._plain, traits.vector),
            maxsim=self._around_it.get(row),
            unseen=self._unseen,
            length=traits.length,
            passages=max(1, self._words.passages),
        )

    def _of_day(self, row: int) -> float:
        """Share of the question's terms that only say when; a note of that time counts as having them."""
        asked = len({*self._question.terms} - self._question.name_terms)
        if not asked or not self._around.near[row].is_document:
            return 0.0
        return self._fits[row] * max(0.0, 1 - self._question.besides / asked)

    def signals(self) -> list[Signals]:
        """The signals of the candidates, brought to one scale over them."""
        near, rows = self._around.near, self._around.rows
        share = self._share()
        by_words = spread([self._words.scores.get(row, 0.0) for row in rows])
        own, around = (
            _filled(by_words, [over.get(row) for row in rows])
            if self._late is not None
            else [0.0] * len(rows)
            for over in (self._before_it, self._around_it)
        )
        group_words, group_meaning = (spread(values) for values in self._of_groups())
        return [
            Signals(
                bm25=by_words[i] * (share if near[row].vector >= 0 else 1.0),
                maxsim=own[i],
                context=around[i],
                episode=(group_words[i] + group_meaning[i]) / 2,
                participant=_by_participant(self._question, near[row], is_about=row in self._about),
                # The evidence of a dated question often stands in the note of another day: "what
                # happened on 2 March" asks for a day, and what else is in a question says more.
                date=self._fits[row] / (1 + self._question.besides * near[row].is_document),
                temporal=float(self._question.asks_when and bool(near[row].periods)),
                question=float(near[row].is_question),
                literal=self._words.literal.get(row, 0.0) / self._words.all,
                outdated=float(near[row].key in self._outdated),
            )
            for i, row in enumerate(rows)
        ]

    def _share(self) -> float:
        """The weight of the question's words: coverage², 1 if there is nothing else."""
        if self._late is None or self._question.name_terms.issuperset(self._question.terms):
            return 1.0
        return max((group.coverage for group in self._groups.values()), default=0.0) ** 2

    def _of_groups(self) -> tuple[list[float], list[float]]:
        """BM25 and mean cosine of the group of each candidate."""
        groups = [self._around.near[row].group for row in self._around.rows]
        means: dict[int, float] = {}
        for group in {*groups}:
            known = [cosine_at(self._cosines, m.vector) for m in self._around.members[group]]
            cosines = [cosine for cosine in known if cosine is not None]
            means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
        by_words = {group: found.score for group, found in self._groups.items()}
        return [by_words.get(group, 0.0) for group in groups], [means[group] for group in groups]

    def _maxsim(self, *, after: bool) -> dict[int, float]:
        """MaxSim of each candidate that has a vector, taken as one text with what is beside it."""
        if self._late is None:
            return {}
        known = {row: self._around.near[row] for row in self._around.rows}
        return {
            row: self._late.window_scores(row, each.previous, each.next if after else None)
            for row, each in known.items()
            if each.vector >= 0
        }


def _filled(by_words: Sequence[float], measured: Sequence[float | None]) -> list[float]:
    """Measured values, min-max; the words' score where nothing is measured.

    >>> _filled([0.5, 0.2, 0.0], [0.1, None, 0.3])
    [0.0, 0.2, 1.0]
    """
    shares = iter(spread([value for value in measured if value is not None]))
    pairs = zip(by_words, measured, strict=True)
    return [words if value is None else next(shares) for words, value in pairs]


def _by_participant(question: Question, traits: Traits, *, is_about: bool) -> float:
    """Whether a passage is by the person asked about.

    Args:
        is_about: Whether its own words name that person.

    Returns:
        1: said by the only participant the question names, or a note that names them. ½: a note
        that does not, or said by the first of two ("What does Mara think of Brian?") unless both
        are meant. 0: said by another, or the question names nobody or several.
    """
    if len(question.named_speakers) == 2:
        return 0.5 * (not question.means_both and traits.speaker == question.named_speakers[0])
    if len(question.named_speakers) != 1:
        return 0.0
    if traits.is_document or not traits.speaker:
        return 1.0 if is_about else 0.5
    return float(traits.speaker == question.named_speakers[0])


def _time_fit(question: Question, traits: Traits, sources: Sequence[SourceDates]) -> float:
    """How well a passage fits the time asked about, see ``match.period_match``.

    A statement is as much of a day as the turns are that it rests on, on average; what was said on
    many days is no news of one. A gist has no day of its own, only its month.
    """
    if not question.periods:
        return 0.0
    asked = question.periods
    if traits.kind == "gist":
        asked = tuple(each for each in asked if each[1] - each[0] > 1)
        sources = ()
    told = sources or (SourceDates(traits.day, traits.periods),)
    found = [
        match.period_match(asked, each.day, json.loads(each.periods) if each.periods else [])
        for each in told
    ]
    return sum(found) / len(found)


def _second_pass(
    index: Index,
    question: Question,
    first: Sequence[Signals],
    around: _Surroundings,
    near: Nearest,
    late: LateInteraction | None,
    settings: RecallSettings,
) -> list[Signals]:
    """The signals of candidates with those that need the first ones."""
    traits = [around.near[row] for row in around.rows]
    terms = len({*question.terms} - question.name_terms)
    broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
    echo = _echo(traits, around, late)
    names = index.names_in(around.rows)
    session = _session(traits, [weighted(values, FIRST_PASS) for values in first])
    cosines = [cosine_at(near.cosines, each.vector) for each in traits]
    meaning = _filled([values.bm25 for values in first], cosines)
    alone = 0.0 if question.named_speakers else settings.alone
    around_it = [(1 - broad) * (1 - alone * (1 - own)) for own in meaning]
    return [
        values._replace(
            episode=around_it[i] * values.episode,
            echo=echo[i],
            names=min(1.0, log1p(len(names.get(row, ()))) / log1p(MANY_NAMES)),
            session=around_it[i] * session[i],
            meaning=max(broad, alone) * meaning[i],
        )
        for i, (row, values) in enumerate(zip(around.rows, first, strict=True))
    ]


def _echo(
    traits: Sequence[Traits], around: _Surroundings, late: LateInteraction | None
) -> list[float]:
    """MaxSim of the turn before, min-max, unless that is a question."""
    if late is None:
        return [0.0] * len(traits)
    found = spread([late.window_scores(each.previous) for each in traits])
    asks = [each.previous is not None and around.near[each.previous].is_question for each in traits]
    return [
        0.0 if each.is_document or is_asked else value
        for each, is_asked, value in zip(traits, asks, found, strict=True)
    ]


def _session(traits: Sequence[Traits], scores: Sequence[float]) -> list[float]:
    """The best first score in the conversation of each, min-max; blocks of notes stand for themselves."""
    best: dict[str, float] = {}
    scored = list(zip(traits, scores, strict=True))
    for each, score in scored:
        best[each.session] = max(best.get(each.session, score), score)
    return spread([score if t.is_document else best[t.session] for t, score in scored])


def _seeds(scores: Mapping[int, float], around: _Surroundings) -> dict[int, float]:
    """The best passages, best first, with their scores as shares of the range of all."""
    shares = zip(scores, spread([*scores.values()]), strict=True)
    order = sorted(shares, key=lambda each: (-each[1], *around.place(each[0])))
    return dict(order[: activation.SEEDS])
