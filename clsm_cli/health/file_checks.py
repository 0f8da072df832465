"""Checks of the files in the folder: what they are, what they hold, and how the ledger left them.

The ledger has the digest of each file after each run, so a file that somebody changed since is
known, and one that is gone. A forget hides what it wrote: what was known before it counts no more.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from clsm_cli.errors import ClsmError
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.store_snapshot import is_shared, kind_of
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import turn_key
from clsm_cli.store import atomic, cleanup, ledger, logs, runs, settle
from clsm_cli.store.layout import device_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import File, Kind, Snapshot
    from clsm_cli.model.episodes import Turn

_REWRITTEN: tuple[Kind, ...] = ("shard", "inbox", "log", "tombstones")
"""Kinds of which ``--fix`` can write what is left."""
_MEMORIES: tuple[Kind, ...] = (*_REWRITTEN, "topic", "episode", "settings")


def check_places(snapshot: Snapshot) -> Iterator[Finding]:
    """Files that have no place, that are none, that are too large or closed."""
    for path, file in sorted(snapshot.files.items()):
        if not file.is_regular:
            what = "is a symbolic link" if stat.S_ISLNK(file.mode) else "is not a regular file"
            if file.kind in _MEMORIES:
                yield make_finding("not-a-file", path, what)
            else:
                step = "nothing, or remove it"
                yield make_finding("not-a-file", path, what, severity="warning", next_step=step)
        elif file.kind == "temp":
            yield make_finding("left-over", path, "was left by a killed command")
        elif file.kind == "unknown":
            yield make_finding("unknown-file", path, "is no part of a memory")
        elif file.error is not None:
            yield _closed(file)
        elif not file.size and file.kind in ("log", "tombstones"):
            yield make_finding("empty-file", path, "is empty, which clsm never leaves")
    kept = [f.path.removeprefix("quarantine/") for f in snapshot.of_kind("quarantine")]
    if kept:
        yield make_finding("quarantine", "quarantine", f"holds {list_names(kept)}")


def _closed(file: File) -> Finding:
    if file.error is not None and file.error.startswith("is larger"):
        return make_finding("too-large", file.path, file.error)
    is_ours = file.owner == os.geteuid() and not file.mode & stat.S_IRUSR
    return make_finding("unreadable-file", file.path, file.error or "", mends=is_ours)


def check_modes(snapshot: Snapshot) -> Iterator[Finding]:
    """Folders that are not 0700 and files that are not 0600, and what belongs to others."""
    root = snapshot.store.root.stat()
    looked = [(".", root.st_mode, root.st_uid)]
    looked += [(path, *of) for path, of in sorted(snapshot.folders.items())]
    looked += [(p, f.mode, f.owner) for p, f in sorted(snapshot.files.items()) if f.is_regular]
    for path, mode, owner in looked:
        is_ours = owner == os.geteuid()
        if not is_ours:
            yield make_finding("foreign-owner", path, f"belongs to user {owner}")
        wanted = atomic.FOLDER_MODE if stat.S_ISDIR(mode) else atomic.FILE_MODE
        # Git knows no modes but executable, and may have written these two, which are no memory.
        if stat.S_IMODE(mode) != wanted and path not in (".gitattributes", ".gitignore"):
            is_open = stat.S_ISREG(mode) or mode & 0o500 == 0o500  # a folder to be looked into
            code = "open-to-others" if is_open else "unreadable-file"
            yield make_finding(code, path, f"has mode {stat.S_IMODE(mode):04o}", mends=is_ours)


def check_contents(snapshot: Snapshot) -> Iterator[Finding]:
    """NUL bytes, bytes that are no UTF-8, and what git's conflicts leave."""
    for file in snapshot.of_kind(*_MEMORIES):
        if file.nul is not None:
            yield _spoilt("bad-bytes", file, "holds NUL bytes", file.nul)
        if file.broken is not None:
            yield _spoilt("bad-bytes", file, "is not UTF-8", file.broken)
        # In Markdown seven equals signs may underline a title.
        if file.markers and file.kind != "episode" and len(file.markers) > (file.kind == "topic"):
            lines = list_names([str(line) for line in file.markers])
            reason = f"holds git's conflict markers (lines {lines})"
            yield _spoilt("conflict-markers", file, reason, file.markers[0])


def _spoilt(code: str, file: File, reason: str, line: int) -> Finding:
    if is_shared(file.path):
        return bad_shared_line(code, file.path, reason, line)
    mends = file.kind in _REWRITTEN or (code == "conflict-markers" and file.kind == "topic")
    return make_finding(code, file.path, reason, line=line, mends=mends)


def bad_shared_line(code: str, path: str, reason: str, line: int | None) -> Finding:
    """What is wrong with a line of the log of recalls, which is left out and never rewritten."""
    step = "nothing; its good lines count"
    return make_finding(
        code, path, reason, line=line, mends=False, severity="warning", next_step=step
    )


_ORDINALS = 64
"""Equal turns of one session without an exact time that are told apart here."""


def has_right_key(turn: Turn, session: str) -> bool:
    """Whether a key is H(session, speaker, time, text) (docs/format.md §3).

    >>> from clsm_cli.model.episodes import Turn
    >>> turn = Turn(turn_key("main", "Mara", None, "Hi."), "Mara", "user", "Hi.")
    >>> has_right_key(turn, "main"), has_right_key(turn, "other")
    (True, False)
    """
    if turn.time is not None and "T" in turn.time:
        return turn.key == turn_key(session, turn.speaker, turn.time, turn.text)
    return any(
        turn.key == turn_key(session, turn.speaker, turn.time, turn.text, ordinal)
        for ordinal in range(_ORDINALS)
    )


def episode_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Files that are no episodes, or whose turns and texts differ."""
    for path, episode in sorted(snapshot.episodes.items()):
        if episode is None:
            why = snapshot.why[path]
            yield make_finding("unreadable-episode", path, why.reason, line=why.line)
            continue
        keys = tuple(turn.key for turn in episode.turns)
        if snapshot.headings[path] != keys:
            yield make_finding("turn-mismatch", path, _difference(snapshot.headings[path], keys))
        elif odd := [t.key for t in episode.turns if not has_right_key(t, episode.session)]:
            yield make_finding("edited-turn", path, f"the text of {list_names(odd)} was changed")


def _difference(headings: tuple[str, ...], keys: tuple[str, ...]) -> str:
    if missing := [key for key in keys if key not in headings]:
        return f"the text of {list_names(missing)} is missing"
    if strange := [key for key in headings if key not in keys]:
        return f"the text of {list_names(strange)} belongs to no turn"
    return "turns and texts stand in another order, or twice"


def topic_findings(snapshot: Snapshot) -> Iterator[Finding]:
    """Front matter that cannot be read, and statements whose file is gone or cut off."""
    for path, topic in sorted(snapshot.topics.items()):
        for problem in topic.problems:
            if problem.line is None:
                yield make_finding("unreadable-head", path, problem.reason)
    for path, gone in sorted(_missing_statements(snapshot).items()):
        file = snapshot.files.get(path)
        if file is None:
            yield make_finding("missing-file", path, f"is gone, and with it {list_names(gone)}")
        elif not file.is_ended:
            reason = f"its end is missing, and with it {list_names(gone)}"
            yield make_finding("cut-short", path, reason)


def _missing_statements(snapshot: Snapshot) -> dict[str, list[str]]:
    """Topic file → statements that stand there by their records, and stand nowhere."""
    there = {item.id for topic in snapshot.topics.values() for item in topic.items}
    gone: dict[str, list[str]] = {}
    for record in snapshot.records.values():
        if isinstance(record, Statement) and record.is_current and record.stream != "flow":
            path = f"{record.stream}/{record.topic}.md"
            gone.setdefault(path, []).extend({record.id} - there)
    return {path: ids for path, ids in gone.items() if ids}


def lost_statements(snapshot: Snapshot, now: str) -> Iterator[Finding]:
    """Statements that are gone from the Markdown, more at once than anybody takes out by hand."""
    for warning in settle.plan(snapshot.store, now)[1]:
        stream, _, reason = warning.partition(": ")
        if "nothing was withdrawn" in reason:
            yield make_finding("statements-gone", stream, reason.partition(";")[0])


def changed_files(snapshot: Snapshot) -> Iterator[Finding]:
    """Files that are gone, shorter, or other than the last run left them."""
    written = {
        path.split("/")[1]: _written_files(snapshot, path)
        for path in sorted(snapshot.logs)
        if path.endswith("/runs.jsonl")
    }
    for path in sorted({path for known in written.values() for path in known}):
        known = written.get(device_of(path) or snapshot.store.device, {})
        if path in known and kind_of(path) in _MEMORIES and not path.endswith("/runs.jsonl"):
            left = {each[path][0].after for each in written.values() if path in each}
            yield from _compared(snapshot, *known[path], left)


def _written_files(snapshot: Snapshot, path: str) -> dict[str, tuple[logs.Change, str]]:
    """The last change of each file in a ledger, and the run that made it."""
    known: dict[str, tuple[logs.Change, str]] = {}
    for _, row in snapshot.logs[path].rows:
        try:
            line = logs.parse(logs.RunLine, row)
        except (KeyError, TypeError, AttributeError):
            continue
        if not line.changes:
            known.clear()  # a forget, or the sweep after one
        known |= {change.path: (change, line.id) for change in line.changes}
    return known


def _compared(
    snapshot: Snapshot, mine: logs.Change, run: str, left: set[str | None]
) -> Iterator[Finding]:
    """A file as it is, against how this machine, and all that wrote it, ``left`` it."""
    path, file = mine.path, snapshot.files.get(mine.path)
    if file is None:
        is_told = mine.after is None or kind_of(path) == "topic"
        if not is_told and not _is_explained(snapshot, path):
            yield make_finding("missing-file", path, f"{run} wrote it, and it is gone")
    elif file.sha256 is None:
        return  # told as what cannot be read
    elif mine.after == "":  # of a log its size alone is known
        size = (mine.size or 0) + (mine.added or 0)
        if file.size < size:
            reason = f"has {file.size:,} of {size:,} bytes that {run} left"
            yield make_finding("shorter", path, reason)
    elif file.sha256 not in left:
        how = (
            f"there again, since {run} removed it"
            if mine.after is None
            else f"not as {run} left it"
        )
        yield make_finding("changed-outside", path, f"is {how}")


def _is_explained(snapshot: Snapshot, path: str) -> bool:
    record_id = path.rpartition("/")[2].removesuffix(".md").partition("-")[2]
    return snapshot.is_gone(record_id) or record_id in snapshot.episode_ids


def begun_runs(snapshot: Snapshot) -> Iterator[Finding]:
    """What was cut short."""
    store = snapshot.store
    if (store.derived / "redo").exists():
        line = runs.begun_run(store)
        reason = "was never whole" if line is None else f"is {line.id} ({line.command})"
        yield make_finding("begun-run", ".clsm/redo", reason)
    if cleanup.is_begun(store):
        yield make_finding("begun-run", ".clsm/purge", "is a forget that was cut short")


def check_preimages(snapshot: Snapshot) -> Iterator[Finding]:
    """What undo keeps, against the ledger of this machine."""
    store = snapshot.store
    known = {entry.id: entry for entry in ledger.entries(store.flow)}
    folder = store.derived / "runs"
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        inside = path.relative_to(store.root).as_posix()
        if path.name not in known:
            reason = "belongs to no run of the ledger"
            yield make_finding("preimage", inside, reason, severity="note")
        elif not all(_is_kept(snapshot, line) for line in known[path.name].steps):
            yield make_finding("preimage", inside, "cannot be used")


def _is_kept(snapshot: Snapshot, line: logs.RunLine) -> bool:
    """Whether all that was kept of a step is there as it was, or none of it."""
    if not (ledger.folder_of(snapshot.store, line.id) / ledger.step_of(line)).is_dir():
        return True  # decay removed it, or it was made elsewhere
    kept = ledger.load_kept(snapshot.store, line)
    try:
        return kept is not None and all(
            change.before is None or kept.preimage(place) is not None
            for place, change in enumerate(line.changes)
        )
    except ClsmError:
        return False
