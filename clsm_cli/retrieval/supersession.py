"""Supersession within an answer: passages that a later passage of the same answer replaces.

The question says what both are about, so a change is found before any consolidation, and in passages of
which no statement was made. Each of the best passages is compared, sentence by sentence, with every later
one by somebody as trusted, or by an agent, by the pair head (``heads/pair_head``). Statements that
consolidation closed count too. What an agent says in a conversation is superseded by its owner's words,
whichever came first: the agent can only know it from the owner.
"""

from __future__ import annotations

import re
from functools import cache, cached_property, partial
from itertools import product
from math import sqrt
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.heads import pair_head
from clsm_cli.model import clocks
from clsm_cli.model.trust import is_as_trusted
from clsm_cli.retrieval import verdict
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.codes import SENTENCE_BYTES
from clsm_cli.text import breadth, factuality, sameness, sentences
from clsm_cli.text.language_data import word_list

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from clsm_cli.heads.pair_head import Relation, Sentence
    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

FIRST = 12
"""Best passages that are compared with each other."""
OVER = pair_head.SUPERSEDED_P
"""Probability of an update from which the older passage counts as superseded."""
PERHAPS = 0.15
"""Probability of an update between two answers from which the older passage is perhaps superseded."""
_UNSURE = OVER - 0.01
"""Highest probability of an update by hearsay, by an agent against its owner, or of a past state."""
_PRONOUNS = frozenset(
    each
    for name in ("persons", "points back")
    for row in word_list(name)
    for each in row.split("/")
)
_DAY = re.compile(r"\W*(\d{4}-\d\d-\d\d)\b")
_LABELLED = re.compile(r"[^\s:][^:]{0,40}:(?:\*\*|__)? ")
"""A line with a label and a value."""
LONGEST = 40
"""Words of a passage that may be superseded as a whole, at most."""
_MOSTLY = 0.6
"""Share of its words that closed statements must cover where the passage has no word of the question."""
_LEAST = 0.15
"""Cosine below which two passages are not compared: hardly an update is below."""
MOST = 8
"""Pairs that the head reads per answer: those nearest to each other and to the question."""


class Ended(NamedTuple):
    """A superseded passage.

    Attributes:
        chance: Probability that it is no longer true.
        until: Day since when; None if the later passage is the one to rank below.
        by: Id of the later passage; None if only the statements made of the older one were closed.
        row: Row of the later passage.
    """

    chance: float
    until: str | None = None
    by: str | None = None
    row: int | None = None

    def marked(self, memory: Memory) -> Memory:
        """The item, marked with the day since which it is superseded, certainly or perhaps."""
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
    """Row of a superseded passage → its replacement; reversed if that was told after ``at``.

    Args:
        index: Up to date.
        question: The question.
        candidates: Best first.
        cosines: Of every stored sentence vector to the question, by row; empty without a model: then only
            closed statements count.
        at: The past time asked about; None for now.
    """
    best = [each for each in candidates[:FIRST] if each.traits.kind != "gist"]
    told = index.passages([each.row for each in best])
    ended: dict[int, Ended] = {}
    if cosines and not breadth.asks_for_several(question.text):
        stated = _stated(told)
        sides = (
            _side(index, each, told[each.row], cosines) for each in best if each.row not in stated
        )
        read = [side for side in sides if side is not None]
        alike = graph_queries.shared_sources(
            index.connection, sorted({side.candidate.traits.key for side in read})
        )
        ended = _judged(question, read, alike, at)
        ended |= {row: ended[said] for row, said in stated.items() if said in ended}
    for row, day in (_closed(index, question, best, told) if at is None else {}).items():
        over = ended.get(row)
        if over is None:
            ended[row] = Ended(1.0, day)
        elif over.chance < OVER:
            ended[row] = over._replace(chance=1.0, until=day)
    return ended


def _stated(told: Mapping[int, Passage]) -> dict[int, int]:
    """Row of a statement → row of a turn or block it was made of, if both were retrieved."""
    rows = {each.key: row for row, each in told.items() if each.kind == "passage"}
    return {
        row: rows[key]
        for row, each in told.items()
        for key in each.sources
        if each.kind != "passage" and key in rows
    }


def _closed(
    index: Index, question: Question, best: Sequence[Candidate], told: Mapping[int, Passage]
) -> dict[int, str]:
    """Short passages whose statements were all closed, by a person or consolidation, and since when.

    The statements may cover a minor part of the passage, so they must have what the question asks about.
    """
    short = [each for each in best if len(told[each.row].text.split()) <= LONGEST]
    keys = sorted({each.traits.key for each in short})
    outdated = graph_queries.outdated_sources(index.connection, keys)
    asked = pair_head.content(pair_head.sentence(question.text))
    ended = {}
    for each in short:
        until, stated = outdated.get(each.traits.key, (None, ""))
        words = pair_head.content(pair_head.sentence(told[each.row].text))
        over = words & pair_head.content(pair_head.sentence(stated))
        wanted = asked & words
        if until and (wanted <= over if wanted else len(over) >= _MOSTLY * len(words)):
            ended[each.row] = until[:10]
    return ended


def _judged(
    question: Question, read: list[_Side], alike: set[tuple[str, str]], at: str | None
) -> dict[int, Ended]:
    """The superseded ones of some passages; ``alike``: pairs of keys that say the same."""
    asked = pair_head.sentence(question.text)
    wanted = pair_head.content(asked)
    # "Brian" and "who is Brian" ask for everything about him, not for the newest.
    is_named = bool(pair_head.particulars(asked))
    is_open = len(wanted) < 2 and (len(asked.words) < 2 or (asked.keys[0] == "who" and is_named))
    is_past = bool(question.periods) or factuality.asks_past(question.text)
    found: list[_Update] = []
    speakers = {each.passage.speaker for each in read} - {""}
    sureness = cache(partial(_sureness, question))
    for old, new, one, two in _rivals(asked, read, alike):
        chance = _update(*_as_said(old, one, new, two, speakers), question.text)
        is_doubtful = is_past or factuality.is_hearsay(two.text) or new.is_before(old)
        if is_doubtful or not is_as_trusted(new.passage.trust, old.passage.trust):
            chance = min(chance, _UNSURE)
        is_told = chance >= OVER or (not is_open and _is_likely(chance, old, new, sureness))
        if is_told and not _is_small_talk(one.text, two.text):
            found.append(_Update(old, new, chance))
    return _ends(found, at)


def _is_likely(chance: float, old: _Side, new: _Side, sureness: Callable[[_Side], float]) -> bool:
    """Whether an update of a probability is worth a mark, given how surely both passages answer.

    The later passage goes above the older one, so it must answer at least as surely as that still may.
    """
    if chance < PERHAPS:
        return False
    one, two = sureness(old), sureness(new)
    return two >= (1 - chance) * one and chance * min(one, two) >= PERHAPS


def _sureness(question: Question, side: _Side) -> float:
    """How surely a passage answers: its confidence, or the answer head's probability if that is higher.

    The words of a change are few ("they moved it to the 11th"), so its confidence by signs is low.
    """
    sure = side.candidate.confidence
    if not verdict.can_be_read(question):
        return sure
    return max(sure, verdict.answer_probability(question, side.passage))


def _update(one: Sentence, two: Sentence, asked: str) -> float:
    """Probability that the second sentence updates the first, with regard to the question."""

    def read(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        return [pair_head.relation(old, new, asked) for old, new in pairs]

    return pair_head.update_of(one, two, read([(one.text, two.text)])[0], read)


def _as_said(
    old: _Side, one: Sentence, new: _Side, two: Sentence, speakers: Collection[str]
) -> tuple[Sentence, Sentence]:
    """Two sentences without the name of their speaker, or with both names if these differ."""
    named = [pair_head.without_speaker(each.text, speakers) for each in (one, two)]
    who = [name or side.passage.speaker for side, (name, _) in zip((old, new), named, strict=True)]
    if all(who) and who[0] != who[1]:
        texts = [f"{name}: {said}" for name, (_, said) in zip(who, named, strict=True)]
    else:
        texts = [said for _, said in named]
    first, second = map(pair_head.sentence, texts)
    return first, second


class _Update(NamedTuple):
    """A passage that supersedes another."""

    old: _Side
    new: _Side
    chance: float

    @property
    def day(self) -> str:
        """On which the later of both was said, by the store's clock."""
        zone = self.new.zone
        last = max(self.old.time, self.new.time, key=lambda time: clocks.seconds(time, zone))
        return clocks.on_clock(last, zone)[:10]


def _ends(updates: Sequence[_Update], at: str | None) -> dict[int, Ended]:
    """Resolve the updates: the replacement of each superseded passage."""
    ended: dict[int, Ended] = {}
    over = {each.old.row for each in updates if not each.new.is_before(each.old)}
    # A superseded passage of the owner does not contradict the agent; an agent's passage that its owner
    # contradicts supersedes nothing.
    updates = [
        each for each in updates if each.new.row not in over or not each.new.is_before(each.old)
    ]
    gainsaid = {each.old.row for each in updates if each.new.is_before(each.old)}
    by_row: dict[int, list[_Update]] = {}
    for each in updates:
        old, new, chance = each
        if at and clocks.is_after(new.time, at, new.zone):
            ended.setdefault(new.row, Ended(chance, None, old.passage.id, old.row))
        elif new.row not in gainsaid:
            by_row.setdefault(old.row, []).append(each)
    pairs = {(each.old.row, each.new.row) for each in updates}
    for row, later in by_row.items():
        # The last one replaces the passage, which ended when the first of the chain was said.
        last = max(later, key=lambda each: (not each.new.is_answer, each.day, each.chance)).new
        chain = [
            each
            for each in later
            if each.new is last or each.chance >= OVER or (each.new.row, last.row) in pairs
        ]
        chance = max(each.chance for each in chain)
        until = min(each.day for each in chain)
        ended[row] = Ended(chance, until, last.passage.id, last.row)
    return ended


class _Told(NamedTuple):
    """The earliest and the latest time at which a passage may have been written.

    A block without a date was written between two captures of its document, or before the first: then
    the earliest time is unknown (None).
    """

    after: str | None
    time: str


class _Side:
    """A passage; its sentences and vector are computed on demand."""

    def __init__(
        self, index: Index, candidate: Candidate, passage: Passage, told: _Told, near: float
    ) -> None:
        self.candidate, self.passage = candidate, passage
        self.row, self.near = candidate.row, near
        self.told, self.time = told, told.time
        self._index, self.zone = index, index.store.zone
        self.is_answer = passage.trust == "agent" and bool(passage.speaker)
        """Whether an agent says it in a conversation."""

    def is_before(self, other: _Side) -> bool:
        """Whether it is not known to have been said after another."""
        after = self.told.after
        return after is None or not clocks.is_after(after, other.time, self.zone)

    @cached_property
    def sentences(self) -> list[Sentence]:
        text = self.passage.text
        is_list = all(map(_LABELLED.match, text.splitlines()))
        parts = text.splitlines() if is_list else sentences.sentences(text)
        heading = self.passage.heading.rpartition(" › ")[2] if self.passage.document else ""
        heading = "" if _is_day(heading) else heading
        read = (pair_head.sentence(part, heading) for part in parts)
        return [each for each in read if each.words]

    @cached_property
    def repeated(self) -> set[str]:
        """Names and numbers that it repeats from the turn before."""
        row = self.candidate.traits.previous
        texts = [self.passage.text, "" if row is None else self._index.passages([row])[row].text]
        return set.intersection(*(pair_head.particulars(pair_head.sentence(t)) for t in texts))

    @cached_property
    def vector(self) -> list[float]:
        rows = self._index.vectors.sentence_rows() or b""
        start = self.candidate.traits.vector * SENTENCE_BYTES
        codes = rows[start : start + SENTENCE_BYTES]
        values = [(code & 15) - 8 for code in codes] + [(code >> 4) - 8 for code in codes]
        length = sqrt(sum(map(mul, values, values))) or 1.0
        return [value / length for value in values]


def _is_day(heading: str) -> bool:
    """Whether a heading is only a day."""
    if not any(map(str.isdigit, heading)):
        return False
    from clsm_cli.text.time import expressions  # which few questions need

    return expressions.is_day(heading)


def _is_small_talk(*texts: str) -> bool:
    """Whether one of the sentences is small talk, which nothing supersedes."""
    from clsm_cli.text import route

    return any(map(route.is_small_talk, texts))


def _side(
    index: Index, candidate: Candidate, passage: Passage, cosines: Sequence[float]
) -> _Side | None:
    """A passage to compare; None if it has no vector or no time, or is too long."""
    is_long = len(passage.text.split()) > LONGEST
    told = None if is_long or candidate.traits.vector < 0 else _told(index, passage)
    if told is None:
        return None
    return _Side(index, candidate, passage, told, cosines[candidate.traits.vector])


def _told(index: Index, passage: Passage) -> _Told | None:
    """When a passage was written; None if unknown."""
    dated = _DAY.match(passage.text) or _DAY.match(passage.heading.rpartition(" › ")[2])
    if time := dated[1] if dated and passage.document else passage.time:
        return _Told(time, time)
    before, at = index.capture_times(passage.episode) if passage.episode else (None, None)
    return _Told(before, at) if at else None


def _may_end(old: _Side, new: _Side) -> bool:
    """Whether a passage may supersede another: certainly later, and as trusted.

    The owner's words supersede an agent's words in a conversation, whichever are later, unless the agent
    replies to them, or repeats something else from the turn before its own.
    """
    one, other = old.passage, new.passage
    if new.candidate.traits.is_question:
        return False
    if new.candidate.signals.literal < old.candidate.signals.literal:
        return False
    if "user" in (one.trust, other.trust) and (old.is_answer or new.is_answer):
        return old.is_answer and not (new.is_before(old) and _is_reply(old, new))
    return not new.is_before(old) and (
        other.trust == "agent" or is_as_trusted(other.trust, one.trust)
    )


def _is_reply(said: _Side, before: _Side) -> bool:
    """Whether an agent's passage replies to another, or repeats what that lacks from the turn before."""
    known = pair_head.particulars(pair_head.sentence(before.passage.text))
    return before.row == said.candidate.traits.previous or not said.repeated <= known


def _rivals(
    asked: Sentence, read: Sequence[_Side], alike: set[tuple[str, str]]
) -> list[tuple[_Side, _Side, Sentence, Sentence]]:
    """The pairs of passages nearest to each other and to the question, with the best sentence of each."""
    wanted = pair_head.content(asked)
    found = []
    for old, new in product(read, repeat=2):
        keys = old.candidate.traits.key, new.candidate.traits.key
        if keys in alike or not _may_end(old, new):
            continue
        cosine = sum(map(mul, old.vector, new.vector))
        if cosine < _LEAST:
            continue
        both = [
            (one, two)
            for one, two in product(old.sentences, new.sentences)
            if one.keys != two.keys
            and not sameness.has_same_preference(one.text, two.text)
            and not (new.is_before(old) and pair_head.content(one) <= pair_head.content(two))
        ]
        if not both:
            continue
        one, two = max(both, key=lambda pair: _shared(wanted, *pair))
        if factuality.asserts_nothing(one.text) or factuality.asserts_nothing(two.text):
            continue  # nothing supersedes a question or a mere idea
        alone, other = wanted & {*one.keys}, wanted & {*two.keys}
        # If each has a term of the question that the other lacks, they are about different things.
        if not (alone - other and other - alone) and not _names_another(asked, one, two):
            found.append((cosine + min(old.near, new.near), old, new, one, two))
    found.sort(key=lambda each: (-each[0], each[1].time, each[2].time, each[1].row, each[2].row))
    return [each[1:] for each in found[:MOST]]


def _names_another(asked: Sentence, one: Sentence, two: Sentence) -> bool:
    """Whether one sentence begins with a name asked for, and the other has only other names.

    A later sentence about the same thing repeats its name or has a pronoun.
    """
    names = pair_head.particulars(asked)
    return any(
        names & {*each.keys[:1]} - {*other.keys}
        and pair_head.particulars(other) - {*each.keys, *asked.keys}
        and _PRONOUNS.isdisjoint(word.casefold() for word in other.words)
        for each, other in ((one, two), (two, one))
    )


def _shared(wanted: set[str], one: Sentence, two: Sentence) -> int:
    """Number of words that two sentences share with the question and with each other."""
    first, second = pair_head.content(one), pair_head.content(two)
    return len(first & wanted) + len(second & wanted) + len(first & second)
