"""Merge two versions of a file by content: records by id, logs by line, topics by item.

**Git merges** (``merge``) have a common ancestor. ``merge=union`` alone keeps every line of both sides
for readers to join. This merge repeats nothing, and restores nothing that one side removed and the
other did not touch. Readers cannot do that: a line that a union restored beside the other side's
edit looks as if a person had written it again. Git calls ``clsm merge-driver`` (set up by
``store.git_setup``) with the ancestor, ours (which gets the result) and theirs; if it fails, git keeps
all lines.

**Conflict copies of a synchroniser** (``join``) have no ancestor. Readers ignore them
(``layout.is_conflict_copy``), except for their tombstones, which count at once. ``ingest``,
``consolidate`` and ``forget`` first add to the file what only the copy has, and move the copy to
``quarantine/``. Each machine joins the files that it may write: the three streams, tombstones and its
own part of ``flow/``. The result depends on the two files alone, so machines that join at the same
time agree.
"""

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import Record, encode
from clsm_cli.model.graph import Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import normalise_text
from clsm_cli.model.join import join_all
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, episode_files, git, logs, record_files, runs, shards, topics
from clsm_cli.store.file_kinds import Kind, kind_of
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store, device_of, is_conflict_copy, original_name

_LOGS: tuple[Kind, ...] = ("log", "inbox", "tombstones")
_ORDER: dict[Kind, int] = {**dict.fromkeys(_LOGS, 0), "shard": 1, "topic": 2, "episode": 3}
"""The kinds that can be joined, in the order in which copies are: tombstones and records before the
files that are read with them."""


def _join_records(records: Iterable[Record]) -> list[Record]:
    """One record per id; if a value that a person set would be lost, all of its versions.

    The next settling puts such a value on the review list.
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


def merge_shards(base: bytes, ours: bytes, theirs: bytes, path: Path) -> bytes | None:
    """Merge two shards; None if a line is unreadable.

    A record that one side removed is dropped if the other did not change it.
    """
    read = [shards.parse(data, path) for data in (base, ours, theirs)]
    if any(shard.problems for shard in read):
        return None
    lines = (grouped((r.id, dump(encode(r))) for r in shard.records) for shard in read)
    before, one, two = ({i: sorted(each) for i, each in found.items()} for found in lines)
    gone = {i for i in before if i not in one and two.get(i) == before[i]}
    gone |= {i for i in before if i not in two and one.get(i) == before[i]}
    both = [record for shard in read[1:] for record in shard.records if record.id not in gone]
    return shards.render(_join_records(both))


def _merge_lines(base: bytes, ours: bytes, theirs: bytes, union: bytes) -> bytes:
    r"""Merge two logs: their union without repeats and without lines that one side removed.

    >>> _merge_lines(b"", b"\n{1}\n\n{2}\n", b"\n{1}\n", b"\n{1}\n\n{2}\n\n{1}\n")
    b'\n{1}\n\n{2}\n'
    """
    before, one, two = ({*data.split(b"\n")} for data in (base, ours, theirs))
    seen = before - (one & two)
    kept: list[bytes] = []
    for line in union.split(b"\n"):
        if line.strip() and line in seen:
            if kept and not kept[-1]:
                kept.pop()  # the newline before the line
            continue
        seen.add(line)
        kept.append(line)
    return b"\n".join(kept)


def _merge_topics(base: bytes, ours: bytes, theirs: bytes, union: bytes, path: Path) -> bytes:
    """Merge two topic files: their union without repeated items.

    An item that one side changed or removed is dropped if the other did not change it. If both
    changed it, both texts stay, and the next settling asks which is right.
    """
    parsed = (topics.parse(data, path).items for data in (base, ours, theirs))
    before, one, two = ({_content(item) for item in items} for items in parsed)
    seen = before - (one & two)
    topic = topics.parse(union, path)
    drop: set[int] = set()
    for item in topic.items:
        if _content(item) in seen:
            drop.update(range(item.line - 1, topics.item_end(topic.lines, item.line)))
        seen.add(_content(item))
    lines = [line for number, line in enumerate(topic.lines) if number not in drop]
    return "\n".join(lines).encode("utf-8", "surrogateescape")


def _content(item: topics.Item) -> tuple[str | None, str, str | None]:
    return (item.id, " ".join(item.text.split()), item.state)


def merge(base: Path, ours: Path, theirs: Path, path: Path) -> bool:
    """Merge two versions with the ancestor ``base`` into the file ``ours``; whether that was possible.

    ``path`` is the file's path in the repository, which may be one around the store.
    """
    inside = ("/".join(path.parts[start:]) for start in range(len(path.parts)))
    kind = next((kind for kind in map(kind_of, inside) if kind in _ORDER), "unknown")
    is_log = kind in _LOGS
    limit = logs.MAX_LOG if is_log else MAX_FILE
    try:
        old, one, two = (atomic.read(each, limit) or b"" for each in (base, ours, theirs))
    except DamagedStoreError:
        return False
    joined = merge_shards(old, one, two, path) if kind == "shard" else None
    union = _union(base, ours, theirs) if is_log or kind == "topic" else None
    if union is not None and is_log:
        joined = _merge_lines(old, one, two, union)
    elif union is not None:
        joined = _merge_topics(old, one, two, union, path)
    if joined is None:
        return False
    atomic.put(ours, joined, durable=False)  # git reads it at once
    return True


def _union(base: Path, ours: Path, theirs: Path) -> bytes | None:
    """Git's union merge of two files; None if git fails."""
    files = (str(each.absolute()) for each in (ours, base, theirs))
    words = ("merge-file", "-p", "-q", "--union", *files)
    try:
        return git.run(ours.absolute().parent, *words, timeout=git.TIMEOUT)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


class ConflictCopy(NamedTuple):
    """A conflict copy of a file.

    One that cannot be joined (settings, labels) needs a person; ``writer`` is the machine that joins it,
    None for any.
    """

    path: Path
    original: Path
    kind: Kind
    writer: str | None

    @property
    def is_joinable(self) -> bool:
        """Whether clsm can join it with its original."""
        return self.kind in _ORDER


def find_copies(store: Store) -> list[ConflictCopy]:
    """The conflict copies in a store, in the order in which they are joined."""
    copies: list[ConflictCopy] = []
    for folder, names, files in os.walk(store.root):
        at_top = folder == str(store.root)
        names[:] = [n for n in names if n[0] != "." and not (at_top and n == "quarantine")]
        for name in filter(is_conflict_copy, files):
            original = Path(folder, original_name(name))
            place = original.relative_to(store.root).as_posix()
            copies.append(
                ConflictCopy(Path(folder, name), original, kind_of(place), device_of(place))
            )
    return sorted(copies, key=lambda copy: (_ORDER.get(copy.kind, len(_ORDER)), copy.path))


def join(store: Store, now: str, *, everywhere: bool = False) -> list[str]:
    """Join the copies that this machine may join, or all; returns messages for the user.

    The caller holds the lock. A forget joins ``everywhere``, to leave no trace in folders of other
    machines.
    """
    messages: list[str] = []
    for copy in find_copies(store):
        if not copy.is_joinable:
            messages.append(
                f"{copy.path.name}: is another version of {copy.original.name}; take from it what is"
                " wanted, and delete it"
            )
        elif everywhere or copy.writer in (None, store.device):
            messages.append(f"{copy.path.name}: {_join_copy(store, copy, now)}")
    return messages


def _join_copy(store: Store, copy: ConflictCopy, now: str) -> str:
    """Join a copy and move it to quarantine; returns a message."""
    try:
        data = atomic.read(copy.path, logs.MAX_LOG) or b""
    except DamagedStoreError as error:
        return f"{error.reason}, so this second version was left where it is"
    writes, what = list[runs.Write](), f"was joined with {copy.original.name}"
    try:
        writes = _plan_join(store, copy, data)
    except DamagedStoreError as error:
        what = f"could not be joined with {copy.original.name}, as a file {error.reason}"
    target = record_files.quarantine_path(store, copy.path, data)
    writes += [runs.Put(target, data), runs.Remove(copy.path)]
    runs.apply(store, "join", now, writes, whole=True)
    return f"{what}; this second version is in quarantine/ now"


def _plan_join(store: Store, copy: ConflictCopy, data: bytes) -> list[runs.Write]:
    """Plan to add to the file what only its copy has."""
    old = atomic.read(copy.original, logs.MAX_LOG)
    if data == old:
        return []
    if copy.kind in _LOGS:
        known = {*(old or b"").split(b"\n")}
        lines = [line for line in dict.fromkeys(data.split(b"\n")) if line.strip()]
        new = b"\n".join(line for line in lines if line not in known)
        return [runs.Append(copy.original, new)] if new else []
    if copy.kind == "episode":
        return _join_episode(store, copy)
    if old is None:
        return [runs.Put(copy.original, data, read_as=None)]
    join_kind = _join_shard if copy.kind == "shard" else _join_topic
    return join_kind(store, copy, data)


def _join_episode(store: Store, copy: ConflictCopy) -> list[runs.Write]:
    """Make an episode of the turns that no other one has; restore the file itself if it is missing."""
    forgotten = logs.load_tombstones(store)
    episode = episode_files.without_forgotten(episode_files.read(copy.path), forgotten)
    if episode is None:
        return []
    covered = {turn.key for _, each in episode_files.readable(store) for turn in each.turns}
    gone = covered & {turn.key for turn in episode.turns}
    if not gone and not copy.original.exists():
        return [runs.Put(copy.original, episode_files.render(episode), read_as=None)]
    rest = episode_files.without_turns(episode, gone)
    if rest is None:
        return []
    return [runs.Put(episode_files.file_of(rest, store.flow), episode_files.render(rest))]


def _join_shard(store: Store, copy: ConflictCopy, data: bytes) -> list[runs.Write]:
    old = shards.read(copy.original)
    both = [*old.records, *shards.parse(data, copy.path).records]
    joined = shards.render(_join_records(both))
    if atomic.sha256(joined) == old.sha256:
        return []
    return record_files.plan_rewrite(store, copy.original, joined, old)


def _join_topic(store: Store, copy: ConflictCopy, data: bytes) -> list[runs.Write]:
    """Add the items that only the copy has, except those that are no longer current."""
    topic = topics.parse(atomic.read(copy.original, MAX_FILE) or b"", copy.original)
    other = topics.parse(data, copy.path)
    forgotten = logs.load_tombstones(store)
    folders = [copy.original.parent / "graph", store.root / "archive" / copy.original.parent.name]
    known = shards.load_graph(folders, forgotten, only="statement").records
    texts = {(topics.id_of(item, forgotten), normalise_text(item.text)) for item in topic.items}
    fresh = []
    for item in other.items:
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
            fresh.append(topics.NewItem(topics.heading_of(other, item), line))
    if not fresh:
        return []
    return [runs.Put(copy.original, topics.apply_edits(topic, fresh=fresh), read_as=topic.sha256)]
