"""Conflict copies: files of which a synchronising program kept two versions are merged again.

Readers pass over such a copy (``conflict_names``), except that what it forgets counts at once. Before
the store is written to in earnest, what a copy holds and the file beside it does not is put there:
records by id, logs by line, statements by item, turns of an episode as one of their own. The copy is
then moved to ``quarantine/``. Each machine joins what it may write: the three streams, tombstones and
its own part of ``flow/``. The result depends on the two files alone, so machines that do it at the
same time agree.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError, DiskError
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import normalise_text
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episodes, joining, logs, record_files, runs, shards, topics
from clsm_cli.store.conflict_names import is_conflict_copy, original_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.store.layout import Store

_ORDER = ("log", "shard", "topic", "episode", "")
"""Tombstones and records come before what is read with them."""


class Copy(NamedTuple):
    """Another version of a file.

    Attributes:
        path: Where it lies, and ``original`` the file that it is a version of.
        kind: What it holds; "" where nobody but a person can join it (settings, labels).
        writer: The machine that joins it; "" for any.
    """

    path: Path
    original: Path
    kind: Literal["log", "shard", "topic", "episode", ""]
    writer: str


def find_copies(store: Store) -> list[Copy]:
    """Every conflict copy of a store, in the order in which they are joined."""
    copies = [_copy(store, path) for path in _walk(store.root)]
    return sorted(copies, key=lambda copy: (_ORDER.index(copy.kind), copy.path))


def _walk(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        at_top = folder == str(root)
        names[:] = [n for n in names if n[0] != "." and not (at_top and n == "quarantine")]
        yield from (Path(folder, name) for name in files if is_conflict_copy(name))


def _copy(store: Store, path: Path) -> Copy:
    original = path.with_name(original_name(path.name))
    place = original.relative_to(store.root)
    is_episode = place.match("flow/*/episodes/*/*/*.md")
    kind = "episode" if is_episode else joining.kind_of(place.as_posix()) or ""
    parts = place.parts
    writer = parts[1] if parts[0] == "flow" and len(parts) > 2 else ""
    writer = parts[2] if parts[:2] == ("archive", "flow") and len(parts) > 3 else writer
    return Copy(path, original, kind, writer)


def join(store: Store, now: str, *, everywhere: bool = False) -> list[str]:
    """Join every copy that this machine may join, or with ``everywhere`` all; the caller holds the lock.

    A forget leaves nothing anywhere, so it joins also in the folders of other machines. Returns what
    the user should hear.
    """
    told: list[str] = []
    for copy in find_copies(store):
        if not copy.kind:
            told.append(
                f"{copy.path.name}: is another version of {copy.original.name}; take from it what is"
                " wanted, and delete it"
            )
        elif everywhere or copy.writer in ("", store.device):
            told.append(f"{copy.path.name}: {_joined(store, copy, now)}")
    return told


def _joined(store: Store, copy: Copy, now: str) -> str:
    """Join a copy and move it to quarantine; what happened."""
    try:
        away = _put_aside(store, copy.path)
    except DamagedStoreError as error:
        return f"{error.reason}, so this second version was left where it is"
    try:
        writes, what = plan(store, copy), f"was joined with {copy.original.name}"
    except DamagedStoreError as error:
        writes, what = (
            [],
            f"could not be joined with {copy.original.name}, as a file {error.reason}",
        )
    runs.apply(store, "join", now, [*writes, *away], whole=True)
    return f"{what}; this second version is in quarantine/ now"


def plan(store: Store, copy: Copy) -> list[runs.Write]:
    """Writes that put into the file what only its copy holds.

    Raises:
        DamagedStoreError: One of the two cannot be read.
    """
    data, old = (atomic.read(path, logs.MAX_LOG) for path in (copy.path, copy.original))
    if data is None or data == old:
        return []
    if copy.kind == "log":
        lines = logs.plan_missing(data, copy.original)
        return [runs.Append(copy.original, b"\n".join(lines))] if lines else []
    if old is None and copy.kind != "episode":
        return [runs.Put(copy.original, data, read_as=None)]
    if copy.kind == "shard":
        return _records(store, copy, data)
    return _items(store, copy, data) if copy.kind == "topic" else _turns(store, copy)


def _put_aside(store: Store, path: Path) -> list[runs.Write]:
    data = atomic.read(path, logs.MAX_LOG) or b""
    name = "-".join(path.relative_to(store.root).parts)
    kept = store.quarantine / f"{atomic.sha256(data)[:12]}-{name}"
    return [runs.Put(kept, data), runs.Remove(path)]


def _records(store: Store, copy: Copy, data: bytes) -> list[runs.Write]:
    old = shards.read(copy.original)
    both = [*old.records, *shards.parse(data, copy.path).records]
    joined = shards.render(joining.versions(both))
    if atomic.sha256(joined) == old.sha256:
        return []
    name = "-".join(copy.original.relative_to(store.root).parts[:-1])
    return record_files.rewrite(store, name, copy.original, joined, old)


def _items(store: Store, copy: Copy, data: bytes) -> list[runs.Write]:
    """Items that only the copy has, but for those that were taken back since."""
    old = atomic.read(copy.original, MAX_FILE) or b""
    here, there = topics.parse(old, copy.original), topics.parse(data, copy.path)
    forgotten = logs.load_tombstones(store)
    folders = [copy.original.parent / "graph", store.root / "archive" / copy.original.parent.name]
    known = shards.load_graph(folders, forgotten, only="statement").records
    texts = {(topics.id_of(item, forgotten), normalise_text(item.text)) for item in here.items}
    fresh = []
    for item in there.items:
        record_id = topics.id_of(item, forgotten)
        row = known.get(record_id)
        is_gone = isinstance(row, Statement) and not row.is_current
        is_gone &= isinstance(row, Statement) and row.text_sha == topics.text_sha(item.text)
        if is_gone or logs.is_forgotten(record_id, forgotten):
            continue
        if (record_id, normalise_text(item.text)) not in texts:
            line = Statement(id=record_id, rev=(0, ""), text=item.text, state=item.state)
            above = [text for text in there.lines[: item.line] if text.startswith("## ")]
            heading = above[-1].removeprefix("## ").strip() if above else ""
            fresh.append(topics.NewItem(heading, line))
    if not fresh:
        return []
    return [runs.Put(copy.original, topics.apply_edits(here, fresh=fresh), read_as=here.sha256)]


def _turns(store: Store, copy: Copy) -> list[runs.Write]:
    """An episode of the turns that no other one has; the file itself where it is missing."""
    forgotten = logs.load_tombstones(store)
    episode = episodes.without_forgotten(episodes.read(copy.path), forgotten)
    if episode is None:
        return []
    held: set[str] = set()
    for path in (path for flow in store.flows() for path in episodes.files(flow)):
        try:
            held |= {turn.key for turn in episodes.read(path).turns}
        except (DamagedStoreError, DiskError):
            continue  # the index names it among the problems
    gone = held & {turn.key for turn in episode.turns}
    if not gone and not copy.original.exists():
        return [runs.Put(copy.original, episodes.render(episode), read_as=None)]
    rest = episodes.reduced(episode, gone)
    return (
        []
        if rest is None
        else [runs.Put(episodes.file_of(rest, store.flow), episodes.render(rest))]
    )
