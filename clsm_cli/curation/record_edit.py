"""Edit one record as text; pin and unpin records.

A pinned record keeps its values in every run, and decay never archives it. Editing a record pins it. After
unpinning, consolidation may reinforce, close or rename it again.
"""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from io import StringIO
from typing import Any

from clsm_cli.config import MAX_FILE
from clsm_cli.curation.correction import NotCertainError, with_new_text
from clsm_cli.curation.edit_session import EditSession, Warn, check_line, listed, open_for_edit
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.ingestion import timestamps
from clsm_cli.model.codec import TYPE_NAMES, Record, RecordError, decode, encode
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.ids import resolve_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import logs, record_files, yaml_text
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted
from clsm_cli.store.runs import Run


class Draft(NamedTuple):
    """A record to be edited; ``text``: its fields as block YAML, with instructions in comments."""

    record: Record
    text: str


class Edited(NamedTuple):
    """An edited record, and the run that wrote it; None if nothing changed."""

    record: Record
    run: str | None


HIDDEN_FIELDS = ("rev", "text_sha", "pinned")
"""Fields that are not shown; saving sets them."""
FIXED_FIELDS = ("id", "record", "stream")
"""Fields that cannot be changed; neither can the topic of a statement, which its line's file determines."""
TIME_FIELDS = ("valid_from", "valid_until")


def draft(store: Store, wanted: str, now: datetime, warn: Warn) -> Draft:
    """One record as text to edit, after completing an interrupted run.

    Raises:
        BadInputError: The id is unknown or ambiguous, or the record cannot be edited.
    """
    with locked(store.root, store.settings.store.lock_wait):
        for warning in complete_interrupted(store):
            warn(warning)
    edits = EditSession(store, Run(store, "edit", now), now, dry_run=True)
    record = record_of(edits, wanted)
    shown = _shown(record)
    more = [f.name for f in fields(record) if f.name not in {*shown, *HIDDEN_FIELDS, "extra"}]
    head = (
        f"# {TYPE_NAMES[type(record)]} {record.id}. What you save is pinned: no run changes it.\n"
        "# Change or add fields; id, record and stream stay. Nothing changed: nothing is written.\n"
        f"# Fields that may be added: {', '.join(more)}\n"
    )
    return Draft(record, head + _block_yaml(shown))


def save(store: Store, edited: Draft, text: str, now: datetime, warn: Warn) -> Edited:
    """Write an edited record, pinned and with the next revision.

    Raises:
        BadInputError: The text is not a valid record; the message names the field.
        RefusedError: Another run changed the record meanwhile.
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
            new = _edited_statement(edits, old, new)
        edits.put(new)
        return Edited(new, edits.save())


def record_of(edits: EditSession, wanted: str) -> Record:
    """The record with an id or a prefix of one."""
    records: dict[str, Record] = {**edits.records, **edits.statements}
    found = resolve_id(wanted, records)
    if found is None:
        raise NotCertainError(wanted, "no record has that id", "find ids with: clsm recall")
    record = records[found]
    if isinstance(record, Document):
        raise BadInputError(record.id, "is kept by ingest alone", "edit the document itself")
    return record


def _shown(record: Record) -> dict[str, Any]:
    return {name: value for name, value in encode(record).items() if name not in HIDDEN_FIELDS}


def _block_yaml(mapping: dict[str, Any]) -> str:
    """A mapping as block YAML, in order."""
    from ruamel.yaml import YAML

    writer = YAML(typ="safe", pure=True)
    writer.default_flow_style, writer.width = False, MAX_FILE
    writer.representer.sort_base_mapping_type_on_output = False
    text = StringIO()
    writer.dump(mapping, text)
    return text.getvalue()


def _read(old: Record, text: str) -> Record:
    """Parse an edited record.

    Raises:
        BadInputError: It is invalid, or a fixed field changed.
    """
    try:
        mapping = yaml_text.load(text, MAX_FILE)
        if not isinstance(mapping, dict):
            raise RecordError("must be a mapping of fields")
        shown = _shown(old)
        for name in FIXED_FIELDS:
            if mapping.get(name, shown.get(name)) != shown.get(name):
                raise RecordError(f"field {name!r} cannot be changed")
        ours = {name: value for name, value in encode(old).items() if name in HIDDEN_FIELDS}
        new = decode({**mapping, "id": old.id, "record": shown["record"], **ours})
    except (LineError, RecordError) as error:
        raise BadInputError(old.id, str(error), "mend it and save again") from None
    return new


def _check(edits: EditSession, old: Record, new: Record) -> None:
    """Check what the record format does not.

    Raises:
        BadInputError: A time is invalid, a node does not exist, or a text cannot be a Markdown list item.
    """
    for name in TIME_FIELDS:
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


def _edited_statement(edits: EditSession, old: Statement, new: Statement) -> Statement:
    """An edited statement; ``edits`` gets a row with the old text, closed now.

    The subject follows the new text unless it was edited. A withdrawn statement is superseded now.
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
    """A pinned or unpinned record.

    Attributes:
        turn: Key of the turn by which its episode was named; None if the record itself was named.
        is_new: False if nothing changes.
    """

    record: Record
    turn: str | None
    is_new: bool


class Pinning(NamedTuple):
    """The records in the order of the arguments, and the run; None if nothing was written."""

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
    """Pin or unpin records, all or none.

    Args:
        wanted: Ids of statements, concepts, edges, episodes or turns, or prefixes of ids; or names of
            concepts and subjects. A turn stands for its episode.

    Raises:
        NotCertainError: A reference is ambiguous or unknown.
        BadInputError: A record cannot be pinned.
    """
    with open_for_edit(store, "pin" if is_pinned else "unpin", now, warn, dry_run=dry_run) as edits:
        found: dict[str, Pinned] = {}
        for each in wanted:
            record, turn = _resolve_record(edits, each, is_pinned=is_pinned)
            is_over = isinstance(record, Statement) and (record.superseded_at or record.withdrawn)
            if is_pinned and is_over:
                next_step = "find what is held with: clsm recall"
                raise BadInputError(record.id, "is no longer held", next_step)
            is_new = record.pinned != is_pinned
            found.setdefault(record.id, Pinned(replace(record, pinned=is_pinned), turn, is_new))
        for one in found.values():
            edits.put(one.record)
        return Pinning(tuple(found.values()), edits.save())


def _resolve_record(
    edits: EditSession, wanted: str, *, is_pinned: bool
) -> tuple[Record, str | None]:
    """The record that a reference means, and the turn if it was named by one.

    Raises:
        BadInputError: It is unknown or ambiguous.
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
    """The record of a turn's episode.

    Raises:
        BadInputError: No episode has the turn.
    """
    with open_index(edits.store, None) as opened:
        passages = opened.index.by_key(turn)
    for each in passages:
        record = edits.records.get(each.episode or "")
        if isinstance(record, EpisodeRecord):
            return record
    if passages:
        reason = "is in a conversation that is not over"
        raise BadInputError(turn, reason, "pin it after: clsm consolidate")
    raise BadInputError(turn, "no turn has that key", "find keys with: clsm recall")
