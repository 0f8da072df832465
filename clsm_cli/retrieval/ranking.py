"""Rank candidates for a question, in reading order: first pass → second pass → evidence → score.

    score = Σ weight · signal     (``answer.Signals``, weights in ``config.RecallSettings``)

The answer may be in one conversation or spread over many. A narrow question gains from the
surroundings of a good passage, its group and its conversation; a broad one (``text.breadth``) from
the meaning of each passage by itself. A passage that repeats the turn before it, unless that is a
question, is an echo. On LoCoMo, this is worth six points of recall@10 of multi-hop questions.

A question that names no speaker is asked of conversations in which a fact may be surrounded by
small talk: there, surroundings count only as far as the passage itself is near in meaning, and its
meaning counts at any breadth. Last, the best passages activate others over the graph
(``activation``).

The confidence of a candidate (``scoring.confidence``) comes from signs: cosines, shared words.
``verdict`` corrects it, and adds the signal ``reading``.
"""

from __future__ import annotations

from math import fsum, log1p
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.retrieval import activation
from clsm_cli.retrieval.answer import Signals
from clsm_cli.scoring import confidence, match
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.match import cosine_at, min_max, min_max_or, weighted
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
    from clsm_cli.retrieval.identifiers import CodePostings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.store.index.ranking_queries import Traits


CONFIDENCE_SIZE = 10
"""First candidates, of which the most confident decides whether there is an answer: the default of ``recall.k``."""
FIRST_PASS_WEIGHTS = Signals(
    bm25=0.5,
    maxsim=1.4,
    context=0.9,
    episode=0.6,
    participant=0.8,
    date=5.1,
    temporal=0.4,
    question=-0.3,
)
"""Weights that find the best passage of a conversation (own choice; fitted ones are no better)."""
NOTE_BM25_FACTOR = 7
"""Factor of the BM25 weight for blocks of notes: a conversation repeats the words of a question, a
note has them where it answers (docs/experiments.md, Notes).
"""
FOR_ALL_DATE_FACTOR = 200
"""Factor of the date weight if all of a period is asked for: it outweighs everything else (own choice)."""
CONVERSATION_FIT = 0.9
"""Fit of conversations of a day, relative to its notes, if all of the day is asked for; squared for
passages of other days that mention it, and for others' words if "I" is asked about (own choice).
"""
COVERAGE_FACTOR = 2
"""Caps similarity for words that the model cannot read, at this multiple of the lexical coverage; 1
silences 4 of 20 answerable questions to Chinese notes (docs/experiments.md, Words that the model
does not know).
"""
MANY_NAMES = 7
"""Names at which the ``names`` signal is 1 (own choice)."""
ACTIVATION_GAP = 1e-4
"""Difference of scores by which an activated passage stays below the one that activated it (own
choice; that it does stay below: docs/experiments.md, Notes).
"""


class Candidate(NamedTuple):
    """A passage that may answer.

    Attributes:
        score: The sum of ``shares``, relative to this query.
        confidence: Probability that it answers, 0 … 1, comparable between queries
            (``scoring.confidence``).
        shares: Weight · signal of each signal.
        way: The activation that raised it, if any.
        is_definition: Whether it says what the question is only about (``definitions``).
    """

    row: int
    score: float
    confidence: float
    signals: Signals
    shares: Signals
    evidence: Evidence
    traits: Traits
    way: ActivationSource | None = None
    is_definition: bool = False

    @property
    def nearness(self) -> float:
        """Cosine to the question; its confidence without a model."""
        return self.confidence if self.evidence.cosine is None else self.evidence.cosine


class Ranked(NamedTuple):
    """The ranked candidates for a question.

    Attributes:
        confidence: Probability that one answers: that of the most confident of the first
            ``CONFIDENCE_SIZE``.
        cosines: Of every stored sentence vector to the question, by row; empty without a model.
        unread: The confidence by signs, before the answer head.
        codes: Codes of the question with their postings (``identifiers``).
        is_read: Whether the answer head has read the first candidates.
    """

    candidates: list[Candidate]
    confidence: float
    cosines: Sequence[float]
    unread: float
    codes: Sequence[CodePostings] = ()
    is_read: bool = False

    def with_candidates(self, candidates: list[Candidate]) -> Ranked:
        """The same with these candidates, best first; as confident as the most confident of the first ones."""
        first = (candidate.confidence for candidate in candidates[:CONFIDENCE_SIZE])
        return self._replace(candidates=candidates, confidence=max(first, default=0.0))


def rank(candidates: CandidateSet) -> Ranked:
    """The candidates, best first."""
    fits = _time_fits(candidates)
    window_maxsim = candidates.maxsim(with_next=True)
    signals = _first_pass(candidates, fits, window_maxsim)
    if candidates.cosines and signals:
        signals = _second_pass(candidates, signals)
    scored = _score(candidates, signals, _evidence(candidates, fits, window_maxsim))
    ranked = Ranked(
        candidates=[],
        confidence=0.0,
        cosines=candidates.cosines,
        unread=0.0,
        codes=candidates.words.codes,
    ).with_candidates(scored)
    return ranked._replace(unread=ranked.confidence)


def signal_weights(
    settings: RecallSettings, *, is_note: bool = False, for_all: bool = False
) -> Signals:
    """The weight of each signal, for a note, and for a question that asks for all of a period."""
    weights = Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))
    weights = weights._replace(date=FOR_ALL_DATE_FACTOR * weights.date) if for_all else weights
    return weights._replace(bm25=NOTE_BM25_FACTOR * weights.bm25) if is_note else weights


def _time_fits(candidates: CandidateSet) -> list[float]:
    """How well each candidate fits the time asked about; see ``match.period_match``.

    A statement fits as well as its source turns on average: what was said on many days is specific
    to none. A gist fits no single day, only its month. If all of a period is asked for, the days
    after it do not fit, and notes fit better than conversations.
    """
    question, asked = candidates.question, candidates.question.periods
    if not asked:
        return [0.0] * len(candidates.traits)
    longer = tuple(period for period in asked if period[1] - period[0] > 1)
    stated = [row for row, traits in candidates.traits.items() if traits.kind == "statement"]
    dates_by_row = graph_queries.source_dates(candidates.view.connection, stated)
    fits = []
    for row, traits in candidates.traits.items():
        source_dates = dates_by_row.get(row) or (SourceDates(traits.day, traits.periods),)
        periods = longer if traits.kind == "gist" else asked
        source_fits = [
            match.period_match(periods, dates.day, json_list(dates.periods))
            for dates in source_dates
        ]
        fit = sum(source_fits) / len(source_fits)
        fits.append(_fit_for_all(question, traits, fit) if question.asks_for_all else fit)
    return fits


def _fit_for_all(question: Question, traits: Traits, fit: float) -> float:
    """How well a passage fits if all of a period is asked for."""
    if fit < match.LONG_PERIOD_MATCH:
        return 0.0
    days, day = question.periods, traits.day
    if day is None or not any(first <= day < until for first, until in days):
        return CONVERSATION_FIT**2 * fit
    if traits.is_document:
        return fit
    return CONVERSATION_FIT ** (1 + (question.asks_of_self and not traits.is_own)) * fit


def _first_pass(
    candidates: CandidateSet, fits: Sequence[float], window_maxsim: Sequence[float | None]
) -> list[Signals]:
    """The signals of each candidate and its surroundings, normalised over the candidates."""
    question, words = candidates.question, candidates.words
    rows, all_traits = [*candidates.traits], [*candidates.traits.values()]
    groups = words.score_groups(candidates.members)
    in_group = [
        groups[traits.group].score if traits.group in groups else 0.0 for traits in all_traits
    ]
    share = 1.0  # of BM25: squared coverage; 1 without a model, or for a question of names only
    if candidates.late is not None and not question.name_terms.issuperset(question.terms):
        share = max((group.coverage for group in groups.values()), default=0.0) ** 2
    about = {row for t in question.name_terms for row, _, _ in words.postings.get(t, ())}
    by_whom = [
        _by_participant(question, candidates.traits[row], is_about=row in about) for row in rows
    ]
    outdated: Collection[str] = ()
    if candidates.settings.weight_outdated and question.asks_of_now:
        keys = sorted({traits.key for traits in all_traits})
        stated = graph_queries.statements_of(candidates.view.connection, keys)
        outdated = {key for key, rows in stated.items() if not any(e.is_current for e in rows)}
    group_cosines = _meaning_of_groups(candidates)
    own_maxsim = candidates.maxsim(with_next=False)
    by_words = min_max([words.scores.get(row, 0.0) for row in rows])
    unmeasured = [0.0] * len(rows) if candidates.late is None else by_words
    n_content = 0 if question.asks_for_all else question.n_content_terms
    maxsim, context = min_max_or(unmeasured, own_maxsim), min_max_or(unmeasured, window_maxsim)
    group_words, group_meaning = (
        min_max(in_group),
        min_max([group_cosines[t.group] for t in all_traits]),
    )
    return [
        Signals(
            bm25=by_words[i] * (share if traits.vector >= 0 else 1.0),
            maxsim=maxsim[i],
            context=context[i],
            episode=(group_words[i] + group_meaning[i]) / 2,
            participant=by_whom[i],
            # The evidence for a dated question is often in the note of another day, so the other
            # terms of the question count more, unless it asks for all of the day.
            date=fits[i] / (1 + n_content * traits.is_document),
            temporal=float(question.asks_when and bool(traits.periods)),
            question=float(traits.is_question),
            literal=words.exact_match.get(rows[i], 0.0) / words.full_match,
            outdated=float(traits.key in outdated),
        )
        for i, traits in enumerate(all_traits)
    ]


def _meaning_of_groups(candidates: CandidateSet) -> dict[int, float]:
    """The mean cosine of each group."""
    means: dict[int, float] = {}
    for group, members in candidates.members.items():
        member_cosines = [cosine_at(candidates.cosines, member.vector) for member in members]
        cosines = [cosine for cosine in member_cosines if cosine is not None]
        means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
    return means


def _second_pass(candidates: CandidateSet, first: Sequence[Signals]) -> list[Signals]:
    """Add the signals that depend on those of the first pass."""
    question, settings, late = candidates.question, candidates.settings, candidates.late
    rows, all_traits = [*candidates.traits], [*candidates.traits.values()]
    terms = len({*question.terms} - question.name_terms)
    broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
    own_share = 0.0 if question.named_speakers else settings.alone
    names = candidates.view.names_in(rows)
    before = [
        late.window_scores(traits.previous) if late is not None else 0.0 for traits in all_traits
    ]
    no_questions = {
        row for row, traits in candidates.surroundings.items() if not traits.is_question
    }
    cosines = [cosine_at(candidates.cosines, traits.vector) for traits in all_traits]
    session = min_max(
        _best_of_session(all_traits, [weighted(values, FIRST_PASS_WEIGHTS) for values in first])
    )
    meaning = min_max_or([values.bm25 for values in first], cosines)
    context_share = [(1 - broad) * (1 - own_share * (1 - own)) for own in meaning]
    # An echo repeats the previous turn, unless that is a question.
    echo = [
        value
        * (not traits.is_document and (traits.previous is None or traits.previous in no_questions))
        for traits, value in zip(all_traits, min_max(before), strict=True)
    ]
    return [
        values._replace(
            episode=context_share[i] * values.episode,
            echo=echo[i],
            names=min(1.0, log1p(len(names.get(row, ()))) / log1p(MANY_NAMES)),
            session=context_share[i] * session[i],
            meaning=max(broad, own_share) * meaning[i],
        )
        for i, (row, values) in enumerate(zip(rows, first, strict=True))
    ]


def _evidence(
    candidates: CandidateSet, fits: Sequence[float], window_maxsim: Sequence[float | None]
) -> Iterator[Evidence]:
    """The evidence of each passage by itself, and how well it fits the time asked about.

    A note of that time counts as covering the time words of the question. If all of a period is
    asked for, the fit is the only evidence. For words that the model cannot read, similarity is
    capped by the lexical coverage.
    """
    question, words = candidates.question, candidates.words
    coverage, unseen = words.idf_coverage(candidates.traits), words.unseen_share()
    foreign = words.foreign_share()
    n_terms = len({*question.terms} - question.name_terms)
    of_time = max(0.0, 1 - question.n_content_terms / n_terms) if n_terms else 0.0
    for (row, traits), fit, maxsim in zip(
        candidates.traits.items(), fits, window_maxsim, strict=True
    ):
        if question.asks_for_all:
            yield Evidence(fit, None, fit, length=traits.length, passages=max(1, words.passages))
            continue
        of_day = fit * of_time if traits.is_document else 0.0
        covered = max(coverage.get(row, 0.0), words.exact_match.get(row, 0.0), of_day)
        cap = 1 - foreign * (1 - min(1.0, COVERAGE_FACTOR * coverage.get(row, 0.0)))
        yield Evidence(
            covered,
            cosine_at(candidates.cosines, traits.vector),
            fit,
            asked_cosine=_capped(cap, cosine_at(candidates.asked_cosines, traits.vector)),
            maxsim=_capped(cap, maxsim),
            unseen=unseen,
            length=traits.length,
            passages=max(1, words.passages),
        )


def _capped(cap: float, similarity: float | None) -> float | None:
    return None if similarity is None else min(cap, similarity)


def _score(
    candidates: CandidateSet, signals: Sequence[Signals], evidence: Iterable[Evidence]
) -> list[Candidate]:
    """The candidates, best first; an activated one stays below the one that activated it."""
    settings, for_all = candidates.settings, candidates.question.asks_for_all
    factors = {
        is_note: signal_weights(settings, is_note=is_note, for_all=for_all)
        for is_note in (False, True)
    }
    weights = [factors[traits.is_document] for traits in candidates.traits.values()]
    own = dict(zip(candidates.traits, map(weighted, signals, weights), strict=True))
    ways: Mapping[int, ActivationSource] = {}
    if candidates.late is not None and own and settings.weight_graph > 0:
        shares = zip(own, min_max([*own.values()]), strict=True)
        seeds = sorted(shares, key=lambda seed: (-seed[1], *candidates.tie_break(seed[0])))
        seeds = seeds[: activation.MAX_SEEDS]
        ways = activation.spread_activation(
            candidates.view, candidates.question, dict(seeds), candidates.late
        )
    ranked = []
    for (row, traits), values, weight, passage_evidence in zip(
        candidates.traits.items(), signals, weights, evidence, strict=True
    ):
        reached, way = values, ways.get(row)
        if way is not None:
            room = (own[way.seed] - own[row]) / settings.weight_graph - ACTIVATION_GAP
            reached = values._replace(graph=max(0.0, min(way.activation, room)))
        parts = Signals(*map(mul, weight, reached))
        ranked.append(
            Candidate(
                row=row,
                score=round(sum(parts), 6),
                confidence=round(confidence.signs_probability(passage_evidence), 6),
                signals=reached,
                shares=parts,
                evidence=passage_evidence,
                traits=traits,
                way=way if reached.graph else None,
            )
        )
    return sorted(
        ranked, key=lambda candidate: (-candidate.score, *candidates.tie_break(candidate.row))
    )


_NAMELESS = ("", "user", "assistant")
"""Speakers of whom no name is known, as of the owner who writes ``clsm note``."""


def _by_participant(question: Question, traits: Traits, *, is_about: bool) -> float:
    """The ``participant`` signal of a passage.

    Args:
        is_about: Whether its own words name that person.

    Returns:
        1: said by the only participant that the question names, or a note or words of a nameless
        speaker that name them. ½: a note or such words that do not, or said by the first of two
        ("What does Mara think of Brian?") unless both are meant. 0: said by another, or the
        question names nobody or more than two. If it asks what "I" said: 1 for a turn of the
        person, ½ for notes and statements, 0 for others.
    """
    if question.asks_of_self:
        return 1.0 if traits.is_own else 0.5 * (traits.is_document or traits.kind != "passage")
    if len(question.named_speakers) == 2:
        return 0.5 * (not question.means_both and traits.speaker == question.named_speakers[0])
    if len(question.named_speakers) != 1:
        return 0.0
    if traits.is_document or traits.speaker in _NAMELESS:
        return 1.0 if is_about else 0.5
    return float(traits.speaker == question.named_speakers[0])


def _best_of_session(all_traits: Sequence[Traits], scores: Sequence[float]) -> list[float]:
    """The best first-pass score in each passage's conversation; blocks of notes keep their own."""
    best: dict[str, float] = {}
    scored = list(zip(all_traits, scores, strict=True))
    for traits, score in scored:
        best[traits.session] = max(best.get(traits.session, score), score)
    return [score if t.is_document else best[t.session] for t, score in scored]
