"""Undo a run of this machine: byte for byte if its files are unchanged since and not on a remote.

Else by newer records: the next merge brings back what a remote has, and the record with the lower
revision loses there.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from clsm_cli.errors import BadInputError, RefusedError, list_names
from clsm_cli.forgetting import compensation
from clsm_cli.forgetting.compensation import RestoredFiles
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.ids import resolve_id
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import git, ledger, runs
from clsm_cli.store.index.opening import published
from clsm_cli.store.layout import Store
from clsm_cli.store.ledger import LedgerRun
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted

MAX_LISTED = 10  # maximum number of records and files listed in a refusal


class RevertedFile(NamedTuple):
    """A written file: ``restored``, ``removed`` or (by newer records) ``changed``."""

    path: str
    what: str


class UndoReport(NamedTuple):
    """What an undo did or would do."""

    of: str  # the reverted run; with ``is_redo``, an undo
    command: str
    at: str
    run: str | None
    is_redo: bool
    is_exact: bool  # whether every file has its earlier bytes; ``reason``: why not
    reason: str = ""
    files: tuple[RevertedFile, ...] = ()
    changed: tuple[str, ...] = ()  # ids of records with their earlier value under a higher revision
    withdrawn: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    is_completed: bool = False  # an interrupted undo, completed now


def undo(
    store: Store,
    wanted: str | None,
    now: datetime,
    warn: Callable[[str], None],
    *,
    redo: bool = False,
    dry_run: bool = False,
) -> UndoReport:
    """Undo or redo a run of this machine, ``wanted`` by an id or a prefix; None: the newest eligible.

    Raises:
        BadInputError: No run, or several, match the id.
        RefusedError: It cannot be undone; nothing was written.
    """
    with locked(store.root, store.settings.store.lock_wait):
        begun = None if dry_run else runs.interrupted_run(store)
        if not dry_run:
            for warning in complete_interrupted(store):
                warn(warning)
        known = {entry.id: entry for entry in ledger.entries(store.flow)}
        if begun is not None and (done := _completed(known, begun.id, wanted, redo=redo)):
            return done
        return _revert(store, known, choose_run(store, known, wanted, redo=redo), now, dry_run)


Known = dict[str, LedgerRun]  # the runs of this machine by id, oldest first


def _completed(known: Known, run_id: str, wanted: str | None, *, redo: bool) -> UndoReport | None:
    """The report if the completed interrupted run is the requested undo; nothing is left to do."""
    run = known[run_id]
    entry = known.get(run.undoes or "")
    if entry is None or (wanted is None and _is_undo(entry, known) != redo):
        return None
    if not any(i and i.startswith(wanted or "") for i in (entry.id, entry.undoes)):
        return None
    files = tuple(
        RevertedFile(change.path, "removed" if change.after is None else "restored")
        for change in run.steps[-1].changes
    )
    is_exact = is_exact_undo(run, entry)
    reason = "" if is_exact else "its files had been changed or synchronised"
    is_redo = _is_undo(entry, known)
    what = (entry.id, entry.command, entry.at, run_id, is_redo, is_exact, reason, files)
    return UndoReport(*what, is_completed=True)


def _revert(
    store: Store, known: Known, entry: LedgerRun, now: datetime, dry_run: bool
) -> UndoReport:
    steps = kept_steps(store, known, entry)
    files = compensation.restore_files(store, steps)
    reason = ""
    if files.changed:
        reason = f"{list_names(files.changed)} changed since"
    elif ref := ref_with(store, known, entry, files):
        reason = f"{ref} has what it wrote"
    is_redo = _is_undo(entry, known)
    done = UndoReport(entry.id, entry.command, entry.at, None, is_redo, not reason, reason)
    if done.is_exact:
        made = compensation.plan_writes(store, files.now, files.before)
    else:
        plan = compensation.plan(store, steps, entry.at, utc_text(now))
        if plan.conflicts:
            raise _refusal(store, _after(known, entry), entry, plan.conflicts)
        made = list(plan.writes)
        done = done._replace(changed=plan.changed, withdrawn=plan.withdrawn, removed=plan.removed)
    if not made:
        raise RefusedError(
            entry.id,
            "nothing of it is left to take back",
            "name another run; they are listed by: clsm status --verbose",
        )
    what = "restored" if done.is_exact else "changed"
    names = [write.path.relative_to(store.root).as_posix() for write in made]
    whats = ["removed" if isinstance(write, runs.Remove) else what for write in made]
    reverted = map(RevertedFile, names, whats)
    line = None
    if not dry_run:
        with published(store):
            line = runs.apply(store, "undo", utc_text(now), made, whole=True, undoes=entry.id)
    return done._replace(files=tuple(sorted(reverted)), run=line.id if line else None)


def _refusal(
    store: Store,
    after: Sequence[LedgerRun],
    entry: LedgerRun,
    conflicts: Sequence[compensation.Conflict],
) -> RefusedError:
    """The error that lists the records changed since, by which run, and the next step."""
    later = [each for each in after if each.undoes is None and each.undone_by is None]
    named, to_undo = [], set()
    for each in conflicts[:MAX_LISTED]:
        by = writer_of(store, later, each.id, each.path)
        to_undo |= {by} if by else set()
        what = f"{each.id} in {each.path}" if each.id else each.path
        named.append(f"{what} ({by or 'an edit by hand, or a merge'})")
    if len(conflicts) > MAX_LISTED:
        named.append(f"{len(conflicts) - MAX_LISTED} more")
    first = next((run.id for run in reversed(later) if run.id in to_undo), None)
    step = (
        f"undo {first} first, with: clsm undo {first}"
        if first
        else "say what should stand there with clsm correct or clsm edit"
    )
    return RefusedError(
        entry.id, f"what it wrote was changed since, so nothing is undone: {', '.join(named)}", step
    )


LIST_STEP = "list the runs with: clsm status --verbose"


def choose_run(store: Store, known: Known, wanted: str | None, *, redo: bool) -> LedgerRun:
    """The run to revert: for a redo, an undo, or ``wanted`` by the run that it reverted."""
    if wanted is None:
        fits = [e for e in known.values() if (_is_undo(e, known) if redo else e.undoes is None)]
        fits = [e for e in fits if e.undone_by is None and not e.is_final]
        if not fits:
            what = "no undo of this machine to redo" if redo else "nothing to undo"
            raise RefusedError(str(store.root), f"has {what} ({store.device})", LIST_STEP)
        return fits[-1]
    entry = _named(store, known, wanted)
    if redo and entry.undoes is None:
        if entry.undone_by is None:
            raise RefusedError(entry.id, "is not undone", f"undo it with: clsm undo {entry.id}")
        entry = known[entry.undone_by]
    if entry.is_final:
        reason = f"a {entry.command} cannot be undone: what it removed was destroyed"
        raise RefusedError(entry.id, reason, "only a backup that you made still has it")
    if entry.undone_by is not None:
        step = f"take that back with: clsm undo {entry.undone_by}"
        raise RefusedError(entry.id, f"is undone already, by {entry.undone_by}", step)
    return entry


def _is_undo(entry: LedgerRun, known: Known) -> bool:
    """Whether a run took something back; what took an undo back did not."""
    return entry.undoes in known and not _is_undo(known[entry.undoes], known)


def _named(store: Store, known: Known, wanted: str) -> LedgerRun:
    found = resolve_id(wanted, known)
    if found is not None:
        return known[found]
    for flow in store.flows():
        found = resolve_id(wanted, [entry.id for entry in ledger.entries(flow)])
        if found is not None:
            raise RefusedError(found, f"was made on {flow.name}", "undo it there")
    raise BadInputError(wanted, "no run of this machine has that id", LIST_STEP)


def kept_steps(store: Store, known: Known, entry: LedgerRun) -> list[ledger.SavedStep]:
    """The kept steps of a run, in order."""
    steps = [kept for line in entry.steps if (kept := ledger.load_step(store, line)) is not None]
    if len(steps) == len(entry.steps):
        return steps
    finals = [each for each in _after(known, entry) if each.is_final]
    why = (
        f"destroyed by {finals[-1].id} ({finals[-1].command})"
        if finals
        else "no longer on this machine: decay deletes it after 30 days"
    )
    next_step = "say what is true with clsm correct, or take the files from a backup or from git"
    raise RefusedError(entry.id, f"what it replaced is {why}", next_step)


class UndoableRun(NamedTuple):
    """An undoable run, as shown in a receipt."""

    id: str
    command: str
    at: str


def undoable(store: Store) -> tuple[UndoableRun, ...]:
    """Runs of this machine that are not undone and have their preimages, oldest first."""
    entries = [e for e in ledger.entries(store.flow) if e.undoes is None and e.undone_by is None]
    kept = [e for e in entries if not e.is_final and ledger.is_saved(store, e)]
    return tuple(UndoableRun(e.id, e.command, e.at) for e in kept)


def _after(known: Known, entry: LedgerRun) -> list[LedgerRun]:
    entries = [*known.values()]
    return entries[entries.index(entry) + 1 :]


def writer_of(store: Store, later: Sequence[LedgerRun], record_id: str, path: str) -> str | None:
    """The last of some runs that wrote a record; a file if the id is ""."""

    def wrote(entry: LedgerRun) -> bool:
        if not record_id:
            return path in entry.paths
        kept = [found for line in entry.steps if (found := ledger.load_step(store, line))]
        marks = [each for step in kept for each in (*step.added.values(), *step.removed.values())]
        return any(mark.partition(" ")[2] == record_id for each in marks for mark in each)

    return next((entry.id for entry in reversed(later) if wrote(entry)), None)


def ref_with(store: Store, known: Known, entry: LedgerRun, files: RestoredFiles) -> str | None:
    """A remote-tracking branch with lines the run wrote; None if none is known."""
    tree = git.work_tree(store.root)
    refs = git.remote_branches(tree) if tree is not None else ()
    # An exact undo wrote nothing new: its redo continues from a state that the remotes know.
    is_exact = entry.undoes in known and is_exact_undo(entry, known[entry.undoes])
    if tree is None or not refs or is_exact:
        return None
    wrote = {}
    for path in files.now:
        now, before = ({*(each[path] or b"").split(b"\n")} for each in (files.now, files.before))
        # Without lines that any other run would write too.
        wrote[path] = {x for x in now - before if x.strip() and not x.startswith((b"#", b"---"))}
    found = git.blobs(tree, [path for path in sorted(wrote) if wrote[path]], refs)
    contents = git.contents(tree, (blob.oid for blob in found))
    lines = {oid: set(data.split(b"\n")) for oid, data in contents}
    refs_with = (blob.ref for blob in found if wrote[blob.path] & lines.get(blob.oid, set()))
    return next(refs_with, None)


def is_exact_undo(undo: LedgerRun, of: LedgerRun) -> bool:
    """Whether an undo restored every file, except logs, to its state before the run.

    Files it did not write had that state already.
    """
    first = {c.path: c.before for step in reversed(of.steps) for c in reversed(step.changes)}
    after = {c.path: c.after for step in undo.steps for c in step.changes}
    return all(first.get(path) == sha for path, sha in after.items() if not path.endswith(".jsonl"))
