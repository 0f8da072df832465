"""Apply a forget or a masking as one run, and remove every trace from derived data."""

from __future__ import annotations

import contextlib
from types import MappingProxyType
from typing import TYPE_CHECKING

from clsm_cli.errors import LockedError, ModelDigestError, ModelMissingError
from clsm_cli.forgetting import traces
from clsm_cli.forgetting.history_purge import ErasedTraces
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, cleanup, inbox, logs, runs
from clsm_cli.store.index import database, index_compaction
from clsm_cli.store.index.opening import bring_up_to_date, published
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.store.index.opening import Embedder
    from clsm_cli.store.layout import Store


class CleanWrites(NamedTuple):
    """Which files of a store change and how; worked out on a copy.

    Attributes:
        puts: New bytes of files by path relative to the store, and the digest of what was there.
        gone: Ids that no log may name any more.
        texts: What the turns and statements that go said.
        names: Names of inbox files that no conversation has any more; a ledger may still tell them.
        asked: Lines that a consolidation adds to the list for review.
        renamed: Ids that logs name otherwise from now on: old id → new id.
    """

    puts: dict[str, tuple[bytes, str | None]]
    removes: dict[str, str]
    gone: frozenset[str]
    texts: tuple[str, ...]
    names: frozenset[str]
    asked: bytes = b""
    renamed: Mapping[str, str] = MappingProxyType({})


def write_clean(
    store: Store, planned: CleanWrites, now: datetime, embedder: Embedder | None
) -> tuple[str | None, list[str]]:
    """Do it, whole, and leave nothing behind.

    Returns:
        Id of the run in the ledger, and what the user should hear.

    Raises:
        RefusedError: The store changed since it was planned.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; the next command ends what was begun.
    """
    with locked(store.root, store.settings.store.lock_wait):
        end_begun_run(store)
        for name, digest in planned.removes.items():
            if atomic.digest_of(store.root / name) != digest:
                raise atomic.changed_meanwhile(store.root / name)
        writes: list[runs.Write] = [runs.Put(cleanup.marker_path(store), b"")]
        writes += [
            runs.Put(store.root / name, data, read_as=digest)
            for name, (data, digest) in sorted(planned.puts.items(), key=_tombstones_first)
        ]
        writes += [_removal(store, store.root / name) for name in sorted(planned.removes)]
        writes += _logs(store, planned)
        with published(store):
            line = runs.apply(store, "forget", utc_text(now), writes, whole=True, keep=False)
        _refresh(store, embedder)
        warnings = _sweep(store)
    return line.id if line else None, warnings


def traces_of(store: Store, planned: CleanWrites | None = None) -> ErasedTraces:
    """What tells, in git's past, of all that was ever forgotten, and of what is taken out now."""
    forgotten = logs.load_tombstones(store)
    if planned is None:
        return ErasedTraces(tombstones=forgotten)
    removes = frozenset(planned.removes)
    return ErasedTraces(forgotten, planned.gone, planned.texts, removes, planned.names)


def _refresh(store: Store, embedder: Embedder | None) -> None:
    """Bring the index up to date; that there is no model was told when this was planned."""
    with (
        database.disk_errors(store.derived),
        contextlib.closing(database.open_to_write(store.derived)) as connection,
        contextlib.suppress(ModelMissingError, ModelDigestError),
    ):
        bring_up_to_date(store, connection, embedder, None)


def _sweep(store: Store) -> list[str]:
    """Leave no trace in what is derived; what a reader holds up, the next command does."""
    try:
        index_compaction.compact(store)
    except LockedError:
        return ["a recall is still reading the old index; the next command that writes ends this"]
    cleanup.finish(store)
    return []


def _tombstones_first(put: tuple[str, object]) -> tuple[bool, str]:
    return (not put[0].startswith("tombstones/"), put[0])


def _logs(store: Store, planned: CleanWrites) -> Iterator[runs.Write]:
    """Logs of all machines without what went, as they are now: a recall writes without the lock."""
    for flow in store.flows():
        for name in traces.logs_of(flow):
            if (flow / name).relative_to(store.root).as_posix() in planned.puts:
                continue  # it is written anew as it is
            yield from _changed(flow / name, planned, store.flow)
        ledger = flow / "runs.jsonl"
        data = _bytes(ledger)
        left = traces.without_paths(data, planned.removes.keys(), planned.names)
        if left != data:
            yield runs.Put(ledger, left, read_as=atomic.sha256(data))
    left = traces.clean_log(planned.asked, planned.gone).strip(b"\n")
    if left:
        yield runs.Append(store.flow / "review.jsonl", left)


def _removal(store: Store, path: Path) -> runs.Write:
    """What takes a file out; an inbox file of another machine, which may be adding to it, stays."""
    is_inbox = path.parent.name == "inbox" and path.parent.parent.parent == store.root / "flow"
    if is_inbox and not path.is_relative_to(store.flow):
        return inbox.plan_emptying(path, store.root)
    return runs.Remove(path)


def _changed(path: Path, planned: CleanWrites, flow: Path) -> Iterator[runs.Write]:
    data = _bytes(path)
    left = traces.clean_log(traces.rename_in_log(data, planned.renamed), planned.gone)
    if left == data:
        return
    if left.strip():
        yield runs.Put(path, left, read_as=atomic.sha256(data))
    elif path.is_relative_to(flow):
        yield runs.Remove(path)
    else:  # its own machine may be adding to it
        yield runs.Put(path, b"", read_as=atomic.sha256(data))


def _bytes(path: Path) -> bytes:
    return atomic.read(path, _LARGEST) or b""


_LARGEST = 1 << 30
"""Bytes of a file of the store."""
