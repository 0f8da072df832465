"""Candidates ranked for a question, in reading order: first pass → second pass → evidence → score.

    score = Σ weight · signal     (``answer.Signals``, weights in ``config.RecallSettings``)

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

from math import fsum, log1p
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation
from clsm_cli.retrieval.answer import Signals
from clsm_cli.retrieval.dense_search import cosine_at
from clsm_cli.scoring import confidence, match
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.match import filled, spread, weighted
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.database import json_list
from clsm_cli.store.index.graph_queries import SourceDates
from clsm_cli.text.breadth import breadth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.activation import ActivationSource
    from clsm_cli.retrieval.candidates import CandidateSet
    from clsm_cli.retrieval.identifiers import Placed
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.ranking_queries import Traits


FIRST = 10
"""Candidates of which the surest decides whether anything is said: what a reader sees."""
FIRST_PASS = Signals(0.5, 1.4, 0.9, 0.6, 0.8, 5.1, 0.4, -0.3, 2.0)
"""Weights by which the best of a conversation is found; fitted ones are no better."""
IN_NOTES = 7
"""How many times as much the words of a question count in a block of a note: a talk says them again and
again, a note where it answers. By 879 questions to 22 workspaces, and LoCoMo's."""
OF_TIME = 200
"""How many times as much the day counts where all of a time is asked for: more than everything else."""
BY_DAY = 0.9
"""Fit of what was said on a day beside that of its notes, where all of a day is asked for; squared, of what
tells of it from elsewhere."""
WORDS_TELL = 2
"""How much nearness in meaning each share of a question's words allows that the model cannot read."""
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

    @property
    def nearness(self) -> float:
        """How near it is to the question in meaning; its confidence if there is no model."""
        return self.confidence if self.evidence.cosine is None else self.evidence.cosine


class Ranked(NamedTuple):
    """What was found for a question.

    Attributes:
        confidence: That something answers, which is that of the surest of the first ``FIRST``.
        cosines: Of every stored sentence vector to the question, by its row; empty without a model.
        unread: The confidence before any of them was read.
        codes: Of the question, with where each stands (``identifiers``).
    """

    candidates: list[Candidate]
    confidence: float
    cosines: Sequence[float]
    unread: float
    codes: Sequence[Placed] = ()


def rank(found: CandidateSet) -> Ranked:
    """The candidates, best first."""
    fits = _time_fits(found)
    around_it = found.maxsim(after=True)
    signals = _first_pass(found, fits, around_it)
    if found.cosines and signals:
        signals = _second_pass(found, signals)
    ranked = _scored(found, signals, _evidence(found, fits, around_it))
    surest = max((each.confidence for each in ranked[:FIRST]), default=0.0)
    return Ranked(ranked, surest, found.cosines, surest, found.words.codes)


def signal_weights(
    settings: RecallSettings, *, is_note: bool = False, for_all: bool = False
) -> Signals:
    """The weight of each signal, in a talk or a note, and where all of a time is asked for."""
    found = Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))
    found = found._replace(date=OF_TIME * found.date) if for_all else found
    return found._replace(bm25=IN_NOTES * found.bm25) if is_note else found


def _time_fits(found: CandidateSet) -> list[float]:
    """How well each fits the time asked about, see ``match.period_match``.

    A statement is as much of a day as the turns are that it rests on, on average; what was said on
    many days is no news of one. A gist has no day of its own, only its month. Where all of a time is
    asked for, the week after is no part of it, and its notes come before what was said in it.
    """
    asked = found.question.periods
    if not asked:
        return [0.0] * len(found.traits)
    longer = tuple(each for each in asked if each[1] - each[0] > 1)
    stated = [row for row, each in found.traits.items() if each.kind == "statement"]
    dates = graph_queries.source_dates(found.view.connection, stated)
    fits = []
    for row, traits in found.traits.items():
        told = dates.get(row) or (SourceDates(traits.day, traits.periods),)
        periods = longer if traits.kind == "gist" else asked
        each_fits = [
            match.period_match(periods, each.day, json_list(each.periods)) for each in told
        ]
        fit = sum(each_fits) / len(each_fits)
        fits.append(_part_of_all(asked, traits, fit) if found.question.asks_for_all else fit)
    return fits


def _part_of_all(asked: Sequence[match.Period], traits: Traits, fit: float) -> float:
    """How well a passage fits where all of a time is asked for."""
    if fit < match.LONGER:
        return 0.0
    if traits.day is None or not any(first <= traits.day < until for first, until in asked):
        return BY_DAY**2 * fit
    return fit if traits.is_document else BY_DAY * fit


def _first_pass(
    found: CandidateSet, fits: Sequence[float], around_it: Sequence[float | None]
) -> list[Signals]:
    """What each candidate and its surroundings say, brought to one scale over them."""
    question, words = found.question, found.words
    rows, traits = [*found.traits], [*found.traits.values()]
    groups = words.score_groups(found.members)
    in_group = [groups[each.group].score if each.group in groups else 0.0 for each in traits]
    share = 1.0  # the weight of the question's words: coverage², 1 if there is nothing else
    if found.late is not None and not question.name_terms.issuperset(question.terms):
        share = max((group.coverage for group in groups.values()), default=0.0) ** 2
    about = {row for t in question.name_terms for row, _, _ in words.postings.get(t, ())}
    by_whom = [_by_participant(question, found.traits[row], is_about=row in about) for row in rows]
    outdated: Collection[str] = ()
    if found.settings.weight_outdated and question.asks_of_now:
        keys = sorted({each.key for each in traits})
        outdated = graph_queries.outdated_sources(found.view.connection, keys)
    meant = _meaning_of_groups(found)
    alone = found.maxsim(after=False)
    by_words = spread([words.scores.get(row, 0.0) for row in rows])
    unmeasured = [0.0] * len(rows) if found.late is None else by_words
    besides = 0 if question.asks_for_all else question.besides
    maxsim, context = filled(unmeasured, alone), filled(unmeasured, around_it)
    group_words, group_meaning = spread(in_group), spread([meant[t.group] for t in traits])
    return [
        Signals(
            bm25=by_words[i] * (share if each.vector >= 0 else 1.0),
            maxsim=maxsim[i],
            context=context[i],
            episode=(group_words[i] + group_meaning[i]) / 2,
            participant=by_whom[i],
            # The evidence of a dated question often stands in the note of another day: what else is
            # in a question says more, unless it asks for all of the day.
            date=fits[i] / (1 + besides * each.is_document),
            temporal=float(question.asks_when and bool(each.periods)),
            question=float(each.is_question),
            literal=words.literal.get(rows[i], 0.0) / words.all,
            outdated=float(each.key in outdated),
        )
        for i, each in enumerate(traits)
    ]


def _meaning_of_groups(found: CandidateSet) -> dict[int, float]:
    """The mean cosine of each group."""
    means: dict[int, float] = {}
    for group, members in found.members.items():
        known = [cosine_at(found.cosines, each.vector) for each in members]
        cosines = [cosine for cosine in known if cosine is not None]
        means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
    return means


def _second_pass(found: CandidateSet, first: Sequence[Signals]) -> list[Signals]:
    """The signals with those that need the first ones."""
    question, settings, late = found.question, found.settings, found.late
    rows, traits = [*found.traits], [*found.traits.values()]
    terms = len({*question.terms} - question.name_terms)
    broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
    alone = 0.0 if question.named_speakers else settings.alone
    names = found.view.names_in(rows)
    before = [late.window_scores(each.previous) if late is not None else 0.0 for each in traits]
    told = {row for row, each in found.near.items() if not each.is_question}
    cosines = [cosine_at(found.cosines, each.vector) for each in traits]
    session = spread(_best_of_session(traits, [weighted(values, FIRST_PASS) for values in first]))
    meaning = filled([values.bm25 for values in first], cosines)
    around_it = [(1 - broad) * (1 - alone * (1 - own)) for own in meaning]
    # An echo repeats the turn before, unless that is a question.
    echo = [
        value * (not each.is_document and (each.previous is None or each.previous in told))
        for each, value in zip(traits, spread(before), strict=True)
    ]
    return [
        values._replace(
            episode=around_it[i] * values.episode,
            echo=echo[i],
            names=min(1.0, log1p(len(names.get(row, ()))) / log1p(MANY_NAMES)),
            session=around_it[i] * session[i],
            meaning=max(broad, alone) * meaning[i],
        )
        for i, (row, values) in enumerate(zip(rows, first, strict=True))
    ]


def _evidence(
    found: CandidateSet, fits: Sequence[float], around_it: Sequence[float | None]
) -> Iterator[Evidence]:
    """The evidence of each passage by itself, and how well it fits the time asked about.

    A note of that time counts as having the terms of the question that only say when. Where all of a
    time is asked for, the time is all that there is to tell by. What the model cannot read is as near in
    meaning as the words that are shared let it be.
    """
    question, words = found.question, found.words
    coverage, unseen = words.idf_coverage(found.traits), words.unseen_share()
    foreign = words.foreign_share()
    asked = len({*question.terms} - question.name_terms)
    of_time = max(0.0, 1 - question.besides / asked) if asked else 0.0
    for (row, each), fit, maxsim in zip(found.traits.items(), fits, around_it, strict=True):
        if question.asks_for_all:
            yield Evidence(fit, None, fit, length=each.length, passages=max(1, words.passages))
            continue
        of_day = fit * of_time if each.is_document else 0.0
        held = max(coverage.get(row, 0.0), words.literal.get(row, 0.0), of_day)
        most = 1 - foreign * (1 - min(1.0, WORDS_TELL * coverage.get(row, 0.0)))
        yield Evidence(
            held,
            cosine_at(found.cosines, each.vector),
            fit,
            asked=_at_most(most, cosine_at(found.asked, each.vector)),
            maxsim=_at_most(most, maxsim),
            unseen=unseen,
            length=each.length,
            passages=max(1, words.passages),
        )


def _at_most(most: float, near: float | None) -> float | None:
    return None if near is None else min(most, near)


def _scored(
    found: CandidateSet, signals: Sequence[Signals], evidence: Iterable[Evidence]
) -> list[Candidate]:
    """The candidates, best first; what activation reaches stands below what leads to it."""
    settings, for_all = found.settings, found.question.asks_for_all
    factors = {
        is_note: signal_weights(settings, is_note=is_note, for_all=for_all)
        for is_note in (False, True)
    }
    weights = [factors[each.is_document] for each in found.traits.values()]
    own = dict(zip(found.traits, map(weighted, signals, weights), strict=True))
    ways: Mapping[int, ActivationSource] = {}
    if found.late is not None and own and settings.weight_graph > 0:
        shares = zip(own, spread([*own.values()]), strict=True)
        seeds = sorted(shares, key=lambda each: (-each[1], *found.place(each[0])))
        seeds = seeds[: activation.SEEDS]
        ways = activation.spread(found.view, found.question, dict(seeds), found.late)
    ranked = []
    for (row, traits), values, weight, known in zip(
        found.traits.items(), signals, weights, evidence, strict=True
    ):
        reached, way = values, ways.get(row)
        if way is not None:
            room = (own[way.start] - own[row]) / settings.weight_graph - BELOW
            reached = values._replace(graph=max(0.0, min(way.worth, room)))
        parts = Signals(*map(mul, weight, reached))
        ranked.append(
            Candidate(
                row=row,
                score=round(sum(parts), 6),
                confidence=round(confidence.probability(known), 6),
                signals=reached,
                shares=parts,
                evidence=known,
                traits=traits,
                way=way if reached.graph else None,
            )
        )
    return sorted(ranked, key=lambda each: (-each.score, *found.place(each.row)))


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


def _best_of_session(traits: Sequence[Traits], scores: Sequence[float]) -> list[float]:
    """The best first score in the conversation of each; blocks of notes stand for themselves."""
    best: dict[str, float] = {}
    scored = list(zip(traits, scores, strict=True))
    for each, score in scored:
        best[each.session] = max(best.get(each.session, score), score)
    return [score if t.is_document else best[t.session] for t, score in scored]
