"""``clsm doctor --fix``: make the safe repairs, in the required order.

Nothing is deleted: unreadable bytes are copied to ``quarantine/``, and every change of a memory is a
run in the ledger that ``clsm undo`` reverts. Only temporary files, whose writes were never
acknowledged, and the derived index are removed.
"""

import os
import stat
from collections.abc import Collection, Iterator

from clsm_cli.health import store_checks, store_snapshot
from clsm_cli.health.findings import Finding
from clsm_cli.health.store_snapshot import LIMITS, CheckContext, Snapshot, is_shared
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.episodes import Episode
from clsm_cli.model.graph import Statement
from clsm_cli.store import atomic, ledger, logs, record_files, runs, settle, shards
from clsm_cli.store.layout import Store
from clsm_cli.store.recovery import complete_interrupted
from clsm_cli.store.runs import Run

Repair = tuple[str, list[runs.Write]]  # a message, and the writes that it reports


def move_aside(snapshot: Snapshot) -> Iterator[Repair]:
    """Move unreadable episode files to ``quarantine/``, byte for byte."""
    for path, episode in snapshot.episodes.items():
        if not isinstance(episode, Episode):
            copy = _copy(snapshot.store, path, _bytes(snapshot, path))
            message = f"{path}: moved to quarantine/{copy.path.name}"
            yield message, [copy, runs.Remove(snapshot.store.root / path)]


def clean_lines(snapshot: Snapshot) -> Iterator[Repair]:
    """Remove invalid lines from logs, inboxes and topic files."""
    for path in (*snapshot.logs, *snapshot.inboxes, *snapshot.topics):
        if not is_shared(path) and path not in snapshot.ledgers:
            yield from _cleaned(snapshot, path)


def _cleaned(snapshot: Snapshot, path: str) -> Iterator[Repair]:
    """A copy of the invalid lines of a file, and the file without them.

    In a topic file only conflict markers are invalid.
    """
    file = snapshot.files[path]
    bad: set[int | None] = {*file.markers}
    is_bad = len(bad) > 1
    if path not in snapshot.topics:
        bad |= {number for number, _ in store_checks.bad_rows(snapshot, path)}
        is_bad = bool(bad) or file.broken is not None
    if is_bad:
        lines, left = _split(snapshot, path, bad)
        copy = _copy(snapshot.store, path, lines)
        message = f"{path}: what could not be read is in quarantine/{copy.path.name}"
        yield message, [copy, runs.Put(snapshot.store.root / path, left, read_as=file.sha256)]


def restore_tombstones(snapshot: Snapshot) -> Iterator[Repair]:
    """Write again the tombstones that only the index still has."""
    if lost := store_checks.lost_tombstones(snapshot):
        path, lines = logs.new_tombstones(snapshot.store, lost, utc_text(snapshot.around.now))
        message = f"tombstones/{path.name}: {len(lost)} tombstones written again"
        yield message, [runs.Append(path, lines)]


def clean_ledger(snapshot: Snapshot) -> list[str]:
    """Clean this machine's ledger, outside any run, since a run appends to it."""
    path = (snapshot.store.flow / ledger.FILE).relative_to(snapshot.store.root).as_posix()
    repairs = [*_cleaned(snapshot, path)] if path in snapshot.logs else []
    for write in (write for _, writes in repairs for write in writes):
        if isinstance(write, runs.Put):
            atomic.put(write.path, write.data, read_as=write.read_as)
    return [message for message, _ in repairs]


def _split(snapshot: Snapshot, path: str, bad: Collection[int | None]) -> tuple[bytes, bytes]:
    """The quarantine copy of bad lines, and the file without them.

    A valid line with bytes that are not UTF-8 is copied too, and stays with replacement characters.
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


def _copy(store: Store, path: str, data: bytes) -> runs.Put:
    """The write that saves bytes of a file in ``quarantine/``."""
    return runs.Put(record_files.quarantine_path(store, store.root / path, data), data)


def _bytes(snapshot: Snapshot, path: str) -> bytes:
    return atomic.read(snapshot.store.root / path, LIMITS[snapshot.files[path].kind]) or b""


def plan_shards(snapshot: Snapshot) -> Iterator[Repair]:
    """Bring damaged or unsorted shards into canonical form.

    A value set by a person that lost in a join becomes a review question first, as in ``settle``.
    """
    store, root = snapshot.store, snapshot.store.root
    odd = {finding.path for finding in store_checks.check_order(snapshot)}
    for path, shard in snapshot.shards.items():
        file = snapshot.files[path]
        if shard.problems or file.nul or file.broken:
            odd.add(path)
    writes: list[runs.Write] = []
    for folder in sorted({path.rpartition("/")[0] for path in odd}):
        inside = [s for path, s in snapshot.shards.items() if path.rpartition("/")[0] == folder]
        records = shards.fold(inside, snapshot.forgotten).records
        there = {record.id for shard in inside for record in shard.records}
        writes += record_files.plan_shards(store, root / folder, records.values(), there)
    written = {write.path for write in writes}
    for path in sorted(odd):
        # A shard with no readable record of its own: no record leads to it.
        if root / path not in written:
            empty, before = shards.render(()), snapshot.shards[path]
            writes += record_files.plan_rewrite(store, root / path, empty, before)
    if not writes:
        return
    lost = shards.fold(snapshot.shards.values(), snapshot.forgotten).lost
    now = utc_text(snapshot.around.now)
    items = [settle.lost_value(row, now) for row in lost if isinstance(row, Statement)]
    places = sorted(write.path for write in writes if write.path.parent != store.quarantine)
    writes = [*settle.review_lines(store, items), *writes]
    for place in places:
        yield f"{place.relative_to(root).as_posix()}: written anew", writes
        writes = []  # all with the first message: their order counts


def mend(
    store: Store, findings: Collection[Finding], around: CheckContext
) -> tuple[str | None, list[str]]:
    """Make the safe repairs; returns the run and messages. The caller holds the lock and updates the index."""
    done = [*_complete_begun(store, findings), *_fix_modes(store, findings)]
    run = Run(store, "doctor", around.now)
    run_id = None
    snapshot = store_snapshot.take_snapshot(store, around)
    steps = (move_aside, clean_lines, restore_tombstones, plan_shards)
    for step in steps:
        repairs = [*step(snapshot)]
        done += [message for message, _ in repairs]
        if writes := [write for _, part in repairs for write in part]:
            run_id = run.apply(writes, whole=True)
            snapshot = store_snapshot.take_snapshot(store, around)
    done += clean_ledger(snapshot)
    return run_id, done


def _complete_begun(store: Store, findings: Collection[Finding]) -> list[str]:
    """Complete an interrupted run; copy an unreadable begun run first."""
    if not any(each.code == "begun-run" for each in findings):
        return []
    redo = store.derived / "redo"
    if redo.is_file() and runs.interrupted_run(store) is None:
        copy = _copy(store, ".clsm/redo", atomic.read(redo, LIMITS["log"]) or b"")
        atomic.put(copy.path, copy.data)
    return ["what was cut short was ended", *complete_interrupted(store)]


def _fix_modes(store: Store, findings: Collection[Finding]) -> list[str]:
    done = []
    for finding in findings:
        path = store.root / finding.path
        is_closed = finding.code in ("open-to-others", "unreadable-file") and finding.mends
        if is_closed and os.path.lexists(path):  # completing a run may have removed it
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
            atomic.make_private(path)
            done.append(f"{finding.path}: mode {'700' if is_folder else '600'}")
        elif finding.code == "left-over":
            (atomic.remove_folder if path.is_dir() else atomic.remove)(path)
            done.append(f"{finding.path}: removed")
    return done
