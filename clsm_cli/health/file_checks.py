"""Checks of the files in the folder: names, kinds, sizes, modes, owners, bytes, and misplaced files."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.places import device_of, is_shared
from clsm_cli.model.ids import file_name_of
from clsm_cli.store import atomic, episodes, front_matter
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import ASIDE

if TYPE_CHECKING:
    from clsm_cli.health.findings import Finding, Severity
    from clsm_cli.health.store_snapshot import File, Snapshot

_REWRITTEN = frozenset({"shard", "inbox", "log", "tombstones"})
"""Kinds of which ``--fix`` can write what is left."""
_MEMORIES = frozenset({"topic", "shard", "episode", "inbox", "log", "tombstones", "settings"})


def check_places(snapshot: Snapshot) -> list[Finding]:
    """Files that have no place, that are none, that are too large or closed."""
    findings: list[Finding] = []
    for path, file in sorted(snapshot.files.items()):
        if not file.is_regular:
            what = _WHAT.get(stat.S_IFMT(file.mode), "is not a regular file")
            step = "" if file.kind in _MEMORIES else "nothing, or remove it"
            severity: Severity | None = None if file.kind in _MEMORIES else "warning"
            findings.append(
                make_finding("not-a-file", path, what, next_step=step, severity=severity)
            )
        elif file.kind == "temp":
            findings.append(make_finding("left-over", path, "was left by a killed command"))
        elif file.kind == "unknown":
            findings.append(make_finding("unknown-file", path, "is no part of a memory"))
        elif file.error is not None:
            findings.append(_closed(file))
        elif not file.size and file.kind in ("log", "tombstones"):
            findings.append(make_finding("empty-file", path, "is empty, which clsm never leaves"))
    for path, (mode, _) in sorted(snapshot.folders.items()):
        if not mode & stat.S_IRUSR or not mode & stat.S_IXUSR:
            findings.append(
                make_finding("unreadable-file", path, "cannot be looked into", mends=True)
            )
    kept = [f.path.removeprefix("quarantine/") for f in snapshot.of_kind("quarantine")]
    if kept:
        findings.append(make_finding("quarantine", "quarantine", f"holds {list_names(kept)}"))
    return findings


_WHAT = {
    stat.S_IFLNK: "is a symbolic link",
    stat.S_IFIFO: "is a pipe",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
}


def _closed(file: File) -> Finding:
    if file.error is not None and file.error.startswith("is larger"):
        return make_finding("too-large", file.path, file.error)
    is_ours = file.owner == os.geteuid() and not file.mode & stat.S_IRUSR
    return make_finding("unreadable-file", file.path, file.error or "", mends=is_ours)


def check_modes(snapshot: Snapshot) -> list[Finding]:
    """Folders that are not 0700 and files that are not 0600, and what belongs to others."""
    findings: list[Finding] = []
    wrong: list[tuple[str, int]] = []
    root = snapshot.store.root.stat()
    looked = [(".", root.st_mode, root.st_uid)]
    looked += [(path, *of) for path, of in sorted(snapshot.folders.items())]
    looked += [(p, f.mode, f.owner) for p, f in sorted(snapshot.files.items()) if f.is_regular]
    for path, mode, owner in looked:
        if owner != os.geteuid():
            findings.append(make_finding("foreign-owner", path, f"belongs to user {owner}"))
        wanted = atomic.FOLDER_MODE if stat.S_ISDIR(mode) else atomic.FILE_MODE
        if stat.S_IMODE(mode) != wanted and not _is_gits(path):
            wrong.append((path, stat.S_IMODE(mode)))
    for path, mode in wrong:
        is_ours = not any(f.path == path for f in findings)
        findings.append(make_finding("open-to-others", path, f"has mode {mode:04o}", mends=is_ours))
    return findings


def _is_gits(path: str) -> bool:
    """Whether git may have written it, which knows no modes but executable; it is no memory."""
    return path in (".gitattributes", ".gitignore")


def check_contents(snapshot: Snapshot) -> list[Finding]:
    """NUL bytes, bytes that are no UTF-8, and what git's conflicts leave."""
    findings: list[Finding] = []
    for file in snapshot.of_kind(
        "topic", "shard", "episode", "inbox", "log", "tombstones", "settings"
    ):
        if file.nul is not None:
            findings.append(_spoilt("bad-bytes", file, "holds NUL bytes", file.nul))
        if file.broken is not None:
            findings.append(_spoilt("bad-bytes", file, "is not UTF-8", file.broken))
        if file.markers and file.kind != "episode" and _is_conflict(file):
            lines = list_names([str(line) for line in file.markers])
            reason = f"holds git's conflict markers (lines {lines})"
            findings.append(_spoilt("conflict-markers", file, reason, file.markers[0]))
    return findings


def _spoilt(code: str, file: File, reason: str, line: int) -> Finding:
    """What is wrong with a line; in the log of recalls it is left out, and nothing else."""
    if is_shared(file.path):
        step = "nothing; its good lines count"
        return make_finding(
            code, file.path, reason, line=line, mends=False, severity="warning", next_step=step
        )
    mends = file.kind in _REWRITTEN or (code == "conflict-markers" and file.kind == "topic")
    return make_finding(code, file.path, reason, line=line, mends=mends)


def _is_conflict(file: File) -> bool:
    """Whether markers are a conflict: in Markdown seven equals signs may underline a title."""
    return file.kind != "topic" or len(file.markers) > 1


def check_misplaced(snapshot: Snapshot) -> list[Finding]:
    """Files that belong elsewhere by what they hold."""
    going = plan_moves(snapshot)
    return [
        make_finding("misplaced", path, f"belongs to {home}", mends=path in going)
        for path, home in sorted(_odd(snapshot).items())
    ]


def plan_moves(snapshot: Snapshot) -> dict[str, str]:
    """Path of each file that can go where it belongs → that place."""
    odd = _odd(snapshot)
    going = {path: home for path, home in odd.items() if list(odd.values()).count(home) == 1}
    while True:
        left = {p: h for p, h in going.items() if h not in snapshot.files or h in going}
        if left == going:
            return going
        going = left


def _odd(snapshot: Snapshot) -> dict[str, str]:
    homes = {
        path: home_of(snapshot, path)
        for path in (*snapshot.episodes, *snapshot.topics, *snapshot.inboxes)
    }
    return {path: home for path, home in homes.items() if home is not None and home != path}


def home_of(snapshot: Snapshot, path: str) -> str | None:
    """The name that a file should have; None where that is not certain."""
    if path in snapshot.episodes:
        return _of_episode(snapshot, path)
    if path in snapshot.topics:
        home = _of_topic(snapshot, path)
        is_swap = (
            home in snapshot.topics and home != path and _of_topic(snapshot, str(home)) == path
        )
        return home if is_swap else None  # else a person may have renamed it
    box = snapshot.inboxes[path]
    sessions = {item.session for item in (*box.items, *box.calls)}
    if len(sessions) != 1 or box.problems:
        return None
    folder, _, name = path.rpartition("/")
    stem = file_name_of(sessions.pop())
    return path if name.startswith(stem + ASIDE) else f"{folder}/{stem}.jsonl"


def _of_episode(snapshot: Snapshot, path: str) -> str | None:
    episode = snapshot.episodes[path]
    if episode is None:
        return None
    flow = snapshot.store.root / "flow" / (device_of(path) or snapshot.store.device)
    try:
        return episodes.file_of(episode, flow).relative_to(snapshot.store.root).as_posix()
    except ValueError:  # its start is no time
        return None


def _of_topic(snapshot: Snapshot, path: str) -> str | None:
    """The place that its front matter names."""
    try:
        raw, _, _ = front_matter.split("\n".join(snapshot.topics[path].lines))
        head = front_matter.parse(raw) if raw is not None else {}
    except LineError:
        return None
    stream, topic = head.get("stream"), head.get("topic")
    return f"{stream}/{topic}.md" if stream and topic else None
