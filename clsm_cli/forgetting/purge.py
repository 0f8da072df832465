"""Remove turns, and the derived records that lose their support, from a store's files.

This works on a copy (``rehearsal.copy_store``); the files that differ afterwards are what a forget
writes. Tombstones come first: from then on no reader of the copy sees what is going, and the sweep that
cleans a store after a merge cleans the copy (``store.cleanup``).

A statement rests on its sources, but its words came from one of them. Where the words are not in what
stays, the statement goes too, and the episodes of its other sources are consolidated again: they may
say it in words of their own (CMA's unlearning).
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.forgetting import traces
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, cleanup, episodes, inbox, logs, shards
from clsm_cli.text.tokens import stems

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    from clsm_cli.forgetting.selection import Chosen
    from clsm_cli.forgetting.store_contents import StoreContents
    from clsm_cli.model.codec import Record
    from clsm_cli.store.layout import Store

_MONTHS = frozenset(
    stem
    for month in [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ]
    for stem in stems(month)
)
"""Dates stand in statements where the source said "yesterday"."""


class LostSupport(NamedTuple):
    """What has lost its support.

    Attributes:
        episodes: Ids of those that lose turns.
        statements: Ids of those that go.
        nodes: Ids of those that a person pinned and that nothing mentions any more.
        again: Ids of episodes that have to be read again.
        months: Whose gists are made anew, as ``2026-02``.
    """

    episodes: frozenset[str]
    statements: frozenset[str]
    nodes: frozenset[str]
    again: frozenset[str]
    months: frozenset[str]


def find_unsupported(memory: StoreContents, chosen: Chosen) -> LostSupport:
    """Find out what goes with some turns and statements."""
    gone = chosen.turns
    touched = {e for key in gone if (e := memory.episode_of(key)) is not None}
    starts = {e.id: e.start for _, e in memory.episodes}
    months = {start[:7] for e in touched if (start := starts.get(e))}
    lost = set(chosen.statements)
    again: set[str] = set()
    for row in memory.statements.values():
        left = set(row.sources) - gone
        if row.kind == "gist":
            if row.value in months or left != {*row.sources}:
                lost.add(row.id)
                months |= {row.value} if row.value else set()
        elif left != {*row.sources} and not (left and _says(memory, left, row.text)):
            lost.add(row.id)
            again |= {e for key in left if (e := memory.episode_of(key)) is not None}
    unmentioned = {
        node
        for node, keys in memory.mentions.items()
        if keys and keys <= gone and _is_pinned(memory.records.get(node))
    }
    return LostSupport(
        frozenset(touched),
        frozenset(lost),
        frozenset(unmentioned),
        frozenset(again - touched) | _one_of_each(memory, months, touched | again),
        frozenset(months),
    )


def _one_of_each(memory: StoreContents, months: set[str], known: Collection[str]) -> frozenset[str]:
    """An episode of each month, so that the month's gists are made anew."""
    found: dict[str, str] = {}
    for _, episode in memory.episodes:
        month = (episode.start or "")[:7]
        if month in months and episode.id not in known:
            found[month] = min(found.get(month, episode.id), episode.id)
    return frozenset(found.values())


def _is_pinned(record: Record | None) -> bool:
    return isinstance(record, Node) and record.pinned


def _says(memory: StoreContents, keys: Iterable[str], text: str) -> bool:
    """Whether turns hold all words of a text; names of speakers and dates may have been put in."""
    held: set[str] = set()
    for key in keys:
        told = memory.turns.get(key)
        if told is not None:
            held.update(stems(" ".join((told.turn.text, told.turn.speaker, *told.turn.heading))))
    return all(word in held or word.isdigit() or word in _MONTHS for word in stems(text))


class Purged(NamedTuple):
    """What was taken out.

    Attributes:
        unsupported: What lost its support.
        forgotten: Ids that have a tombstone now.
        remade: Id of an episode that lost turns → of the one that took its place.
        texts: Texts of the turns.
    """

    unsupported: LostSupport
    forgotten: frozenset[str]
    remade: dict[str, str]
    texts: tuple[str, ...]

    @property
    def again(self) -> frozenset[str]:
        """Episodes that have to be consolidated again."""
        return self.unsupported.again | frozenset(self.remade.values())


def purge(store: Store, memory: StoreContents, chosen: Chosen, now: str) -> Purged:
    """Take it out; nodes and edges are woven anew by the consolidation that follows."""
    lost = find_unsupported(memory, chosen)
    dead = chosen.turns | lost.episodes | lost.statements
    stones = [logs.render(logs.Tombstone(tombstone_hash(each), now)) for each in sorted(dead)]
    atomic.append(store.root / "tombstones" / f"{store.device}.jsonl", b"\n".join(stones))
    cleanup.sweep(store, now)
    _end_conversations(memory, chosen.turns)
    for folder in store.graphs():
        for path in shards.shard_files(folder):
            records = shards.read(path).records
            left = [_marked(r, lost.again) for r in records if r.id not in lost.nodes]
            if left != list(records):
                atomic.put(path, shards.render(left))
    texts = tuple(memory.turns[key].turn.text for key in sorted(chosen.turns))
    return Purged(lost, dead, _remade(store, memory, lost.episodes), texts)


def _end_conversations(memory: StoreContents, gone: AbstractSet[str]) -> None:
    """An inbox file without a turn goes; its name holds that of the conversation.

    Also one that was emptied before, if nothing of its conversation stays anywhere.
    """
    stay = {told.session for key, told in memory.turns.items() if key not in gone}
    over = {memory.turns[key].session for key in gone} - stay
    names = {inbox.path_of(Path(), session).name for session in over}
    for box in memory.inboxes:
        keys = {item.turn.key for item in box.turns}
        ends = gone >= keys if keys else box.path.name in names
        if box.path.exists() and ends:
            atomic.remove(box.path)


def _marked(record: Record, again: AbstractSet[str]) -> Record:
    if isinstance(record, EpisodeRecord) and record.id in again:
        return replace(record, stage="pending", rev=(record.rev[0] + 1, record.rev[1]))
    return record


def _remade(store: Store, memory: StoreContents, touched: AbstractSet[str]) -> dict[str, str]:
    """Which episode took the place of each that lost some turns but not all."""
    known = {episode.id for _, episode in memory.episodes}
    new = {
        turn.key: episode.id
        for flow in store.flows()
        for path in episodes.files(flow)
        if path.stem.partition("-")[2] not in known
        for episode in [episodes.read(path)]
        for turn in episode.turns
    }
    return {
        episode.id: new[turn.key]
        for _, episode in memory.episodes
        if episode.id in touched
        for turn in reversed(episode.turns)
        if turn.key in new
    }


def clean_quarantine(store: Store, gone: AbstractSet[str], texts: Iterable[str]) -> None:
    """Lines that could not be read and were kept aside: those that tell of what went."""
    told = tuple(texts)
    for path in sorted(store.quarantine.glob("*")) if store.quarantine.is_dir() else ():
        data = atomic.read(path, _LARGEST) if path.is_file() else None
        lines = (data or b"").split(b"\n")
        left = [line for line in lines if not traces.has_trace(line, gone, told)]
        if not any(line.strip() for line in left if not line.startswith(b"#")):
            atomic.remove(path)
        elif left != lines:
            atomic.put(path, b"\n".join(left))


def compared_files(store: Store) -> Iterator[tuple[str, Path]]:
    """Files of a store whose difference counts: all but derived ones and logs of machines."""
    for folder, names, found in os.walk(store.root):
        names[:] = sorted(name for name in names if not name.startswith("."))
        for name in sorted(found):
            path = store.root / os.path.relpath(os.path.join(folder, name), store.root)
            is_log = name.endswith(".jsonl") and path.parent.parent.name == "flow"
            if not name.startswith(".") and not is_log and not path.is_symlink():
                yield path.relative_to(store.root).as_posix(), path


def file_differences(
    copy: Store, before: dict[str, str | None]
) -> tuple[dict[str, tuple[bytes, str | None]], dict[str, str]]:
    """What a copy became: files with new bytes and the digest of the old, and files that went.

    Args:
        before: Digests of its files as they were, see ``compared_files``.
    """
    puts: dict[str, tuple[bytes, str | None]] = {}
    now = dict(compared_files(copy))
    for name, path in now.items():
        data = atomic.read(path, _LARGEST) or b""
        if atomic.sha256(data) != before.get(name):
            puts[name] = (data, before.get(name))
    removes = {name: digest for name, digest in before.items() if name not in now and digest}
    return puts, removes


_LARGEST = 1 << 30
"""Bytes of a file of the store."""
