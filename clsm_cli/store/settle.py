"""Settle hand edits: save what a person changed before a command writes anything else.

A changed text becomes a new version by the user, a new item gets an id, a missing one is withdrawn,
and different texts of two sides go to the review list. A second run changes nothing; after an
interruption, the next run completes it.
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

MAX_LOST_SHARE = 0.2  # share of a stream's statements that may be removed at once
MIN_LOST = 5  # statements that may always be removed: a short list edited by hand
MAX_LOST = 100  # statements of a stream of any size that may be removed at once

FREE_LOSS = 20  # records that a run may always withdraw


def most_lost(total: int, share: float) -> float:
    """How many of all statements a run may withdraw unasked; ``share``: setting ``mass_loss``.

    >>> most_lost(60, 0.2), most_lost(300, 0.2), most_lost(9000, 0.2)
    (20, 60.0, 100)
    """
    return min(MAX_LOST, max(FREE_LOSS, share * total))


def plan(store: Store, now: str) -> tuple[list[runs.Write], list[str]]:
    """Plan the writes that settle all streams with topic files; also returns warnings for the user.

    A stream that lost much at once (an unmounted folder, a moved file) is left as it is. The caller
    holds the lock.
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
            warnings += _missing_folder(store, stream)
            continue
        records = {i: r for i, r in known.records.items() if isinstance(r, Statement)}
        edits = reconcile(
            found, records, stream=stream, now=now, device=store.device, forgotten=forgotten
        )
        current = sum(record.is_current for record in records.values())
        if len(edits.withdrawn) > min(MAX_LOST, max(MIN_LOST, MAX_LOST_SHARE * current)):
            warnings.append(
                f"{stream}: {len(edits.withdrawn)} of {current} statements are gone from the"
                " Markdown files at once; nothing was withdrawn. Put the files back, or remove"
                " fewer at a time"
            )
            continue
        stored = [record_files.as_stored(statement) for statement in edits.statements.values()]
        changed = [statement for statement in stored if statement != records.get(statement.id)]
        writes += record_files.plan_records(store, stream, changed)
        writes += _settle_lines(found, edits.stale, forgotten)
        warnings += [
            f"{stream}: {each} was superseded, and a merge brought its line back; it is taken out"
            " again (to say it anew, write it without its id)"
            for each in edits.stale
        ]
        for record_id, *texts in edits.conflicts:
            name, reason = f"v-{digest(record_id, *texts)}", "two texts under one id"
            review.append(logs.ReviewItem(name, now, (record_id,), reason, *texts))
        review += [lost_value(row, now) for row in known.lost if isinstance(row, Statement)]
    return writes + review_lines(store, review), warnings


def _missing_folder(store: Store, stream: Stream) -> list[str]:
    """A warning if all files of a stream that this machine's runs wrote, and kept, are missing."""
    written: set[str] = set()
    for run in ledger.entries(store.flow):
        for change in (change for step in run.steps for change in step.changes):
            if change.path.startswith(f"{stream}/"):
                (written.discard if change.after is None else written.add)(change.path)
    if not written or any((store.root / path).exists() for path in written):
        return []
    reason = f"none of its files is there, and {len(written)} were; nothing was withdrawn"
    return [f"{stream}: {reason}. Put the folder back"]


def _settle_lines(
    found: Iterable[topics.Topic], stale: Collection[str], forgotten: frozenset[str]
) -> list[runs.Write]:
    """Add missing ids to items, and remove the ``stale`` lines that a merge brought back."""
    writes: list[runs.Write] = []
    for topic in found:
        new = (item for item in topic.items if item.id is None)
        missing = {item.line: topics.id_of(item, forgotten) for item in new}
        data = topics.apply_edits(topic, drop=stale, ids=missing)
        writes += runs.put_changed(topic.path, data, topic.sha256) if topic.sha256 else []
    return writes


def lost_value(record: Statement, now: str) -> logs.ReviewItem:
    """A review item for a value that a person set and a newer one replaced."""
    line = dump(encode(record))
    reason = "a value you set lost against a newer one"
    return logs.ReviewItem(f"v-{digest(record.id, line)}", now, (record.id,), reason, "", line)


def review_lines(store: Store, items: Iterable[logs.ReviewItem]) -> list[runs.Write]:
    """Plan to append the review items that are not in the log yet."""
    path = store.flow / logs.REVIEW
    items = list(items)
    known = {row.get("id") for row in logs.rows(path).mappings} if items else set()
    fresh = {item.id: item for item in items if item.id not in known}
    return [runs.Append(path, logs.render(item)) for item in fresh.values()]
