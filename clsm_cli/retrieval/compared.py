"""Passages as ``supersession`` compares them: when each was written, and its sentences or clauses."""

from __future__ import annotations

import re
from functools import cached_property
from math import sqrt
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.heads import pair_head
from clsm_cli.model import clocks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.codes import SENTENCE_BYTES
from clsm_cli.store.index.passages import HEADING_SEPARATOR
from clsm_cli.text import sentences

if TYPE_CHECKING:
    from clsm_cli.heads.pair_head import Sentence
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

_DAY = re.compile(r"\W*(\d{4}-\d\d-\d\d)\b")
_LABELLED = re.compile(r"[^\s:][^:]{0,40}:(?:\*\*|__)? ")
"""A line with a label and a value."""
_RULE = re.compile(r"\W*-{3}\W*")
"""The line below the head of a table."""
_CLAUSE = re.compile(r"[,;] (?:and )?| [-\u2013\u2014] |\b(?:and|but)\b")
BRIEF = 25
"""Words of a later passage, or of a sentence of a long one, that is read whole, at most (own choice)."""
LONGEST = 40
"""Words of a passage whose every sentence is compared, at most; of a longer one, clauses are (own choice)."""


class Written(NamedTuple):
    """The earliest and the latest time at which a passage may have been written.

    A block without a date was written between two captures of its document or folder, or before the
    first: then the earliest time is unknown (None).
    """

    after: str | None
    time: str


class Side:
    """A passage; its sentences and vector are computed on demand.

    Attributes:
        dates: When it may have been written; ``time`` is the latest of it, ISO 8601.
        is_long: Whether clauses of it are compared, not sentences (``LONGEST``).
        is_answer: Whether an agent says it in a conversation.
    """

    def __init__(
        self, index: Index, candidate: Candidate, passage: Passage, dates: Written
    ) -> None:
        self.candidate, self.passage, self.row = candidate, passage, candidate.row
        self.dates, self.time = dates, dates.time
        self._index, self.zone = index, index.store.zone
        self.is_long = len(passage.text.split()) > LONGEST
        self.is_answer = passage.trust == "agent" and bool(passage.speaker)

    def is_before(self, other: Side) -> bool:
        """Whether it is not likely to have been said after another.

        A block without a date is, if the other was said in the first half of the time it may be of.
        Of two blocks of one day, the one that was captured last is later.
        """
        if self.dates == other.dates and len(self.time) == len("2026-01-31"):
            return self._captured <= other._captured
        if self.dates.after in (None, self.time):
            return not self.is_surely_after(other)
        first, at, last = (
            clocks.seconds(time, self.zone) for time in (self.dates.after, other.time, self.time)
        )
        return at > (first + last) / 2

    def is_surely_after(self, other: Side) -> bool:
        """Whether it is known to have been said after another."""
        after = self.dates.after
        return after is not None and clocks.is_after(after, other.time, self.zone)

    @cached_property
    def _captured(self) -> str:
        """When its block was captured; empty for a turn."""
        episode = self.passage.episode if self.passage.document else None
        return (self._index.capture_times(episode)[1] or "") if episode else ""

    @cached_property
    def sentences(self) -> list[Sentence]:
        """Its sentences, lines of a list of labels, or rows of a table, with the innermost heading."""
        text = self.passage.text
        is_list = all(map(_LABELLED.match, text.splitlines()))
        parts = text.splitlines() if is_list else sentences.sentences(text)
        head = next((n for n, part in enumerate(parts, 1) if _RULE.fullmatch(part)), 0)
        heading = (
            self.passage.heading.rpartition(HEADING_SEPARATOR)[2] if self.passage.document else ""
        )
        heading = "" if _is_day(heading) else heading
        read = (pair_head.sentence(part, heading) for part in parts[head:])
        return [sentence for sentence in read if sentence.words]

    def parts(self, wanted: set[str]) -> list[Sentence]:
        """The sentences; of a long passage, those with a term of the question, or clauses of them."""
        if not self.is_long:
            return self.sentences
        clauses = (
            pair_head.sentence(clause)
            for sentence in self.sentences
            if not wanted.isdisjoint(sentence.keys)
            for clause in _clauses(sentence)
        )
        return [clause for clause in clauses if not wanted.isdisjoint(clause.keys)]

    def whole_or_parts(self, wanted: set[str]) -> list[Sentence]:
        """The sentences, or the whole if it is brief: "Scrap the boat. We take the train"."""
        text = self.passage.text
        is_brief = len(self.sentences) > 1 and len(text.split()) <= BRIEF and "\n" not in text
        return [pair_head.sentence(text)] if is_brief else self.parts(wanted)

    def bare(self, sentence: Sentence) -> Sentence:
        """A sentence without the heading before it."""
        heading = self.passage.heading.rpartition(HEADING_SEPARATOR)[2]
        return pair_head.sentence(sentence.text.removeprefix(f"{heading}: "))

    @cached_property
    def keys(self) -> set[str]:
        """Keys of its words and headings."""
        above = pair_head.sentence(self.passage.heading)
        return {key for sentence in (above, *self.sentences) for key in sentence.keys}

    @cached_property
    def repeated(self) -> set[str]:
        """Names and numbers that it repeats from the turn before, where a name may be in lower case."""
        row = self.candidate.traits.previous
        before = "" if row is None else self._index.passages([row])[row].text
        own = pair_head.particulars(pair_head.sentence(self.passage.text))
        return own.intersection(pair_head.sentence(before).keys)

    @cached_property
    def vector(self) -> list[float]:
        """Its unit vector."""
        rows = self._index.vectors.sentence_rows() or b""
        start = self.candidate.traits.vector * SENTENCE_BYTES
        codes = rows[start : start + SENTENCE_BYTES]
        values = [(code & 15) - 8 for code in codes] + [(code >> 4) - 8 for code in codes]
        length = sqrt(sum(map(mul, values, values))) or 1.0
        return [value / length for value in values]


def _clauses(sentence: Sentence) -> list[str]:
    """The clauses of a sentence; a brief one says what it is about only as a whole."""
    return [sentence.text] if len(sentence.words) <= BRIEF else _CLAUSE.split(sentence.text)


def _is_day(heading: str) -> bool:
    """Whether a heading is only a day."""
    if _DAY.fullmatch(heading):
        return True
    if not any(map(str.isdigit, heading)):
        return False
    from clsm_cli.text.time import expressions  # which few questions need

    return expressions.is_day(heading)


def stand_apart(asked: Sentence, old: Side, one: Sentence, new: Side, two: Sentence) -> bool:
    """Whether two sentences that share a word stand under two headings that the question does not tell apart.

    With them, the head reads news of two things: "Crew: Skipper: Ines", "Week 2: Skipper: Bao".
    """
    headings = ({*pair_head.sentence(side.passage.heading).keys} for side in (old, new))
    apart = set.symmetric_difference(*headings)
    is_alike = not pair_head.content(one).isdisjoint(pair_head.content(two))
    return is_alike and bool(apart) and apart.isdisjoint(pair_head.content(asked))


def side_of(index: Index, candidate: Candidate, passage: Passage) -> Side | None:
    """A passage to compare; None if it has no vector or no time."""
    dates = None if candidate.traits.vector < 0 else written(index, passage)
    return None if dates is None else Side(index, candidate, passage, dates)


def written(index: Index, passage: Passage) -> Written | None:
    """When a passage was written; None if unknown."""
    dated = _DAY.match(passage.text) or _DAY.match(passage.heading.rpartition(HEADING_SEPARATOR)[2])
    if time := dated[1] if dated and passage.document else passage.time:
        return Written(time, time)
    before, at = index.capture_times(passage.episode) if passage.episode else (None, None)
    return Written(before, at) if at else None
