"""Edit one record as text, and pin records or unpin them, so that consolidation leaves them as they are.

What is pinned keeps its values through every run, and decay never archives it; whoever edits a record
pins it. What is unpinned is like any other record again: the next consolidation may reinforce, close or
rename it.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from clsm_cli.config import MAX_FILE
from clsm_cli.consolidation.correction import NotCertainError, with_new_text
from clsm_cli.consolidation.edit_session import EditSession, check_line, listed, open_for_edit
from clsm_cli.errors import BadInputError, DamagedStoreError, RefusedError
from clsm_cli.ingestion import timestamps
from clsm_cli.ingestion.ingest_report import Run
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.model.codec import TYPE_NAMES, RecordError, decode, encode
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.ids import resolve_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episode_files, inbox, logs, record_files, yaml_text
from clsm_cli.store.jsonlines import LineError, dump
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.consolidation.edit_session import Warn
    from clsm_cli.model.codec import Record
    from clsm_cli.store.layout import Store


class Draft(NamedTuple):
    """A record as it is given to a person.

    Attributes:
        record: As it was read; a statement with its text.
        text: Block YAML with a few lines on how to use it.
    """

    record: Record
    text: str


class Edited(NamedTuple):
    """What became of a draft: the record, and the run that wrote it (None: nothing changed)."""

    record: Record
    run: str | None


OURS = ("rev", "text_sha", "pinned")
"""Fields that are not shown: whoever edits a record sets them by doing so."""
FIXED = ("id", "record", "stream")
"""Fields that cannot be changed; the topic of a statement is where its line stands."""
TIMES = ("valid_from", "valid_until")


def draft(store: Store, wanted: str, now: datetime, warn: Warn) -> Draft:
    """One record as a person edits it; what was cut short is ended first, so none is half written.

    Raises:
        BadInputError: No record has that id, several begin so, or it is not for editing.
    """
    with locked(store.root, store.settings.store.lock_wait):
        for warning in end_begun_run(store):
            warn(warning)
    edits = EditSession(store, Run(store, "edit", now), now, dry_run=True)
    record = record_of(edits, wanted)
    shown = _shown(record)
    more = [f.name for f in fields(record) if f.name not in {*shown, *OURS, "extra"}]
    head = (
        f"# {TYPE_NAMES[type(record)]} {record.id}. What you save is pinned: no run changes it.\n"
        "# Change or add fields; id, record and stream stay. Nothing changed: nothing is written.\n"
        f"# Fields that may be added: {', '.join(more)}\n"
    )
    return Draft(record, head + _block_yaml(shown))


def save(store: Store, edited: Draft, text: str, now: datetime, warn: Warn) -> Edited:
    """Write a record as a person left it, pinned and with the next revision.

    Raises:
        BadInputError: It is no such record; the text says which field is wrong.
        RefusedError: The record was changed by another run meanwhile.
    """
    old = edited.record
    new = _read(old, text)
    if _shown(new) == _shown(old):
        return Edited(old, None)
    with open_for_edit(store, "edit", now, warn) as edits:
        found = edits.statements.get(old.id) or edits.records.get(old.id)
        if found is None or _shown(found) != _shown(old):
            raise RefusedError(old.id, "was changed meanwhile", "edit it again as it is now")
        _check(edits, old, new)
        new = replace(new, pinned=True)
        if isinstance(new, Statement) and isinstance(old, Statement):
            new = _as_edited(edits, old, new)
        edits.put(new)
        return Edited(new, edits.save())


def record_of(edits: EditSession, wanted: str) -> Record:
    """The record that an id, or the beginning of one, stands for."""
    records: dict[str, Record] = {**edits.records, **edits.statements}
    found = resolve_id(wanted, records)
    if found is None:
        raise NotCertainError(wanted, "no record has that id", "find ids with: clsm recall")
    record = records[found]
    if isinstance(record, Document):
        raise BadInputError(record.id, "is kept by ingest alone", "edit the document itself")
    return record


def _shown(record: Record) -> dict[str, Any]:
    return {name: value for name, value in encode(record).items() if name not in OURS}


def _block_yaml(mapping: dict[str, Any]) -> str:
    """A mapping as people write YAML: a field or an item of a list on each line, in order."""
    lines: list[str] = []
    for name, value in mapping.items():
        if isinstance(value, list) and value:
            lines += [f"{_scalar(name)}:", *(f"- {_scalar(item)}" for item in value)]
        else:
            lines.append(f"{_scalar(name)}: {_scalar(value)}")
    return "".join(f"{line}\n" for line in lines)


_PLAIN = re.compile(r"[^\W\d_](?:[\w.,;()/+'-]| (?! |$))*")
_WORDS = frozenset(["null", "true", "false", "yes", "no", "on", "off", "y", "n"])
"""Words that some readers of YAML do not take for text."""


def _scalar(value: Any) -> str:
    """A value without quotation marks where YAML needs none, else as JSON, which is YAML too.

    >>> _scalar("The bell rings."), _scalar("a: b"), _scalar("2026-02-24"), _scalar("no")
    ('The bell rings.', '"a: b"', '"2026-02-24"', '"no"')
    """
    is_plain = isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS
    return value if is_plain else dump(value)


def _read(old: Record, text: str) -> Record:
    """The record that a person wrote.

    Raises:
        BadInputError: It is none, or another one.
    """
    try:
        mapping = yaml_text.load(text, MAX_FILE)
        if not isinstance(mapping, dict):
            raise RecordError("must be a mapping of fields")
        shown = _shown(old)
        for name in FIXED:
            if mapping.get(name, shown.get(name)) != shown.get(name):
                raise RecordError(f"field {name!r} cannot be changed")
        ours = {name: value for name, value in encode(old).items() if name in OURS}
        new = decode({**mapping, "id": old.id, "record": shown["record"], **ours})
    except (LineError, RecordError) as error:
        raise BadInputError(old.id, str(error), "mend it and save again") from None
    return new


def _check(edits: EditSession, old: Record, new: Record) -> None:
    """Refuse what would be a record by its form and yet no memory.

    Raises:
        BadInputError: A time is none, a node does not exist, or a text cannot stand in Markdown.
    """
    for name in TIMES:
        value = getattr(new, name, None)
        if value is not None and timestamps.normalise(value, edits.store.zone) != value:
            reason = f"field {name!r} must be a time like 2026-02-24 or {edits.time}"
            raise BadInputError(new.id, reason, "mend it and save again")
    if isinstance(new, Edge):
        for end in (new.source, new.target):
            if end not in edits.records:
                raise BadInputError(new.id, f"no record has the id {end!r}", "name another one")
    if isinstance(new, Statement) and isinstance(old, Statement):
        if new.topic != old.topic:
            reason = "field 'topic' cannot be changed"
            raise BadInputError(new.id, reason, "move its line to another topic file")
        if new.stream != "flow" and new.is_current:
            check_line(new)


def _as_edited(edits: EditSession, old: Statement, new: Statement) -> Statement:
    """The statement with the subject that its new text tells, unless the person set one, and its past.

    A row of its own has its text until now; what is taken out has the time of that.
    """
    now, text = edits.run.now, " ".join(new.text.split())
    is_told = new.subject == old.subject and text != old.text
    new = with_new_text(new, text) if is_told else replace(new, text=text)
    if new.withdrawn and not (old.withdrawn or new.superseded_at):
        return replace(new, superseded_at=now)
    forgotten = logs.load_tombstones(edits.store)
    before = (
        record_files.previous_version(old, new.text, now, forgotten) if new.is_current else None
    )
    if before is None:
        return new
    edits.put(before)
    return replace(new, supersedes=before.id, recorded_at=now)


_ID = re.compile(r"[efg]-[0-9a-f]{2,}")
_TURN = re.compile(r"[0-9a-f]{12}")


class Pinned(NamedTuple):
    """A record that a person pinned or unpinned.

    Attributes:
        turn: Key of the turn by which it was named; None where it was named by itself.
        is_new: False where it was so already, and nothing changes.
    """

    record: Record
    turn: str | None
    is_new: bool


class Pinning(NamedTuple):
    """What became of all that was named, in that order, and the run (None: nothing was written)."""

    found: tuple[Pinned, ...]
    run: str | None


def pin(
    store: Store,
    wanted: Sequence[str],
    now: datetime,
    warn: Warn,
    *,
    is_pinned: bool = True,
    dry_run: bool = False,
) -> Pinning:
    """Pin some records, or unpin them: all of them, or none.

    Args:
        wanted: Ids of statements, concepts, edges, episodes or turns, how one begins, or names of
            concepts and of what statements are about. A turn stands for its episode.

    Raises:
        NotCertainError: It is not certain which record is meant.
        BadInputError: It cannot be pinned.
    """
    with open_for_edit(store, "pin" if is_pinned else "unpin", now, warn, dry_run=dry_run) as edits:
        found: dict[str, Pinned] = {}
        for each in wanted:
            record, turn = _meant(edits, each, is_pinned=is_pinned)
            is_over = isinstance(record, Statement) and (record.superseded_at or record.withdrawn)
            if is_pinned and is_over:
                next_step = "find what is held with: clsm recall"
                raise BadInputError(record.id, "is no longer held", next_step)
            is_new = record.pinned != is_pinned
            found.setdefault(record.id, Pinned(replace(record, pinned=is_pinned), turn, is_new))
        for one in found.values():
            edits.put(one.record)
        return Pinning(tuple(found.values()), edits.save())


def _meant(edits: EditSession, wanted: str, *, is_pinned: bool) -> tuple[Record, str | None]:
    """The record that somebody means, and the turn by which they named it.

    Raises:
        BadInputError: None, or several.
    """
    if wanted in edits.statements or wanted in edits.records or _ID.fullmatch(wanted):
        return record_of(edits, wanted), None
    if _TURN.fullmatch(wanted):
        return _episode_of(edits, wanted), wanted
    rows = edits.statements_about(wanted)
    other = [row for row in rows if row.pinned != is_pinned]
    if len(other or rows) == 1:
        return (other or rows)[0], None
    node = edits.nodes.get(edits.node_of(wanted))
    if node is not None:
        return node, None
    if rows:
        ids = tuple(row.id for row in rows)
        raise NotCertainError(wanted, listed(rows), "name one by its id", ids)
    return record_of(edits, wanted), None


def _episode_of(edits: EditSession, turn: str) -> EpisodeRecord:
    """The record of the episode that a turn is in.

    Raises:
        BadInputError: It is in none.
    """
    for flow in edits.store.flows():
        for path in episode_files.files(flow):
            try:
                if turn.encode() not in path.read_bytes():
                    continue
                episode = episode_files.read(path)
            except (OSError, DamagedStoreError):
                continue  # another command says so
            record = edits.records.get(episode.id)
            if isinstance(record, EpisodeRecord) and any(t.key == turn for t in episode.turns):
                return record
    for path in inbox.files(edits.store.inbox):
        if any(captured.turn.key == turn for captured in inbox.read(path).turns):
            reason = "is in a conversation that is not over"
            raise BadInputError(turn, reason, "pin it after: clsm consolidate")
    raise BadInputError(turn, "no turn has that key", "find keys with: clsm recall")
