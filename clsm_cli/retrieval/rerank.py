"""Score the candidates: nine signals from evidence and surroundings, then what the best ones bring in.

What a question asks for is told in one conversation or in many. A narrow question gains from what
stands around a good passage, in its group and its conversation; a broad one (``text.breadth``) from
the plain meaning of each passage instead. Where the turn before says it already, without asking,
this one is its echo. On LoCoMo that is worth six points of recall@10 of multi-hop questions.

A question that names no speaker is put to talks in which a fact may stand alone among small talk:
there what stands around a passage counts only as far as the passage itself is near in meaning, and
so does its meaning, whatever the breadth. Last, the best passages raise those they lead to over the
graph (``activation``).
"""

from __future__ import annotations

import json
from math import fsum, log1p
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation, lexical_search
from clsm_cli.retrieval.answer import Signals
from clsm_cli.retrieval.dense_search import cosine_at
from clsm_cli.scoring import match
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.match import spread, weighted
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.graph_queries import SourceDates
from clsm_cli.text.breadth import breadth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.activation import ActivationSource
    from clsm_cli.retrieval.dense_search import LateInteraction, Nearest
    from clsm_cli.retrieval.lexical_search import LexicalMatches
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.ranking_queries import Traits


class Neighbourhood:
    """The surroundings of the candidates: neighbours, and the members of their groups."""

    def __init__(self, index: Index, rows: list[int]) -> None:
        self._index = index
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
        self.group_of = {
            member.row: group for group, members in self.members.items() for member in members
        }
        self.lengths = {
            group: sum(member.length for member in members)
            for group, members in self.members.items()
        }

    def source_dates(self) -> dict[int, list[SourceDates]]:
        """The times of the turns that the statements among them rest on, by row of the statement."""
        stated = [row for row in self.rows if self.near[row].kind == "statement"]
        return graph_queries.source_dates(self._index.connection, stated)


class EvidenceScorer:
    """A question's evidence, looked up passage by passage.

    Args:
        near: Cosines to the question as its speaker would ask it, ``plain`` as it was asked.
        outdated: Keys of passages that are no longer true.
    """

    def __init__(
        self,
        question: Question,
        found: LexicalMatches,
        near: Nearest | None,
        plain: Sequence[float],
        late: LateInteraction | None,
        around: Neighbourhood,
        outdated: Collection[str],
    ) -> None:
        self._question = question
        self._words = found
        self._cosines = near.cosines if near is not None else ()
        self._plain = plain
        self._late = late
        self._outdated = outdated
        self._around = around
        self._groups = lexical_search.score_groups(found, question, around.group_of, around.lengths)
        self._coverage = lexical_search.idf_coverage(found, question, around.near)
        self._unseen = lexical_search.unseen_share(found, question)
        self._before_it = self._maxsim(after=False)
        self._around_it = self._maxsim(after=True)
        self._about = {
            row for term in question.name_terms for row, _, _ in found.postings.get(term, ())
        }
        sources = around.source_dates() if question.periods else {}
        self._fits = {
            row: time_fit(question, around.near[row], sources.get(row, ())) for row in around.rows
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

    def signals(self, rows: list[int]) -> list[Signals]:
        """The signals of candidates, brought to one scale over them."""
        near = self._around.near
        share = self._share()
        by_words = spread([self._words.scores.get(row, 0.0) for row in rows])
        vectors = [near[row].vector for row in rows]
        own, around = (
            filled(by_words, [over.get(row) for row in rows])
            if self._late is not None
            else [0.0] * len(rows)
            for over in (self._before_it, self._around_it)
        )
        group_words, group_meaning = (spread(values) for values in self._of_groups(rows))
        return [
            Signals(
                bm25=by_words[i] * (share if vectors[i] >= 0 else 1.0),
                maxsim=own[i],
                context=around[i],
                episode=(group_words[i] + group_meaning[i]) / 2,
                participant=participant_signal(
                    self._question, near[row], is_about=row in self._about
                ),
                date=self._date(row),
                temporal=float(self._question.asks_when and bool(near[row].periods)),
                question=float(near[row].is_question),
                literal=self._words.literal.get(row, 0.0) / self._words.all,
                outdated=float(near[row].key in self._outdated),
            )
            for i, row in enumerate(rows)
        ]

    def _date(self, row: int) -> float:
        """How much it counts that a passage fits the time asked about.

        The evidence of a dated question often stands in the note of another day, so that of a note
        counts 1 / (1 + n), n the terms that the question has besides its time and its names: "what
        happened on 2 March" asks for a day, and what else is in a question says more of what is meant.
        """
        is_document = self._around.near[row].is_document
        return self._fits[row] / (1 + self._question.besides * is_document)

    def _share(self) -> float:
        """The weight of the question's words: coverage², 1 if there is nothing else."""
        if self._late is None or self._question.name_terms.issuperset(self._question.terms):
            return 1.0
        return max((group.coverage for group in self._groups.values()), default=0.0) ** 2

    def _of_groups(self, rows: Iterable[int]) -> tuple[list[float], list[float]]:
        """BM25 and mean cosine of the group of each row."""
        groups = [self._around.near[row].group for row in rows]
        by_words = {group: found.score for group, found in self._groups.items()}
        means: dict[int, float] = {}
        for group in {*groups}:
            known = [cosine_at(self._cosines, m.vector) for m in self._around.members[group]]
            cosines = [cosine for cosine in known if cosine is not None]
            means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
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


def filled(by_words: Sequence[float], measured: Sequence[float | None]) -> list[float]:
    """Measured values, min-max; the words' score where nothing is measured.

    >>> filled([0.5, 0.2, 0.0], [0.1, None, 0.3])
    [0.0, 0.2, 1.0]
    """
    shares = iter(spread([value for value in measured if value is not None]))
    pairs = zip(by_words, measured, strict=True)
    return [words if value is None else next(shares) for words, value in pairs]


FIRST = Signals(0.5, 1.4, 0.9, 0.6, 0.8, 5.1, 0.4, -0.3, 2.0)
"""Weights of the first look, by which the best of a conversation is found; fitted ones are no better."""
MANY_NAMES = 7
"""Names at which a passage counts as full of them."""


def add_second_stage(
    index: Index,
    question: Question,
    rows: Sequence[int],
    first: Sequence[Signals],
    around: Neighbourhood,
    near: Nearest | None,
    late: LateInteraction | None,
    settings: RecallSettings,
) -> tuple[Sequence[Signals], Mapping[int, ActivationSource]]:
    """Signals of candidates with those of the second pass, and the ways by which activation reached some.

    Without a model nothing is added.
    """
    if near is None or not rows:
        return first, {}
    traits = [around.near[row] for row in rows]
    terms = len({*question.terms} - question.name_terms)
    broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
    echo = _echo(traits, around, late)
    names = index.names_in(rows)
    session = _session(traits, [weighted(values, FIRST) for values in first])
    cosines = [cosine_at(near.cosines, each.vector) for each in traits]
    meaning = filled([values.bm25 for values in first], cosines)
    alone = 0.0 if question.named_speakers else settings.alone
    around_it = [(1 - broad) * (1 - alone * (1 - own)) for own in meaning]
    looked = [
        values._replace(
            episode=around_it[i] * values.episode,
            echo=echo[i],
            names=min(1.0, log1p(len(names.get(row, ()))) / log1p(MANY_NAMES)),
            session=around_it[i] * session[i],
            meaning=max(broad, alone) * meaning[i],
        )
        for i, (row, values) in enumerate(zip(rows, first, strict=True))
    ]
    if late is None or not settings.weight_graph:
        return looked, {}
    ways = activation.spread(index, question, _seeds(rows, looked, traits, settings), late)
    reached = [
        values._replace(graph=ways[row].worth) if row in ways else values
        for row, values in zip(rows, looked, strict=True)
    ]
    return reached, ways


def _seeds(
    rows: Sequence[int],
    looked: Sequence[Signals],
    traits: Sequence[Traits],
    settings: RecallSettings,
) -> dict[int, float]:
    """The best passages, best first, with their scores as shares of the range of all."""
    weights = signal_weights(settings)
    shares = spread([weighted(values, weights) for values in looked])
    order = sorted(
        range(len(rows)), key=lambda i: (-shares[i], traits[i].key, traits[i].part, rows[i])
    )
    return {rows[i]: shares[i] for i in order[: activation.SEEDS]}


def _echo(
    traits: Sequence[Traits], around: Neighbourhood, late: LateInteraction | None
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


def signal_weights(settings: RecallSettings) -> Signals:
    """The weight of each signal."""
    return Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))


def participant_signal(question: Question, traits: Traits, *, is_about: bool) -> float:
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


def time_fit(question: Question, traits: Traits, sources: Sequence[SourceDates] = ()) -> float:
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
