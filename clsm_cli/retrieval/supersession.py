"""Supersession within an answer: passages that a later passage of the same answer replaces.

The question says what both are about, so a change is found before any consolidation, and in passages of
which no statement was made. Each of the best passages is compared, sentence by sentence, with every later
one by somebody as trusted, or by an agent, by the pair head (``heads/pair_head``). Statements that
consolidation closed count too. What an agent says in a conversation is superseded by its owner's words,
whichever came first: the agent can only know it from the owner.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import date
from functools import cache, partial
from itertools import product
from operator import mul
from typing import TYPE_CHECKING

from clsm_cli.errors import ModelDigestError, ModelMissingError
from clsm_cli.heads import pair_head
from clsm_cli.model import clocks
from clsm_cli.model.trust import is_as_trusted
from clsm_cli.retrieval import compared, verdict
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.passages import HEADING_SEPARATOR
from clsm_cli.text import breadth, factuality, sameness
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from clsm_cli.heads.pair_head import Relation, Sentence
    from clsm_cli.retrieval.answer import Memory
    from clsm_cli.retrieval.compared import Side
    from clsm_cli.retrieval.question import Question
    from clsm_cli.retrieval.ranking import Candidate
    from clsm_cli.store.index.index_queries import Index
    from clsm_cli.store.index.passages import Passage

FIRST = 12
"""Best passages that are compared with each other."""
OVER = pair_head.SUPERSEDED_P
"""Probability of an update from which the older passage counts as superseded."""
ABOVE = 0.6
"""Probability of an update from which the later of two short passages ranks above, however well it answers."""
PERHAPS = 0.15
"""Probability of an update between two answers from which the older passage is perhaps superseded."""
LONG_PERHAPS = 0.6
"""The same if one of them is long: of two paragraphs of a diary, the later often looks like news of the earlier."""
LONG_BELOW = 0.35
"""The same from which the later passage ranks above, without a mark."""
_UNSURE = OVER - 0.01
"""Highest probability of an update by hearsay, by an agent against its owner, or of a past state."""
_STATUS = re.compile(r"(?im)^\W*status\W+superseded\b(?: by\b(?P<by>.*))?")
_MOSTLY = 0.6
"""Share of its words that closed statements must cover where the passage has no word of the question."""
MOST = 8
"""Pairs that the head reads per answer: those nearest to each other and to the question."""


class Ended(NamedTuple):
    """A superseded passage.

    Attributes:
        chance: Probability that it is no longer true.
        until: Day since when; None without a mark, if one of them only ranks below the other.
        by: Id of the later passage; None if only the statements made of the older one were closed.
        row: Row of the later passage if it ranks above.
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
    now: str,
    at: str | None = None,
) -> dict[int, Ended]:
    """Row of a superseded passage → its replacement; reversed if that was told after the time asked about.

    Args:
        index: Up to date.
        question: The question.
        candidates: Best first.
        cosines: Of every stored sentence vector to the question, by row; empty without a model: then only
            closed statements count.
        now: The time of the question.
        at: The past time asked about; None for the last day that the question names, or now.
    """
    best = [each for each in candidates[:FIRST] if each.traits.kind != "gist"]
    at = at or _last_day(question, now)
    told = index.passages([each.row for each in best])
    ended: dict[int, Ended] = {}
    if cosines and not breadth.asks_for_several(question.text):
        stated = _stated(told)
        sides = (
            compared.side(index, each, told[each.row], cosines)
            for each in best
            if each.row not in stated
        )
        read = [side for side in sides if side is not None]
        alike = graph_queries.shared_sources(
            index.connection, sorted({side.candidate.traits.key for side in read})
        )
        with suppress(ModelMissingError, ModelDigestError):  # removed meanwhile
            ended = _judged(index, question, read, alike, at)
        ended |= {row: ended[said] for row, said in stated.items() if said in ended}
    if at is None:
        ended |= _by_status(index, told) | _former(index, told)
    for row, closed in (_closed(index, question, best, told) if at is None else {}).items():
        over = ended.get(row)
        if over is None or closed.by:
            ended[row] = closed
        elif over.chance < OVER:
            ended[row] = over._replace(chance=1.0, until=closed.until)
    return ended


def _last_day(question: Question, now: str) -> str | None:
    """The last day of the period that a question names, if it is over."""
    until = max((until for _, until in question.periods), default=None)
    if until is None or until > date.fromisoformat(now[:10]).toordinal():
        return None
    return date.fromordinal(until - 1).isoformat()


def _stated(told: Mapping[int, Passage]) -> dict[int, int]:
    """Row of a statement → row of a turn or block it was made of, if both were retrieved."""
    rows = {each.key: row for row, each in told.items() if each.kind == "passage"}
    return {
        row: rows[key]
        for row, each in told.items()
        for key in each.sources
        if each.kind != "passage" and key in rows
    }


def _former(index: Index, told: Mapping[int, Passage]) -> dict[int, Ended]:
    """Blocks that their document no longer has, over since the day on which it was read without them."""
    gone = {row: each for row, each in told.items() if each.document and not each.current}
    found: dict[int, Ended] = {}
    for document in sorted({each.document or "" for each in gone.values()}):
        closed = getattr(index.record(document), "closed", {})
        for row, each in gone.items():
            if each.document == document and each.key in closed:
                since, by = closed[each.key]
                found[row] = Ended(1.0, since[:10], by or None)
    return found


def _by_status(index: Index, told: Mapping[int, Passage]) -> dict[int, Ended]:
    """Passages below a heading whose status says that they are superseded, as decision records have it.

    A status below a document's title, or above it, is about all of the document. The passage that ranks
    above is one of the document or the section that the status names, which is never over itself.
    """
    documents = sorted({each.document for each in told.values() if each.document})
    rows = graph_queries.rows_with(index.connection, documents, "superseded") if documents else []
    found: dict[int, Ended] = {}
    for row, status in index.passages(rows).items():
        said, when = _STATUS.search(status.text), compared.written(index, status)
        if said is None or when is None:
            continue
        named = pair_head.particulars(pair_head.sentence(f"by {said['by'] or ''}"))
        heirs, over = [], []
        for other, each in told.items():
            is_same = each.document == status.document
            place = each.heading if is_same else f"{each.heading} {each.path}"
            if named and named <= {*pair_head.sentence(place).keys}:
                heirs.append(other)
            elif is_same and other != row and _is_below(each.heading, status.heading):
                over.append(other)
        heir = next(iter(heirs), None)
        by = told[heir].id if heir is not None else None
        found |= dict.fromkeys(over, Ended(1.0, when.time[:10], by, heir))
    return found


def _is_below(heading: str, above: str) -> bool:
    """Whether a heading path is another one or continues it.

    >>> _is_below("Hosts › Boiler", "Hosts"), _is_below("Hostels", "Hosts"), _is_below("Hosts", "")
    (True, False, True)
    """
    return not above or heading == above or heading.startswith(above + HEADING_SEPARATOR)


def _closed(
    index: Index, question: Question, best: Sequence[Candidate], told: Mapping[int, Passage]
) -> dict[int, Ended]:
    """Short passages of which a person or consolidation closed what the question asks about.

    Closed statements may cover a part of the passage: they must have the terms of the question that it has, and
    those that still hold must not. If it has none, all of its statements must be closed and make up most of it.
    """
    keys = sorted({each.traits.key for each in best})
    stated = graph_queries.statements_of(index.connection, keys)
    asked = pair_head.content(pair_head.sentence(question.text))
    ended = {}
    for each in best:
        text, made = told[each.row].text, stated.get(each.traits.key, [])
        closed = {row.id: row for row in made if not row.is_current}
        until = max((row.until for row in closed.values() if row.until), default=None)
        if until is None or len(text.split()) > compared.LONGEST:
            continue
        held = [row.text for row in made if row.is_current]
        words, over, left = (
            pair_head.content(pair_head.sentence("\n".join(texts)))
            for texts in ([text], [row.text for row in closed.values()], held)
        )
        wanted, over = asked & words, over & words
        is_most = not held and len(over) >= _MOSTLY * len(words)
        if wanted <= over and not wanted <= left if wanted else is_most:
            heir = _heir(index, closed, stated, told)
            ended[each.row] = Ended(1.0, until[:10], told[heir].id if heir else None, heir)
    return ended


def _heir(
    index: Index,
    closed: Collection[str],
    stated: Mapping[str, Sequence[graph_queries.Stated]],
    told: Mapping[int, Passage],
) -> int | None:
    """The row of the passage with the statement that a person or consolidation put in place of closed ones."""
    from clsm_cli.model.graph import Statement  # with dataclasses, 15 ms that few questions need

    for row, each in told.items():
        made = stated.get(each.key, ()) if each.kind == "passage" else ()
        for record in map(index.record, [each.key, *(one.id for one in made if one.is_current)]):
            if isinstance(record, Statement) and record.supersedes in closed:
                return row
    return None


def _judged(
    index: Index,
    question: Question,
    read: list[Side],
    alike: set[tuple[str, str]],
    at: str | None,
) -> dict[int, Ended]:
    """The superseded ones of some passages; ``alike``: pairs of keys that say the same."""
    asked = pair_head.sentence(question.text)
    # "Brian" and "who is brian" ask for everything about him, not for the newest.
    is_who = asked.keys[:1] == ("who",) and len(asked.words) > 2
    who = node_id(asked.words[2]) if is_who else ""
    named = pair_head.particulars(asked) or graph_queries.begins_name(index.connection, who)
    is_open = len(pair_head.content(asked)) < 2 and (len(asked.words) < 2 or (who and named))
    speakers = {*index.speakers()}
    is_cue = len(question.text.split()) < verdict.MIN_WORDS  # of which long passages tell the most
    is_past = bool(question.periods) or factuality.asks_past(question.text)
    is_read = at is None and verdict.can_be_read(question)
    found: list[_Update] = []
    sureness = cache(partial(_sureness, question))
    read = [each for each in read if not (is_cue and each.is_long)]
    for old, new, one, two in _rivals(asked, read, alike):
        chance = _update(*_as_said(old, one, new, two, speakers), question.text)
        is_doubtful = (
            is_past
            or old.is_long
            or new.is_long
            or factuality.is_hearsay(two.text)
            or not new.is_surely_after(old)
        )
        if is_doubtful or not is_as_trusted(new.passage.trust, old.passage.trust):
            chance = min(chance, _UNSURE)
        if chance >= OVER or (not is_open and _is_likely(chance, old, new, sureness)):
            from clsm_cli.text import route

            if not any(map(route.is_small_talk, (one.text, two.text))):
                is_sure = chance >= ABOVE or not is_read or old.is_long or new.is_long
                is_above = is_sure or _answers(chance, question, sureness(old), new)
                found.append(_Update(old, new, chance, is_above))
    return _ends(found, at)


def _is_likely(chance: float, old: Side, new: Side, sureness: Callable[[Side], float]) -> bool:
    """Whether an update of a probability is worth a mark, given how surely both passages answer."""
    is_long = old.is_long or new.is_long
    if chance < (LONG_BELOW if is_long else PERHAPS):
        return False
    if _is_marked(old, new, chance):
        one, two = sureness(old), sureness(new)
    else:  # not worth reading
        one, two = old.candidate.confidence, new.candidate.confidence
    return _outweighs(chance, one, two)


def _answers(chance: float, question: Question, sure: float, new: Side) -> bool:
    """Whether a later passage, read, answers well enough to go above one that answers so surely.

    By signs, any passage with the words of a question answers: "Sent to Linh" what Linh charges.
    """
    return _outweighs(chance, sure, verdict.answer_probability(question, new.passage))


def _outweighs(chance: float, one: float, two: float) -> bool:
    """Whether a later passage answers at least as surely as the older one still may."""
    return two >= (1 - chance) * one and chance * min(one, two) >= PERHAPS


def _is_marked(old: Side, new: Side, chance: float) -> bool:
    """Whether an update marks the older passage: if one of both is long, only a likelier one does."""
    return chance >= LONG_PERHAPS or not (old.is_long or new.is_long)


def _sureness(question: Question, side: Side) -> float:
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
    old: Side, one: Sentence, new: Side, two: Sentence, speakers: Collection[str]
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
    """A passage that supersedes another; ``is_above`` if it also ranks above."""

    old: Side
    new: Side
    chance: float
    is_above: bool = True

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
        old, new, chance, _ = each
        if at and clocks.is_after(new.time, at, new.zone) and not new.candidate.signals.date:
            ended.setdefault(new.row, Ended(chance, None, old.passage.id, old.row))
        elif new.row not in gainsaid:
            by_row.setdefault(old.row, []).append(each)
    pairs = {(each.old.row, each.new.row) for each in updates}
    for row, later in by_row.items():
        # The last one replaces the passage, which ended when the first of the chain was said.
        best = max(later, key=lambda e: (e.is_above, not e.new.is_answer, e.day, e.chance))
        last = best.new
        chain = [
            each
            for each in later
            if each.new is last or each.chance >= OVER or (each.new.row, last.row) in pairs
        ]
        chance = max(each.chance for each in chain)
        until = min((e.day for e in chain if _is_marked(e.old, e.new, e.chance)), default=None)
        ended[row] = Ended(chance, until, last.passage.id, last.row if best.is_above else None)
    return ended


def _may_end(old: Side, new: Side) -> bool:
    """Whether a passage may supersede another: certainly later, and as trusted.

    The owner's words supersede an agent's words in a conversation, whichever are later, unless the agent
    replies to them, or repeats something else from the turn before its own.
    """
    one, other = old.passage, new.passage
    if new.candidate.traits.is_question:
        return False
    if "user" in (one.trust, other.trust) and (old.is_answer or new.is_answer):
        return old.is_answer and not (new.is_before(old) and _is_reply(old, new))
    return not new.is_before(old) and (
        other.trust == "agent" or is_as_trusted(other.trust, one.trust)
    )


def _is_reply(said: Side, before: Side) -> bool:
    """Whether an agent's passage replies to another, or repeats what that lacks from the turn before."""
    known = pair_head.particulars(pair_head.sentence(before.passage.text))
    return before.row == said.candidate.traits.previous or not said.repeated <= known


def _rivals(
    asked: Sentence, read: Sequence[Side], alike: set[tuple[str, str]]
) -> list[tuple[Side, Side, Sentence, Sentence]]:
    """The pairs of passages nearest to each other and to the question, with the best sentence of each.

    A pair of which neither seems to answer is left out: reading it takes time.
    """
    wanted = pair_head.content(asked)
    is_literal = asked.text.istitle() or any(map(str.isdigit, asked.text))
    found = []
    for old, new in product(read, repeat=2):
        keys = old.candidate.traits.key, new.candidate.traits.key
        if keys in alike or not _may_end(old, new):
            continue
        if is_literal and new.candidate.signals.literal < old.candidate.signals.literal:
            continue  # it is told of another code or name
        both = [
            (one, two)
            for one, two in product(old.parts(wanted), new.told_parts(wanted))
            if one.keys != two.keys
            and _may_be_alike(old, new, one, two, wanted)
            and not sameness.has_same_preference(one.text, two.text)
            and not (new.is_before(old) and pair_head.content(one) <= pair_head.content(two))
        ]
        if not both:
            continue
        one, two = max(both, key=lambda pair: _shared(wanted, *pair))
        if factuality.asserts_nothing(one.text) or factuality.asserts_nothing(two.text):
            continue  # nothing supersedes a question or a mere idea
        cosine = sum(map(mul, old.vector, new.vector))
        found.append((cosine + min(old.near, new.near), old, new, one, two))
    found.sort(key=lambda each: (-each[0], each[1].time, each[2].time, each[1].row, each[2].row))
    return [
        each[1:]
        for each in found[:MOST]
        if max(side.candidate.confidence for side in each[1:3]) >= PERHAPS
    ]


def _may_be_alike(old: Side, new: Side, one: Sentence, two: Sentence, wanted: set[str]) -> bool:
    """Whether the clause of a long passage shares a word with the other sentence.

    If the later passage is long, its clause must have every term of the question that the other has.
    """
    if new.is_long and not wanted & {*one.keys} <= {*two.keys}:
        return False
    is_long = old.is_long or new.is_long
    return not (is_long and pair_head.content(one).isdisjoint(pair_head.content(two)))


def _shared(wanted: set[str], one: Sentence, two: Sentence) -> int:
    """Number of words that two sentences share with the question and with each other."""
    first, second = pair_head.content(one), pair_head.content(two)
    return len(first & wanted) + len(second & wanted) + len(first & second)
