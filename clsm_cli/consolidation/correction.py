"""Correct a statement: put the new one in its place and keep the old one with its end.

The three rows of a correction are those of ``calibrate`` (docs/format.md §6); the new one is pinned,
so that no later run closes or changes it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clsm_cli.consolidation import value_places
from clsm_cli.consolidation.calibrate import closed_rows
from clsm_cli.consolidation.claims import KINDS, leading_name
from clsm_cli.consolidation.edit_session import EditSession, check_line, listed, open_for_edit
from clsm_cli.errors import BadInputError, ModelDigestError, ModelMissingError
from clsm_cli.heads import pair_head
from clsm_cli.ingestion.ingest_report import Run
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.clocks import seconds
from clsm_cli.model.ids import normalise_text
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import ontology as store_ontology
from clsm_cli.store.index.opening import open_index
from clsm_cli.text import sameness, todo
from clsm_cli.text.person_words import language_of
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tagging import tags_of
from clsm_cli.text.tokens import terms

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.consolidation.edit_session import Warn
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.trust import Trust
    from clsm_cli.store.layout import Store


LEAST = pair_head.LEAST
"""Probability that it ends a statement below which a sentence is not meant to."""
_FEWEST = 3
"""Words that are a quotation; fewer are a name."""


class NotCertainError(BadInputError):
    """It is not certain which record ``what`` means; ``ids``: those that it may be."""

    def __init__(self, what: str, reason: str, next_step: str, ids: tuple[str, ...] = ()) -> None:
        super().__init__(what, reason, next_step)
        self.what, self.ids = what, ids


class SourcePassage(NamedTuple):
    """A turn or a block that says what is not true, where no statement does."""

    key: str
    text: str
    time: str | None
    trust: Trust
    about: str


class Correction(NamedTuple):
    """What a correction did, or would do.

    Attributes:
        until: When it stopped to hold; None where it never did.
        also: Further statements that say the same as the old one, closed with it.
        is_new: False where memory says so already, and nothing changes.
    """

    was: Statement
    until: str | None
    now: Statement
    also: tuple[Statement, ...] = ()
    is_new: bool = True
    run: str | None = None


def correct(
    store: Store,
    wanted: str | SourcePassage,
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
        wanted: Id of a statement, words that stand in one alone, or the name of what it is about; or a
            passage, of which the sentence that is not true becomes a statement first.
        said: The whole sentence that is true now, or only the value that takes the old one's place.
        is_whole: It is a sentence, whatever it looks like.
        since: Since when it is true, a canonical time; else from now on.
        never: The old statement was never true.

    Raises:
        NotCertainError: It is not certain which statement is meant.
        BadInputError: It is not certain what it should say.
    """
    mask = Masker(Counter())
    said = " ".join(mask(said).split())
    if not any(map(str.isalnum, said)):
        raise BadInputError("VALUE", "says nothing", "write what is true now")
    for kind, count in sorted(mask.counts.items()):
        warn(f"{count} masked ({kind})")
    with open_for_edit(store, "correct", now, warn, dry_run=dry_run) as edits:
        if isinstance(wanted, SourcePassage):
            old = _stated(edits, wanted, said)
        else:
            old = edits.statement(wanted) or _quoted(edits, wanted) or _meant(edits, wanted, said)
        text = said if is_whole else _replaced(edits, old, said)
        if text is None:
            reason = f"{said!r} does not say what it takes the place of in {old.text!r}"
            next_step = "write the whole sentence that is true now, with a full stop"
            raise BadInputError(old.id, reason, next_step)
        if (known := _known(edits, old, text)) is not None:
            return Correction(old, old.valid_until, known, is_new=False)
        more = tuple(edits.statements[each] for each in with_it)
        done = apply_correction(edits, old, text, since, never=never, with_it=more)
        return done._replace(run=edits.save())


def chances(
    store: Store,
    found: Sequence[str | SourcePassage],
    said: str,
    now: datetime,
    *,
    is_whole: bool = False,
) -> list[float]:
    """How likely what is said takes the place of something in each of some statements and passages.

    A value does where it has one place.
    """
    edits = EditSession(store, Run(store, "correct", now), now, dry_run=True)
    closed = {row.text for row in edits.statements.values() if not row.is_current}
    closed -= {row.text for row in edits.statements.values() if row.is_current}
    told = []
    for each in found:
        row = edits.statements[each] if isinstance(each, str) else _stated(edits, each, said)
        if not row.is_current or row.text in closed:
            told.append(0.0)
        elif is_whole or _is_sentence(row, said):
            told.append(_chance(row, said))
        else:
            told.append(float(_with_value(edits, row, said) is not None))
    return told


def _chance(row: Statement, said: str) -> float:
    """How likely a whole sentence ends what a statement says; without the model it may end anything.

    The model reads English alone. In other languages a sentence ends what it repeats but for a value.
    """
    if row.text == said:
        return 1.0
    old, new = map(pair_head.sentence, (row.text, said))
    try:
        if not pair_head.is_readable(f"{row.text}\n{said}"):
            return float(_has_other_value(row.text, said))
        (relation,) = pair_head.relations([(row.text, said)])
        return pair_head.update_of(old, new, relation, pair_head.relations)
    except (ModelMissingError, ModelDigestError):
        return 1.0


def _has_other_value(old: str, new: str) -> bool:
    """Whether two sentences begin and end alike around one value, which is less than half of either.

    >>> _has_other_value("Leute: Mia wohnt in Graz.", "Mia wohnt in Linz")
    True
    >>> _has_other_value("Mia wohnt in Graz.", "Mia mag Kuchen.")
    False
    """
    said = _words(new)
    for start in (0, *(mark.end() for mark in re.finditer(": ", old))):
        told = _words(old[start:])
        ahead = sameness.common_start(told, said)
        behind = sameness.common_start(told[ahead:][::-1], said[ahead:][::-1])
        if 2 * (ahead + behind) > max(len(told), len(said)):
            return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def apply_correction(
    edits: EditSession,
    old: Statement,
    text: str,
    since: str | None,
    *,
    never: bool = False,
    with_it: tuple[Statement, ...] = (),
) -> Correction:
    """Add the rows of a correction to an edit session.

    A current statement that says ``text`` already becomes the new row, and holds since when it did.
    Statements that say the same as the old one are closed too, as ``with_it`` are: they would stand
    there stale.

    Raises:
        BadInputError: The text cannot be a line of Markdown, or the statement is a summary.
    """
    if old.kind == "gist":
        reason = "is a summary that clsm works out anew"
        raise BadInputError(old.id, reason, "correct the statement that it rests on")
    standing = edits.find_text(text, but=old.id)
    told = standing.valid_from if standing is not None else None
    start = old.valid_from if never else since or told or edits.time
    if standing is None:
        new = _new(edits, old, text, start)
    else:
        new = replace(standing, supersedes=old.id, trust="user", pinned=True)
    check_line(new)
    taken = {new.id, *(row.id for row in with_it)}
    rows = (row for row in edits.statements.values() if row.is_current and row.id != old.id)
    same = (row for row in rows if sameness.says_the_same(row.text, old.text, 0.0))
    also = with_it + tuple(row for row in same if row.id not in taken and row.kind == old.kind)
    until, *_ = [_close(edits, row, None if never else start) for row in (old, *also)]
    edits.put(new)
    return Correction(old, until, new, also)


def _quoted(edits: EditSession, words: str) -> Statement | None:
    """The current statement that begins with some words, or else has them, if only one does."""
    quoted = _words(words)
    if len(quoted) < _FEWEST:
        return None
    said = f" {' '.join(quoted)} "
    texts = [(f" {' '.join(_words(row.text))} ", row) for row in edits.statements.values()]
    having = [(text, row) for text, row in texts if row.is_current and said in text]
    for found in ([each for each in having if each[0].startswith(said)], having):
        if len({text for text, _ in found}) == 1:
            return max((row for _, row in found), key=lambda row: (row.valid_from or "", row.id))
    return None


def _meant(edits: EditSession, subject: str, said: str) -> Statement:
    """The statement about a subject that a sentence can replace, or that has a place for a value."""
    rows = [row for row in edits.statements_about(subject) if row.kind in KINDS]
    if not rows:
        reason = "is no id, and memory holds nothing about anything with that name"
        raise NotCertainError(subject, reason, "find the id of a statement with: clsm recall")
    fits = [row for row in rows if _replaced(edits, row, said) is not None]
    if len({normalise_text(row.text) for row in fits}) == 1:
        row = max(fits, key=lambda row: (row.valid_from or "", row.id))
        if not _is_sentence(row, said) or _chance(row, said) >= LEAST:
            return row
    ids = tuple(row.id for row in fits or rows)
    raise NotCertainError(subject, listed(fits or rows), "name one by its id", ids)


def _stated(edits: EditSession, passage: SourcePassage, said: str) -> Statement:
    """What a passage says of that, as a statement: one of its sentences.

    The one with a value to replace, else the one that has most words of what is meant.
    """
    meant = terms(f"{passage.about} {said}")
    beside: dict[str, Any] = {"valid_from": passage.time, "trust": passage.trust}
    rows = [
        with_new_text(edits.sourced(text, (passage.key,), **beside), text)
        for text in dict.fromkeys(map(to_plain, sentences(passage.text)))
    ]

    def fitness(row: Statement) -> tuple[bool, int]:
        has_place = _with_value(edits, row, said) is not None
        return has_place, len(meant & terms(row.text))

    return max(rows, key=fitness)


def _replaced(edits: EditSession, old: Statement, said: str) -> str | None:
    """What is said as a whole sentence; None where it is a value without one place in the old one."""
    return said if _is_sentence(old, said) else _with_value(edits, old, said)


_STOP = re.compile(r"[.!][\"'\u201d\u2019)]*$")


def _is_sentence(row: Statement, said: str) -> bool:
    """Whether somebody says a whole sentence, not the value alone that takes the place of the old one.

    It has a full stop or a verb, or begins as the statement does.
    """
    words, old = said.split(), row.text.split()
    is_like = [word.casefold() for word in words[:2]] == [word.casefold() for word in old[:2]]
    has_verb = any(language_of(said).is_a("verb", word) for word in words)  # "May" is a month
    return len(words) > 2 and (is_like or has_verb or _STOP.search(said) is not None)


def _with_value(edits: EditSession, row: Statement, value: str) -> str | None:
    """A statement with a value in the place of the one of its kind; None where it has not just one."""
    found = value_places.with_value(row.text, value, edits.day)
    if found is not None or not (label := value_places.label_of(row.text)):
        return found
    return f"{label}: {value.rstrip('.')}" if _names_value(edits, row, label) else None


def _names_value(edits: EditSession, row: Statement, label: str) -> bool:
    """Whether a label names what stands behind it, not the section of a note that tells more.

    A statement has the headings of its note before it. One names a value only where that is all
    that stands below it. Where the note is not known, the label is taken for the author's.
    """
    value = normalise_text(row.text.removeprefix(f"{label}: "))
    with open_index(edits.store, None) as opened:
        index = opened.index
        blocks = index.passages(index.rows_of(_sources_of(edits, row)))
        for at, block in blocks.items():
            said = normalise_text(to_plain(block.text))
            if normalise_text(row.text) in said:
                return True
            if value in said:
                return value == said and len(index.section(at)) == 1
    return True


def _sources_of(edits: EditSession, row: Statement) -> tuple[str, ...]:
    """The turns and blocks that a statement, or the first that it took the place of, rests on."""
    seen = set[str]()
    while not row.sources and row.supersedes in edits.statements and row.id not in seen:
        seen.add(row.id)
        row = edits.statements[row.supersedes]
    return row.sources


def _known(edits: EditSession, old: Statement, text: str) -> Statement | None:
    """What says so already: the statement itself, or what took its place before."""
    if old.is_current:
        return old if old.text == text else None
    rows = edits.statements.values()
    heir = next((row for row in rows if row.supersedes == old.id and row.is_current), None)
    if heir and heir.text == text:
        return heir
    reason = "is no longer held" + (f"; {heir.id} took its place" if heir else "")
    raise BadInputError(old.id, reason, "find what is held with: clsm recall")


def with_new_text(row: Statement, text: str) -> Statement:
    """A statement with another text, and with the subject that it tells."""
    return replace(row, text=text, subject=leading_name(text) or row.subject)


def _new(edits: EditSession, old: Statement, text: str, start: str | None) -> Statement:
    """The third row: what is true now, by a person."""
    ontology, _ = store_ontology.load(edits.store)
    _, _, item = text.rpartition(": ")  # a heading before it may name other days
    due = todo.due_day(item, edits.day) or todo.due_day(text, edits.day)
    return replace(
        with_new_text(old, text),
        id=edits.free_id(text, start, old.id),
        rev=(0, ""),
        due=due if old.kind == "task" else None,
        sources=(),
        valid_from=start,
        valid_until=None,
        recorded_at=edits.run.now,
        superseded_at=None,
        supersedes=old.id,
        contradicted_by=(),
        tags=tuple(sorted(tags_of(text, ontology))),
        trust="user",
        pinned=True,
        withdrawn=False,
        extra={},
    )


def _close(edits: EditSession, row: Statement, until: str | None) -> str | None:
    """The first two rows; until when it held, None where it never did: then it is withdrawn."""
    zone = edits.store.zone
    if until is None or seconds(until, zone) <= seconds(row.valid_from, zone):
        edits.put(replace(row, superseded_at=edits.run.now, withdrawn=True))
        return None
    for each in closed_rows(row, until, edits.run.now):
        edits.put(each)
    return until
