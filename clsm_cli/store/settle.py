"""Settle hand edits: write down what a person changed before a command writes anything else.

A changed text becomes a new version by the user, a new item gets its id, a missing one is
withdrawn; what two sides said differently goes to the review list. Run twice, it does nothing the
second time; cut short anywhere, the next run completes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from clsm_cli.model.codec import encode
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import digest
from clsm_cli.model.streams import Stream
from clsm_cli.store import ledger, logs, record_files, runs, shards, topics
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS, Store
from clsm_cli.store.record_files import reconcile

MASS_LOSS = 0.2
"""Share of a stream's statements that may vanish at once without a question."""
FEW = 5
"""Statements that may always vanish: a short list edited by hand."""
MOST = 100
"""Statements beyond which it is a question, however many there are."""


def plan(store: Store, now: str) -> tuple[list[runs.Write], list[str]]:
    """Writes that settle every stream with topic files, and what the user should hear.

    A stream that lost much at once (a folder not mounted, a file moved away) is left as it is. The
    caller holds the lock.
    """
    writes: list[runs.Write] = []
    warnings: list[str] = []
    review: list[logs.ReviewItem] = []
    forgotten = logs.load_tombstones(store)
    for stream in TOPIC_STREAMS:
        folders = [store.graph(stream), store.archive(stream)]
        known = shards.load_graph(folders, forgotten, only="statement")
        found = record_files.visible_topics(store, stream, known.records, forgotten)
        if not found and not known.records:
            was_there = _written(store, stream)
            if was_there and not any((store.root / path).exists() for path in was_there):
                warnings.append(
                    f"{stream}: none of its files is there, and {len(was_there)} were; nothing was"
                    " withdrawn. Put the folder back"
                )
            continue
        records = {i: r for i, r in known.records.items() if isinstance(r, Statement)}
        edits = reconcile(
            found, records, stream=stream, now=now, device=store.device, forgotten=forgotten
        )
        current = sum(record.is_current for record in records.values())
        if len(edits.withdrawn) > min(MOST, max(FEW, MASS_LOSS * current)):
            warnings.append(
                f"{stream}: {len(edits.withdrawn)} of {current} statements are gone from the"
                " Markdown files at once; nothing was withdrawn. Put the files back, or remove"
                " fewer at a time"
            )
            continue
        stored = [record_files.as_stored(statement) for statement in edits.statements.values()]
        changed = [statement for statement in stored if statement != records.get(statement.id)]
        writes += record_files.plan_records(store, stream, changed)
        writes += _lines(found, edits.stale, forgotten)
        warnings += [
            f"{stream}: {each} was superseded, and a merge brought its line back; it is taken out"
            " again (to say it anew, write it without its id)"
            for each in edits.stale
        ]
        review += [_conflict(*conflict, now) for conflict in edits.conflicts]
        review += [
            lost_value(record, now) for record in known.lost if isinstance(record, Statement)
        ]
    return writes + review_lines(store, review), warnings


def _written(store: Store, stream: Stream) -> set[str]:
    """Files of a stream that runs of this machine left there, by their last word on each."""
    left: set[str] = set()
    for run in ledger.entries(store.flow):
        for change in (change for step in run.steps for change in step.changes):
            if change.path.startswith(f"{stream}/"):
                (left.discard if change.after is None else left.add)(change.path)
    return left


def _lines(
    found: Iterable[topics.Topic], stale: Collection[str], forgotten: frozenset[str]
) -> list[runs.Write]:
    """Files with an id behind each item that has none, and without lines that a merge brought back."""
    writes: list[runs.Write] = []
    for topic in found:
        missing = {
            item.line: topics.id_of(item, forgotten) for item in topic.items if item.id is None
        }
        data = topics.with_ids(topic, missing)
        if any(item.id in stale for item in topic.items):
            data = topics.apply_edits(topics.parse(data, topic.path), drop=stale)
        elif not missing:
            continue
        writes.append(runs.Put(topic.path, data, read_as=topic.sha256))
    return writes


def _conflict(record_id: str, kept: str, other: str, now: str) -> logs.ReviewItem:
    reason = "two texts under one id"
    return logs.ReviewItem(
        f"v-{digest(record_id, kept, other)}", now, (record_id,), reason, kept, other
    )


def lost_value(record: Statement, now: str) -> logs.ReviewItem:
    """The question about a value that a person set, and that lost against a newer one."""
    line = dump(encode(record))
    reason = "a value you set lost against a newer one"
    return logs.ReviewItem(f"v-{digest(record.id, line)}", now, (record.id,), reason, "", line)


def review_lines(store: Store, items: Iterable[logs.ReviewItem]) -> list[runs.Write]:
    """Review lines that are not in the list yet."""
    path = store.flow / "review.jsonl"
    items = list(items)
    known = {row.get("id") for _, row in logs.rows(path)[0]} if items else set()
    fresh = {item.id: item for item in items if item.id not in known}
    return [runs.Append(path, logs.render(item)) for item in fresh.values()]
