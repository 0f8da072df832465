"""Undo a run: byte for byte where that is safe, else by newer records.

The stages: ``undo_selection`` says which run, and whether another clone may have what it wrote;
``byte_restoration`` restores the bytes from before it; ``compensation`` says what is written where that
is not safe. An undo is a run itself, so that a redo is the undo of an undo.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import RefusedError
from clsm_cli.forgetting import byte_restoration, compensation, undo_selection
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.ingestion.ingest_run import end_begun_run
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import ledger, runs
from clsm_cli.store.index.opening import published
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from clsm_cli.store.layout import Store

NAMED = 10
"""Records and files that a refusal names."""


class RevertedFile(NamedTuple):
    """A file that was written: ``restored``, ``removed`` or (by newer records) ``changed``."""

    path: str
    what: str


class UndoReport(NamedTuple):
    """What an undo did, or would do.

    Attributes:
        of: The run that was taken back; with ``is_redo`` an undo.
        is_exact: Whether every file is again as it was, byte for byte.
        reason: Why it is not; "" where it is.
        changed: Ids of records that have their value from before, under a higher revision.
        is_completed: It had been cut short, and was only brought to its end now.
    """

    of: str
    command: str
    at: str
    run: str | None
    is_redo: bool
    is_exact: bool
    reason: str = ""
    files: tuple[RevertedFile, ...] = ()
    changed: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    is_completed: bool = False


def undo(
    store: Store,
    wanted: str | None,
    now: datetime,
    warn: Callable[[str], None],
    *,
    redo: bool = False,
    dry_run: bool = False,
) -> UndoReport:
    """Take a run of this machine back.

    Args:
        wanted: Id of the run, or how it begins; None: the newest that can be meant.

    Raises:
        BadInputError: No run has that id, or several begin so.
        RefusedError: It cannot be undone; nothing was written.
        DamagedStoreError: What was kept of it is damaged.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; the next command ends what was begun.
    """
    with locked(store.root, store.settings.store.lock_wait):
        if not dry_run:
            begun = runs.begun_run(store)
            for warning in end_begun_run(store):
                warn(warning)
            if begun is not None and begun.of is not None:
                done = _completed(store, begun.id, wanted, redo=redo)
                if done is not None:
                    return done
        entry = undo_selection.choose_run(store, wanted, redo=redo)
        steps = undo_selection.kept_steps(store, entry)
        return _taken_back(store, entry, steps, utc_text(now), dry_run=dry_run)


def _completed(store: Store, run_id: str, wanted: str | None, *, redo: bool) -> UndoReport | None:
    """The same undo, cut short before: it is ended already, and there is nothing more to take back."""
    known = {entry.id: entry for entry in ledger.entries(store.flow)}
    run = known[run_id]
    entry = known.get(run.undoes or "")
    if entry is None or (entry.undoes is not None) != redo:
        return None
    if wanted is not None and not any(i and i.startswith(wanted) for i in (entry.id, entry.undoes)):
        return None
    files = tuple(
        RevertedFile(change.path, "removed" if change.after is None else "restored")
        for change in run.steps[-1].changes
    )
    is_exact = undo_selection.is_exact_undo(run, entry)
    reason = "" if is_exact else "its files had been changed or synchronised"
    done = UndoReport(entry.id, entry.command, entry.at, run_id, redo, is_exact, reason, files)
    return done._replace(is_completed=True)


def _taken_back(
    store: Store, entry: ledger.Entry, steps: Sequence[ledger.KeptStep], now: str, *, dry_run: bool
) -> UndoReport:
    files = byte_restoration.restore_files(store, steps)
    reason = ""
    if files.changed:
        reason = f"{_listed(files.changed)} changed since"
    elif ref := undo_selection.ref_with(store, entry, files):
        reason = f"{ref} has what it wrote"
    done = UndoReport(
        entry.id, entry.command, entry.at, None, entry.undoes is not None, not reason, reason
    )
    if not reason:
        made = byte_restoration.plan_writes(store, files.now, files.before)
    else:
        plan = compensation.plan(store, steps, entry.at, now)
        if plan.conflicts:
            raise _refusal(store, entry, plan.conflicts)
        made = list(plan.writes)
        done = done._replace(changed=plan.changed, withdrawn=plan.withdrawn, removed=plan.removed)
    if not made:
        raise RefusedError(
            entry.id,
            "nothing of it is left to take back",
            "name another run; they are listed by: clsm status --verbose",
        )
    done = done._replace(files=_files(store, made, is_exact=done.is_exact))
    if dry_run:
        return done
    with published(store):
        line = runs.apply(store, "undo", now, made, whole=True, of=entry.id)
    return done._replace(run=line.id if line else None)


def _files(store: Store, made: Iterable[runs.Write], *, is_exact: bool) -> tuple[RevertedFile, ...]:
    found = []
    for write in made:
        what = "restored" if is_exact else "changed"
        what = "removed" if isinstance(write, runs.Remove) else what
        found.append(RevertedFile(write.path.relative_to(store.root).as_posix(), what))
    return tuple(sorted(found))


def _refusal(
    store: Store, entry: ledger.Entry, conflicts: Sequence[compensation.Conflict]
) -> RefusedError:
    """Which records somebody changed since, who it was, and what to do."""
    later = undo_selection.later_runs(store, entry)
    named, to_undo = [], set()
    for each in conflicts[:NAMED]:
        by = undo_selection.writer_of(store, later, each.id, each.path)
        to_undo |= {by} if by else set()
        what = f"{each.id} in {each.path}" if each.id else each.path
        named.append(f"{what} ({by or 'an edit by hand, or a merge'})")
    more = len(conflicts) - NAMED
    if more > 0:
        named.append(f"{more} more")
    first = next((run.id for run in reversed(later) if run.id in to_undo), None)
    step = (
        f"undo {first} first, with: clsm undo {first}"
        if first
        else "say what should stand there with clsm correct or clsm edit"
    )
    return RefusedError(
        entry.id, f"what it wrote was changed since, so nothing is undone: {', '.join(named)}", step
    )


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:3])
    return f"{shown} and {len(paths) - 3} more" if len(paths) > 3 else shown
