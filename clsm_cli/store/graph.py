"""Writes that put records into the shards of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.config import MAX_FILE
from clsm_cli.store import atomic, logs, runs, shards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store


def plan(
    store: Store, stream: Stream, records: Iterable[Record], removed: Iterable[str] = ()
) -> list[runs.Write]:
    """Writes that put records into this machine's shards of a stream, replacing older versions.

    ``removed`` are ids of derived records that the shards hold no longer. What has a tombstone is
    left out of every shard that is written.

    Lines that could not be read are copied to ``quarantine/`` first, since a rewritten shard does
    not hold them any more.
    """
    writes: list[runs.Write] = []
    folder, limit = store.graph(stream), store.settings.store.shard_records
    changed = shards.plan_update(folder, records, limit, removed, logs.forgotten(store))
    for path, (data, before) in changed.items():
        writes += rewrite(store, stream, path, data, before)
    return writes


def rewrite(
    store: Store, name: str, path: Path, data: bytes, before: shards.Shard
) -> list[runs.Write]:
    """Writes that give a shard new bytes; what could not be read of it goes to ``quarantine/``.

    ``name`` begins the name of the file there.
    """
    writes: list[runs.Write] = []
    if before.problems and before.sha256 is not None:
        name = f"{name}-{path.stem}-{before.sha256[:12]}.txt"
        head = f"# from {path.relative_to(store.root)}: line and text of what is no record\n"
        copy = b"".join([head.encode(), *_unread(path, before)])
        writes.append(runs.Put(store.quarantine / name, copy))
    return [*writes, runs.Put(path, data, read_as=before.sha256)]


def _unread(path: Path, before: shards.Shard) -> Iterator[bytes]:
    """The lines of a shard that could not be read, byte for byte, each with its number."""
    rows = (atomic.read(path, MAX_FILE) or b"").split(b"\n")
    for problem in sorted(before.problems, key=lambda problem: problem.line or 0):
        first = (problem.line or 1) - 1
        height = problem.text.count("\n") + 1 if problem.line else len(rows)
        yield b"%d: %b\n" % (first + 1, b"\n".join(rows[first : first + height]))
