"""Demote what answers as well as something else but is less trustworthy, current or to the point.

A page that a tool printed, a rumour, what was so before, what is so of somebody else: each may answer
a question in much its words, so likeness alone cannot tell it from what is true. Such a passage
yields to its rivals, those that answer as well and have no such flaw, and comes right below the last
of them. Where it has none it keeps its place: what only a tool has told is still found. What took the
place of something stands right above it, however few words of the question it has.

Whoever can make an agent read a page can write what is found for many questions. So a text of trust
tool or web is no filler either (``verdict.without_fillers``), and one such source has a share of an
answer's items (``SourceQuota``). What is trusted is never held back so: one note may well be all that is asked
for.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.retrieval.entity_linking import capitals_inside
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text import factuality, tokens

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from clsm_cli.config import RecallSettings
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.retrieval.supersession import Ended
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

HEAD = 40
"""Passages that are looked at: the best; others are read by hardly anybody."""
HELD = 0.5
"""Share of the question's idf that a passage must hold to mislead by what it denies, what it asks or what has passed."""
SHARED = 0.5
"""Share of what a passage holds of the question that a rival holds of it; a planted text holds it all."""
AS_NEAR, NEARER = 0.7, 0.8
"""Shares of the nearness in meaning of something untrusted from which a rival is about as near: where it
is about as sure, and where that holds more of the question's words."""
AS_SURE = 0.8
"""Both shares where two tell much the same, of which one lacks the name that is asked about."""
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

    def with_score(self, score: float) -> _Item:
        return self._replace(candidate=self.candidate._replace(score=round(score, 6)))


def demote(
    index: Index,
    question: Question,
    candidates: Sequence[Candidate],
    settings: RecallSettings,
    ended: Mapping[int, Ended],
) -> list[Candidate]:
    """Candidates, with each demoted one right below its rivals.

    Args:
        candidates: Best first.
        ended: What ``supersession`` found.
    """
    if not settings.rivals:
        return list(candidates)
    passages = index.passages([each.row for each in candidates[:HEAD]])
    head = [_Item(each, passages[each.row]) for each in candidates[:HEAD]]
    flawed = _flawed(question, head, {each.row for each in ended.values()})
    if not question.asks_for_all:  # what holds now is no news of a time past
        head = _raised(head, _later([each for each in head if each.row not in flawed], ended))
    # A gist is made of what others tell: it speaks against none of them.
    best = [each for each in head if each.row not in flawed and each.passage.kind != "gist"]
    found = []
    for each in head:
        rivals = _nearer(question, each, best)
        if each.row in flawed:
            sure = settings.rivals
            rivals = [
                rival
                for rival in best
                if _answers(rival, each, sure, SHARED) or _is_nearer(rival, each, sure)
            ]
        own = each.candidate.score
        lowest = min((rival.candidate.score for rival in rivals), default=own + _STEP)
        found.append(each.with_score(min(own, lowest - _STEP)).candidate)
    found.sort(key=lambda each: -each.score)  # of equal ones the order stays
    return [*found, *candidates[HEAD:]]


def _flawed(question: Question, head: Sequence[_Item], newer: Container[int | None]) -> set[int]:
    """Rows that are untrusted, turns that only ask what is asked, and rows that deny what they speak of.

    One of ``newer``, which take the place of others, may deny those, but not what is asked itself.
    """
    is_free = factuality.asks_for_output(question.text)
    found = {each.row for each in head if not is_free and each.passage.trust in UNTRUSTED}
    held = [each for each in head if each.candidate.evidence.coverage >= HELD]
    terms = frozenset(question.terms)
    found |= {
        each.row
        for each in held
        if each.passage.kind == "passage"
        and each.passage.document is None
        and factuality.unasked(each.passage.text, terms) is not None
    }
    for each in held if factuality.asks_what_is(question.text) else ():
        states = factuality.replaces if each.row in newer else factuality.states_as_fact
        if not states(each.passage.text, terms):
            found.add(each.row)
    return found


def _later(good: Sequence[_Item], ended: Mapping[int, Ended]) -> dict[int, _Item]:
    """Row → what replaces it, the last of a chain."""
    items = {each.row: each for each in good}
    found: dict[int, _Item] = {}
    for row in items.keys() & ended.keys():
        last = row
        while (over := ended.get(last)) and over.row is not None:
            last = over.row
        if last != row and last in items:
            found[row] = items[last]
    return found


def _raised(head: Sequence[_Item], later: Mapping[int, _Item]) -> list[_Item]:
    """The items, with what took the place of another right above that."""
    scores = {each.row: each.candidate.score for each in head}
    for row, each in later.items():
        old = next(other.candidate.score for other in head if other.row == row)
        scores[each.row] = max(scores[each.row], old + _STEP)
    return [each.with_score(scores[each.row]) for each in head]


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
    names = terms_of(" ".join(capitals_inside(question.text))) if rivals else frozenset()
    if not names:
        return []
    asked, own = frozenset(question.terms), terms_of(other.passage.text)
    return [
        each
        for each in rivals
        if names & terms_of(each.passage.text) - own
        and asked & own < asked & terms_of(each.passage.text)
        and dice(each.passage.text, other.passage.text) >= ALIKE
    ]


def _answers(rival: _Item, other: _Item, sure: float, shared: float) -> bool:
    """Whether a passage answers as well as another, about the same person or number."""
    one, two = rival.candidate, other.candidate
    return (
        one.row != two.row
        and one.signals.literal >= two.signals.literal
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
    return one.nearness >= least * two.nearness


def dice(text: str, other: str) -> float:
    """Dice's coefficient of the search terms of two texts, 2 · |A ∩ B| / (|A| + |B|)."""
    terms, others = terms_of(text), terms_of(other)
    return 2 * len(terms & others) / ((len(terms) + len(others)) or 1)


@cache
def terms_of(text: str) -> frozenset[str]:
    """The search terms of a text, each once."""
    return frozenset(tokens.stems(text))


class SourceQuota:
    """Counts the items of each untrusted source: a document, or a conversation with its tools.

    Where a question asks for what a tool or a page said, nothing is counted.
    """

    def __init__(self, question: Question, k: int, settings: RecallSettings) -> None:
        free = settings.source_share >= 1 or factuality.asks_for_output(question.text)
        self._most = None if free else max(1, int(settings.source_share * k))
        self._taken: Counter[tuple[str | None, str]] = Counter()

    def is_used_up(self, passage: Passage) -> bool:
        """Whether the source of a passage has used up its share."""
        if self._most is None or passage.trust not in UNTRUSTED:
            return False
        return self._taken[passage.document, passage.session] >= self._most

    def take(self, passage: Passage) -> None:
        """Count an item of an answer."""
        if passage.trust in UNTRUSTED:
            self._taken[passage.document, passage.session] += 1
