"""Load the statements of a store with their texts, and plan the writes that change records.

Statements of identity, projects and tasks stand in Markdown topic files; those of flow (what
happened, gists) have their text in the record, as that stream is written by machines alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.model.graph import Statement
from clsm_cli.model.tombstones import visible
from clsm_cli.store import atomic, logs, runs, shards, topics
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.reconcile import reconcile, without

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store
    from clsm_cli.store.topics import Topic


def load_statements(store: Store, records: Mapping[str, Record], now: str) -> dict[str, Statement]:
    """Every statement with its text, by id: joined records of all shards with their Markdown."""
    statements: dict[str, Statement] = {}
    forgotten = logs.load_tombstones(store)
    for stream in TOPIC_STREAMS:
        found = visible_topics(store, stream, records, forgotten)
        known = {
            r.id: r for r in records.values() if isinstance(r, Statement) and r.stream == stream
        }
        edits = reconcile(
            found, known, stream=stream, now=now, device=store.device, forgotten=forgotten
        )
        statements |= edits.statements
    statements |= {
        r.id: r for r in records.values() if isinstance(r, Statement) and r.stream == "flow"
    }
    return dict(sorted(statements.items()))


def visible_topics(
    store: Store, stream: Stream, records: Collection[str], forgotten: frozenset[str]
) -> Sequence[Topic]:
    """The topic files of a stream without the items that were forgotten.

    An item without a record is a person's, unless its record is one of those that readers leave out,
    as all that it rests on was forgotten. ``records`` are the ids that readers see.
    """
    found = topics.read_topics(store.root / stream)
    if not forgotten:
        return found
    odd = {item.id for topic in found for item in topic.items if item.id} - {*records}
    gone = {each for each in odd if logs.is_forgotten(each, forgotten)}
    if odd - gone:
        folders = [*store.graphs(), *store.archives()]
        there = shards.load_graph(folders, only="statement").records
        gone |= {i for i in odd & there.keys() if visible(there[i], forgotten) is None}
    return without(found, gone, forgotten)


def plan_topics(
    store: Store, changed: Iterable[Statement], heading_of: Callable[[Statement], str]
) -> list[runs.Write]:
    """Writes that bring the topic files up to new and changed statements; records are written apart.

    ``heading_of`` says where a new statement stands.
    """
    by_topic: dict[tuple[Stream, str], list[Statement]] = {}
    for statement in sorted(changed, key=lambda s: s.id):
        if statement.stream != "flow":
            by_topic.setdefault((statement.stream, statement.topic), []).append(statement)
    there = {
        (stream, topic.path.stem): topic
        for stream in sorted({stream for stream, _ in by_topic})
        for topic in topics.read_topics(store.root / stream)
    }
    writes: list[runs.Write] = []
    for (stream, stem), group in sorted(by_topic.items()):
        topic = there.get((stream, stem))
        if topic is None:
            if not any(statement.is_current for statement in group):
                continue
            path = store.root / stream / f"{stem}.md"
            topic = topics.new_topic(path, topics.TITLES.get(stem, stem.capitalize()), stream)
        writes += _file(topic, group, heading_of)
    return writes


def as_stored(statement: Statement) -> Statement:
    """As its shard keeps it: the text of a current statement stands in the Markdown alone."""
    if statement.stream == "flow":
        return replace(statement, text_sha=topics.text_sha(statement.text))
    sha = topics.text_sha(statement.text)
    text = "" if statement.is_current else statement.text
    return replace(statement, text=text, text_sha=sha if statement.text else statement.text_sha)


def _file(
    topic: Topic, group: list[Statement], heading_of: Callable[[Statement], str]
) -> list[runs.Write]:
    there = {item.id for item in topic.items if item.id is not None}
    data = topics.apply_edits(
        topic,
        drop={s.id for s in group if not s.is_current},
        change={s.id: s for s in group if s.is_current and s.id in there},
        fresh=[
            topics.NewItem(heading_of(s), s)
            for s in sorted(group, key=_order)
            if s.is_current and s.id not in there
        ],
    )
    if topic.sha256 is not None and data == "\n".join(topic.lines).encode(
        "utf-8", "surrogateescape"
    ):
        return []
    return [runs.Put(topic.path, data, read_as=topic.sha256)]


def _order(statement: Statement) -> tuple[str, str]:
    """A page reads in the order in which things became true; what has no date comes first."""
    return (statement.valid_from or "", statement.id)


def plan_records(
    store: Store, stream: Stream, records: Iterable[Record], removed: Iterable[str] = ()
) -> list[runs.Write]:
    """Writes that put records into this machine's shards of a stream, replacing older versions.

    ``removed`` are ids of derived records that the shards hold no longer. What has a tombstone is
    left out of every shard that is written.
    """
    return plan_shards(store, store.graph(stream), records, removed)


def plan_shards(
    store: Store, folder: Path, records: Iterable[Record], removed: Iterable[str] = ()
) -> list[runs.Write]:
    """The same for any folder of shards."""
    limit, forgotten = store.settings.store.shard_records, logs.load_tombstones(store)
    changed = shards.plan_update(folder, records, limit, removed, forgotten)
    return [
        write
        for path, (data, before) in changed.items()
        for write in rewrite(store, path, data, before)
    ]


def rewrite(store: Store, path: Path, data: bytes, before: shards.Shard) -> list[runs.Write]:
    """Writes that give a shard new bytes; what could not be read of it goes to ``quarantine/``."""
    writes: list[runs.Write] = []
    if before.problems and before.sha256 is not None:
        place = "-".join(p for p in path.relative_to(store.root).parts[:-1] if p != "graph")
        name = f"{place}-{path.stem}-{before.sha256[:12]}.txt"
        head = f"# from {path.relative_to(store.root)}: line and text of what is no record\n"
        copy = b"".join([head.encode(), *_unread(path, before)])
        writes.append(runs.Put(store.quarantine / name, copy))
    return [*writes, runs.Put(path, data, read_as=before.sha256)]


def _unread(path: Path, before: shards.Shard) -> Iterator[bytes]:
    """The lines of a shard that could not be read, byte for byte, each with its number."""
    rows = (atomic.read(path, MAX_FILE) or b"").split(b"\n")
    for problem in sorted(before.problems, key=lambda problem: problem.line or 0):
        first = (problem.line or 1) - 1
        height = problem.text.count("\n") + 1 if problem.line else len(rows)
        yield b"%d: %b\n" % (first + 1, b"\n".join(rows[first : first + height]))
