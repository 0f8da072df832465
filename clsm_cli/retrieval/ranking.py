"""Rank candidates for a question, in reading order: first pass → second pass → evidence → score.

    score = Σ weight · signal     (``answer.Signals``, weights in ``config.RecallSettings``)

The answer may be in one conversation or spread over many. A narrow question gains from the surroundings of a
good passage, its group and its conversation; a broad one (``text.breadth``) from the meaning of each
passage by itself. A passage that repeats the turn before it, unless that is a question, is an echo. On
LoCoMo, this is worth six points of recall@10 of multi-hop questions.

A question that names no speaker is asked of conversations in which a fact may be surrounded by small talk:
there, surroundings count only as far as the passage itself is near in meaning, and its meaning counts at any
breadth. Last, the best passages activate others over the graph (``activation``).

The confidence of a candidate (``scoring.confidence``) comes from signs: cosines, shared words.
``verdict`` corrects it, and adds the signal ``reading``.
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
from clsm_cli.scoring.match import min_max, min_max_or, weighted
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
"""First candidates, of which the most confident decides whether there is an answer: as many as a reader sees."""
FIRST_PASS_WEIGHTS = Signals(0.5, 1.4, 0.9, 0.6, 0.8, 5.1, 0.4, -0.3, 2.0)
"""Weights that find the best passage of a conversation; fitted ones are no better."""
NOTE_BM25_FACTOR = 7
"""Factor of the BM25 weight for blocks of notes: a conversation repeats the words of a question, a note has
them where it answers. From 879 questions to 22 workspaces, and LoCoMo's.
"""
FOR_ALL_DATE_FACTOR = 200
"""Factor of the date weight if all of a period is asked for: it outweighs everything else."""
CONVERSATION_FIT = 0.9
"""Fit of conversations of a day, relative to its notes, if all of the day is asked for; squared for passages
of other days that mention it.
"""
COVERAGE_FACTOR = 2
"""Caps similarity for words that the model cannot read, at this multiple of the lexical coverage."""
MANY_NAMES = 7
"""Names at which the ``names`` signal is 1."""
ACTIVATION_GAP = 1e-4
"""Difference by which an activated passage stays below the one that activated it."""


class Candidate(NamedTuple):
    """A passage that may answer.

    Attributes:
        score: The sum of ``shares``, relative to this query.
        confidence: Probability that it answers, 0 … 1, comparable between queries (``scoring.confidence``).
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


def rank(found: CandidateSet) -> Ranked:
    """The candidates, best first."""
    fits = _time_fits(found)
    window_maxsim = found.maxsim(with_next=True)
    signals = _first_pass(found, fits, window_maxsim)
    if found.cosines and signals:
        signals = _second_pass(found, signals)
    ranked = _score(found, signals, _evidence(found, fits, window_maxsim))
    surest = max((each.confidence for each in ranked[:CONFIDENCE_SIZE]), default=0.0)
    return Ranked(ranked, surest, found.cosines, surest, found.words.codes)


def signal_weights(
    settings: RecallSettings, *, is_note: bool = False, for_all: bool = False
) -> Signals:
    """The weight of each signal, for a note, and for a question that asks for all of a period."""
    found = Signals(*(getattr(settings, f"weight_{name}") for name in Signals._fields))
    found = found._replace(date=FOR_ALL_DATE_FACTOR * found.date) if for_all else found
    return found._replace(bm25=NOTE_BM25_FACTOR * found.bm25) if is_note else found


def _time_fits(found: CandidateSet) -> list[float]:
    """How well each candidate fits the time asked about; see ``match.period_match``.

    A statement fits as well as its source turns on average: what was said on many days is specific to
    none. A gist fits no single day, only its month. If all of a period is asked for, the days after it
    do not fit, and notes fit better than conversations.
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
        fits.append(_fit_for_all(asked, traits, fit) if found.question.asks_for_all else fit)
    return fits


def _fit_for_all(asked: Sequence[match.Period], traits: Traits, fit: float) -> float:
    """How well a passage fits if all of a period is asked for."""
    if fit < match.LONG_PERIOD_MATCH:
        return 0.0
    if traits.day is None or not any(first <= traits.day < until for first, until in asked):
        return CONVERSATION_FIT**2 * fit
    return fit if traits.is_document else CONVERSATION_FIT * fit


def _first_pass(
    found: CandidateSet, fits: Sequence[float], window_maxsim: Sequence[float | None]
) -> list[Signals]:
    """The signals of each candidate and its surroundings, normalised over the candidates."""
    question, words = found.question, found.words
    rows, traits = [*found.traits], [*found.traits.values()]
    groups = words.score_groups(found.members)
    in_group = [groups[each.group].score if each.group in groups else 0.0 for each in traits]
    share = 1.0  # of BM25: squared coverage; 1 without a model, or for a question of names only
    if found.late is not None and not question.name_terms.issuperset(question.terms):
        share = max((group.coverage for group in groups.values()), default=0.0) ** 2
    about = {row for t in question.name_terms for row, _, _ in words.postings.get(t, ())}
    by_whom = [_by_participant(question, found.traits[row], is_about=row in about) for row in rows]
    outdated: Collection[str] = ()
    if found.settings.weight_outdated and question.asks_of_now:
        keys = sorted({each.key for each in traits})
        stated = graph_queries.statements_of(found.view.connection, keys)
        outdated = {key for key, rows in stated.items() if not any(e.is_current for e in rows)}
    group_cosines = _meaning_of_groups(found)
    own_maxsim = found.maxsim(with_next=False)
    by_words = min_max([words.scores.get(row, 0.0) for row in rows])
    unmeasured = [0.0] * len(rows) if found.late is None else by_words
    n_content = 0 if question.asks_for_all else question.n_content_terms
    maxsim, context = min_max_or(unmeasured, own_maxsim), min_max_or(unmeasured, window_maxsim)
    group_words, group_meaning = (
        min_max(in_group),
        min_max([group_cosines[t.group] for t in traits]),
    )
    return [
        Signals(
            bm25=by_words[i] * (share if each.vector >= 0 else 1.0),
            maxsim=maxsim[i],
            context=context[i],
            episode=(group_words[i] + group_meaning[i]) / 2,
            participant=by_whom[i],
            # The evidence for a dated question is often in the note of another day, so the other
            # terms of the question count more, unless it asks for all of the day.
            date=fits[i] / (1 + n_content * each.is_document),
            temporal=float(question.asks_when and bool(each.periods)),
            question=float(each.is_question),
            literal=words.exact_match.get(rows[i], 0.0) / words.full_match,
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
    """Add the signals that depend on those of the first pass."""
    question, settings, late = found.question, found.settings, found.late
    rows, traits = [*found.traits], [*found.traits.values()]
    terms = len({*question.terms} - question.name_terms)
    broad = settings.breadth * breadth(question.text, terms, asks_when=question.asks_when)
    own_share = 0.0 if question.named_speakers else settings.alone
    names = found.view.names_in(rows)
    before = [late.window_scores(each.previous) if late is not None else 0.0 for each in traits]
    no_questions = {row for row, each in found.surroundings.items() if not each.is_question}
    cosines = [cosine_at(found.cosines, each.vector) for each in traits]
    session = min_max(
        _best_of_session(traits, [weighted(values, FIRST_PASS_WEIGHTS) for values in first])
    )
    meaning = min_max_or([values.bm25 for values in first], cosines)
    context_share = [(1 - broad) * (1 - own_share * (1 - own)) for own in meaning]
    # An echo repeats the previous turn, unless that is a question.
    echo = [
        value * (not each.is_document and (each.previous is None or each.previous in no_questions))
        for each, value in zip(traits, min_max(before), strict=True)
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
    found: CandidateSet, fits: Sequence[float], window_maxsim: Sequence[float | None]
) -> Iterator[Evidence]:
    """The evidence of each passage by itself, and how well it fits the time asked about.

    A note of that time counts as covering the time words of the question. If all of a period is asked
    for, the fit is the only evidence. For words that the model cannot read, similarity is capped by the
    lexical coverage.
    """
    question, words = found.question, found.words
    coverage, unseen = words.idf_coverage(found.traits), words.unseen_share()
    foreign = words.foreign_share()
    n_terms = len({*question.terms} - question.name_terms)
    of_time = max(0.0, 1 - question.n_content_terms / n_terms) if n_terms else 0.0
    for (row, each), fit, maxsim in zip(found.traits.items(), fits, window_maxsim, strict=True):
        if question.asks_for_all:
            yield Evidence(fit, None, fit, length=each.length, passages=max(1, words.passages))
            continue
        of_day = fit * of_time if each.is_document else 0.0
        covered = max(coverage.get(row, 0.0), words.exact_match.get(row, 0.0), of_day)
        cap = 1 - foreign * (1 - min(1.0, COVERAGE_FACTOR * coverage.get(row, 0.0)))
        yield Evidence(
            covered,
            cosine_at(found.cosines, each.vector),
            fit,
            asked_cosine=_capped(cap, cosine_at(found.asked_cosines, each.vector)),
            maxsim=_capped(cap, maxsim),
            unseen=unseen,
            length=each.length,
            passages=max(1, words.passages),
        )


def _capped(cap: float, similarity: float | None) -> float | None:
    return None if similarity is None else min(cap, similarity)


def _score(
    found: CandidateSet, signals: Sequence[Signals], evidence: Iterable[Evidence]
) -> list[Candidate]:
    """The candidates, best first; an activated one stays below the one that activated it."""
    settings, for_all = found.settings, found.question.asks_for_all
    factors = {
        is_note: signal_weights(settings, is_note=is_note, for_all=for_all)
        for is_note in (False, True)
    }
    weights = [factors[each.is_document] for each in found.traits.values()]
    own = dict(zip(found.traits, map(weighted, signals, weights), strict=True))
    ways: Mapping[int, ActivationSource] = {}
    if found.late is not None and own and settings.weight_graph > 0:
        shares = zip(own, min_max([*own.values()]), strict=True)
        seeds = sorted(shares, key=lambda each: (-each[1], *found.tie_break(each[0])))
        seeds = seeds[: activation.MAX_SEEDS]
        ways = activation.spread(found.view, found.question, dict(seeds), found.late)
    ranked = []
    for (row, traits), values, weight, known in zip(
        found.traits.items(), signals, weights, evidence, strict=True
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
                confidence=round(confidence.probability(known), 6),
                signals=reached,
                shares=parts,
                evidence=known,
                traits=traits,
                way=way if reached.graph else None,
            )
        )
    return sorted(ranked, key=lambda each: (-each.score, *found.tie_break(each.row)))


_NAMELESS = ("", "user", "assistant")
"""Speakers of whom no name is known, as of the owner who writes ``clsm note``."""


def _by_participant(question: Question, traits: Traits, *, is_about: bool) -> float:
    """The ``participant`` signal of a passage.

    Args:
        is_about: Whether its own words name that person.

    Returns:
        1: said by the only participant that the question names, or a note or words of a nameless speaker
        that name them. ½: a note or such words that do not, or said by the first of two ("What does Mara
        think of Brian?") unless both
        are meant. 0: said by another, or the question names nobody or more than two.
    """
    if len(question.named_speakers) == 2:
        return 0.5 * (not question.means_both and traits.speaker == question.named_speakers[0])
    if len(question.named_speakers) != 1:
        return 0.0
    if traits.is_document or traits.speaker in _NAMELESS:
        return 1.0 if is_about else 0.5
    return float(traits.speaker == question.named_speakers[0])


def _best_of_session(traits: Sequence[Traits], scores: Sequence[float]) -> list[float]:
    """The best first-pass score in each passage's conversation; blocks of notes keep their own."""
    best: dict[str, float] = {}
    scored = list(zip(traits, scores, strict=True))
    for each, score in scored:
        best[each.session] = max(best.get(each.session, score), score)
    return [score if t.is_document else best[t.session] for t, score in scored]
