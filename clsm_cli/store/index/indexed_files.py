"""The files that are indexed, and which of them changed since.

One ``os.scandir`` per folder and one ``stat`` per file: 4 ms for 1,000 files. The times of folders do not
show edits in place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.layout import (
    SHARD_NAME,
    SIDE_MARK,
    TOPIC_STREAMS,
    Store,
    folders_in,
    is_conflict_copy,
)

if TYPE_CHECKING:
    from sqlite3 import Connection

_FLOW_LOGS = {"uses.jsonl": "uses", "archived.jsonl": "archived"}
"""Indexed logs in a machine's flow folder → kind."""
_MAX_CAPTURED = 32 << 10  # maximum bytes of captured turns that a recall indexes during a run
_SHARD = re.compile(SHARD_NAME)


Signature: TypeAlias = tuple[str, int, int]
"""Kind, size in bytes and modification time (ns) of a file."""

Progress = Callable[[int, int], None]  # called with the amount done and the total


class FileChanges(NamedTuple):
    """Changes of the files since the last refresh."""

    changed: dict[str, Signature]
    removed: tuple[str, ...]

    @property
    def any(self) -> bool:
        """Whether there is any change."""
        return bool(self.changed or self.removed)


def split_aside(found: FileChanges) -> tuple[FileChanges, bool]:
    """The changes made by captures without the lock, and whether some were left out.

    The newest ones, up to a size that hardly slows down recall.
    """
    paths = [path for path, how in found.changed.items() if how[0] == "inbox" and SIDE_MARK in path]
    paths.sort(key=lambda path: (-found.changed[path][2], path))
    sizes = accumulate(found.changed[path][1] for path in paths)
    count = sum(size <= _MAX_CAPTURED for size in sizes)
    kept = {path: found.changed[path] for path in paths[:count]}
    return FileChanges(kept, ()), count < len(paths)


def changes(connection: Connection, store: Store) -> FileChanges:
    """Compare the signatures of all files with those in the index.

    The files are read first: if a run has changed one, the index then also shows that the run is in
    progress (``opening.run_in_progress``).
    """
    now = scan(store)
    known = {
        row[0]: row[1:]
        for row in connection.execute("SELECT path, kind, size, mtime_ns FROM files")
    }
    changed = {path: signature for path, signature in now.items() if known.get(path) != signature}
    return FileChanges(changed, tuple(sorted(known.keys() - now.keys())))


def scan(store: Store) -> dict[str, Signature]:
    """Path relative to the store → signature, for every indexed file."""
    found: dict[str, Signature] = {}
    skip = len(str(store.root)) + 1
    for kind, entry in _entries(store):
        try:
            stat = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # written by a capture without the lock, merged meanwhile
            continue
        found[entry.path[skip:]] = (kind, stat.st_size, stat.st_mtime_ns)
    return found


def _entries(store: Store) -> Iterator[tuple[str, os.DirEntry[str]]]:
    root = store.root
    for stream in TOPIC_STREAMS:
        yield from (("topic", e) for e in _ending(root / stream, ".md"))
        yield from (
            ("shard", e) for e in _files(root / stream / "graph") if _SHARD.fullmatch(e.name)
        )
    for entry in _files(root / "tombstones"):
        if entry.name.endswith(".jsonl"):  # tombstones of a conflict copy count at once
            yield "tombstones", entry
    for flow in store.flows():
        yield from (("shard", e) for e in _files(flow / "graph") if _SHARD.fullmatch(e.name))
        yield from (("inbox", e) for e in _ending(flow / "inbox", ".jsonl"))
        yield from ((_FLOW_LOGS[e.name], e) for e in _files(flow) if e.name in _FLOW_LOGS)
        for year in folders_in(flow / "episodes"):
            for month in folders_in(year):
                yield from (("episode", e) for e in _ending(month, ".md"))


def _ending(folder: Path, ending: str) -> list[os.DirEntry[str]]:
    return [e for e in _files(folder) if e.name.endswith(ending) and not is_conflict_copy(e.name)]


def _files(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (e for e in entries if e.name[0] != "." and e.is_file(follow_symlinks=False)),
                key=lambda e: e.name,
            )
    except (FileNotFoundError, NotADirectoryError):
        return []
