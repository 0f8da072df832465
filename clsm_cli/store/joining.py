"""Merge two versions of a file by content: records by id, logs by line, topics by item.

Used where git merges (``merge``, with the common ancestor) and where a program that synchronises folders
left two files (``conflict_copies``, without one). ``merge=union`` alone keeps every line too, and
readers join them; this leaves no line twice, and brings nothing back that one side took out and the
other did not touch.

Git calls ``clsm merge-driver`` with three files: the ancestor, ours (where the result must stand) and
theirs. ``store.git_setup`` says how it is set up, and that git keeps every line of both sides where
this cannot help: nothing is written then.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from clsm_cli.config import MAX_FILE
from clsm_cli.errors import DamagedStoreError
from clsm_cli.model.codec import encode
from clsm_cli.model.join import join_all
from clsm_cli.store import atomic, git, shards, topics
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import TOPIC_STREAMS
from clsm_cli.store.logs import MAX_LOG
from clsm_cli.store.topics import item_end

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from clsm_cli.model.codec import Record

Kind = Literal["shard", "log", "topic"]


def kind_of(path: str) -> Kind | None:
    """What a file of a store is, by its path in the store or in a repository around it.

    >>> kind_of("projects/graph/3.yaml"), kind_of("m/identity/people.md"), kind_of("clsm.yaml")
    ('shard', 'topic', None)
    """
    parts = PurePosixPath(path).parts
    if path.endswith(".jsonl"):
        return "log"
    if path.endswith(".yaml") and len(parts) > 2 and {"graph", "archive"} & {*parts[:-1]}:
        return "shard"
    if path.endswith(".md") and len(parts) > 1 and parts[-2] in TOPIC_STREAMS:
        return "topic"
    return None


def versions(records: Iterable[Record]) -> list[Record]:
    """One record an id; where a value that a person set would be lost, all of its versions.

    Whoever settles the store next puts such a value on the review list.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.id, []).append(record)
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
    """The versions of each id, as lines."""
    found: dict[str, list[str]] = {}
    for record in records:
        found.setdefault(record.id, []).append(dump(encode(record)))
    return {record_id: sorted(lines) for record_id, lines in found.items()}


def merged_lines(base: bytes, ours: bytes, theirs: bytes, union: bytes) -> bytes:
    r"""The union of two logs without lines that stand there twice because of it.

    >>> merged_lines(b"", b"\n{1}\n\n{2}\n", b"\n{1}\n", b"\n{1}\n\n{2}\n\n{1}\n")
    b'\n{1}\n\n{2}\n'
    """
    before, one, two = (Counter(data.split(b"\n")) for data in (base, ours, theirs))
    left = Counter(
        {
            line: two[line]
            if one[line] == before[line]
            else one[line]
            if two[line] == before[line]
            else max(one[line], two[line])
            for line in {*one, *two}
        }
    )
    kept: list[bytes] = []
    for line in union.split(b"\n"):
        if line.strip() and left[line] <= 0:
            if kept and not kept[-1]:
                kept.pop()  # the newline that was written before it
            continue
        left[line] -= 1
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
            drop.update(range(item.line - 1, item_end(topic.lines, item.line)))
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
    limit = MAX_LOG if kind == "log" else MAX_FILE
    try:
        given = [atomic.read(each, limit) for each in (base, ours, theirs)]
    except DamagedStoreError:
        return False
    old, one, two = (data or b"" for data in given)
    joined = merged_shards(old, one, two, path) if kind == "shard" else None
    if kind in ("log", "topic"):
        union = _union(base, ours, theirs)
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
