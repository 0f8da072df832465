"""Statements: reconcile their Markdown with their records, and plan writes of records.

The text of statements in identity, projects and tasks is in Markdown topic files, which take precedence.
Their records have the text as last written, to compare when a person changes or deletes the line.
Statements in flow (events, gists) have their text in the record alone: only clsm writes that stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clsm_cli.config import MAX_FILE
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Statement, StatementKind
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import closed_copy_id, normalise_text
from clsm_cli.model.streams import Stream
from clsm_cli.model.tombstones import visible
from clsm_cli.store import atomic, logs, runs, shards, topics
from clsm_cli.store.layout import TOPIC_STREAMS, Store
from clsm_cli.store.logs import is_forgotten
from clsm_cli.store.topics import Item, Topic, birth_id, id_of, text_sha


def load_statements(store: Store, records: Mapping[str, Record], now: str) -> dict[str, Statement]:
    """All statements with their text, by id: the joined records reconciled with the Markdown."""
    statements: dict[str, Statement] = {}
    device, forgotten = store.device, logs.load_tombstones(store)
    rows = grouped((r.stream, r) for r in records.values() if isinstance(r, Statement))
    for stream in TOPIC_STREAMS:
        found = visible_topics(store, stream, records, forgotten)
        known = {row.id: row for row in rows.get(stream, ())}
        edits = reconcile(found, known, stream=stream, now=now, device=device, forgotten=forgotten)
        statements |= edits.statements
    statements |= {row.id: row for row in rows.get("flow", ())}
    return dict(sorted(statements.items()))


def visible_topics(
    store: Store, stream: Stream, records: Collection[str], forgotten: frozenset[str]
) -> Sequence[Topic]:
    """Read the topic files of a stream, without forgotten items.

    ``records`` are the ids of visible records. An item without one was written by a person, unless its
    record is hidden because everything it rests on was forgotten.
    """
    found = topics.read_topics(store.root / stream)
    if not forgotten:
        return found
    unknown = {item.id for topic in found for item in topic.items if item.id} - {*records}
    gone = {each for each in unknown if is_forgotten(each, forgotten)}
    if unknown - gone:
        folders = [*store.graphs(), *store.archives()]
        stored = shards.load_graph(folders, only="statement").records
        gone |= {i for i in unknown & stored.keys() if visible(stored[i], forgotten) is None}
    return without_items(found, gone, forgotten)


_STATE_PRECEDENCE = ("done", "blocked", "open")


@dataclass(frozen=True, slots=True)
class Edits:
    """A person's edits to the topic files of a stream since its shards were written."""

    statements: dict[str, Statement]  # all current versions, with text, by id
    withdrawn: tuple[str, ...]  # ids that a person removed
    conflicts: tuple[tuple[str, str, str], ...]  # after a merge: id, kept text, other text
    stale: tuple[str, ...] = ()  # superseded ids whose line a merge brought back


def without_items(
    topics: Sequence[Topic], gone: Collection[str], forgotten: frozenset[str]
) -> Sequence[Topic]:
    """Topics without the items whose id is ``gone`` or ``forgotten``."""
    if not gone and not forgotten:
        return topics

    def kept(item: Item) -> bool:
        return item.id is None or not (item.id in gone or is_forgotten(item.id, forgotten))

    return [replace(t, items=tuple(filter(kept, t.items))) for t in topics]


def reconcile(
    topics: Sequence[Topic],
    records: dict[str, Statement],
    *,
    stream: Stream,
    now: str,
    device: str,
    forgotten: frozenset[str] = frozenset(),
) -> Edits:
    """Compute the statements of a stream from its Markdown and its records, without writing.

    A record whose topic is unreadable stays as it is. ``topics`` (``visible_topics``) and ``records``
    come without what was forgotten.
    """
    stale = _superseded_lines(topics, records)
    topics = without_items(topics, stale, frozenset())
    statements = dict(records)
    places, conflicts = _group_by_id(topics, records, forgotten)
    for record_id, found in places.items():
        old = records.get(record_id)
        item, topic = _choose_place(found, old)
        new = _apply_edit(item, old, record_id, stream=stream, topic=topic, now=now)
        if new != old:
            new = replace(new, rev=(1 if old is None else old.rev[0] + 1, device))
        new = replace(new, text=item.text)
        if old is not None and (before := previous_version(old, item.text, now, forgotten)):
            statements[before.id] = replace(before, rev=(1, device))
            new = replace(new, supersedes=before.id, recorded_at=now)
        statements[record_id] = new
    unreadable = {topic.path.stem for topic in topics if topic.sha256 is None}
    missing = [
        record_id
        for record_id, record in sorted(records.items())
        if record.is_current and record_id not in places and record.topic not in unreadable
    ]
    closed = _closed_elsewhere(missing, records) if missing else {}
    for record_id in missing:
        old, copy = statements[record_id], closed.get(record_id)
        change: dict[str, Any] = {"withdrawn": True, "superseded_at": now}
        if copy is not None:
            change = {"superseded_at": copy.recorded_at or now, "text": copy.text}
        statements[record_id] = replace(old, **change, rev=(old.rev[0] + 1, device))
    withdrawn = tuple(record_id for record_id in missing if record_id not in closed)
    return Edits(statements, withdrawn, conflicts, tuple(sorted(stale)))


def _superseded_lines(topics: Sequence[Topic], records: dict[str, Statement]) -> frozenset[str]:
    """Ids of superseded statements whose old line is back: git merges lines, not records."""
    return frozenset(
        item.id
        for topic in topics
        for item in topic.items
        if item.id is not None
        and (old := records.get(item.id)) is not None
        and old.superseded_at is not None
        and not old.withdrawn
        and old.text_sha == text_sha(item.text)
    )


def _closed_elsewhere(
    missing: Collection[str], records: dict[str, Statement]
) -> dict[str, Statement]:
    """Statements whose line another machine removed when it closed them: id → the closed copy."""
    ends = {row.valid_until for row in records.values() if row.valid_until is not None}
    return {
        record_id: records[copy]
        for record_id in missing
        for end in sorted(ends)
        if (copy := closed_copy_id(record_id, end)) in records
    }


_Places = list[tuple[Item, str]]  # the lines of a statement: item and topic


def _group_by_id(
    topics: Sequence[Topic], records: dict[str, Statement], forgotten: frozenset[str]
) -> tuple[dict[str, _Places], tuple[tuple[str, str, str], ...]]:
    """Group items by id, one text for each; also returns conflicts: id, kept text, other text.

    If an id has two texts, the one in the record keeps the id, otherwise the first; the other one gets
    a new id. Texts that differ only in case or whitespace are the same.
    """
    places: dict[str, _Places] = grouped(
        (id_of(item, forgotten), (item, topic.path.stem))
        for topic in topics
        for item in topic.items
    )
    conflicts: dict[tuple[str, str, str], None] = {}
    for record_id, found in list(places.items()):
        old = records.get(record_id)
        known = next((i.text for i, _ in found if old and text_sha(i.text) == old.text_sha), None)
        kept = known or found[0][0].text
        for item, stem in [place for place in found if not _is_same(place[0].text, kept)]:
            own_id = birth_id(item.text, forgotten)
            there = places.get(own_id, [])
            if own_id == record_id or not all(_is_same(i.text, item.text) for i, _ in there):
                own_id = birth_id(item.text, forgotten, record_id)  # the plain one is taken
            if item.id:
                conflicts[record_id, kept, item.text] = None
            places.setdefault(own_id, []).append((item, stem))
        places[record_id] = [place for place in found if _is_same(place[0].text, kept)]
    return places, tuple(conflicts)


def _choose_place(found: _Places, old: Statement | None) -> tuple[Item, str]:
    """Choose one of several places of a text, always the same; the most advanced state counts."""
    item, topic = found[0]
    if old is not None:
        item = next((i for i, _ in found if text_sha(i.text) == old.text_sha), item)
        topic = next((t for _, t in found if t == old.topic), topic)
    states = {i.state for i, _ in found}
    return replace(item, state=next((s for s in _STATE_PRECEDENCE if s in states), None)), topic


def _apply_edit(
    item: Item, old: Statement | None, record_id: str, *, stream: Stream, topic: str, now: str
) -> Statement:
    if old is None:
        kind: StatementKind = "task" if stream == "tasks" or item.state else "fact"
        old = Statement(id=record_id, rev=(0, ""), kind=kind, recorded_at=now)
    elif text_sha(item.text) == old.text_sha and old.is_current:
        state = (item.state or old.state) if old.kind == "task" else old.state
        done_at = old.done_at if old.state == "done" else now
        done_at = done_at if state == "done" else None
        return replace(old, state=state, done_at=done_at, stream=stream, topic=topic)
    return replace(
        old,
        stream=stream,
        topic=topic,
        text_sha=text_sha(item.text),
        state=item.state if old.kind == "task" else None,
        trust="user",
        pinned=True,
        withdrawn=False,
        superseded_at=None,
        valid_until=None,
    )


def previous_version(
    old: Statement, text: str, now: str, forgotten: frozenset[str]
) -> Statement | None:
    """A superseded statement with the text before a person's edit; None if equal or unknown."""
    if not (old.is_current and old.text) or _is_same(old.text, text):
        return None
    own_id = birth_id(old.text, forgotten, f"{old.id} {old.rev[0]}")
    return replace(old, id=own_id, superseded_at=now)


def _is_same(text: str, other: str) -> bool:
    return normalise_text(text) == normalise_text(other)


def plan_topics(
    store: Store, changed: Iterable[Statement], heading_of: Callable[[Statement], str]
) -> list[runs.Write]:
    """Plan the writes of topic files for new and changed statements, without their records.

    ``heading_of`` gives the heading of a new statement.
    """
    written = (each for each in sorted(changed, key=lambda s: s.id) if each.stream != "flow")
    by_topic = grouped(((each.stream, each.topic), each) for each in written)
    files = {
        (stream, topic.path.stem): topic
        for stream in sorted({stream for stream, _ in by_topic})
        for topic in topics.read_topics(store.root / stream)
    }
    writes: list[runs.Write] = []
    for (stream, stem), group in sorted(by_topic.items()):
        topic = files.get((stream, stem))
        if topic is None:
            if not any(statement.is_current for statement in group):
                continue
            topic = topics.new_topic(store.root / stream / f"{stem}.md", stream)
        writes += _plan_topic(topic, group, heading_of)
    return writes


def as_stored(statement: Statement) -> Statement:
    """The statement for its shard, with its text, which is needed if the line in Markdown is lost."""
    if not statement.text:
        return statement
    sha = text_sha(statement.text)
    if statement.stream == "flow" or not statement.is_current:
        return replace(statement, text_sha=sha)
    return replace(statement, text=" ".join(statement.text.split()), text_sha=sha)


def _plan_topic(
    topic: Topic, group: list[Statement], heading_of: Callable[[Statement], str]
) -> list[runs.Write]:
    known = {item.id for item in topic.items if item.id is not None}
    current = sorted(
        (s for s in group if s.is_current),
        key=lambda s: (s.valid_from or "", s.id),  # the reading order of a page: undated ones first
    )
    data = topics.apply_edits(
        topic,
        drop={s.id for s in group if not s.is_current},
        change={s.id: s for s in current if s.id in known},
        fresh=[topics.NewItem(heading_of(s), s) for s in current if s.id not in known],
    )
    return runs.put_changed(topic.path, data, topic.sha256)


def plan_records(
    store: Store, stream: Stream, records: Iterable[Record], removed: Iterable[str] = ()
) -> list[runs.Write]:
    """Plan the writes of records to this machine's shards of a stream, replacing older versions.

    ``removed`` are ids of derived records to delete. Records with a tombstone are left out of every
    shard that is written.
    """
    return plan_shards(store, store.graph(stream), records, removed)


def plan_shards(
    store: Store, folder: Path, records: Iterable[Record], removed: Iterable[str] = ()
) -> list[runs.Write]:
    """Plan the writes of records to a folder of shards, as ``plan_records``."""
    limit, forgotten = store.settings.store.shard_records, logs.load_tombstones(store)
    changed = shards.plan_update(folder, records, limit, removed, forgotten)
    return [
        write
        for path, (data, before) in changed.items()
        for write in plan_rewrite(store, path, data, before)
    ]


def plan_rewrite(store: Store, path: Path, data: bytes, before: shards.Shard) -> list[runs.Write]:
    """Plan to replace a shard; its unreadable lines go to ``quarantine/``."""
    writes: list[runs.Write] = []
    if before.problems and before.sha256 is not None:
        head = f"# from {path.relative_to(store.root)}: line and text of what is no record\n"
        copy = b"".join([head.encode(), *_unreadable_lines(path, before)])
        writes.append(runs.Put(quarantine_path(store, path, copy, ".txt"), copy))
    return [*writes, runs.Put(path, data, read_as=before.sha256)]


def quarantine_path(store: Store, path: Path, data: bytes, ending: str = "") -> Path:
    """The path for a copy of data from a file, named by the file and the content."""
    place = path.relative_to(store.root)
    stem = "-".join(place.with_suffix("").parts).strip(".")
    return store.quarantine / f"{stem}-{atomic.sha256(data)[:12]}{ending or place.suffix or '.txt'}"


def _unreadable_lines(path: Path, before: shards.Shard) -> Iterator[bytes]:
    """The unreadable lines of a shard with their numbers, byte for byte."""
    rows = (atomic.read(path, MAX_FILE) or b"").split(b"\n")
    for problem in sorted(before.problems, key=lambda problem: problem.line or 0):
        first = (problem.line or 1) - 1
        height = problem.text.count("\n") + 1 if problem.line else len(rows)
        yield b"%d: %b\n" % (first + 1, b"\n".join(rows[first : first + height]))
