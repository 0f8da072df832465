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
``verdict`` corrects it.
"""

from __future__ import annotations

import json
from heapq import nlargest
from math import fsum, log1p
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation, lexical_search
from clsm_cli.retrieval.answer import Signals
from clsm_cli.retrieval.dense_search import Meaning, cosine_at
from clsm_cli.scoring import confidence, match
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.match import spread, weighted
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.graph_queries import SourceDates
from clsm_cli.text.breadth import breadth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.activation import ActivationSource
    from clsm_cli.retrieval.dense_search import Engine
    from clsm_cli.retrieval.lexical_search import GroupScore
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
        score: The sum of ``shares``, relative to this query.
        confidence: That it answers, 0 … 1, comparable between queries (``scoring.confidence``).
        shares: Weight · signal of each.
    """

    row: int
    score: float
    confidence: float
    signals: Signals
    shares: Signals
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
    ranking = _Ranking(index, question, engine, settings, allowed)
    signals = ranking.first_pass()
    if ranking.cosines and signals:
        signals = ranking.second_pass(signals)
    ranked = ranking.scored(signals)
    surest = max((each.confidence for each in ranked[:FIRST]), default=0.0)
    return Ranked(ranked, surest, ranking.cosines, surest)


def signal_weights(settings: RecallSettings, *, is_note: bool = False) -> Signals:
    """The weight of each signal, in a talk or a note."""
    found = Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))
    return found._replace(bm25=IN_NOTES * found.bm25) if is_note else found


class _Ranking:
    """A question, its candidates by row, and what stands around them.

    Attributes:
        cosines: As in ``Ranked``.
    """

    def __init__(
        self,
        index: Index,
        question: Question,
        engine: Engine | None,
        settings: RecallSettings,
        allowed: Collection[int] | None,
    ) -> None:
        self._index, self._question, self._settings = index, question, settings
        meaning = Meaning(index, question, engine)
        self.cosines, self._asked = meaning.cosines, meaning.asked
        strange = meaning.unfamiliarity()
        self._words = lexical_search.search(index, question, settings, strange, allowed)
        nearest = meaning.nearest(settings.candidates, allowed)
        rows = self._candidates(nearest, allowed)
        self._near = index.traits(rows)
        beside = {
            row
            for each in self._near.values()
            for row in (each.previous, each.next)
            if row is not None
        }
        self._members = index.members(sorted({each.group for each in self._near.values()}))
        self._near |= index.traits(sorted(beside - self._near.keys()))
        is_wanted = question.asks_for_gist
        self._rows = [row for row in rows if is_wanted or self._near[row].kind != "gist"]
        self._traits = [self._near[row] for row in self._rows]
        self._late = meaning.late_interaction(self._words, settings.least_idf, self._near)
        self._around_it = self._maxsim(after=True)
        stated = [row for row in self._rows if self._near[row].kind == "statement"]
        dates = graph_queries.source_dates(index.connection, stated) if question.periods else {}
        self._fits = [
            _time_fit(question, self._near[row], dates.get(row, ())) for row in self._rows
        ]

    def _candidates(self, nearest: list[int], allowed: Collection[int] | None) -> list[int]:
        """The rows to score, in order of row."""
        index, question, limit = self._index, self._question, self._settings.candidates
        by_words = _best(index, self._words.scores, limit)
        chosen = {*by_words, *_best(index, self._words.literal, limit), *nearest}
        others: list[Iterable[int]] = [index.on_days(*each, limit) for each in question.periods]
        if self.cosines and self._settings.weight_graph:
            best = [*nearest[:1], *_best(index, self._words.scores, 1)]
            others.append(activation.linked_passages(index, question, best))
        for first, until in question.periods if question.asks_for_gist else ():
            from clsm_cli.store.index.ranking_queries import Filters

            others.append(index.matching_rows(Filters(kind="gist", first=first, until=until)))
        for rows in others:
            chosen.update(row for row in rows if allowed is None or row in allowed)
        return sorted(chosen)

    def first_pass(self) -> list[Signals]:
        """What each candidate and its surroundings say, brought to one scale over them."""
        words, question = self._words, self._question
        groups = words.score_groups(self._members)
        share = self._share(groups)
        by_words = spread([words.scores.get(row, 0.0) for row in self._rows])
        own = self._measured(by_words, self._maxsim(after=False))
        around = self._measured(by_words, self._around_it)
        in_group = [
            groups[each.group].score if each.group in groups else 0.0 for each in self._traits
        ]
        group_words, group_meaning = spread(in_group), spread(self._meaning_of_groups())
        about = {row for t in question.name_terms for row, _, _ in words.postings.get(t, ())}
        outdated: Collection[str] = ()
        if self._settings.weight_outdated and question.asks_of_now:
            keys = sorted({each.key for each in self._traits})
            outdated = graph_queries.outdated_sources(self._index.connection, keys)
        return [
            Signals(
                bm25=by_words[i] * (share if each.vector >= 0 else 1.0),
                maxsim=own[i],
                context=around[i],
                episode=(group_words[i] + group_meaning[i]) / 2,
                participant=_by_participant(question, each, is_about=row in about),
                # The evidence of a dated question often stands in the note of another day: "what
                # happened on 2 March" asks for a day, and what else is in a question says more.
                date=self._fits[i] / (1 + question.besides * each.is_document),
                temporal=float(question.asks_when and bool(each.periods)),
                question=float(each.is_question),
                literal=words.literal.get(row, 0.0) / words.all,
                outdated=float(each.key in outdated),
            )
            for i, (row, each) in enumerate(zip(self._rows, self._traits, strict=True))
        ]

    def _maxsim(self, *, after: bool) -> dict[int, float]:
        """MaxSim of each candidate that has a vector, taken as one text with what is beside it."""
        if self._late is None:
            return {}
        known = zip(self._rows, self._traits, strict=True)
        return {
            row: self._late.window_scores(row, each.previous, each.next if after else None)
            for row, each in known
            if each.vector >= 0
        }

    def _measured(self, by_words: Sequence[float], found: Mapping[int, float]) -> Sequence[float]:
        if self._late is None:
            return [0.0] * len(by_words)
        return _filled(by_words, [found.get(row) for row in self._rows])

    def _share(self, groups: Mapping[int, GroupScore]) -> float:
        """The weight of the question's words: coverage², 1 if there is nothing else."""
        if self._late is None or self._question.name_terms.issuperset(self._question.terms):
            return 1.0
        return max((group.coverage for group in groups.values()), default=0.0) ** 2

    def _meaning_of_groups(self) -> list[float]:
        """The mean cosine of the group of each candidate."""
        means: dict[int, float] = {}
        for group in {each.group for each in self._traits}:
            known = [cosine_at(self.cosines, m.vector) for m in self._members[group]]
            cosines = [cosine for cosine in known if cosine is not None]
            means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
        return [means[each.group] for each in self._traits]

    def second_pass(self, first: Sequence[Signals]) -> list[Signals]:
        """The signals with those that need the first ones."""
        question, settings, traits = self._question, self._settings, self._traits
        terms = len({*question.terms} - question.name_terms)
        broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
        echo = self._echo()
        names = self._index.names_in(self._rows)
        session = _session(traits, [weighted(values, FIRST_PASS) for values in first])
        cosines = [cosine_at(self.cosines, each.vector) for each in traits]
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
            for i, (row, values) in enumerate(zip(self._rows, first, strict=True))
        ]

    def _echo(self) -> list[float]:
        """MaxSim of the turn before, min-max, unless that is a question."""
        if self._late is None:
            return [0.0] * len(self._rows)
        found = spread([self._late.window_scores(each.previous) for each in self._traits])
        return [
            0.0
            if each.is_document
            or (each.previous is not None and self._near[each.previous].is_question)
            else value
            for each, value in zip(self._traits, found, strict=True)
        ]

    def scored(self, signals: Sequence[Signals]) -> list[Candidate]:
        """The candidates, best first; what activation reaches stands below what leads to it."""
        settings = self._settings
        factors = {is_note: signal_weights(settings, is_note=is_note) for is_note in (False, True)}
        weights = [factors[each.is_document] for each in self._traits]
        own = dict(zip(self._rows, map(weighted, signals, weights), strict=True))
        ways: Mapping[int, ActivationSource] = {}
        if self._late is not None and own and settings.weight_graph > 0:
            ways = activation.spread(self._index, self._question, self._seeds(own), self._late)
        found = []
        for i, evidence in enumerate(self._evidence()):
            row, reached = self._rows[i], signals[i]
            way = ways.get(row)
            if way is not None:
                room = (own[way.start] - own[row]) / settings.weight_graph - BELOW
                reached = reached._replace(graph=max(0.0, min(way.worth, room)))
            shares = Signals(*map(mul, weights[i], reached))
            found.append(
                Candidate(
                    row=row,
                    score=round(sum(shares), 6),
                    confidence=round(confidence.probability(evidence), 6),
                    signals=reached,
                    shares=shares,
                    evidence=evidence,
                    traits=self._traits[i],
                    way=way if reached.graph else None,
                )
            )
        return sorted(found, key=lambda each: (-each.score, *self._place(each.row)))

    def _seeds(self, scores: Mapping[int, float]) -> dict[int, float]:
        """The best passages, best first, with their scores as shares of the range of all."""
        shares = zip(scores, spread([*scores.values()]), strict=True)
        order = sorted(shares, key=lambda each: (-each[1], *self._place(each[0])))
        return dict(order[: activation.SEEDS])

    def _place(self, row: int) -> tuple[str, int, int]:
        """What decides between equal ones: the key, which does not depend on rows."""
        traits = self._near[row]
        return traits.key, traits.part, row

    def _evidence(self) -> Iterator[Evidence]:
        """The evidence of each passage by itself, and how well it fits the time asked about.

        A note of that time counts as having the terms of the question that only say when.
        """
        words, question = self._words, self._question
        coverage, unseen = words.idf_coverage(self._near), words.unseen_share()
        asked = len({*question.terms} - question.name_terms)
        of_time = max(0.0, 1 - question.besides / asked) if asked else 0.0
        for row, each, fits in zip(self._rows, self._traits, self._fits, strict=True):
            of_day = fits * of_time if each.is_document else 0.0
            yield Evidence(
                max(coverage.get(row, 0.0), words.literal.get(row, 0.0), of_day),
                cosine_at(self.cosines, each.vector),
                fits,
                asked=cosine_at(self._asked, each.vector),
                maxsim=self._around_it.get(row),
                unseen=unseen,
                length=each.length,
                passages=max(1, words.passages),
            )


def _best(index: Index, scores: dict[int, float], limit: int) -> list[int]:
    """The rows with the highest scores; ties at the end by key."""
    if len(scores) <= limit:
        return list(scores)
    last = nlargest(limit, scores.values())[-1]
    above = [row for row, score in scores.items() if score > last]
    equal = [row for row, score in scores.items() if score == last]
    room = limit - len(above)
    return above + (equal if len(equal) == room else index.in_order(equal)[:room])


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


def _session(traits: Sequence[Traits], scores: Sequence[float]) -> list[float]:
    """The best first score in the conversation of each, min-max; blocks of notes stand for themselves."""
    best: dict[str, float] = {}
    scored = list(zip(traits, scores, strict=True))
    for each, score in scored:
        best[each.session] = max(best.get(each.session, score), score)
    return spread([score if t.is_document else best[t.session] for t, score in scored])
