"""What of an answer holds no longer: passages that a later one of the same answer takes the place of.

The question says what both are about, so a change is seen before any night has read it, and in
passages of which no statement was made. Each of the best passages is held against each that was told
later by somebody as trusted, or by an agent, sentence by sentence, by the head of pairs
(``heads/pair_head``). What a night has closed is over as well.
"""

from __future__ import annotations

import re
from functools import cached_property
from itertools import product
from math import sqrt
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.heads import pair_head
from clsm_cli.model.trust import TRUST_ORDER
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.codes import SENTENCE_BYTES
from clsm_cli.text import breadth, factuality, sentences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.heads.pair_head import Sentence
    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

FIRST = 12
"""Passages that are held against each other: the best."""
OVER = 0.99
"""Probability of an update from which the older one is said to be over."""
PERHAPS = 0.15
"""Probability of an update from which it is said to be over perhaps, and stands below what is later."""
_UNSURE = 0.98
"""The most that hearsay can say, and an agent of what its owner told, and that is said of a past."""
_DAY = re.compile(r"\W*(\d{4}-\d\d-\d\d)\b")
_LABELLED = re.compile(r"[^\s:][^:]{0,40}:(?:\*\*|__)? ")
"""A line that gives something with a label a value."""
LONGEST = 40
"""Words, at most, of a passage that may be over as a whole."""
_LEAST = 0.30
"""Cosine below which two passages are not looked at: one update in twenty lies below."""
MOST = 8
"""Pairs that the head reads for an answer: those nearest to each other and to the question."""


class Ended(NamedTuple):
    """What a later passage says of an older one, or what memory closed.

    Attributes:
        chance: How likely it holds no longer.
        until: The day from which; None where it is the later one that stands below.
        by: Id of the later passage; None where only what memory made of the older one was closed.
        row: Of the later passage.
    """

    chance: float
    until: str | None = None
    by: str | None = None
    row: int | None = None

    def marked(self, memory: Memory) -> Memory:
        """An item that says so; as it is where it is not likely enough that it is over."""
        if self.until is None:
            return memory
        if self.chance < OVER:
            return memory._replace(perhaps_until=self.until, replaced_by=self.by)
        return memory._replace(until=self.until, replaced_by=self.by)


def ended(
    index: Index,
    question: Question,
    candidates: Sequence[Candidate],
    cosines: Sequence[float],
    at: str | None = None,
) -> dict[int, Ended]:
    """Row of a passage → what takes its place; or, where that was told after ``at``, the other way round.

    Args:
        index: Fresh.
        question: What is asked.
        candidates: Best first.
        cosines: Of every stored sentence vector to the question, by its row; empty without a model, when
            only what memory closed is known.
        at: The past time that is asked about; None for now.
    """
    best = [each for each in candidates[:FIRST] if each.traits.kind != "gist"]
    told = index.passages([each.row for each in best])
    ended: dict[int, Ended] = {}
    if cosines and not breadth.asks_for_several(question.text):
        stated = _stated(told)
        sides = (
            _side(index, each, told[each.row], cosines) for each in best if each.row not in stated
        )
        ended = _judged(question, [side for side in sides if side is not None], at)
        ended |= {row: ended[said] for row, said in stated.items() if said in ended}
    for row, day in (_closed(index, best, told) if at is None else {}).items():
        over = ended.get(row)
        if over is None:
            ended[row] = Ended(1.0, day)
        elif over.chance < OVER:
            ended[row] = over._replace(chance=1.0, until=day)
    return ended


def _stated(told: Mapping[int, Passage]) -> dict[int, int]:
    """Row of a statement → that of a turn or block it was made of, where both were found."""
    rows = {each.key: row for row, each in told.items() if each.kind == "passage"}
    return {
        row: rows[key]
        for row, each in told.items()
        for key in each.sources
        if each.kind != "passage" and key in rows
    }


def _closed(index: Index, best: Sequence[Candidate], told: Mapping[int, Passage]) -> dict[int, str]:
    """Short passages of which all that memory made is over, by a person or a night, and since when."""
    short = [each for each in best if len(told[each.row].text.split()) <= LONGEST]
    keys = sorted({each.traits.key for each in short})
    days = graph_queries.outdated_sources(index.connection, keys)
    return {each.row: day[:10] for each in short if (day := days.get(each.traits.key))}


def _judged(question: Question, read: list[_Side], at: str | None) -> dict[int, Ended]:
    """What a later one of some passages replaces."""
    asked = pair_head.sentence(question.text)
    wanted = pair_head.content(asked)
    # "Brian" and "who is Brian" ask for all that is known of him, and not for the newest.
    is_open = len(wanted) < 2 and (len(asked.words) < 2 or asked.keys[0] == "who")
    least = OVER if is_open else PERHAPS
    is_past = bool(question.periods) or factuality.asks_past(question.text)
    ended: dict[int, Ended] = {}
    for old, new, one, two in _rivals(asked, read):
        chance = pair_head.relation(one.text, two.text, question.text).update
        is_doubtful = is_past or factuality.is_hearsay(two.text)
        if is_doubtful or not _is_as_trusted(new.passage, old.passage):
            chance = min(chance, _UNSURE)
        if chance >= least and at and _is_later(new.time, at):
            ended.setdefault(new.row, Ended(chance, None, old.passage.id, old.row))
        elif chance >= least:
            over = Ended(chance, new.time[:10], new.passage.id, new.row)
            # Of two the later one tells what holds now.
            ended[old.row] = max(
                ended.get(old.row, over), over, key=lambda each: (each.until or "", each.chance)
            )
    return ended


class _Told(NamedTuple):
    """The earliest and the latest time at which something may have been said.

    Without a time of its own it was written between two captures of its document, or before the first:
    then nobody knows how early.
    """

    after: str | None
    time: str


class _Side:
    """A passage, read when it is needed."""

    def __init__(
        self, index: Index, candidate: Candidate, passage: Passage, told: _Told, near: float
    ) -> None:
        self.candidate, self.passage = candidate, passage
        self.row, self.near = candidate.row, near
        self.told, self.time = told, told.time
        self._index = index

    @cached_property
    def sentences(self) -> list[Sentence]:
        text = self.passage.text
        is_list = all(map(_LABELLED.match, text.splitlines()))
        parts = text.splitlines() if is_list else sentences.sentences(text)
        heading = self.passage.heading.rpartition(" › ")[2] if self.passage.document else ""
        heading = "" if _DAY.match(heading) else heading
        read = (pair_head.sentence(part, heading) for part in parts)
        return [each for each in read if each.words]

    @cached_property
    def vector(self) -> list[float]:
        rows = self._index.vectors.sentence_rows() or b""
        start = self.candidate.traits.vector * SENTENCE_BYTES
        codes = rows[start : start + SENTENCE_BYTES]
        values = [(code & 15) - 8 for code in codes] + [(code >> 4) - 8 for code in codes]
        length = sqrt(sum(map(mul, values, values))) or 1.0
        return [value / length for value in values]


def _side(
    index: Index, candidate: Candidate, passage: Passage, cosines: Sequence[float]
) -> _Side | None:
    """A passage that says since when; without a vector or a time, or too long, it is held against nothing."""
    is_long = len(passage.text.split()) > LONGEST
    told = None if is_long or candidate.traits.vector < 0 else _told(index, passage)
    if told is None:
        return None
    return _Side(index, candidate, passage, told, cosines[candidate.traits.vector])


def _told(index: Index, passage: Passage) -> _Told | None:
    """When a passage was said; None where nothing tells."""
    dated = _DAY.match(passage.text) or _DAY.match(passage.heading.rpartition(" › ")[2])
    if time := dated[1] if dated and passage.document else passage.time:
        return _Told(time, time)
    before, at = index.captures(passage.episode) if passage.episode else (None, None)
    return _Told(before, at) if at else None


def _may_end(old: _Side, new: _Side) -> bool:
    """Whether something was certainly said later, by somebody trusted enough who may speak of the same."""
    one, other = old.passage, new.passage
    speakers = {one.speaker, other.speaker} - {""}
    return (
        new.told.after is not None
        and _is_later(new.told.after, old.time)
        and not new.candidate.traits.is_question
        and (other.trust == "agent" or _is_as_trusted(other, one))
        and new.candidate.signals.literal >= old.candidate.signals.literal
        and len(speakers) < 2
    )


def _is_as_trusted(new: Passage, old: Passage) -> bool:
    return TRUST_ORDER.index(new.trust) >= TRUST_ORDER.index(old.trust)


def _is_later(new: str, old: str) -> bool:
    """Whether a time is after another; a bare day is no part of it.

    >>> _is_later("2026-02-03T09:00", "2026-02-03"), _is_later("2026-02-03T09:00", "2026-02-02")
    (False, True)
    """
    length = min(len(new), len(old))
    return new[:length] > old[:length]


def _rivals(
    asked: Sentence, read: Sequence[_Side]
) -> list[tuple[_Side, _Side, Sentence, Sentence]]:
    """The pairs of passages that are most about one thing and the question, with the sentence of each."""
    wanted = pair_head.content(asked)
    found = []
    for old, new in product(read, repeat=2):
        if not _may_end(old, new):
            continue
        cosine = sum(map(mul, old.vector, new.vector))
        if cosine < _LEAST:
            continue
        both = [
            (one, two) for one, two in product(old.sentences, new.sentences) if one.keys != two.keys
        ]
        if not both:
            continue
        one, two = max(both, key=lambda pair: _shared(wanted, *pair))
        alone, other = wanted & {*one.keys}, wanted & {*two.keys}
        # Where each has something that is asked for and that the other lacks, they are two.
        if not (alone - other and other - alone):
            found.append((cosine + min(old.near, new.near), old, new, one, two))
    found.sort(key=lambda each: (-each[0], each[1].time, each[2].time, each[1].row, each[2].row))
    return [each[1:] for each in found[:MOST]]


def _shared(wanted: set[str], one: Sentence, two: Sentence) -> int:
    """How many words of a question two sentences have, and of each other."""
    first, second = pair_head.content(one), pair_head.content(two)
    return len(first & wanted) + len(second & wanted) + len(first & second)
