"""Correct: a person says what is true now, and memory keeps what it held until then.

The three rows of a correction are those of ``calibrate`` (docs/format.md §6); the new one is pinned,
so that no later run closes or changes it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.consolidation.claims import FACTS
from clsm_cli.consolidation.edit_session import Desk, at_desk, check_line
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion.ingest_report import Run
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import closed_copy_id, folded
from clsm_cli.model.tombstones import birth_ids, first_free
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs
from clsm_cli.store import ontology as store_ontology
from clsm_cli.text import relevance_gate, slot_values, slots, todo
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.ontology import tags_of
from clsm_cli.text.plain import plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.slot_identity import UNKNOWN
from clsm_cli.text.slot_words import PERSON_PRONOUNS
from clsm_cli.text.statement_streams import stream_of
from clsm_cli.text.time import expressions
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from clsm_cli.consolidation.edit_session import Warn
    from clsm_cli.model.trust import Trust
    from clsm_cli.store.layout import Store
    from clsm_cli.text.slots import Fact


class NotCertainError(BadInputError):
    """It is not certain which statement is meant; ``ids``: those that it may be."""

    def __init__(self, what: str, reason: str, next_step: str, ids: tuple[str, ...] = ()) -> None:
        super().__init__(what, reason, next_step)
        self.ids = ids


class Heard(NamedTuple):
    """A turn or a block that says what is not true, where no statement does.

    Attributes:
        about: What a person called it, to find its sentence.
    """

    key: str
    text: str
    time: str | None
    trust: Trust
    about: str


class Correction(NamedTuple):
    """What a correction did, or would do.

    Attributes:
        was: What stood.
        until: When it stopped to hold; None where it never did.
        now: What stands.
        also: Further statements that held the old value in its slot, closed with it.
        beside: Statements that hold the old value and say more; they still stand.
        is_new: False where memory says so already, and nothing changes.
        run: Id in the ledger; None when nothing was written.
    """

    was: Statement
    until: str | None
    now: Statement
    also: tuple[Statement, ...] = ()
    beside: tuple[Statement, ...] = ()
    is_new: bool = True
    run: str | None = None


def correct(
    store: Store,
    wanted: str | Heard,
    said: str,
    now: datetime,
    warn: Warn,
    *,
    with_it: Sequence[str] = (),
    is_whole: bool = False,
    since: str | None = None,
    never: bool = False,
    dry_run: bool = False,
) -> Correction:
    """Put what is true now in the place of a statement.

    Args:
        store: Where.
        wanted: Id of a statement, how one begins, or the name of what it is about; or a passage, of
            which the sentence that is not true becomes a statement first.
        said: The whole sentence that is true now, or only the value that takes the old one's place.
        now: Time of the run, with offset.
        warn: Told what the user should hear.
        with_it: Ids of statements that are closed too.
        is_whole: It is a sentence, whatever it looks like.
        since: Since when it is true, a canonical time; else the sentence says it, else now.
        never: The old statement was never true.
        dry_run: Only say what would happen.

    Raises:
        NotCertainError: It is not certain which statement is meant.
        BadInputError: It is not certain what it should say.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused.
    """
    mask = Masker(Counter())
    said = " ".join(mask(said).split())
    if not any(map(str.isalnum, said)):
        raise BadInputError("VALUE", "says nothing", "write what is true now")
    for kind, count in sorted(mask.found.items()):
        warn(f"{count} masked ({kind})")
    with at_desk(store, "correct", now, warn, dry_run=dry_run) as desk:
        if isinstance(wanted, Heard):
            old = _stated(desk, wanted, said)
        else:
            old = desk.statement(wanted) or _meant(desk, wanted, said)
        text = said if is_whole else _sentence(desk, old, said)
        if (known := _known(desk, old, text)) is not None:
            return Correction(old, old.valid_until, known, is_new=False)
        more = tuple(desk.statements[each] for each in with_it)
        done = replaced(desk, old, text, since, never=never, with_it=more)
        return done._replace(run=desk.save())


def replaceable(
    store: Store, found: Sequence[str | Heard], said: str, now: datetime, *, is_whole: bool = False
) -> list[bool]:
    """Which of some statements and passages say what is said anew, of the same thing."""
    desk = Desk(store, Run(store, "correct", now), now, dry_run=True)
    tells = _tells if is_whole or is_sentence(said) else _takes
    rows = [
        _stated(desk, each, said) if isinstance(each, Heard) else desk.statements[each]
        for each in found
    ]
    return [row.is_current and tells(desk, row, said) for row in rows]


def _tells(desk: Desk, row: Statement, sentence: str) -> bool:
    """Whether a sentence tells of the same thing and slot, or of a thing of which a row tells none."""
    facts = _facts(desk, row, sentence)
    if row.slot is None:
        words = {*stems(row.text)}
        return any(fact.subject and {*stems(fact.subject)} <= words for fact in facts)
    return any(
        f.slot == row.slot and desk.node_of(f.subject) == desk.node_of(row.subject) for f in facts
    )


def _takes(desk: Desk, row: Statement, value: str) -> bool:
    """Whether a value is like the one that a statement holds, and can take its place there."""
    is_alike = row.value is not None and _kind(row.value, desk.day) == _kind(value, desk.day)
    return is_alike and _with_value(desk, row, value) is not None and _fits(desk, row, value)


def replaced(
    desk: Desk,
    old: Statement,
    text: str,
    since: str | None,
    *,
    never: bool = False,
    with_it: tuple[Statement, ...] = (),
) -> Correction:
    """Put the rows of a correction on the desk.

    A current statement that says ``text`` already becomes the new row. Statements that say little
    more than the old one are closed too, as ``with_it`` are: they would stand there stale.

    Raises:
        BadInputError: The text cannot be a line of Markdown, or the statement is a summary.
    """
    if old.kind == "gist":
        reason = "is a summary that clsm works out anew"
        raise BadInputError(old.id, reason, "correct the statement that it rests on")
    fact = _fact(desk, old, text)
    start = old.valid_from if never else since or (fact and fact.since) or desk.time
    standing = desk.saying(text, but=old.id)
    if standing is None:
        new = _new(desk, old, text, start)
    else:
        new = replace(standing, supersedes=old.id, trust="user", pinned=True)
    check_line(new)
    taken = {new.id, *(row.id for row in with_it)}
    held = [row for row in _of_value(desk, old) if row.id not in taken]
    also = with_it + tuple(r for r in held if r.slot == old.slot and _says_no_more(r, old))
    until, *_ = [_close(desk, row, None if never else start) for row in (old, *also)]
    desk.put(new)
    return Correction(old, until, new, also, tuple(row for row in held if row not in also))


def _meant(desk: Desk, subject: str, said: str) -> Statement:
    """The statement about a subject whose value a sentence, or a value alone, can replace."""
    rows = [row for row in desk.about(subject) if row.slot]
    if not rows:
        reason = "is no id, and memory holds no value of anything with that name"
        raise NotCertainError(subject, reason, "find the id of a statement with: clsm recall")
    if is_sentence(said):
        told = {fact.slot for row in rows for fact in _facts(desk, row, said)}
        fits = [row for row in rows if row.slot in told]
    else:
        alike = [row for row in rows if _kind(row.value or "", desk.day) == _kind(said, desk.day)]
        fits = [row for row in alike if _fits(desk, row, said)] or alike or rows
    if len({(row.slot, folded(row.value or "")) for row in fits}) == 1:
        return max(fits, key=lambda row: (row.valid_from or "", row.id))
    listed = ", ".join(f"{row.id} ({row.slot}: {row.value})" for row in (fits or rows)[:10])
    reason = f"it is not certain which statement is meant: {listed}"
    ids = tuple(row.id for row in fits or rows)
    raise NotCertainError(subject, reason, "name one by its id", ids)


def _stated(desk: Desk, heard: Heard, said: str) -> Statement:
    """What a passage says of that, as a statement: one of its sentences.

    The one with a value to replace, else the one that has most words of what is meant.
    """
    meant = {*stems(f"{heard.about} {said}")}
    known = {*desk.statements, *desk.records}
    forgotten = logs.forgotten(desk.store)
    rows = []
    for text in dict.fromkeys(map(plain, sentences(heard.text))):
        births = (each for each in birth_ids(folded(text), None) if each not in known)
        stream = stream_of(text)
        row = Statement(
            id=first_free(births, forgotten),
            rev=(0, ""),
            text=text,
            stream=stream,
            topic=FACTS[stream],
            sources=(heard.key,),
            valid_from=heard.time,
            recorded_at=desk.run.now,
            trust=heard.trust,
        )
        rows.append(retold(desk, row, text))

    def fitness(row: Statement) -> tuple[bool, int]:
        return _with_value(desk, row, said) is not None, len(meant & {*stems(row.text)})

    return max(rows, key=fitness)


def _fits(desk: Desk, row: Statement, value: str) -> bool:
    """Whether a sentence that tells its slot still tells it with another value in it."""
    texts = (row.text, _with_value(desk, row, value) or row.text)
    reads = [any(fact.slot == row.slot for fact in _facts(desk, row, text)) for text in texts]
    return reads != [True, False]


def _sentence(desk: Desk, old: Statement, said: str) -> str:
    """What is said as a whole sentence."""
    text = said if is_sentence(said) else _with_value(desk, old, said)
    if text is None or (text != said and not _fits(desk, old, said)):
        reason = f"{said!r} does not say what it takes the place of in {old.text!r}"
        next_step = "write the whole sentence that is true now, with a full stop"
        raise BadInputError(old.id, reason, next_step)
    return text


def _with_value(desk: Desk, row: Statement, value: str) -> str | None:
    """The text with its value replaced; None where that would not be what is true now.

    The old one must stand there once, literally, and nothing may say since when it holds.
    """
    told = next((fact for fact in _facts(desk, row, row.text) if fact.slot == row.slot), None)
    rest = row.text.replace(row.value or " ", " ")
    dated = (told.since, told.until, *told.was) if told else expressions.find(rest, desk.day)
    places = list(
        re.finditer(rf"(?<!\w){re.escape(row.value or '')}(?!\w)", row.text, re.IGNORECASE)
    )
    if not row.value or len(places) != 1 or any(dated):
        return None
    before = row.text[: places[0].start()]
    if _ARTICLE.match(value):
        before = re.sub(rf"\b{_ARTICLE.pattern}$", "", before, flags=re.IGNORECASE)
    return before + value.rstrip(".") + row.text[places[0].end() :]


def _known(desk: Desk, old: Statement, text: str) -> Statement | None:
    """What says so already: the statement itself, or what took its place before."""
    if old.is_current:
        return old if old.text == text else None
    rows = desk.statements.values()
    heir = next((row for row in rows if row.supersedes == old.id and row.is_current), None)
    if heir and heir.text == text:
        return heir
    reason = "is no longer held" + (f"; {heir.id} took its place" if heir else "")
    raise BadInputError(old.id, reason, "find what is held with: clsm recall")


def retold(desk: Desk, row: Statement, text: str) -> Statement:
    """A statement with another text, and with what that tells of a slot."""
    fact = _fact(desk, row, text)
    if fact is None:  # it still says what there is to say of its slot
        return replace(row, text=text, value=None)
    is_named = fact.subject.casefold() not in {"", *UNKNOWN, *PERSON_PRONOUNS}
    subject = node_id(fact.subject) if is_named else row.subject
    value = None if fact.is_ended else fact.value
    return replace(row, text=text, subject=subject, slot=fact.slot, value=value)


def _new(desk: Desk, old: Statement, text: str, start: str | None) -> Statement:
    """The third row: what is true now, by a person."""
    known = {*desk.statements, *desk.records}
    births = (i for i in birth_ids(folded(text), None, start, old.id) if i not in known)
    ontology, _ = store_ontology.load(desk.store)
    return replace(
        retold(desk, old, text),
        id=first_free(births, logs.forgotten(desk.store)),
        rev=(0, ""),
        due=todo.due_day(text, desk.day) if old.kind == "task" else None,
        sources=(),
        valid_from=start,
        valid_until=None,
        recorded_at=desk.run.now,
        superseded_at=None,
        supersedes=old.id,
        contradicted_by=(),
        tags=tuple(sorted(tags_of(text, ontology))),
        trust="user",
        pinned=True,
        withdrawn=False,
        extra={},
    )


def _close(desk: Desk, row: Statement, until: str | None) -> str | None:
    """The first two rows; until when it held, None where it never did: then it is withdrawn."""
    held = until is not None and until > (row.valid_from or "")
    now = desk.run.now
    desk.put(replace(row, superseded_at=now, withdrawn=not held))
    if until is None or not held:
        return None
    copy_id = closed_copy_id(row.id, until)
    desk.put(replace(row, id=copy_id, valid_until=until, recorded_at=now, supersedes=None))
    return until


def _of_value(desk: Desk, old: Statement) -> list[Statement]:
    """Other current statements that say of the same subject that it has the same value."""
    if not (old.subject and old.value):
        return []
    rows = (row for row in desk.statements.values() if row.is_current and row.id != old.id)
    rows = (row for row in rows if folded(row.value or "") == folded(old.value or ""))
    return [row for row in rows if desk.node_of(row.subject) == desk.node_of(old.subject)]


def _says_no_more(row: Statement, old: Statement) -> bool:
    return len({*stems(row.text)} - {*stems(old.text)}) < _NEW_STEMS


def _fact(desk: Desk, old: Statement, text: str) -> Fact | None:
    """What a text tells: of the slot of the old statement, where it tells of that."""
    found = _facts(desk, old, text)
    return min(found, key=lambda fact: (fact.slot != old.slot, not fact.is_single), default=None)


def _facts(desk: Desk, row: Statement, text: str) -> list[Fact]:
    return slots.facts(text, desk.day, speaker=desk.label(row.subject))


_NEW_STEMS = 4
"""Content stems by which a statement says more than another one."""
_ARTICLE = re.compile(r"(?:the|an?|my|our)\s+", re.IGNORECASE)
_STOP = re.compile(r"[.!][\"'\u201d\u2019)]*$")


def is_sentence(text: str) -> bool:
    """Whether a text is a whole sentence, not a value alone."""
    words = relevance_gate.tokens(text)
    is_order = relevance_gate.is_command(words) or _STOP.search(text) is not None
    return relevance_gate.is_whole(text) or (is_order and len(text.split()) > 2)


def _kind(value: str, at: date) -> tuple[str, str]:
    """What a value is like: a day or some, a quantity of a unit, a name, or other words."""
    found = expressions.find(value, at)
    if slot_values.weekdays(value) or (found and found[0].text == value):
        return ("day", "")
    first, _, rest = value.partition(" ")
    if slot_values.number(first):
        return ("quantity", slot_values.quantity("2", rest) if rest else "")
    return ("name" if value[:1].isupper() else "words", "")
