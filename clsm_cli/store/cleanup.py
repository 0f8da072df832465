"""Remove forgotten records that came back from an old clone, and derived data that may contain them.

Readers ignore such records anyway. A forget removes them on its own machine; after a merge, the next
consolidation does so here, also in the folders of other machines. Nothing is saved for undo. A marker
file exists until this is done, so that the next holder of the lock completes an interrupted forget.
"""

from collections.abc import Collection
from pathlib import Path

from clsm_cli.model.ids import tombstone_hash
from clsm_cli.model.streams import Stream
from clsm_cli.store import atomic, episode_files, inbox, logs, record_files, runs, shards, topics
from clsm_cli.store.index import database
from clsm_cli.store.layout import TOPIC_STREAMS, Store

_KEPT = frozenset({"index", "device", "purge"})
"""Names in ``.clsm`` that survive a forget, the marker until the end."""


def sweep(store: Store, now: str) -> None:
    """Remove forgotten data from every file of the store; the caller holds the lock."""
    forgotten = logs.load_tombstones(store)
    if not forgotten:
        return
    reduced = [tombstone_hash(each) for each in _partly_forgotten(store, forgotten)]
    writes = plan(store, forgotten.union(reduced))
    if reduced:
        writes.insert(0, runs.Append(*logs.new_tombstones(store, reduced, now)))
    runs.apply(store, "sweep", now, writes, undoable=False)


def plan(store: Store, forgotten: frozenset[str]) -> list[runs.Write]:
    """Plan a sweep; no writes if nothing came back."""
    writes: list[runs.Write] = []
    known = shards.load_graph(store.graphs(), forgotten, only="statement").records
    for stream in TOPIC_STREAMS:
        writes += _clean_topics(store, stream, known, forgotten)
    for folder in (*store.graphs(), *store.archives()):
        for path in shards.shard_files(folder):
            shard = shards.read(path)
            left = shards.fold([shard], forgotten).records
            if left != shards.fold([shard]).records:
                data = shards.render(left.values())
                writes += record_files.plan_rewrite(store, path, data, shard)
    writes += _clean_episodes(store, forgotten)
    for path in (path for flow in store.flows() for path in inbox.files(flow / "inbox")):
        box = inbox.read(path)
        kept = inbox.without_forgotten(box, forgotten)
        if kept.items != box.items:
            writes.append(inbox.plan_rewrite(kept, kept.items, store.root))
    return writes


def _clean_topics(
    store: Store, stream: Stream, known: Collection[str], forgotten: frozenset[str]
) -> list[runs.Write]:
    """Remove the lines of forgotten statements.

    A person's own file that contained nothing else is deleted, since its name may be telling. A file
    made by clsm stays, empty: git could not merge a deletion with another machine's change.
    """
    writes: list[runs.Write] = []
    left = record_files.visible_topics(store, stream, known, forgotten)
    for topic, kept in zip(topics.read_topics(store.root / stream), left, strict=True):
        if kept.items == topic.items:
            continue
        drop = {item.id for item in topic.items if item.id} - {item.id for item in kept.items}
        data = topics.drop_empty_headings(topics.apply_edits(topic, drop=drop), topic)
        if topic.path.stem in topics.GENERATED_STEMS or topics.has_text(data):
            writes.append(runs.Put(topic.path, data, read_as=topic.sha256))
        else:
            writes.append(runs.Remove(topic.path))
    return writes


def _clean_episodes(store: Store, forgotten: frozenset[str]) -> list[runs.Write]:
    """Delete files with a tombstone; a visible turn that no other file has moves to a new episode.

    Another machine may have made a longer episode with the same first turn. Inboxes are not counted:
    machines that sweep at the same time would differ, and git could not merge the results.
    """
    # The name of a file is <time>-<id>.
    deleted = [
        path
        for path in episode_files.all_files(store)
        if logs.is_forgotten(path.stem.partition("-")[2], forgotten)
    ]
    if not deleted:
        return []
    episodes = dict(episode_files.readable(store))
    kept = episodes.keys() - {*deleted}
    covered = {turn.key for path in kept for turn in episodes[path].turns}
    writes: list[runs.Write] = []
    for path in deleted:
        keys = {turn.key for turn in episodes[path].turns} if path in episodes else set[str]()
        gone = covered | {key for key in keys if logs.is_forgotten(key, forgotten)}
        if keys - gone and (rest := episode_files.without_turns(episodes[path], gone)):
            place = episode_files.file_of(rest, path.parents[3])
            writes.append(runs.Put(place, episode_files.render(rest)))
            covered |= keys - gone
        writes.append(runs.Remove(path))
    return writes


def _partly_forgotten(store: Store, forgotten: frozenset[str]) -> list[str]:
    """Ids of episodes that lose turns: another machine made them before it received the tombstones."""
    return sorted(
        episode.id
        for _, episode in episode_files.readable(store)
        if not logs.is_forgotten(episode.id, forgotten)
        and any(logs.is_forgotten(turn.key, forgotten) for turn in episode.turns)
    )


def marker_path(store: Store) -> Path:
    """The file that marks an unfinished forget."""
    return store.derived / "purge"


def is_interrupted(store: Store) -> bool:
    """Whether a forget was interrupted."""
    return marker_path(store).exists()


def finish(store: Store) -> None:
    """Destroy preimages, copies, drafts and the prepared briefing; the caller holds the lock.

    The forget itself has compacted the index.
    """
    atomic.clear_folder(store.derived, _KEPT)
    atomic.remove(marker_path(store))


def finish_interrupted(store: Store) -> None:
    """Finish an interrupted forget; its index is deleted, to be made anew."""
    database.discard(store.derived)
    finish(store)
