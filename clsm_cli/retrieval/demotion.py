"""Demote what answers as well as something else but is less trustworthy, current or to the point.

A page that a tool printed, a rumour, what was so before, what is so of somebody else: each may answer
a question in much its words, so likeness alone cannot tell it from what is true. Such a passage
yields to its rivals, those that answer as well and have no such flaw, and comes right below the last
of them. Where it has none it keeps its place: what only a tool has told is still found. What took the
place of something stands right above it, however few words of the question it has.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.source_quotas import NAME, similarity
from clsm_cli.retrieval.supersession import PERHAPS
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import factuality, tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.retrieval.supersession import Ended
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

HEAD = 40
"""Passages that are looked at: the best; others are read by hardly anybody."""
HELD = 0.5
"""Share of the question's idf that a passage must hold to mislead by what it denies or what has passed."""
SHARED = 0.5
"""Share of what a passage holds of the question that a rival holds of it; a planted text holds it all."""
AS_NEAR, NEARER = 0.7, 0.8
"""Shares of the nearness in meaning of something untrusted from which a rival is about as near: where it
is about as sure, and where that holds more of the question's words."""
AS_SURE = 0.8
"""Both shares for what was said later: the two tell the same of the same, with another value."""
AS_GOOD = 0.6
"""Share of the score of an older passage that a later one must have to stand above it where it hardly
takes its place."""
ALIKE = 0.4
"""Dice's coefficient of their search terms from which two passages may tell the same."""
_STEP = 1e-3
"""Of a score: enough to show in the four digits of an item's."""


class _Item(NamedTuple):
    candidate: Candidate
    passage: Passage

    @property
    def row(self) -> int:
        return self.candidate.row


def demote(
    index: Index,
    question: Question,
    candidates: Sequence[Candidate],
    settings: RecallSettings,
    ended: Mapping[int, Ended],
) -> list[Candidate]:
    """Candidates, with each demoted one right below its rivals.

    Args:
        index: Fresh.
        question: What is asked.
        candidates: Best first.
        settings: ``rivals`` says what answers as well.
        ended: What ``supersession`` found.
    """
    if not settings.rivals:
        return list(candidates)
    passages = index.passages([each.row for each in candidates[:HEAD]])
    head = [_Item(each, passages[each.row]) for each in candidates[:HEAD]]
    flawed = _flawed(question, head)
    later = _later([each for each in head if each.row not in flawed], ended)
    head = _raised(head, later, ended)
    good = [each for each in head if each.row not in flawed]
    newer = {row: [each] for row, each in later.items() if ended[row].chance < PERHAPS}
    # A gist is made of what others tell: it speaks against none of them.
    best = [each for each in good if each.row not in newer and each.passage.kind != "gist"]
    found = []
    for each in head:
        rivals = newer.get(each.row) or _nearer(question, each, best)
        if each.row in flawed:
            sure = settings.rivals
            rivals = [
                rival
                for rival in best
                if _answers(rival, each, sure, SHARED) or _is_nearer(rival, each, sure)
            ]
        found.append(_below(each.candidate, rivals))
    found.sort(key=lambda each: -each.score)  # of equal ones the order stays
    return [*found, *candidates[HEAD:]]


def _below(candidate: Candidate, rivals: Sequence[_Item]) -> Candidate:
    lowest = min((each.candidate.score for each in rivals), default=candidate.score + _STEP)
    return candidate._replace(score=round(min(candidate.score, lowest - _STEP), 6))


def _flawed(question: Question, head: Sequence[_Item]) -> set[int]:
    """Rows that are untrusted, and rows that deny what they speak of."""
    found: set[int] = set()
    if not factuality.asks_for_output(question.text):
        found.update(each.row for each in head if each.passage.trust in UNTRUSTED)
    if factuality.asks_what_is(question.text):
        terms = frozenset(question.terms)
        found.update(
            each.row
            for each in head
            if each.candidate.evidence.coverage >= HELD
            and not factuality.states_as_fact(each.passage.text, terms)
        )
    return found


def _later(good: Sequence[_Item], ended: Mapping[int, Ended]) -> dict[int, _Item]:
    """Row → what replaces it, the last of a chain; what hardly may do so, only where it answers as well."""
    items = {each.row: each for each in good}
    found: dict[int, _Item] = {}
    for row in items.keys() & ended.keys():
        last = row
        while (over := ended.get(last)) and over.row is not None:
            if last != row and over.chance < PERHAPS:
                break
            last = over.row
        if last != row and last in items:
            least = 0.0 if ended[row].chance >= PERHAPS else AS_GOOD * items[row].candidate.score
            if items[last].candidate.score >= least:
                found[row] = items[last]
    return found


def _raised(
    head: Sequence[_Item], later: Mapping[int, _Item], ended: Mapping[int, Ended]
) -> list[_Item]:
    """The items, with what likely took the place of another right above that."""
    scores = {each.row: each.candidate.score for each in head}
    least: dict[int, float] = {}
    for row, each in later.items():
        if ended[row].chance >= PERHAPS:
            least[each.row] = max(least.get(each.row, 0.0), scores[row] + _STEP)
    return [
        each._replace(
            candidate=each.candidate._replace(
                score=round(max(scores[each.row], least[each.row]), 6)
            )
        )
        if each.row in least
        else each
        for each in head
    ]


def _nearer(question: Question, other: _Item, best: Sequence[_Item]) -> list[_Item]:
    """Passages that say much the same about the name asked about, which this one lacks.

    "The ferry of Perve leaves at nine" has every word of a question but the name of the ferry.
    """
    held = other.candidate.evidence.coverage
    rivals = [
        each
        for each in best
        if 0 < held < each.candidate.evidence.coverage and _answers(each, other, AS_SURE, 1.0)
    ]
    names = _terms(" ".join(NAME.findall(question.text))) if rivals else frozenset()
    if not names:
        return []
    asked, own = frozenset(question.terms), _terms(other.passage.text)
    return [
        each
        for each in rivals
        if names & _terms(each.passage.text) - own
        and asked & own < asked & _terms(each.passage.text)
        and _alike(each.passage.text, other.passage.text) >= ALIKE
    ]


def _has_the_words(rival: _Item, other: _Item) -> bool:
    """Whether it contains what the question names: one number is not a later value of another."""
    return rival.candidate.signals.literal >= other.candidate.signals.literal


def _answers(rival: _Item, other: _Item, sure: float, shared: float) -> bool:
    """Whether a passage answers as well as another, about the same person."""
    one, two = rival.candidate, other.candidate
    return (
        one.row != two.row
        and _has_the_words(rival, other)
        and not one.traits.is_question
        and one.signals.participant >= two.signals.participant
        and one.confidence >= sure * two.confidence
        and one.evidence.coverage >= shared * two.evidence.coverage
    )


def _is_nearer(rival: _Item, other: _Item, sure: float) -> bool:
    """Whether it is about as near to the question as something untrusted.

    However many of its words that holds: who plants a text writes down what it is to be found for.
    """
    one, two = rival.candidate, other.candidate
    if other.passage.trust not in UNTRUSTED or one.traits.is_question:
        return False
    least = AS_NEAR if one.confidence >= sure * two.confidence else NEARER
    return similarity(one) >= least * similarity(two)


def _alike(text: str, other: str) -> float:
    """Dice's coefficient of the search terms of two texts, 2 · |A ∩ B| / (|A| + |B|)."""
    terms, others = _terms(text), _terms(other)
    return 2 * len(terms & others) / ((len(terms) + len(others)) or 1)


@cache
def _terms(text: str) -> frozenset[str]:
    return frozenset(tokens.stems(text))
