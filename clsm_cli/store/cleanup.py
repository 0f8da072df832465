"""Sweep: remove forgotten records that came back from an old clone, and derived data that may hold them.

Readers do not see such records anyway. A forget removes them on its own machine; after a merge the next
night does so here, in the folders of other machines too. Nothing of it is kept for undo. A marker file
stands until the work is done, and whoever next holds the lock finishes it, so that a forget that was
cut short leaves nothing behind either.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.model.streams import Stream
from clsm_cli.store import (
    atomic,
    episode_files,
    inbox,
    logs,
    record_files,
    runs,
    shards,
    topics,
)
from clsm_cli.store.index import database
from clsm_cli.store.layout import TOPIC_STREAMS, Store

_KEY = re.compile(rb'\bkey"?: *"?([0-9a-f]{12})\b')


def sweep(store: Store, now: str) -> None:
    """Take what was forgotten out of every file of the store; the caller holds the lock."""
    forgotten = logs.load_tombstones(store)
    if not forgotten:
        return
    thinned = [tombstone_hash(each) for each in _thinned(store, forgotten)]
    writes = plan(store, forgotten.union(thinned))
    if thinned:
        writes.insert(0, runs.Append(*logs.new_tombstones(store, thinned, now)))
    runs.apply(store, "sweep", now, writes, keep=False)


def plan(store: Store, forgotten: frozenset[str]) -> list[runs.Write]:
    """The writes of a sweep; none where nothing came back."""
    writes: list[runs.Write] = []
    known = shards.load_graph(store.graphs(), forgotten, only="statement").records
    for stream in TOPIC_STREAMS:
        writes += _topics(store, stream, known, forgotten)
    for folder in (*store.graphs(), *store.archives()):
        for path in shards.shard_files(folder):
            writes += _shard(store, path, forgotten)
    writes += _episodes(store, forgotten)
    for flow in store.flows():
        for path in inbox.files(flow / "inbox"):
            writes += _inbox(store, path, forgotten)
    return writes


def _topics(
    store: Store, stream: Stream, known: Collection[str], forgotten: frozenset[str]
) -> list[runs.Write]:
    """Files without the lines of statements that do not exist.

    A person's own file that had no other goes: its name may tell. One that clsm makes stays, empty:
    another machine may have changed it, and git cannot merge that with a file that is gone.
    """
    writes: list[runs.Write] = []
    left = record_files.visible_topics(store, stream, known, forgotten)
    for topic, kept in zip(topics.read_topics(store.root / stream), left, strict=True):
        gone = {item.id for item in topic.items} - {item.id for item in kept.items}
        if kept.items == topic.items:
            continue
        drop = {record_id for record_id in gone if record_id is not None}
        data = topics.without_empty(topics.apply_edits(topic, drop=drop), topic)
        if topic.path.stem in topics.OWN or topics.says_more(data):
            writes.append(runs.Put(topic.path, data, read_as=topic.sha256))
        else:
            writes.append(runs.Remove(topic.path))
    return writes


def _shard(store: Store, path: Path, forgotten: frozenset[str]) -> list[runs.Write]:
    shard = shards.read(path)
    left = shards.fold([shard], forgotten).records
    if left == shards.fold([shard]).records:
        return []
    return record_files.rewrite(store, path, shards.render(left.values()), shard)


def _inbox(store: Store, path: Path, forgotten: frozenset[str]) -> list[runs.Write]:
    box = inbox.read(path)
    left = inbox.without_forgotten(box, forgotten)
    if left.items == box.items:
        return []
    return [inbox.plan_rewrite(left, left.items, store.root)]


def _episodes(store: Store, forgotten: frozenset[str]) -> list[runs.Write]:
    """Files with a tombstone go; a turn that only such a file holds stays, in one of its own.

    Another machine may have cut a longer episode behind the same first turn. What waits in an inbox
    does not count: machines that sweep at the same time would not agree, and git could not merge it.
    """
    # The name of a file is <time>-<id>.
    buried = [
        path
        for path in episode_files.all_files(store)
        if logs.is_forgotten(path.stem.partition("-")[2], forgotten)
    ]
    if not buried:
        return []
    every = dict(episode_files.readable(store))
    kept = every.keys() - {*buried}
    held = {turn.key for path in kept for turn in every[path].turns}
    writes: list[runs.Write] = []
    for path in buried:
        turns = every[path].turns if path in every else ()
        keys = {turn.key for turn in turns}
        living = {key for key in keys if not logs.is_forgotten(key, forgotten)}
        if living - held:
            rest = episode_files.reduced(every[path], keys - (living - held))
            assert rest is not None
            place = episode_files.file_of(rest, path.parents[3])
            writes.append(runs.Put(place, episode_files.render(rest)))
            held |= living
        writes.append(runs.Remove(path))
    return writes


def _thinned(store: Store, forgotten: frozenset[str]) -> list[str]:
    """Ids of episodes that lose turns: their machine made them before it heard of the forget."""
    found: set[str] = set()
    for path in episode_files.all_files(store):
        try:
            data = atomic.read(path, episode_files.MAX_EPISODE) or b""
            keys = {key.decode() for key in _KEY.findall(data)}
            if any(logs.is_forgotten(key, forgotten) for key in keys):
                episode = episode_files.parse(data, path)
                if any(logs.is_forgotten(turn.key, forgotten) for turn in episode.turns):
                    found.add(episode.id)
        except DamagedStoreError:
            continue  # the index names it among the problems
    return sorted(each for each in found if not logs.is_forgotten(each, forgotten))


def marker_path(store: Store) -> Path:
    """The file that says that a forget is not finished."""
    return store.derived / "purge"


def is_begun(store: Store) -> bool:
    """Whether a forget was cut short."""
    return marker_path(store).exists()


def finish(store: Store) -> None:
    """Destroy preimages, copies, drafts and the prepared briefing; the caller holds the lock.

    The index was compacted by the forget itself.
    """
    atomic.clear_folder(store.derived, _KEPT)
    atomic.remove(marker_path(store))


def finish_begun(store: Store) -> None:
    """The same for a forget that was cut short: its index is made anew."""
    database.discard(store.derived)
    finish(store)


_KEPT = frozenset({"index", "device", "purge", "shadow"})
"""What a forget leaves, the mark until the end. The log of shadow mode holds counts, and of ids the
hashes that tombstones keep too."""
