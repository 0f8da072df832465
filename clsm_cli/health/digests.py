"""Checks of files against the digests in the ledger, and of what undo keeps.

The ledger has the digest of each file after each run, so a file that somebody changed since is
known, and one that is gone. A forget hides what it wrote: what was known before it counts no more.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.store_snapshot import device_of, kind_of
from clsm_cli.model.graph import Statement
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, cleanup, ledger, logs, runs

if TYPE_CHECKING:
    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.store.logs import RunLine

_WATCHED = frozenset({"topic", "shard", "episode", "inbox", "log", "tombstones"})


class WrittenFile(NamedTuple):
    """How a machine left a file.

    Attributes:
        sha256: None when it removed it, "" where only its size is known.
        size: Bytes that it had at least.
    """

    sha256: str | None
    size: int
    run: str


def written_files(snapshot: Snapshot, path: str) -> dict[str, WrittenFile]:
    """How the runs of a ledger left each file; ``path`` is the ledger's."""
    known: dict[str, WrittenFile] = {}
    for _, row in snapshot.logs[path].rows:
        try:
            line = logs.parse_run(row)
        except (KeyError, TypeError, AttributeError):
            continue
        if not line.changes:
            known.clear()  # a forget, or the sweep after one
        for change in line.changes:
            known[change.path] = _after(change, line)
    return known


def _after(change: logs.Change, line: RunLine) -> WrittenFile:
    if change.after == "":
        return WrittenFile("", (change.size or 0) + (change.added or 0), line.id)
    return WrittenFile(change.after, 0, line.id)


def changed_files(snapshot: Snapshot) -> list[Finding]:
    """Files that are gone, shorter, or other than the last run left them."""
    ledgers = {
        p.split("/")[1]: written_files(snapshot, p)
        for p in snapshot.logs
        if p.endswith("/runs.jsonl")
    }
    findings = [
        make_finding("missing-file", path, f"is gone, and with it {list_names(gone)}")
        for path, gone in missing_topics(snapshot).items()
    ]
    for path in sorted({path for known in ledgers.values() for path in known}):
        owner = device_of(path) or snapshot.store.device
        mine = ledgers.get(owner, {}).get(path)
        if mine is None or kind_of(path) not in _WATCHED or path.endswith("/runs.jsonl"):
            continue
        left = {known[path].sha256 for known in ledgers.values() if path in known}
        findings += _compared(snapshot, path, mine, left)
    return findings


def _compared(
    snapshot: Snapshot, path: str, mine: WrittenFile, left: set[str | None]
) -> list[Finding]:
    """A file as it is, against how this machine, and all that wrote it, left it."""
    file = snapshot.files.get(path)
    if file is None:
        is_told = mine.sha256 is None or kind_of(path) == "topic" or _is_explained(snapshot, path)
        reason = f"{mine.run} wrote it, and it is gone"
        return [] if is_told else [make_finding("missing-file", path, reason)]
    if mine.sha256 == "" and file.sha256 is not None and file.size < mine.size:
        reason = f"has {file.size:,} of {mine.size:,} bytes that {mine.run} left"
        return [make_finding("shorter", path, reason)]
    if file.sha256 is None or mine.sha256 == "" or file.sha256 in left:
        return []
    return [_other(path, mine)]


def _other(path: str, mine: WrittenFile) -> Finding:
    if mine.sha256 is None:
        return make_finding("changed-outside", path, f"is there again, since {mine.run} removed it")
    return make_finding("changed-outside", path, f"is not as {mine.run} left it")


def _is_explained(snapshot: Snapshot, path: str) -> bool:
    record_id = path.rpartition("/")[2].removesuffix(".md").partition("-")[2]
    there = {each.id for each in snapshot.episodes.values() if each is not None}
    return snapshot.is_gone(record_id) or record_id in there


def missing_topics(snapshot: Snapshot) -> dict[str, list[str]]:
    """Topic files that are not there, with the statements that stood in them and stand nowhere."""
    there = {item.id for topic in snapshot.topics.values() for item in topic.items}
    gone: dict[str, list[str]] = {}
    for record in snapshot.records.values():
        if isinstance(record, Statement) and record.is_current and record.stream != "flow":
            path = f"{record.stream}/{record.topic}.md"
            if path not in snapshot.files and record.id not in there:
                gone.setdefault(path, []).append(record.id)
    return gone


def begun_runs(snapshot: Snapshot) -> list[Finding]:
    """What was cut short."""
    store = snapshot.store
    findings = []
    if (store.derived / "redo").exists():
        line = runs.begun_run(store)
        reason = "was never whole" if line is None else f"is {line.id} ({line.command})"
        findings.append(make_finding("begun-run", ".clsm/redo", reason))
    if cleanup.is_begun(store):
        findings.append(make_finding("begun-run", ".clsm/purge", "is a forget that was cut short"))
    return findings


def check_preimages(snapshot: Snapshot) -> list[Finding]:
    """What undo keeps, against the ledger of this machine."""
    store = snapshot.store
    known = {entry.id: entry for entry in ledger.entries(store.flow)}
    findings: list[Finding] = []
    folder = store.derived / "runs"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        entry = known.get(path.name)
        if entry is None:
            inside = path.relative_to(store.root).as_posix()
            if ledger.never_began(store, path):
                findings.append(make_finding("left-over", inside, "is of a run that wrote nothing"))
            else:
                reason = "belongs to no run of the ledger"
                findings.append(make_finding("preimage", inside, reason, severity="note"))
            continue
        bad = [name for line in entry.steps for name in _bad(snapshot, line)]
        if bad:
            inside = path.relative_to(store.root).as_posix()
            findings.append(make_finding("preimage", inside, f"{list_names(bad)} cannot be used"))
    return findings


def _bad(snapshot: Snapshot, line: RunLine) -> list[str]:
    """Files of a step that are not what the run replaced."""
    folder = ledger.folder_of(snapshot.store, line.id) / ledger.step_of(line)
    if not folder.is_dir():
        return []  # decay removed it, or it was made elsewhere
    bad = []
    number = 0
    for change in line.changes:
        if change.before is None:
            continue
        name = f"{number:04d}"
        number += 1
        if (
            _digest(snapshot, folder.relative_to(snapshot.store.root).as_posix(), name)
            != change.before
        ):
            bad.append(name)
    if ledger.load_kept(snapshot.store, line) is None or not _is_line(snapshot, folder.name, line):
        bad.append("run.json")
    return bad


def _digest(snapshot: Snapshot, inside: str, name: str) -> str | None:
    file = snapshot.files.get(f"{inside}/{name}")
    if file is None or not file.is_regular:
        return None
    with atomic.disk_errors(file.path):
        return atomic.digest_of(snapshot.store.root / file.path)


def _is_line(snapshot: Snapshot, step: str, line: RunLine) -> bool:
    """Whether ``run.json`` says of the step what the ledger does."""
    path = ledger.folder_of(snapshot.store, line.id) / step / "run.json"
    try:
        told = json.loads(path.read_bytes())
        paths = {change.path for change in line.changes}
        is_whole = paths == {*told["added"]} == {*told["removed"]}
        return is_whole and logs.parse_run(told)._replace(id=line.id) == line
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
