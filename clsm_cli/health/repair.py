"""``clsm doctor --fix``: repair what can be repaired safely, in the order in which it must be done.

Nothing is deleted: what cannot be read is copied to ``quarantine/`` byte for byte, and every change of
a memory is a run in the ledger that ``clsm undo`` takes back. Only what was never acknowledged
(temporary files) and what is derived (the index) is removed.

First files, logs and topic files, then shards, then ``mend``, which does it all. Shards are rewritten
as every run does it (``shards.plan_update``, ``record_files.rewrite``).
"""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.health import store_checks, store_snapshot, surroundings
from clsm_cli.health.store_snapshot import LIMITS, is_shared
from clsm_cli.ingestion.ingest_report import Run
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs, record_files, runs, settle, shards

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.store.layout import Store

Planned = tuple[list[runs.Write], list[str]]
"""Writes, and what is to be told of them."""


def move_aside(snapshot: Snapshot) -> Planned:
    """Files that are no episodes are moved to ``quarantine/`` as they are."""
    writes: list[runs.Write] = []
    told: list[str] = []
    for path, episode in sorted(snapshot.episodes.items()):
        if episode is None:
            data = _bytes(snapshot, path)
            copy = record_files.quarantine_path(snapshot.store, snapshot.store.root / path, data)
            writes += [runs.Put(copy, data), runs.Remove(snapshot.store.root / path)]
            told.append(f"{path}: moved to quarantine/{copy.name}")
    return writes, told


def clean_lines(snapshot: Snapshot) -> Planned:
    """Logs, inboxes and topic files without the lines that are none of theirs."""
    root = snapshot.store.root
    writes: list[runs.Write] = []
    told: list[str] = []
    for path in (*sorted(snapshot.logs), *sorted(snapshot.inboxes), *sorted(snapshot.topics)):
        if is_shared(path) or path.endswith("/runs.jsonl"):
            continue
        if (found := _cleaned(snapshot, path)) is not None:
            copy, left = found
            target = record_files.quarantine_path(snapshot.store, root / path, copy)
            read_as = snapshot.files[path].sha256
            writes += [runs.Put(target, copy), runs.Put(root / path, left, read_as=read_as)]
            told.append(f"{path}: what could not be read is in quarantine/{target.name}")
    return writes, told


def restore_tombstones(snapshot: Snapshot, now: str) -> Planned:
    """Tombstones that the index knows and no file has are written again."""
    lost = store_checks.lost_tombstones(snapshot)
    if not lost:
        return [], []
    path = snapshot.store.root / "tombstones" / f"{snapshot.store.device}.jsonl"
    record = b"\n".join(logs.render(logs.Tombstone(each, now)) for each in lost)
    told = f"tombstones/{path.name}: {len(lost)} tombstones written again"
    return [runs.Append(path, record)], [told]


def clean_ledger(snapshot: Snapshot) -> list[str]:
    """The same for this machine's ledger, beside any run: a run would write to it again."""
    path = (snapshot.store.flow / "runs.jsonl").relative_to(snapshot.store.root).as_posix()
    found = _cleaned(snapshot, path) if path in snapshot.logs else None
    if found is None:
        return []
    name = keep_copy(snapshot.store, path, found[0])
    atomic.put(snapshot.store.root / path, found[1], read_as=snapshot.files[path].sha256)
    return [f"{path}: what could not be read is in quarantine/{name}"]


def _cleaned(snapshot: Snapshot, path: str) -> tuple[bytes, bytes] | None:
    """A copy of the lines that are none of a file's, and the file without them; None where all are.

    Of a topic file only the markers of a conflict are none.
    """
    file = snapshot.files[path]
    bad: set[int | None] = {*file.markers}
    if path in snapshot.topics:
        return _split(snapshot, path, bad) if len(bad) > 1 else None
    bad |= {number for number, _ in store_checks.bad_rows(snapshot, path)}
    return _split(snapshot, path, bad) if bad or file.broken is not None else None


def _split(snapshot: Snapshot, path: str, bad: Collection[int | None]) -> tuple[bytes, bytes]:
    """The copy of lines as they are, and the file without them.

    A line that says what it must but for bytes that are no UTF-8 is copied too, and stays as readers
    see it.
    """
    kept: list[bytes] = []
    left: list[bytes] = []
    for number, row in enumerate(_bytes(snapshot, path).split(b"\n"), 1):
        shown = row.decode(errors="replace").encode()
        if (number in bad and row) or shown != row:
            kept.append(b"%d: %b\n" % (number, row))
        if number not in bad:
            left.append(shown)
    head = f"# from {path}: line and text of what is none of its lines\n".encode()
    data = b"\n".join(left)
    if data and not data.endswith(b"\n"):
        data += b"\n"
    return head + b"".join(kept), data


def keep_copy(store: Store, path: str, data: bytes) -> str:
    """Put a copy into ``quarantine/`` at once; its name there."""
    target = record_files.quarantine_path(store, store.root / path, data)
    atomic.put(target, data)
    return target.name


def _bytes(snapshot: Snapshot, path: str) -> bytes:
    return atomic.read(snapshot.store.root / path, LIMITS[snapshot.files[path].kind]) or b""


def plan_shards(snapshot: Snapshot, now: str) -> Planned:
    """Writes that bring every shard that is not as it would be written into that form.

    What a person set and what lost in a join becomes a question first, as where hand edits are settled.
    """
    store = snapshot.store
    odd = {finding.path for finding in store_checks.check_order(snapshot)}
    odd |= {path for path, shard in snapshot.shards.items() if shard.problems}
    odd |= {p for p in snapshot.shards if snapshot.files[p].nul or snapshot.files[p].broken}
    changed: dict[Path, tuple[bytes, shards.Shard]] = {}
    for folder in sorted({path.rpartition("/")[0] for path in odd}):
        inside = [s for path, s in snapshot.shards.items() if path.rpartition("/")[0] == folder]
        records = shards.fold(inside, snapshot.forgotten).records
        there = {record.id for shard in inside for record in shard.records}
        limit = store.settings.store.shard_records
        changed |= shards.plan_update(
            store.root / folder, records.values(), limit, there, snapshot.forgotten
        )
    for path in odd:  # one in which nothing that is its own can be read: no record leads to it
        if store.root / path not in changed:
            changed[store.root / path] = (shards.render(()), snapshot.shards[path])
    writes = [
        write
        for place, (data, before) in sorted(changed.items())
        for write in record_files.rewrite(store, place, data, before)
    ]
    if not writes:
        return [], []
    lost = shards.fold(snapshot.shards.values(), snapshot.forgotten).lost
    items = [settle.lost_value(row, now) for row in lost if isinstance(row, Statement)]
    told = [
        f"{place.relative_to(store.root).as_posix()}: written anew" for place in sorted(changed)
    ]
    return [*settle.review_lines(store, items), *writes], told


class Mended(NamedTuple):
    """What was done."""

    run: str | None
    done: tuple[str, ...]


def mend(store: Store, findings: Collection[Finding], now: datetime) -> Mended:
    """Mend what can be; the caller holds the lock, and makes the index anew."""
    done = [*_begun(store, findings), *_beside(store, findings)]
    run = Run(store, "doctor", now)
    run_id = None
    snapshot = store_snapshot.take_snapshot(store)
    steps = (
        move_aside,
        clean_lines,
        partial(restore_tombstones, now=run.now),
        partial(plan_shards, now=run.now),
        _git,
    )
    for step in steps:
        writes, told = step(snapshot)
        done += told
        if writes:
            run_id = run.apply(writes, whole=True)
            snapshot = store_snapshot.take_snapshot(store)
    done += clean_ledger(snapshot)
    done += [f"git: {name} is set in this clone" for name in surroundings.configure_clone(store)]
    return Mended(run_id, tuple(done))


def _git(snapshot: Snapshot) -> Planned:
    writes = surroundings.complete_git_files(snapshot.store)
    names = [write.path.name for write in writes]
    return writes, [f"{name}: completed" for name in names]


def _begun(store: Store, findings: Collection[Finding]) -> list[str]:
    """End what was cut short; a begun run that cannot be read is copied first."""
    if not any(each.code == "begun-run" for each in findings):
        return []
    redo = store.derived / "redo"
    if redo.is_file() and runs.begun_run(store) is None:
        data = atomic.read(redo, _LARGEST) or b""
        keep_copy(store, ".clsm/redo", data)
    return ["what was cut short was ended", *end_begun_run(store)]


_LARGEST = 1 << 30
"""Bytes of a begun run."""


def _beside(store: Store, findings: Collection[Finding]) -> list[str]:
    """Modes and temporary files: no memory changes."""
    done = []
    for finding in findings:
        path = store.root / finding.path
        is_closed = finding.code in ("open-to-others", "unreadable-file") and finding.mends
        if is_closed and os.path.lexists(path):  # it may have been part of what was cut short
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
            atomic.make_private(path)
            done.append(f"{finding.path}: mode {'700' if is_folder else '600'}")
        elif finding.code == "left-over":
            (atomic.remove_folder if path.is_dir() else atomic.remove)(path)
            done.append(f"{finding.path}: removed")
    return done
