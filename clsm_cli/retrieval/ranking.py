"""Passages ranked for a question, in reading order: candidates → evidence → signals → score.

    score = Σ weight · signal     (``signals.Signals``, weights in ``config.RecallSettings``)

Candidates are the passages nearest by words, by meaning and by date; both scans are exact. What is
dearer, late interaction and the look at a passage's surroundings, is done for candidates alone, so
its cost does not grow with the store.
"""

from __future__ import annotations

from functools import cached_property
from heapq import nlargest
from math import fsum  # the same sum in whatever order of rows
from typing import TYPE_CHECKING, NamedTuple

from clsm_cli.retrieval import meaning, words
from clsm_cli.retrieval import signals as signal
from clsm_cli.retrieval.signals import Signals
from clsm_cli.scoring import confidence
from clsm_cli.scoring.confidence import Evidence
from clsm_cli.scoring.fusion import spread, weighted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.embedding.query import QueryVectors
    from clsm_cli.retrieval.meaning import Engine, LateInteraction, Nearest
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.words import Group, Words
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.index.search import Traits


class Candidate(NamedTuple):
    """A passage that may answer.

    Attributes:
        row: Row of the index.
        score: Σ weight · signal, relative to this query.
        confidence: That it is relevant at all, 0 … 1, comparable between queries.
        signals: Each 0 … 1.
        evidence: What they were made of.
        traits: Where it stands.
    """

    row: int
    score: float
    confidence: float
    signals: Signals
    evidence: Evidence
    traits: Traits


class Ranked(NamedTuple):
    """What was found for a question.

    Attributes:
        candidates: Best first.
        confidence: That any is relevant.
        cosines: Of every stored sentence vector to the question, by its row; empty without a model.
    """

    candidates: list[Candidate]
    confidence: float
    cosines: Sequence[float]


def rank(
    index: Index,
    question: Question,
    vectors: QueryVectors | None,
    engine: Engine,
    settings: RecallSettings,
    allowed: Collection[int] | None = None,
    stated: Collection[str] = (),
) -> Ranked:
    """Every passage with evidence for the question, best first.

    Args:
        index: Fresh.
        question: What is asked.
        vectors: Of ``question.dense``; None: words only.
        engine: That made the vectors.
        settings: Weights and numbers of candidates.
        allowed: Passages that may be returned; None for all.
        stated: Keys of the statements that hold the fact which is asked for.
    """
    found = words.search(index, question, settings, allowed)
    near = None
    if vectors is not None:
        near = meaning.nearest(index, engine, vectors.sentence, settings.candidates, allowed)
    rows = _candidates(index, question, found, near, settings, allowed, stated)
    around = _Surroundings(index, rows)
    late = None
    if vectors is not None:
        weights = meaning.token_weights(vectors, question.dense, found, settings.least_idf)
        late = meaning.interact(index, engine, vectors, weights, around.near)
    view = _View(question, found, near, late, around, frozenset(stated))
    factors = signal.weights(settings)
    ranked = []
    for row, values in zip(rows, view.signals(rows), strict=True):
        evidence = view.evidence(row)
        ranked.append(
            Candidate(
                row=row,
                score=round(weighted(values, factors), 6),
                confidence=round(confidence.of(evidence), 6),
                signals=values,
                evidence=evidence,
                traits=around.near[row],
            )
        )
    ranked.sort(key=_place)
    strongest = confidence.best([candidate.evidence for candidate in ranked])
    sure = round(confidence.of(strongest), 6) if ranked else 0.0
    return Ranked(ranked, sure, near.cosines if near is not None else ())


def _place(candidate: Candidate) -> tuple[float, str, int, int]:
    """Best first; what is as good stands in the order of keys, which do not depend on rows."""
    traits = candidate.traits
    return -candidate.score, traits.key, traits.part, candidate.row


def _candidates(
    index: Index,
    question: Question,
    found: Words,
    near: Nearest | None,
    settings: RecallSettings,
    allowed: Collection[int] | None,
    stated: Collection[str],
) -> list[int]:
    """Rows that are looked at closely, in order of row."""
    chosen = set(_best(index, found.scores, settings.candidates))
    if near is not None:
        chosen.update(near.passages)
    others = [index.on_days(*period, settings.candidates) for period in question.periods]
    if stated:
        others.append(index.rows_of(stated))
    for rows in others:
        chosen.update(row for row in rows if allowed is None or row in allowed)
    return sorted(chosen)


def _best(index: Index, scores: dict[int, float], limit: int) -> list[int]:
    """The rows with the highest scores; of those that are as good as the last, the first by key."""
    if len(scores) <= limit:
        return list(scores)
    last = nlargest(limit, scores.values())[-1]
    above = [row for row, score in scores.items() if score > last]
    equal = [row for row, score in scores.items() if score == last]
    room = limit - len(above)
    return above + (equal if len(equal) == room else index.in_order(equal)[:room])


class _Surroundings:
    """What stands around the candidates: neighbours, and the members of their groups."""

    def __init__(self, index: Index, rows: list[int]) -> None:
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


class _View:
    """A question's evidence, looked up passage by passage."""

    def __init__(
        self,
        question: Question,
        found: Words,
        near: Nearest | None,
        late: LateInteraction | None,
        around: _Surroundings,
        stated: frozenset[str],
    ) -> None:
        self._question = question
        self._stated = stated
        self._words = found
        self._near = near
        self._late = late
        self._around = around
        self._groups = words.of_groups(found, question, around.group_of, around.lengths)
        self._coverage = words.coverage(found, question, around.near)
        self._about = {
            row
            for term in question.name_terms
            for row, _, _ in found.postings.get(term, ())
            if row in around.near
        }

    def evidence(self, row: int) -> Evidence:
        """What speaks for a passage in itself."""
        return Evidence(
            self._words.scores.get(row, 0.0),
            self._coverage.get(row, 0.0),
            self._cosine(row),
            self.lead,
        )

    @cached_property
    def lead(self) -> float:
        """By how much the person asked about says what is asked for, more than others do."""
        if self._late is None or len(self._question.named) != 1:
            return 0.0
        best: dict[bool, float] = {}
        for row, traits in self._around.near.items():
            if traits.speaker and not traits.is_document:
                is_meant = traits.speaker == self._question.named[0]
                best[is_meant] = max(best.get(is_meant, 0.0), self._late.over(row))
        return best[True] - best[False] if len(best) == 2 else 0.0

    def signals(self, rows: list[int]) -> list[Signals]:
        """The signals of candidates, brought to one scale over them."""
        near = self._around.near
        share = self._share()
        by_words = spread([self._words.scores.get(row, 0.0) for row in rows])
        own = self._over_windows(rows, by_words, after=False)
        around = self._over_windows(rows, by_words, after=True)
        group_words, group_meaning = (spread(values) for values in self._of_groups(rows))
        return [
            Signals(
                bm25=by_words[i] * (share if near[row].vector >= 0 else 1.0),
                maxsim=own[i],
                context=around[i],
                episode=(group_words[i] + group_meaning[i]) / 2,
                participant=signal.participant(
                    self._question, near[row], is_about=row in self._about
                ),
                date=signal.date(self._question, near[row]),
                temporal=float(self._question.asks_when and bool(near[row].periods)),
                question=float(near[row].is_question),
                fact=float(near[row].key in self._stated),
            )
            for i, row in enumerate(rows)
        ]

    def _over_windows(self, rows: list[int], by_words: list[float], *, after: bool) -> list[float]:
        """MaxSim of each row's window, min-max; of what has no vector yet, the words speak for it."""
        if self._late is None:
            return [0.0] * len(rows)
        near = self._around.near
        known = [i for i, row in enumerate(rows) if near[row].vector >= 0]
        found = list(by_words)
        measured = spread([self._maxsim(rows[i], after=after) for i in known])
        for i, value in zip(known, measured, strict=True):
            found[i] = value
        return found

    def _share(self) -> float:
        """What the question's words are worth: coverage², 1 where there is nothing else."""
        if self._late is None or self._question.name_terms.issuperset(self._question.terms):
            return 1.0
        return max((group.coverage for group in self._groups.values()), default=0.0) ** 2

    def _of_groups(self, rows: Iterable[int]) -> tuple[list[float], list[float]]:
        """BM25 and mean cosine of the group of each row."""
        by_words: list[float] = []
        by_meaning: list[float] = []
        means: dict[int, float] = {}
        for row in rows:
            group = self._around.near[row].group
            found: Group | None = self._groups.get(group)
            by_words.append(found.score if found else 0.0)
            if group not in means:
                members = self._around.members[group]
                known = [self._near.of(m.vector) for m in members] if self._near else []
                cosines = [cosine for cosine in known if cosine is not None]
                means[group] = fsum(cosines) / len(cosines) if cosines else 0.0
            by_meaning.append(means[group])
        return by_words, by_meaning

    def _cosine(self, row: int) -> float | None:
        return self._near.of(self._around.near[row].vector) if self._near else None

    def _maxsim(self, row: int, *, after: bool) -> float:
        if self._late is None:
            return 0.0
        traits = self._around.near[row]
        return self._late.over(row, traits.previous, traits.next if after else None)
