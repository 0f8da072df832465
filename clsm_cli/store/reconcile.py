"""Reconcile a stream: its statements, given its topic files and its records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from clsm_cli.model.graph import Statement, StatementKind
from clsm_cli.model.ids import closed_copy_id, normalise_text
from clsm_cli.model.tombstones import visible_statement
from clsm_cli.store.logs import is_forgotten
from clsm_cli.store.topics import Item, birth_id, id_of, text_sha

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from clsm_cli.model.streams import Stream
    from clsm_cli.store.topics import Topic

_FURTHEST_FIRST = ("done", "blocked", "open")


@dataclass(frozen=True, slots=True)
class Edits:
    """What a person did to the topic files of a stream since the shard was written.

    Attributes:
        statements: Every statement as it now is, with its text, by id.
        withdrawn: Ids of those that a person removed.
        conflicts: Two texts under one id (after a merge): id, kept text, other text.
        stale: Ids whose line a merge brought back, unchanged, after they were superseded.
    """

    statements: dict[str, Statement]
    withdrawn: tuple[str, ...]
    conflicts: tuple[tuple[str, str, str], ...]
    stale: tuple[str, ...] = ()


def without(
    topics: Sequence[Topic], gone: Collection[str], forgotten: frozenset[str]
) -> Sequence[Topic]:
    """Topics without the items that carry the id of what does not exist."""
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
    """What the statements of a stream are, given their Markdown and their records.

    A record whose topic could not be read stays as it is. What is ``forgotten`` does not exist,
    whether an item or a record brings it back. Nothing is written.
    """
    given = records
    records = {i: v for i, r in given.items() if (v := visible_statement(r, forgotten)) is not None}
    topics = without(topics, given.keys() - records.keys(), forgotten)
    stale = _stale(topics, records)
    topics = without(topics, stale, frozenset())
    statements = dict(records)
    places, conflicts = _by_id(topics, records, forgotten)
    for record_id, found in places.items():
        old = records.get(record_id)
        item, topic = _chosen(found, old)
        new = _by_hand(item, old, record_id, stream=stream, topic=topic, now=now)
        if new != old:
            new = replace(new, rev=(1 if old is None else old.rev[0] + 1, device))
        statements[record_id] = replace(new, text=item.text)
    unread = {topic.path.stem for topic in topics if topic.sha256 is None}
    withdrawn = [
        record_id
        for record_id, record in sorted(records.items())
        if record.is_current and record_id not in places and record.topic not in unread
    ]
    closed = _closed_elsewhere(withdrawn, records) if withdrawn else {}
    for record_id in withdrawn:
        old, copy = statements[record_id], closed.get(record_id)
        gone: dict[str, Any] = {"withdrawn": True, "superseded_at": now}
        if copy is not None:
            gone = {"superseded_at": copy.recorded_at or now, "text": copy.text}
        statements[record_id] = replace(old, **gone, rev=(old.rev[0] + 1, device))
    withdrawn = [record_id for record_id in withdrawn if record_id not in closed]
    return Edits(statements, tuple(withdrawn), conflicts, tuple(sorted(stale)))


def _stale(topics: Sequence[Topic], records: dict[str, Statement]) -> frozenset[str]:
    """Superseded rows whose line is there again as it was: git joins lines, not records."""
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
    """Rows whose line another machine took out when it closed them: id → the closed copy it made."""
    ends = {row.valid_until for row in records.values() if row.valid_until is not None}
    return {
        record_id: records[copy]
        for record_id in missing
        for end in sorted(ends)
        if (copy := closed_copy_id(record_id, end)) in records
    }


_Places = list[tuple[Item, str]]  # where a statement stands: its item and the topic


def _by_id(
    topics: Sequence[Topic], records: dict[str, Statement], forgotten: frozenset[str]
) -> tuple[dict[str, _Places], tuple[tuple[str, str, str], ...]]:
    """Items by id, one text for each, and the conflicts: id, kept text, other text.

    Of two texts under one id the one that the record knows keeps the id, else the first; the other
    one gets an id of its own. Texts that differ in case or blank space alone are one.
    """
    places: dict[str, _Places] = {}
    for topic in topics:
        for item in topic.items:
            places.setdefault(id_of(item, forgotten), []).append((item, topic.path.stem))
    conflicts: dict[tuple[str, str, str], None] = {}
    for record_id, found in list(places.items()):
        old = records.get(record_id)
        known = next((i.text for i, _ in found if old and text_sha(i.text) == old.text_sha), None)
        kept = known or found[0][0].text
        for item, stem in [place for place in found if not _is_same(place[0].text, kept)]:
            own_id = birth_id(item.text, forgotten)
            there = places.get(own_id, [])
            if own_id == record_id or not all(_is_same(i.text, item.text) for i, _ in there):
                own_id = birth_id(item.text, forgotten, record_id)  # the other id is taken
            if item.id:
                conflicts[record_id, kept, item.text] = None
            places.setdefault(own_id, []).append((item, stem))
        places[record_id] = [place for place in found if _is_same(place[0].text, kept)]
    return places, tuple(conflicts)


def _chosen(found: _Places, old: Statement | None) -> tuple[Item, str]:
    """One of several places of a text, the same at every look; the box furthest on counts."""
    item, topic = found[0]
    if old is not None:
        item = next((i for i, _ in found if text_sha(i.text) == old.text_sha), item)
        topic = next((t for _, t in found if t == old.topic), topic)
    states = {i.state for i, _ in found}
    return replace(item, state=next((s for s in _FURTHEST_FIRST if s in states), None)), topic


def _by_hand(
    item: Item, old: Statement | None, record_id: str, *, stream: Stream, topic: str, now: str
) -> Statement:
    if old is None:
        kind: StatementKind = "task" if stream == "tasks" or item.state else "fact"
        old = Statement(id=record_id, rev=(0, ""), kind=kind, recorded_at=now)
    elif text_sha(item.text) == old.text_sha and old.is_current:
        state = (item.state or old.state) if old.kind == "task" else old.state
        told = old.done_at if old.state == "done" else now
        done_at = told if state == "done" else None
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


def _is_same(text: str, other: str) -> bool:
    return normalise_text(text) == normalise_text(other)
