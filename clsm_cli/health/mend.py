"""``clsm doctor --fix``: what can be mended safely, in the order in which it must be.

Nothing is deleted: what cannot be read goes to ``quarantine/`` byte for byte, and every change of a
memory is a run in the ledger that ``clsm undo`` takes back. Only what was never acknowledged
(temporary files) and what is derived (the index) is removed.
"""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import TYPE_CHECKING

from clsm_cli.health import git_state, mend_files, mend_shards, topic_files
from clsm_cli.health import held as reading
from clsm_cli.ingestion.ingest import end_begun_run
from clsm_cli.ingestion.report import Run
from clsm_cli.records import NamedTuple
from clsm_cli.store import atomic, briefing, runs, settle

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from clsm_cli.health.finding import Finding
    from clsm_cli.health.held import Held
    from clsm_cli.health.mend_files import Planned
    from clsm_cli.store.layout import Store


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
    held = reading.read(store)
    steps = (
        mend_files.misplaced,
        mend_files.aside,
        mend_files.lines,
        partial(mend_files.tombstones, now=run.now),
        partial(mend_shards.plan, now=run.now),
        partial(_settled, now=run.now),
        _git,
    )
    for step in steps:
        writes, told = step(held)
        done += told
        if writes:
            run_id = run.apply(writes, whole=True)
            held = reading.read(store)
    done += mend_files.ledger(held)
    done += [f"git: {name} is set in this clone" for name in git_state.mend_clone(store)]
    return Mended(run_id, tuple(done))


def _settled(held: Held, now: str) -> Planned:
    """Hand edits, where nothing makes them doubtful."""
    if topic_files.doubtful(held) or any(
        each.code == "statements-gone" for each in topic_files.settled(held, now)
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
        mend_files.keep(store, ".clsm/redo", data)
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
            atomic.remove(briefing.path_of(store))
            done.append(f"{finding.path}: removed")
    return done
