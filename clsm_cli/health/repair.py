"""``clsm doctor --fix``: what can be mended safely, in the order in which it must be.

Nothing is deleted: what cannot be read goes to ``quarantine/`` byte for byte, and every change of a
memory is a run in the ledger that ``clsm undo`` takes back. Only what was never acknowledged
(temporary files) and what is derived (the index) is removed.

What ``--fix`` does with files and lines: the writes, and a sentence for each.

A line that goes is first copied to ``quarantine/`` as it is, with its number; a file that is none
is moved there whole.

What ``--fix`` does with shards: written anew, each record in its own, unreadable lines kept aside.

The shards' own rewriting (``shards.plan_update``, ``graph.rewrite``) does it, as every run that
changes a record does.
"""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.health import (
    file_checks,
    git_state,
    loglines,
    note_checks,
    record_checks,
    store_snapshot,
)
from clsm_cli.health.places import is_shared
from clsm_cli.health.store_snapshot import LIMITS
from clsm_cli.ingestion.ingest_report import Run
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs, record_files, runs, settle, shards
from clsm_cli.store.index import prepared_briefing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime
    from pathlib import Path

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Held
    from clsm_cli.model.codec import Record
    from clsm_cli.store.layout import Store

Planned = tuple[list[runs.Write], list[str]]
"""Writes, and what is to be told of them."""


def misplaced(held: Held) -> Planned:
    """Files under the name of another one get their own; what has none to go to stays."""
    going = file_checks.moves(held)
    writes: list[runs.Write] = []
    data = {path: _bytes(held, path) for path in going}
    for path, home in sorted(going.items()):
        there = held.files[home].sha256 if home in held.files else None
        writes.append(runs.Put(held.store.root / home, data[path], read_as=there))
    writes += [runs.Remove(held.store.root / p) for p in sorted(going.keys() - {*going.values()})]
    return writes, [f"{path}: moved to {home}" for path, home in sorted(going.items())]


def aside(held: Held) -> Planned:
    """Files that are no episodes are moved to ``quarantine/`` as they are."""
    writes: list[runs.Write] = []
    told: list[str] = []
    for path, episode in sorted(held.episodes.items()):
        if episode is None:
            data = _bytes(held, path)
            copy = quarantined(held.store, path, data)
            writes += [runs.Put(copy, data), runs.Remove(held.store.root / path)]
            told.append(f"{path}: moved to quarantine/{copy.name}")
    return writes, told


def lines(held: Held) -> Planned:
    """Logs, inboxes and topic files without the lines that are none of theirs."""
    writes: list[runs.Write] = []
    told: list[str] = []
    for path in (*sorted(held.logs), *sorted(held.topics)):
        bad = _bad(held, path)
        is_odd = bad or (path in held.logs and held.files[path].broken is not None)
        if is_odd and not is_shared(path) and not path.endswith("/runs.jsonl"):
            copy, left = _split(held, path, bad)
            target = quarantined(held.store, path, copy)
            root = held.store.root
            writes += [
                runs.Put(target, copy),
                runs.Put(root / path, left, read_as=held.files[path].sha256),
            ]
            told.append(f"{path}: what could not be read is in quarantine/{target.name}")
    return writes, told


def tombstones(held: Held, now: str) -> Planned:
    """Tombstones that the index knows and no file has are written again."""
    lost = record_checks.lost_tombstones(held)
    if not lost:
        return [], []
    path = held.store.root / "tombstones" / f"{held.store.device}.jsonl"
    record = b"\n".join(logs.render(logs.Tombstone(each, now)) for each in lost)
    told = f"tombstones/{path.name}: {len(lost)} tombstones written again"
    return [runs.Append(path, record)], [told]


def ledger(held: Held) -> list[str]:
    """The same for this machine's ledger, beside any run: a run would write to it again."""
    path = (held.store.flow / "runs.jsonl").relative_to(held.store.root).as_posix()
    if path not in held.logs:
        return []
    bad = _bad(held, path)
    if not bad and held.files[path].broken is None:
        return []
    copy, left = _split(held, path, bad)
    name = keep(held.store, path, copy)
    atomic.put(held.store.root / path, left, read_as=held.files[path].sha256)
    return [f"{path}: what could not be read is in quarantine/{name}"]


def _bad(held: Held, path: str) -> set[int]:
    """Numbers of the lines of a file that go."""
    file = held.files[path]
    if path in held.topics:
        return {*file.markers} if len(file.markers) > 1 else set()
    bad: set[int | None] = {*file.markers}
    bad |= {problem.line for problem in held.logs[path].problems}
    if path in held.boxes:
        bad |= {problem.line for problem in held.boxes[path].problems}
    else:
        bad |= {number for number, _ in loglines.bad_rows(held, path)}
    return {number for number in bad if number is not None}


def _split(held: Held, path: str, bad: Collection[int]) -> tuple[bytes, bytes]:
    """The copy of lines as they are, and the file without them.

    A line that says what it must but for bytes that are no UTF-8 is copied too, and stays as readers
    see it.
    """
    kept: list[bytes] = []
    left: list[bytes] = []
    for number, row in enumerate(_bytes(held, path).split(b"\n"), 1):
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


def quarantined(store: Store, path: str, data: bytes) -> Path:
    """Where a copy of bytes from a file goes: a name that tells whence, and what."""
    stem, _, ending = path.strip(".").replace("/", "-").rpartition(".")
    return store.quarantine / f"{stem or ending}-{atomic.sha256(data)[:12]}.{ending or 'txt'}"


def keep(store: Store, path: str, data: bytes) -> str:
    """Put a copy into ``quarantine/`` at once; its name there."""
    target = quarantined(store, path, data)
    atomic.put(target, data)
    return target.name


def _bytes(held: Held, path: str) -> bytes:
    return atomic.read(held.store.root / path, LIMITS[held.files[path].kind]) or b""


def plan(held: Held, now: str) -> Planned:
    """Writes that bring every shard that is not as it would be written into that form.

    What a person set and what lost in a join becomes a question first, as where hand edits are settled.

    Args:
        held: The store.
        now: UTC time of the run.
    """
    odd = {finding.path for finding in (*record_checks.lines(held), *record_checks.order(held))}
    odd |= {path for path, shard in held.shards.items() if shard.problems}
    odd |= {p for p in held.shards if held.files[p].nul or held.files[p].broken}
    moved = _moved(held)
    writes: list[runs.Write] = []
    told: list[str] = []
    for folder in sorted({path.rpartition("/")[0] for path in odd} | moved.keys()):
        changed = _folder(held, folder, odd, moved.get(folder, ()))
        writes += changed
        told += [
            f"{write.path.relative_to(held.store.root).as_posix()}: written anew"
            for write in changed
            if write.path.parent != held.store.quarantine
        ]
    if writes:
        lost = shards.fold(held.shards.values(), held.forgotten).lost
        items = [settle.lost_value(row, now) for row in lost if isinstance(row, Statement)]
        writes = [*settle.review_lines(held.store, items), *writes]
    return writes, told


def _moved(held: Held) -> dict[str, list[Record]]:
    """Folder → statements that lie in that of another stream, and belong there."""
    store = held.store
    found: dict[str, list[Record]] = {}
    for path, shard in sorted(held.shards.items()):
        for record in shard.records:
            if isinstance(record, Statement) and record_checks.is_strange(record, path):
                is_old = path.startswith("archive/")
                folder = store.archive(record.stream) if is_old else store.graph(record.stream)
                found.setdefault(folder.relative_to(store.root).as_posix(), []).append(record)
    return found


def _folder(
    held: Held, folder: str, odd: Collection[str], moved: Iterable[Record]
) -> list[runs.Write]:
    """The same for one folder: all its records, each where it belongs."""
    store = held.store
    inside = [path for path in sorted(held.shards) if path.rpartition("/")[0] == folder]
    read = {path: held.shards[path].records for path in inside}
    own = [
        shards.Shard(tuple(r for r in rows if not record_checks.is_strange(r, path)), (), None)
        for path, rows in read.items()
    ]
    come = shards.Shard(tuple(moved), (), None)
    joined = shards.fold([*own, come], held.forgotten).records
    there = {record.id for rows in read.values() for record in rows}
    limit = store.settings.store.shard_records
    changed = shards.plan_update(store.root / folder, joined.values(), limit, there, held.forgotten)
    left = [store.root / path for path in inside if path in odd]
    changed |= _emptied(held, [path for path in left if path not in changed])
    name = "-".join(part for part in folder.split("/") if part != "graph")
    writes: list[runs.Write] = []
    for place, (data, before) in sorted(changed.items()):
        writes += record_files.rewrite(store, name, place, data, before)
    return writes


def _emptied(held: Held, left: Iterable[Path]) -> dict[Path, tuple[bytes, shards.Shard]]:
    """Shards in which nothing that is theirs can be read: no record leads to them."""
    found: dict[Path, tuple[bytes, shards.Shard]] = {}
    for path in left:
        shard = held.shards[path.relative_to(held.store.root).as_posix()]
        if atomic.sha256(data := shards.render(())) != shard.sha256:
            found[path] = (data, shard)
    return found


class Mended(NamedTuple):
    """What was done.

    Attributes:
        run: Id of the run in the ledger; None where no memory was changed.
        done: A sentence each.
    """

    run: str | None
    done: tuple[str, ...]


def mend(store: Store, findings: Collection[Finding], now: datetime) -> Mended:
    """Mend what can be; the caller holds the lock, and makes the index anew.

    Args:
        store: Where.
        findings: What was found, under the lock.
        now: Time of the run, with offset.

    Raises:
        DiskError: The operating system refused; run it again when there is room.
    """
    done = [*_begun(store, findings), *_beside(store, findings)]
    run = Run(store, "doctor", now)
    run_id = None
    held = store_snapshot.read(store)
    steps = (
        misplaced,
        aside,
        lines,
        partial(tombstones, now=run.now),
        partial(plan, now=run.now),
        partial(_settled, now=run.now),
        _git,
    )
    for step in steps:
        writes, told = step(held)
        done += told
        if writes:
            run_id = run.apply(writes, whole=True)
            held = store_snapshot.read(store)
    done += ledger(held)
    done += [f"git: {name} is set in this clone" for name in git_state.mend_clone(store)]
    return Mended(run_id, tuple(done))


def _settled(held: Held, now: str) -> Planned:
    """Hand edits, where nothing makes them doubtful."""
    if note_checks.doubtful(held) or any(
        each.code == "statements-gone" for each in note_checks.settled(held, now)
    ):
        return [], []
    writes, warnings = settle.plan(held.store, now)
    return writes, [*warnings, *(["hand edits were settled"] if writes else [])]


def _git(held: Held) -> Planned:
    """What git is told of the store's files."""
    writes = git_state.mend(held.store)
    names = [write.path.name for write in writes]
    return writes, [f"{name}: completed" for name in names]


def _begun(store: Store, findings: Collection[Finding]) -> list[str]:
    """End what was cut short; a begun run that cannot be read is copied first."""
    if not any(each.code == "begun-run" for each in findings):
        return []
    redo = store.derived / "redo"
    if redo.is_file() and runs.begun(store) is None:
        data = atomic.read(redo, _LARGEST) or b""
        keep(store, ".clsm/redo", data)
    return ["what was cut short was ended", *end_begun_run(store)]


_LARGEST = 1 << 30
"""Bytes of a begun run."""


def _beside(store: Store, findings: Collection[Finding]) -> list[str]:
    """Modes, temporary files and the prepared briefing: no memory changes."""
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
        elif finding.code == "device-unknown" and finding.mends:
            atomic.put(path, f"{store.device}\n".encode())
            done.append(f"{finding.path}: names {store.device} again")
        elif finding.code == "briefing-damaged":
            atomic.remove(prepared_briefing.path_of(store))
            done.append(f"{finding.path}: removed")
    return done
