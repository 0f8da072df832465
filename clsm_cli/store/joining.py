"""Merge two versions of a file by content: records by id, logs by line, topics by item.

**Where git merges** (``merge``) both versions have a common ancestor. ``merge=union`` alone keeps every
line of both, and readers join them; this leaves nothing twice, and brings nothing back that one side took
out and the other did not touch. Readers cannot do that: a line that a union brought back beside one that
the other side edited looks like one that a person wrote again. Git calls ``clsm merge-driver`` (set up by ``store.git_setup``) with the
ancestor, ours, where the result must stand, and theirs; it keeps every line where this cannot help.

**Where a synchroniser left two files** (``join``) there is none. Readers pass over such a copy
(``layout.is_conflict_copy``), except that what it forgets counts at once. Before the store is written to in
earnest, what only the copy holds is put into the file, and the copy is moved to ``quarantine/``. Each
machine joins what it may write: the three streams, tombstones and its own part of ``flow/``. The result
depends on the two files alone, so machines that do it at the same time agree.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import Record, encode
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import normalise_text
from clsm_cli.model.join import join_all
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episode_files, git, logs, record_files, runs, shards, topics
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS, Store, device_of, is_conflict_copy, original_name

Kind = Literal["log", "shard", "topic", "episode", ""]
"""Of files that can be joined; "" for all others. In the order in which copies are: tombstones and
records come before what is read with them."""


def kind_of(path: str) -> Kind:
    """What a file of a store is, by its path in the store or in a repository around it.

    >>> kind_of("projects/graph/3.yaml"), kind_of("m/identity/people.md"), kind_of("clsm.yaml")
    ('shard', 'topic', '')
    """
    parts = PurePosixPath(path).parts
    if path.endswith(".jsonl"):
        return "log"
    if path.endswith(".yaml") and len(parts) > 2 and {"graph", "archive"} & {*parts[:-1]}:
        return "shard"
    if path.endswith(".md") and len(parts) > 1 and parts[-2] in TOPIC_STREAMS:
        return "topic"
    is_episode = PurePosixPath(path).match("flow/*/episodes/*/*/*.md")
    return "episode" if is_episode else ""


def versions(records: Iterable[Record]) -> list[Record]:
    """One record an id; where a value that a person set would be lost, all of its versions.

    Whoever settles the store next puts such a value on the review list.
    """
    groups = grouped((record.id, record) for record in records)
    found: list[Record] = []
    for group in groups.values():
        joined = join_all(group)
        if joined.lost or len({type(record) for record in group}) > 1:
            found += {dump(encode(record)): record for record in group}.values()
        else:
            found.append(joined.record)
    return found


def merged_shards(base: bytes, ours: bytes, theirs: bytes, path: Path) -> bytes | None:
    """A shard with the records of both sides; None where a line of either cannot be read.

    A record that one side took out goes, if the other left it as it was.
    """
    read = [shards.parse(data, path) for data in (base, ours, theirs)]
    if any(shard.problems for shard in read):
        return None
    before, one, two = (_by_id(shard.records) for shard in read)
    gone = {i for i in before if i not in one and two.get(i) == before[i]}
    gone |= {i for i in before if i not in two and one.get(i) == before[i]}
    both = [record for shard in read[1:] for record in shard.records if record.id not in gone]
    return shards.render(versions(both))


def _by_id(records: Iterable[Record]) -> dict[str, list[str]]:
    found = grouped((record.id, dump(encode(record))) for record in records)
    return {record_id: sorted(lines) for record_id, lines in found.items()}


def merged_lines(base: bytes, ours: bytes, theirs: bytes, union: bytes) -> bytes:
    r"""The union of two logs, each line once; without those that one side alone took out.

    >>> merged_lines(b"", b"\n{1}\n\n{2}\n", b"\n{1}\n", b"\n{1}\n\n{2}\n\n{1}\n")
    b'\n{1}\n\n{2}\n'
    """
    before, one, two = ({*data.split(b"\n")} for data in (base, ours, theirs))
    seen = before - (one & two)
    kept: list[bytes] = []
    for line in union.split(b"\n"):
        if line.strip() and line in seen:
            if kept and not kept[-1]:
                kept.pop()  # the newline that was written before it
            continue
        seen.add(line)
        kept.append(line)
    return b"\n".join(kept)


def merged_topics(base: bytes, ours: bytes, theirs: bytes, union: bytes, path: Path) -> bytes:
    """The union of two topic files, each item once.

    An item that one side changed or took out goes, if the other left it as it was. Where both
    changed it both texts stay, and whoever settles the store next asks which is meant.
    """
    before, one, two = (
        {_mark(item) for item in topics.parse(data, path).items} for data in (base, ours, theirs)
    )
    seen = before - (one & two)
    topic = topics.parse(union, path)
    drop: set[int] = set()
    for item in topic.items:
        if _mark(item) in seen:
            drop.update(range(item.line - 1, topics.item_end(topic.lines, item.line)))
        seen.add(_mark(item))
    lines = [line for number, line in enumerate(topic.lines) if number not in drop]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _mark(item: topics.Item) -> tuple[str | None, str, str | None]:
    """What makes two items the same one."""
    return (item.id, " ".join(item.text.split()), item.state)


def merge(base: Path, ours: Path, theirs: Path, path: Path) -> bool:
    """Write the join of two versions, which began as ``base``, to ``ours``; False where it cannot be had.

    ``path`` is that of the file in the repository.
    """
    kind = kind_of(path.as_posix())
    most = logs.MAX_LOG if kind == "log" else MAX_FILE
    try:
        old, one, two = (atomic.read(each, most) or b"" for each in (base, ours, theirs))
    except DamagedStoreError:
        return False
    joined = merged_shards(old, one, two, path) if kind == "shard" else None
    union = _union(base, ours, theirs) if kind in ("log", "topic") else None
    if union is not None and kind == "log":
        joined = merged_lines(old, one, two, union)
    elif union is not None:
        joined = merged_topics(old, one, two, union, path)
    if joined is None:
        return False
    atomic.put(ours, joined, durable=False)  # git takes it from there
    return True


def _union(base: Path, ours: Path, theirs: Path) -> bytes | None:
    """All lines of both sides, but for what one of them alone took out; None when git fails."""
    files = (str(each.absolute()) for each in (ours, base, theirs))
    try:
        return git.run(
            ours.absolute().parent, "merge-file", "-p", "-q", "--union", *files, seconds=git.SECONDS
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


class Copy(NamedTuple):
    """Another version of a file.

    Only a person can join one without a kind (settings, labels); ``writer`` is the machine that joins
    it, None any.
    """

    path: Path
    original: Path
    kind: Kind
    writer: str | None


def find_copies(store: Store) -> list[Copy]:
    """Every conflict copy of a store, in the order in which they are joined."""
    copies = [_copy(store, path) for path in _walk(store.root)]
    return sorted(copies, key=lambda copy: (get_args(Kind).index(copy.kind), copy.path))


def _walk(root: Path) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        at_top = folder == str(root)
        names[:] = [n for n in names if n[0] != "." and not (at_top and n == "quarantine")]
        yield from (Path(folder, name) for name in files if is_conflict_copy(name))


def _copy(store: Store, path: Path) -> Copy:
    original = path.with_name(original_name(path.name))
    place = original.relative_to(store.root).as_posix()
    return Copy(path, original, kind_of(place), device_of(place))


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
        elif everywhere or copy.writer in (None, store.device):
            told.append(f"{copy.path.name}: {_joined(store, copy, now)}")
    return told


def _joined(store: Store, copy: Copy, now: str) -> str:
    """Join a copy and move it to quarantine; what happened."""
    try:
        data = atomic.read(copy.path, logs.MAX_LOG) or b""
    except DamagedStoreError as error:
        return f"{error.reason}, so this second version was left where it is"
    writes, what = list[runs.Write](), f"was joined with {copy.original.name}"
    try:
        writes = _plan(store, copy, data)
    except DamagedStoreError as error:
        what = f"could not be joined with {copy.original.name}, as a file {error.reason}"
    aside = record_files.quarantine_path(store, copy.path, data)
    writes += [runs.Put(aside, data), runs.Remove(copy.path)]
    runs.apply(store, "join", now, writes, whole=True)
    return f"{what}; this second version is in quarantine/ now"


def _plan(store: Store, copy: Copy, data: bytes) -> list[runs.Write]:
    """Writes that put into the file what only its copy holds."""
    old = atomic.read(copy.original, logs.MAX_LOG)
    if data == old:
        return []
    if copy.kind == "log":
        lines = logs.plan_missing(data, copy.original)
        return [runs.Append(copy.original, b"\n".join(lines))] if lines else []
    if copy.kind == "episode":
        return _turns(store, copy)
    if old is None:
        return [runs.Put(copy.original, data, read_as=None)]
    return _records(store, copy, data) if copy.kind == "shard" else _items(store, copy, data)


def _turns(store: Store, copy: Copy) -> list[runs.Write]:
    """An episode of the turns that no other one has; the file itself where it is missing."""
    forgotten = logs.load_tombstones(store)
    episode = episode_files.without_forgotten(episode_files.read(copy.path), forgotten)
    if episode is None:
        return []
    held = {turn.key for _, each in episode_files.readable(store) for turn in each.turns}
    gone = held & {turn.key for turn in episode.turns}
    if not gone and not copy.original.exists():
        return [runs.Put(copy.original, episode_files.render(episode), read_as=None)]
    rest = episode_files.without_turns(episode, gone)
    if rest is None:
        return []
    return [runs.Put(episode_files.file_of(rest, store.flow), episode_files.render(rest))]


def _records(store: Store, copy: Copy, data: bytes) -> list[runs.Write]:
    old = shards.read(copy.original)
    both = [*old.records, *shards.parse(data, copy.path).records]
    joined = shards.render(versions(both))
    if atomic.sha256(joined) == old.sha256:
        return []
    return record_files.plan_rewrite(store, copy.original, joined, old)


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
        is_gone = (
            isinstance(row, Statement)
            and not row.is_current
            and row.text_sha == topics.text_sha(item.text)
        )
        if is_gone or logs.is_forgotten(record_id, forgotten):
            continue
        if (record_id, normalise_text(item.text)) not in texts:
            line = Statement(id=record_id, rev=(0, ""), text=item.text, state=item.state)
            fresh.append(topics.NewItem(topics.heading_of(there, item), line))
    if not fresh:
        return []
    return [runs.Put(copy.original, topics.apply_edits(here, fresh=fresh), read_as=here.sha256)]
