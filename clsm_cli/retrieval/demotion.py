"""Demote passages that answer as well as others but are less trustworthy, current or specific.

A page that a tool printed, a rumour, a former state, a fact about somebody else: each may answer a
question in nearly its words, so similarity cannot tell it from the truth. Such a passage is moved
right below the last of its rivals: passages that answer as well without such a flaw. Without rivals
it keeps its place, so that a fact that only a tool printed is still found. A passage that replaced
another is moved right above it, however few words of the question it has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import factuality, tokens
from clsm_cli.text.sentences import capitals_inside

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.retrieval.supersession import Superseded
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

HEAD_SIZE = 40
"""Best passages to which demotion is limited (own choice): others are hardly ever read."""
MIN_COVERAGE = 0.5
"""Share of the question's idf that a passage must have for its denial or question to mislead (own choice)."""
RIVAL_COVERAGE = 0.5
"""Coverage of a rival, at least, as a share of that of the flawed passage, which covers all if it
was planted (own choice, as are the shares below; ``python -m benchmarks.poisoning`` shows what they
do).
"""
MIN_NEARNESS, MIN_NEARNESS_ALONE = 0.7, 0.8
"""Nearness of a rival in meaning, at least, as a share of that of an untrusted passage: if it is
about as confident, and if it is not.
"""
RIVAL_CONFIDENCE = 0.8
"""Confidence of a rival, at least, as a share of that of a passage that lacks the name asked about
(own choice; the probe ``distractors`` of ``clsm eval`` shows what it does).
"""
MIN_DICE = 0.4
"""Dice's coefficient of the search terms from which two passages may say the same (own choice)."""
_SCORE_STEP = 1e-3
"""Difference of scores that shows in the four digits of an item's score."""


class _Item(NamedTuple):
    candidate: Candidate
    passage: Passage

    @property
    def row(self) -> int:
        return self.candidate.row

    def with_score(self, score: float) -> _Item:
        return self._replace(candidate=self.candidate._replace(score=round(score, 6)))


def demote(
    index: Index,
    question: Question,
    candidates: Sequence[Candidate],
    min_confidence: float,
    superseded: Mapping[int, Superseded],
) -> list[Candidate]:
    """The candidates, with flawed ones moved right below their rivals.

    Args:
        candidates: Best first.
        min_confidence: Confidence of a rival, at least, as a share of that of the flawed passage.
        superseded: Row of a superseded passage → what replaces it, from ``supersession``.
    """
    passages = index.passages([candidate.row for candidate in candidates[:HEAD_SIZE]])
    head = [_Item(candidate, passages[candidate.row]) for candidate in candidates[:HEAD_SIZE]]
    newer = {replacement.row for replacement in superseded.values()}
    flawed = _flawed_rows(question, head, newer)
    if not question.asks_for_all:  # a past time is not about the present state
        head = _raise_replacements(head, _replacements(head, flawed, superseded), superseded)
    # A gist is derived from other passages, so it is no rival of any.
    best = [item for item in head if item.row not in flawed and item.passage.kind != "gist"]
    demoted = []
    for item in head:
        rivals = [] if item.row in newer else _rivals_with_name(question, item, best)
        if item.row in flawed:
            rivals = [
                rival
                for rival in best
                if _answers(rival, item, min_confidence, RIVAL_COVERAGE)
                or _is_nearer(rival, item, min_confidence)
            ]
        own = item.candidate.score
        lowest = min((rival.candidate.score for rival in rivals), default=own + _SCORE_STEP)
        demoted.append(item.with_score(min(own, lowest - _SCORE_STEP)).candidate)
    demoted.sort(key=lambda candidate: -candidate.score)  # stable
    return [*demoted, *candidates[HEAD_SIZE:]]


def _flawed_rows(
    question: Question, head: Sequence[_Item], newer: Container[int | None]
) -> set[int]:
    """Rows of untrusted passages, of turns that only ask the question, and of passages that deny it.

    Passages in ``newer``, which replace others, may deny those, but not what the question asks.
    """
    is_free = factuality.asks_for_output(question.text)
    flawed = {item.row for item in head if not is_free and item.passage.trust in UNTRUSTED}
    covering = [item for item in head if item.candidate.evidence.coverage >= MIN_COVERAGE]
    terms = frozenset(question.terms)
    flawed |= {
        item.row
        for item in covering
        if item.passage.kind == "passage"
        and item.passage.document is None
        and factuality.without_questions(item.passage.text, terms) is not None
    }
    for item in covering if factuality.asks_current_value(question.text) else ():
        states = factuality.names_replacement if item.row in newer else factuality.asserts_about
        if not states(item.passage.text, terms):
            flawed.add(item.row)
    return flawed


def _replacements(
    head: Sequence[_Item], flawed: Container[int], superseded: Mapping[int, Superseded]
) -> dict[int, _Item]:
    """Row → the last passage in its chain of replacements, if that has no flaw."""
    items = {item.row: item for item in head}
    replacements: dict[int, _Item] = {}
    for row in items.keys() & superseded.keys():
        last, seen = row, {row}
        while (step := superseded.get(last)) and step.row is not None and step.row not in seen:
            last = step.row
            seen.add(last)
        if last != row and last in items and last not in flawed:
            replacements[row] = items[last]
    return replacements


def _raise_replacements(
    head: Sequence[_Item], later: Mapping[int, _Item], superseded: Mapping[int, Superseded]
) -> list[_Item]:
    """The items, with each replacement moved right above the item that it replaces.

    If that answers, the replacement does as surely as it is one.
    """
    candidates = {item.row: item.candidate for item in head}
    for row, replacement in later.items():
        old = next(item.candidate for item in head if item.row == row)
        new = candidates[replacement.row]
        score = max(new.score, round(old.score + _SCORE_STEP, 6))
        sure = max(new.confidence, round(superseded[row].chance * old.confidence, 6))
        candidates[replacement.row] = new._replace(score=score, confidence=sure)
    return [item._replace(candidate=candidates[item.row]) for item in head]


def _rivals_with_name(question: Question, other: _Item, best: Sequence[_Item]) -> list[_Item]:
    """Passages that say much the same and contain the name asked about, which ``other`` lacks.

    "The ferry of Perve leaves at nine" has every word of a question except the name of another
    ferry. What replaced a passage with the name need not repeat it.
    """
    coverage = other.candidate.evidence.coverage
    rivals = [
        rival
        for rival in best
        if 0 < coverage < rival.candidate.evidence.coverage
        and _answers(rival, other, RIVAL_CONFIDENCE, 1.0)
    ]
    names = distinct_terms(" ".join(capitals_inside(question.text))) if rivals else frozenset()
    if not names:
        return []
    asked, own = frozenset(question.terms), distinct_terms(other.passage.text)
    return [
        rival
        for rival in rivals
        if names & distinct_terms(rival.passage.text) - own
        and asked & own < asked & distinct_terms(rival.passage.text)
        and dice(rival.passage.text, other.passage.text) >= MIN_DICE
    ]


def _answers(rival: _Item, other: _Item, min_confidence: float, min_coverage: float) -> bool:
    """Whether a passage answers as well as another, by confidence, coverage, person and exact match."""
    one, two = rival.candidate, other.candidate
    return (
        one.row != two.row
        and one.signals.literal >= two.signals.literal
        and not one.traits.is_question
        and one.signals.participant >= two.signals.participant
        and one.confidence >= min_confidence * two.confidence
        and one.evidence.coverage >= min_coverage * two.evidence.coverage
    )


def _is_nearer(rival: _Item, other: _Item, min_confidence: float) -> bool:
    """Whether a passage is about as near in meaning to the question as an untrusted one.

    The untrusted one's coverage does not count: planted text copies the words of the question.
    """
    one, two = rival.candidate, other.candidate
    if other.passage.trust not in UNTRUSTED or one.traits.is_question:
        return False
    min_nearness = (
        MIN_NEARNESS if one.confidence >= min_confidence * two.confidence else MIN_NEARNESS_ALONE
    )
    return one.nearness >= min_nearness * two.nearness


def dice(text: str, other: str) -> float:
    """Dice's coefficient of the search terms of two texts, 2 · |A ∩ B| / (|A| + |B|)."""
    terms, others = distinct_terms(text), distinct_terms(other)
    return 2 * len(terms & others) / ((len(terms) + len(others)) or 1)


@cache
def distinct_terms(text: str) -> frozenset[str]:
    """The distinct search terms of a text."""
    return frozenset(tokens.stems(text))
