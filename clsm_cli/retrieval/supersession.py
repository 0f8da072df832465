"""Supersession within an answer: passages that a later passage of the same answer replaces.

The question says what both are about, so a change is found before any consolidation, and in
passages of which no statement was made. Each of the best passages is compared, sentence by
sentence, with every later one by somebody as trusted, or by an agent, by the pair head
(``heads/pair_head``). Statements that consolidation closed count too. What an agent says in a
conversation is superseded by its owner's words, whichever came first: the agent can only know it
from the owner.
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
"""Best passages that are compared with each other (own choice): two more than an answer has by default."""
OVER = pair_head.SUPERSEDED_P
"""Probability of an update from which the older passage counts as superseded (``scripts/fit_pairs.py``)."""
ABOVE = 0.6
"""Probability of an update from which the later of two short passages ranks above, however well it answers.
This and the three below: docs/experiments.md, What takes the place of what."""
PERHAPS = 0.15
"""Probability of an update between two answers from which the older passage is perhaps superseded."""
LONG_PERHAPS = 0.6
"""The same if one of them is long: of two paragraphs of a diary, the later often looks like news of the earlier."""
LONG_BELOW = 0.35
"""The same from which the later passage ranks above, without a mark."""
_STATUS = re.compile(r"(?im)^\W*status\W+superseded\b(?: by\b(?P<by>.*))?")
_MOSTLY = 0.6
"""Share of its words that closed statements must cover where the passage has no word of the question (own choice)."""
MOST = 8
"""Pairs that the head reads per answer, by nearness to each other and confidence (own choice: 5 ms a pair)."""


class Superseded(NamedTuple):
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


def find_superseded(
    index: Index,
    question: Question,
    candidates: Sequence[Candidate],
    cosines: Sequence[float],
    *,
    now: str,
    past: str | None,
) -> dict[int, Superseded]:
    """Row of a superseded passage → its replacement; reversed if that was told after the time asked about.

    Args:
        index: Up to date.
        candidates: Best first.
        cosines: Of every stored sentence vector to the question, by row; empty without a model:
            then only closed statements count.
        now: The time of the question, ISO 8601.
        past: The past time asked about, ISO 8601; None for the last day that the question names, or
            now.
    """
    best = [candidate for candidate in candidates[:FIRST] if candidate.traits.kind != "gist"]
    at = past or _last_day(question, now)
    passages = index.passages([candidate.row for candidate in best])
    superseded: dict[int, Superseded] = {}
    if cosines and not breadth.asks_for_several(question.text):
        stated = _stated(passages)
        unstated = (candidate for candidate in best if candidate.row not in stated)
        sides = (compared.side_of(index, one, passages[one.row]) for one in unstated)
        read = [side for side in sides if side is not None]
        alike = graph_queries.shared_sources(
            index.connection, sorted({side.candidate.traits.key for side in read})
        )
        with suppress(ModelMissingError, ModelDigestError):  # removed meanwhile
            superseded = _judged(index, question, read, alike, at)
        superseded |= {row: superseded[turn] for row, turn in stated.items() if turn in superseded}
    if at is None:
        superseded |= _by_status(index, passages) | _former(index, passages)
    for row, closed in (_closed(index, question, best, passages) if at is None else {}).items():
        over = superseded.get(row)
        if over is None or closed.by:
            superseded[row] = closed
        elif over.chance < OVER:
            superseded[row] = over._replace(chance=1.0, until=closed.until)
    return superseded


def _last_day(question: Question, now: str) -> str | None:
    """The last day of the period that a question names, if it is over."""
    until = max((until for _, until in question.periods), default=None)
    if until is None or until > date.fromisoformat(now[:10]).toordinal():
        return None
    return date.fromordinal(until - 1).isoformat()


def _stated(passages: Mapping[int, Passage]) -> dict[int, int]:
    """Row of a statement → row of a turn or block it was made of, if both were retrieved."""
    rows = {passage.key: row for row, passage in passages.items() if passage.kind == "passage"}
    return {
        row: rows[key]
        for row, passage in passages.items()
        for key in passage.sources
        if passage.kind != "passage" and key in rows
    }


def _former(index: Index, passages: Mapping[int, Passage]) -> dict[int, Superseded]:
    """Blocks that their document no longer has, over since the day on which it was read without them."""
    gone = {row: block for row, block in passages.items() if block.document and not block.current}
    superseded: dict[int, Superseded] = {}
    for document in sorted({block.document or "" for block in gone.values()}):
        closed = getattr(index.record(document), "closed", {})
        for row, block in gone.items():
            if block.document == document and block.key in closed:
                since, by = closed[block.key]
                superseded[row] = Superseded(chance=1.0, until=since[:10], by=by or None)
    return superseded


def _by_status(index: Index, passages: Mapping[int, Passage]) -> dict[int, Superseded]:
    """Passages below a heading whose status says that they are superseded, as decision records have it.

    A status below a document's title, or above it, is about all of the document. The passage that
    ranks above is one of the document or the section that the status names, which is never over
    itself.
    """
    documents = sorted({passage.document for passage in passages.values() if passage.document})
    rows = graph_queries.rows_with(index.connection, documents, "superseded") if documents else []
    superseded: dict[int, Superseded] = {}
    for row, status in index.passages(rows).items():
        status_match, when = _STATUS.search(status.text), compared.written(index, status)
        if status_match is None or when is None:
            continue
        named = pair_head.particulars(pair_head.sentence(f"by {status_match['by'] or ''}"))
        heirs, over = [], []
        for other, passage in passages.items():
            is_same = passage.document == status.document
            place = passage.heading if is_same else f"{passage.heading} {passage.path}"
            if named and named <= {*pair_head.sentence(place).keys}:
                heirs.append(other)
            elif is_same and other != row and _is_below(passage.heading, status.heading):
                over.append(other)
        heir = next(iter(heirs), None)
        by = passages[heir].id if heir is not None else None
        mark = Superseded(chance=1.0, until=when.time[:10], by=by, row=heir)
        superseded |= dict.fromkeys(over, mark)
    return superseded


def _is_below(heading: str, above: str) -> bool:
    """Whether a heading path is another one or continues it.

    >>> _is_below("Hosts › Boiler", "Hosts"), _is_below("Hostels", "Hosts"), _is_below("Hosts", "")
    (True, False, True)
    """
    return not above or heading == above or heading.startswith(above + HEADING_SEPARATOR)


def _closed(
    index: Index, question: Question, best: Sequence[Candidate], passages: Mapping[int, Passage]
) -> dict[int, Superseded]:
    """Short passages of which a person or consolidation closed what the question asks about.

    Closed statements may cover a part of the passage: they must have the terms of the question that
    it has, and those that still hold must not. If it has none, all of its statements must be closed
    and make up most of it.
    """
    keys = sorted({candidate.traits.key for candidate in best})
    stated = graph_queries.statements_of(index.connection, keys)
    asked = pair_head.content(pair_head.sentence(question.text))
    superseded = {}
    for candidate in best:
        text, made = passages[candidate.row].text, stated.get(candidate.traits.key, [])
        closed = {row.id: row for row in made if not row.is_current}
        until = max((row.until for row in closed.values() if row.until), default=None)
        if until is None or len(text.split()) > compared.LONGEST:
            continue
        current_texts = [row.text for row in made if row.is_current]
        words, over, still_true = (
            pair_head.content(pair_head.sentence("\n".join(texts)))
            for texts in ([text], [row.text for row in closed.values()], current_texts)
        )
        wanted, over = asked & words, over & words
        is_most = not current_texts and len(over) >= _MOSTLY * len(words)
        if wanted <= over and not wanted <= still_true if wanted else is_most:
            heir = _heir(index, closed, stated, passages)
            by = passages[heir].id if heir else None
            superseded[candidate.row] = Superseded(chance=1.0, until=until[:10], by=by, row=heir)
    return superseded


def _heir(
    index: Index,
    closed: Collection[str],
    stated: Mapping[str, Sequence[graph_queries.SourceStatement]],
    passages: Mapping[int, Passage],
) -> int | None:
    """The row of the passage with the statement that a person or consolidation put in place of closed ones."""
    from clsm_cli.model.graph import Statement  # with dataclasses, 15 ms that few questions need

    for row, passage in passages.items():
        made = stated.get(passage.key, ()) if passage.kind == "passage" else ()
        for record in map(index.record, [passage.key, *(one.id for one in made if one.is_current)]):
            if isinstance(record, Statement) and record.supersedes in closed:
                return row
    return None


def _judged(
    index: Index,
    question: Question,
    read: list[Side],
    alike: set[tuple[str, str]],
    at: str | None,
) -> dict[int, Superseded]:
    """The superseded ones of some passages; ``alike``: pairs of keys that say the same."""
    asked = pair_head.sentence(question.text)
    # "Brian" and "who is brian" ask for everything about him, not for the newest.
    is_who = asked.keys[:1] == ("who",) and len(asked.words) > 2
    who = node_id(asked.words[2]) if is_who else ""
    named = pair_head.particulars(asked) or graph_queries.begins_name(index.connection, who)
    is_open = len(pair_head.content(asked)) < 2 and (len(asked.words) < 2 or (who and named))
    speakers = {*index.speakers()}
    is_past = bool(question.periods) or factuality.asks_past(question.text)
    is_read = at is None and question.is_readable
    updates: list[_Update] = []
    sureness = cache(partial(_sureness, question))
    if question.is_cue:  # of which long passages tell the most
        read = [side for side in read if not side.is_long]
    for old, new, one, two in _rivals(asked, read, alike):
        is_apart = compared.stand_apart(asked, old, one, new, two)
        first, second = (old.bare(one), new.bare(two)) if is_apart else (one, two)
        chance = _update(*_as_said(old, first, new, second, speakers), question.text)
        is_doubtful = (
            is_past
            or is_apart
            or old.is_long
            or new.is_long
            or factuality.is_hearsay(two.text)
            or not new.is_surely_after(old)
        )
        if is_doubtful or not is_as_trusted(new.passage.trust, old.passage.trust):
            chance = min(chance, pair_head.UNSURE_P)
        if chance >= OVER or (not is_open and _is_likely(chance, old, new, sureness)):
            from clsm_cli.text import route

            if not any(map(route.is_small_talk, (one.text, two.text))):
                is_above = not is_read or old.is_long or new.is_long or chance >= ABOVE
                if not is_above:  # by signs, "Sent to Linh" answers what Linh charges
                    answers = verdict.passage_answer_probability(question, new.passage)
                    is_above = _outweighs(chance, sureness(old), answers)
                updates.append(_Update(old, new, chance, is_above))
    return _ends(updates, at)


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
    if not question.is_readable:
        return sure
    return max(sure, verdict.passage_answer_probability(question, side.passage))


def _update(one: Sentence, two: Sentence, asked: str) -> float:
    """Probability that the second sentence updates the first, with regard to the question."""

    def read(pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        return [pair_head.relation(old, new, asked) for old, new in pairs]

    return pair_head.update_of(one, two, read([(one.text, two.text)])[0], read)


def _as_said(
    old: Side, one: Sentence, new: Side, two: Sentence, speakers: Collection[str]
) -> tuple[Sentence, Sentence]:
    """Two sentences without the name of their speaker, or with both names if these differ."""
    named = [pair_head.without_speaker(sentence.text, speakers) for sentence in (one, two)]
    who = [name or side.passage.speaker for side, (name, _) in zip((old, new), named, strict=True)]
    if all(who) and who[0] != who[1]:
        texts = [f"{name}: {text}" for name, (_, text) in zip(who, named, strict=True)]
    else:
        texts = [text for _, text in named]
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


def _ends(updates: Sequence[_Update], at: str | None) -> dict[int, Superseded]:
    """Resolve the updates: the replacement of each superseded passage."""
    superseded: dict[int, Superseded] = {}
    over = {update.old.row for update in updates if not update.new.is_before(update.old)}
    # A superseded passage of the owner does not contradict the agent; an agent's passage that its owner
    # contradicts supersedes nothing.
    updates = [
        each for each in updates if each.new.row not in over or not each.new.is_before(each.old)
    ]
    gainsaid = {update.old.row for update in updates if update.new.is_before(update.old)}
    by_row: dict[int, list[_Update]] = {}
    for update in updates:
        old, new, chance, _ = update
        if at and clocks.is_after(new.time, at, new.zone) and not new.candidate.signals.date:
            superseded.setdefault(new.row, Superseded(chance, by=old.passage.id, row=old.row))
        elif new.row not in gainsaid:
            by_row.setdefault(old.row, []).append(update)
    pairs = {(update.old.row, update.new.row) for update in updates}
    for row, later in by_row.items():
        # The last one replaces the passage, which ended when the first of the chain was said.
        best = max(
            later,
            key=lambda update: (
                update.is_above,
                not update.new.is_answer,
                update.day,
                update.chance,
            ),
        )
        last = best.new
        chain = [
            update
            for update in later
            if update.new is last or update.chance >= OVER or (update.new.row, last.row) in pairs
        ]
        chance = max(update.chance for update in chain)
        until = min(
            (update.day for update in chain if _is_marked(update.old, update.new, update.chance)),
            default=None,
        )
        above = last.row if best.is_above else None
        superseded[row] = Superseded(chance, until, by=last.passage.id, row=above)
    return superseded


def _may_end(old: Side, new: Side) -> bool:
    """Whether a passage may supersede another: certainly later, and as trusted.

    The owner's words supersede an agent's words in a conversation, whichever are later, unless the
    agent replies to them, or repeats something else from the turn before its own.
    """
    one, other = old.passage, new.passage
    if new.candidate.traits.is_question:
        return False
    if "user" in (one.trust, other.trust) and (old.is_answer or new.is_answer):
        return old.is_answer and not (new.is_before(old) and _is_reply(old, new))
    return not new.is_before(old) and (
        other.trust == "agent" or is_as_trusted(other.trust, one.trust)
    )


def _is_reply(answer: Side, before: Side) -> bool:
    """Whether an agent's passage replies to another, or repeats what that lacks from the turn before."""
    particulars = pair_head.particulars(pair_head.sentence(before.passage.text))
    return before.row == answer.candidate.traits.previous or not answer.repeated <= particulars


def _rivals(
    asked: Sentence, read: Sequence[Side], alike: set[tuple[str, str]]
) -> list[tuple[Side, Side, Sentence, Sentence]]:
    """The pairs of passages that are near to each other and both answer, with the best sentence of each.

    A pair of which neither seems to answer is left out: reading it takes time.
    """
    wanted = pair_head.content(asked)
    is_literal = asked.text.istitle() or any(map(str.isdigit, asked.text))
    pairs = []
    for old, new in product(read, repeat=2):
        keys = old.candidate.traits.key, new.candidate.traits.key
        if keys in alike or not _may_end(old, new):
            continue
        if is_literal and new.candidate.signals.literal < old.candidate.signals.literal:
            continue  # it is about another code or name
        both = [
            (one, two)
            for one, two in product(old.parts(wanted), new.whole_or_parts(wanted))
            if one.keys != two.keys
            and _may_be_alike(old, new, one, two, wanted)
            and not sameness.has_same_preference(one.text, two.text)
            and not sameness.is_of_another(asked.text, one.text, two.text)
            and not (new.is_before(old) and pair_head.content(one) <= pair_head.content(two))
        ]
        if not both:
            continue
        one, two = max(both, key=lambda pair: _shared(wanted, *pair))
        if factuality.asserts_nothing(one.text) or factuality.asserts_nothing(two.text):
            continue  # nothing supersedes a question or a mere idea
        cosine = sum(map(mul, old.vector, new.vector))
        sure = min(old.candidate.confidence, new.candidate.confidence)
        pairs.append((cosine + sure, old, new, one, two))
    pairs.sort(key=lambda pair: (-pair[0], pair[1].time, pair[2].time, pair[1].row, pair[2].row))
    return [
        pair[1:]
        for pair in pairs[:MOST]
        if max(side.candidate.confidence for side in pair[1:3]) >= PERHAPS
    ]


def _may_be_alike(old: Side, new: Side, one: Sentence, two: Sentence, wanted: set[str]) -> bool:
    """Whether the clause of a long passage shares a word with the other sentence.

    That of a later long passage must have every term of the question that the other has.
    """
    if new.is_long and not wanted & {*one.keys} <= {*two.keys}:
        return False
    is_long = old.is_long or new.is_long
    return not (is_long and pair_head.content(one).isdisjoint(pair_head.content(two)))


def _shared(wanted: set[str], one: Sentence, two: Sentence) -> int:
    """Number of words that two sentences share with the question and with each other."""
    first, second = pair_head.content(one), pair_head.content(two)
    return len(first & wanted) + len(second & wanted) + len(first & second)
