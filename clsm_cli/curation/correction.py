"""Correct a statement: replace it with a new one, and keep the old one, closed.

The three rows of a correction are those of ``calibrate`` (docs/format.md §6). The new one is pinned, so
that no later run closes or changes it.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from clsm_cli.consolidation import supersession_check
from clsm_cli.consolidation.calibrate import closed_rows
from clsm_cli.consolidation.claims import KINDS, leading_name
from clsm_cli.curation import value_places
from clsm_cli.curation.edit_session import EditSession, Warn, check_line, listed, open_for_edit
from clsm_cli.errors import BadInputError, ModelDigestError, ModelMissingError
from clsm_cli.heads import pair_head
from clsm_cli.ingestion.turns import Masker
from clsm_cli.model.clocks import seconds
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import normalise_text
from clsm_cli.model.trust import Trust
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store
from clsm_cli.store.runs import Run
from clsm_cli.text import sameness, todo
from clsm_cli.text.person_words import language_of
from clsm_cli.text.plain import to_plain
from clsm_cli.text.sentences import sentences
from clsm_cli.text.tokens import folded_words, terms

MIN_UPDATE_P = pair_head.MIN_UPDATE_P
"""Minimum probability that a sentence ends a statement for the two to be matched."""
_MIN_QUOTED_WORDS = 3
"""Minimum words of a quotation; fewer are a name."""


class NotCertainError(BadInputError):
    """``what`` is ambiguous or unknown; ``ids``: the candidate records."""

    def __init__(self, what: str, reason: str, next_step: str, ids: tuple[str, ...] = ()) -> None:
        super().__init__(what, reason, next_step)
        self.what, self.ids = what, ids


class SourcePassage(NamedTuple):
    """A turn or block with a wrong sentence that is not a statement; ``about``: what was asked for."""

    key: str
    text: str
    time: str | None
    trust: Trust
    about: str


class Correction(NamedTuple):
    """What a correction did, or would do.

    Attributes:
        until: End of the old statement's validity; None if it was never true.
        also: Other statements with the same content, closed with it.
        is_new: False if the store already says so, and nothing changes.
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
    """Replace a statement by what is true now.

    Args:
        wanted: Id of a statement, words that only one contains, or the name of its subject; or a passage,
            whose wrong sentence becomes a statement first.
        said: The new sentence, or only the new value.
        with_it: Ids of other statements to close.
        is_whole: ``said`` is a sentence, whatever its form.
        since: Start of its validity, a canonical time; now by default.
        never: The old statement was never true.

    Raises:
        NotCertainError: The statement is ambiguous or unknown.
        BadInputError: The new text cannot be determined.
    """
    mask = Masker(Counter())
    said = " ".join(mask(said).split())
    if not any(map(str.isalnum, said)):
        raise BadInputError("VALUE", "says nothing", "write what is true now")
    for kind, count in sorted(mask.counts.items()):
        warn(f"{count} masked ({kind})")
    with open_for_edit(store, "correct", now, warn, dry_run=dry_run) as edits:
        if isinstance(wanted, SourcePassage):
            old = _from_passage(edits, wanted, said)
        else:
            old = edits.statement(wanted) or _quoted(edits, wanted) or _about(edits, wanted, said)
        text = said if is_whole else _corrected_text(edits, old, said)
        if text is None:
            reason = f"{said!r} does not say what it takes the place of in {old.text!r}"
            next_step = "write the whole sentence that is true now, with a full stop"
            raise BadInputError(old.id, reason, next_step)
        if (known := _already_corrected(edits, old, text)) is not None:
            return Correction(old, old.valid_until, known, is_new=False)
        more = tuple(edits.statements[each] for each in with_it)
        done = apply_correction(edits, old, text, since, never=never, with_it=more)
        return done._replace(run=edits.save())


def update_probabilities(
    store: Store,
    targets: Sequence[str | SourcePassage],
    said: str,
    now: datetime,
    *,
    is_whole: bool = False,
) -> list[float]:
    """For statements and passages, the probability that ``said`` replaces something in each.

    For a value it is 1 if exactly one part of the text fits, else 0.
    """
    edits = EditSession(store, Run(store, "correct", now), now, dry_run=True)
    closed = {row.text for row in edits.statements.values() if not row.is_current}
    closed -= {row.text for row in edits.statements.values() if row.is_current}

    def probability(target: str | SourcePassage) -> float:
        row = (
            edits.statements[target]
            if isinstance(target, str)
            else _from_passage(edits, target, said)
        )
        if not row.is_current or row.text in closed:
            return 0.0
        if is_whole or _is_sentence(row, said):
            return _update_probability(row, said)
        return float(_with_value(edits, row, said) is not None)

    return [probability(target) for target in targets]


def _update_probability(row: Statement, said: str) -> float:
    """The probability that a sentence ends a statement; 1 without the model.

    The model only reads English. In other languages, a sentence ends one that differs in a value only.
    """
    if row.text == said:
        return 1.0
    old, new = map(pair_head.sentence, (row.text, said))
    try:
        if not pair_head.is_readable(f"{row.text}\n{said}"):
            return float(_has_other_value(row.text, said))
        (relation,) = pair_head.relations([(row.text, said)])
        relation = supersession_check.with_numbers(relation, old, new)
        return pair_head.update_of(old, new, relation, pair_head.relations)
    except (ModelMissingError, ModelDigestError):
        return 1.0


def _has_other_value(old: str, new: str) -> bool:
    """Whether two sentences are equal except for one value, less than half of either.

    >>> _has_other_value("Leute: Mia wohnt in Graz.", "Mia wohnt in Linz")
    True
    >>> _has_other_value("Mia wohnt in Graz.", "Mia mag Kuchen.")
    False
    """
    after = folded_words(new)
    for start in (0, *(mark.end() for mark in re.finditer(": ", old))):
        before = folded_words(old[start:])
        ahead = sameness.common_prefix(before, after)
        behind = sameness.common_prefix(before[ahead:][::-1], after[ahead:][::-1])
        if 2 * (ahead + behind) > max(len(before), len(after)):
            return True
    return False


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

    A current statement with that text becomes the new row and keeps its start. ``with_it`` and all
    statements that say the same as the old one are closed too, so that none stays behind.

    Raises:
        BadInputError: The text cannot be a line of Markdown, or the statement is a summary.
    """
    if old.kind == "gist":
        reason = "is a summary that clsm works out anew"
        raise BadInputError(old.id, reason, "correct the statement that it rests on")
    standing = edits.find_text(text, but=old.id)
    known_start = standing.valid_from if standing is not None else None
    start = old.valid_from if never else since or known_start or edits.time
    if standing is None:
        new = _successor(edits, old, text, start)
    else:
        new = replace(standing, supersedes=old.id, trust="user", pinned=True)
    check_line(new)
    taken = {new.id, *(row.id for row in with_it)}
    rows = (row for row in edits.statements.values() if row.is_current and row.id != old.id)
    same = (row for row in rows if sameness.is_equivalent(row.text, old.text, 0.0))
    also = with_it + tuple(row for row in same if row.id not in taken and row.kind == old.kind)
    until, *_ = [_close(edits, row, None if never else start) for row in (old, *also)]
    edits.put(new)
    return Correction(old, until, new, also)


def _quoted(edits: EditSession, words: str) -> Statement | None:
    """The only current statement that begins with some words, else the only one that contains them."""
    quoted = folded_words(words)
    if len(quoted) < _MIN_QUOTED_WORDS:
        return None
    wanted = f" {' '.join(quoted)} "
    texts = [(f" {' '.join(folded_words(row.text))} ", row) for row in edits.statements.values()]
    having = [(text, row) for text, row in texts if row.is_current and wanted in text]
    for found in ([each for each in having if each[0].startswith(wanted)], having):
        if len({text for text, _ in found}) == 1:
            return max((row for _, row in found), key=lambda row: (row.valid_from or "", row.id))
    return None


def _about(edits: EditSession, subject: str, said: str) -> Statement:
    """The only statement about a subject that a sentence or value can replace."""
    rows = [row for row in edits.statements_about(subject) if row.kind in KINDS]
    if not rows:
        reason = "is no id, and memory holds nothing about anything with that name"
        raise NotCertainError(subject, reason, "find the id of a statement with: clsm recall")
    fits = [row for row in rows if _corrected_text(edits, row, said) is not None]
    if len({normalise_text(row.text) for row in fits}) == 1:
        row = max(fits, key=lambda row: (row.valid_from or "", row.id))
        if not _is_sentence(row, said) or _update_probability(row, said) >= MIN_UPDATE_P:
            return row
    ids = tuple(row.id for row in fits or rows)
    raise NotCertainError(subject, listed(fits or rows), "name one by its id", ids)


def _from_passage(edits: EditSession, passage: SourcePassage, said: str) -> Statement:
    """The sentence of a passage that ``said`` corrects, as a statement.

    It has a value to replace, or else the most words of the query and ``said``.
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


def _corrected_text(edits: EditSession, old: Statement, said: str) -> str | None:
    """``said`` as a whole sentence; None if it is a value that does not fit exactly one place."""
    return said if _is_sentence(old, said) else _with_value(edits, old, said)


_FULL_STOP = re.compile(r"[.!][\"'\u201d\u2019)]*$")


def _is_sentence(row: Statement, said: str) -> bool:
    """Whether ``said`` is a sentence rather than a value: a full stop, a verb, or the statement's beginning."""
    words, old = said.split(), row.text.split()
    is_like = [word.casefold() for word in words[:2]] == [word.casefold() for word in old[:2]]
    has_verb = any(language_of(said).is_a("verb", word) for word in words)  # "May" is a month
    return len(words) > 2 and (is_like or has_verb or _FULL_STOP.search(said) is not None)


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


def _already_corrected(edits: EditSession, old: Statement, text: str) -> Statement | None:
    """The statement or its successor, if it already has the text.

    Raises:
        BadInputError: The statement is no longer current.
    """
    if old.is_current:
        return old if old.text == text else None
    rows = edits.statements.values()
    successor = next((row for row in rows if row.supersedes == old.id and row.is_current), None)
    if successor and successor.text == text:
        return successor
    reason = "is no longer held" + (f"; {successor.id} took its place" if successor else "")
    raise BadInputError(old.id, reason, "find what is held with: clsm recall")


def with_new_text(row: Statement, text: str) -> Statement:
    """A statement with another text, and the subject that the text begins with."""
    return replace(row, text=text, subject=leading_name(text) or row.subject)


def _successor(edits: EditSession, old: Statement, text: str, start: str | None) -> Statement:
    """The third row: what is true now, pinned."""
    _, _, item = text.rpartition(": ")  # its heading may contain other days
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
        trust="user",
        pinned=True,
        withdrawn=False,
        extra={},
    )


def _close(edits: EditSession, row: Statement, until: str | None) -> str | None:
    """Add the first two rows, and return the end; a statement that was never true is withdrawn (None)."""
    zone = edits.store.zone
    if until is None or seconds(until, zone) <= seconds(row.valid_from, zone):
        edits.put(replace(row, superseded_at=edits.run.now, withdrawn=True))
        return None
    for each in closed_rows(row, until, edits.run.now):
        edits.put(each)
    return until
