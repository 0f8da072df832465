"""Demote passages that answer as well as others but are less trustworthy, current or specific.

A page that a tool printed, a rumour, a former state, a fact about somebody else: each may answer a question
in nearly its words, so similarity cannot tell it from the truth. Such a passage is moved right below the
last of its rivals: passages that answer as well without such a flaw. Without rivals it keeps its place, so
that a fact that only a tool printed is still found. A passage that replaced another is moved right above
it, however few words of the question it has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.entity_linking import capitals_inside
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import factuality, tokens

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.retrieval.supersession import Ended
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

HEAD_SIZE = 40
"""Best passages to which demotion is limited; others are hardly ever read."""
MIN_COVERAGE = 0.5
"""Share of the question's idf that a passage must have for its denial, question or outdated state to mislead."""
RIVAL_COVERAGE = 0.5
"""Coverage of a rival, at least, as a share of that of the flawed passage; planted text has full coverage."""
MIN_NEARNESS, MIN_NEARNESS_ALONE = 0.7, 0.8
"""Nearness of a rival in meaning, at least, as a share of that of an untrusted passage: if it is about as
confident, and if it is not.
"""
RIVAL_CONFIDENCE = 0.8
"""Confidence of a rival, at least, as a share of that of a passage that lacks the name asked about."""
MIN_DICE = 0.4
"""Dice's coefficient of the search terms from which two passages may say the same."""
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
    ended: Mapping[int, Ended],
) -> list[Candidate]:
    """The candidates, with flawed ones moved right below their rivals.

    Args:
        candidates: Best first.
        min_confidence: Confidence of a rival, at least, as a share of that of the flawed passage.
        ended: Superseded passages, from ``supersession``.
    """
    passages = index.passages([each.row for each in candidates[:HEAD_SIZE]])
    head = [_Item(each, passages[each.row]) for each in candidates[:HEAD_SIZE]]
    newer = {each.row for each in ended.values()}
    flawed = _flawed_rows(question, head, newer)
    if not question.asks_for_all:  # a past time is not about the present state
        head = _raise_replacements(head, _replacements(head, flawed, ended), ended)
    # A gist is derived from other passages, so it is no rival of any.
    best = [each for each in head if each.row not in flawed and each.passage.kind != "gist"]
    found = []
    for each in head:
        rivals = [] if each.row in newer else _rivals_with_name(question, each, best)
        if each.row in flawed:
            rivals = [
                rival
                for rival in best
                if _answers(rival, each, min_confidence, RIVAL_COVERAGE)
                or _is_nearer(rival, each, min_confidence)
            ]
        own = each.candidate.score
        lowest = min((rival.candidate.score for rival in rivals), default=own + _SCORE_STEP)
        found.append(each.with_score(min(own, lowest - _SCORE_STEP)).candidate)
    found.sort(key=lambda each: -each.score)  # stable
    return [*found, *candidates[HEAD_SIZE:]]


def _flawed_rows(
    question: Question, head: Sequence[_Item], newer: Container[int | None]
) -> set[int]:
    """Rows of untrusted passages, of turns that only ask the question, and of passages that deny it.

    Passages in ``newer``, which replace others, may deny those, but not what the question asks.
    """
    is_free = factuality.asks_for_output(question.text)
    found = {each.row for each in head if not is_free and each.passage.trust in UNTRUSTED}
    covering = [each for each in head if each.candidate.evidence.coverage >= MIN_COVERAGE]
    terms = frozenset(question.terms)
    found |= {
        each.row
        for each in covering
        if each.passage.kind == "passage"
        and each.passage.document is None
        and factuality.without_questions(each.passage.text, terms) is not None
    }
    for each in covering if factuality.asks_current_value(question.text) else ():
        states = factuality.names_replacement if each.row in newer else factuality.asserts_about
        if not states(each.passage.text, terms):
            found.add(each.row)
    return found


def _replacements(
    head: Sequence[_Item], flawed: Container[int], ended: Mapping[int, Ended]
) -> dict[int, _Item]:
    """Row → the last passage in its chain of replacements, if that has no flaw."""
    items = {each.row: each for each in head}
    found: dict[int, _Item] = {}
    for row in items.keys() & ended.keys():
        last, seen = row, {row}
        while (each := ended.get(last)) and each.row is not None and each.row not in seen:
            last = each.row
            seen.add(last)
        if last != row and last in items and last not in flawed:
            found[row] = items[last]
    return found


def _raise_replacements(
    head: Sequence[_Item], later: Mapping[int, _Item], ended: Mapping[int, Ended]
) -> list[_Item]:
    """The items, with each replacement moved right above the item that it replaces.

    If that answers, the replacement does as surely as it is one.
    """
    found = {each.row: each.candidate for each in head}
    for row, each in later.items():
        old = next(other.candidate for other in head if other.row == row)
        new = found[each.row]
        score = max(new.score, round(old.score + _SCORE_STEP, 6))
        sure = max(new.confidence, round(ended[row].chance * old.confidence, 6))
        found[each.row] = new._replace(score=score, confidence=sure)
    return [each._replace(candidate=found[each.row]) for each in head]


def _rivals_with_name(question: Question, other: _Item, best: Sequence[_Item]) -> list[_Item]:
    """Passages that say much the same and contain the name asked about, which ``other`` lacks.

    "The ferry of Perve leaves at nine" has every word of a question except the name of another ferry.
    What replaced a passage with the name need not repeat it.
    """
    coverage = other.candidate.evidence.coverage
    rivals = [
        each
        for each in best
        if 0 < coverage < each.candidate.evidence.coverage
        and _answers(each, other, RIVAL_CONFIDENCE, 1.0)
    ]
    names = terms_of(" ".join(capitals_inside(question.text))) if rivals else frozenset()
    if not names:
        return []
    asked, own = frozenset(question.terms), terms_of(other.passage.text)
    return [
        each
        for each in rivals
        if names & terms_of(each.passage.text) - own
        and asked & own < asked & terms_of(each.passage.text)
        and dice(each.passage.text, other.passage.text) >= MIN_DICE
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
    terms, others = terms_of(text), terms_of(other)
    return 2 * len(terms & others) / ((len(terms) + len(others)) or 1)


@cache
def terms_of(text: str) -> frozenset[str]:
    """The distinct search terms of a text."""
    return frozenset(tokens.stems(text))
