"""Checks of what lies in the folder: names, kinds, sizes, modes, owners, bytes.

Files under a wrong name, and where they may go: onto a free place, or one that is left too.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from clsm_cli.health.findings import found, listed
from clsm_cli.health.places import device_of, is_shared
from clsm_cli.model.ids import file_name_of
from clsm_cli.store import atomic, episodes, front_matter
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import ASIDE

if TYPE_CHECKING:
    from clsm_cli.health.findings import Finding, Severity
    from clsm_cli.health.store_snapshot import File, Held

_REWRITTEN = frozenset({"shard", "inbox", "log", "tombstones"})
"""Kinds of which ``--fix`` can write what is left."""
_MEMORIES = frozenset({"topic", "shard", "episode", "inbox", "log", "tombstones", "settings"})


def places(held: Held) -> list[Finding]:
    """Files that have no place, that are none, that are too large or closed."""
    findings: list[Finding] = []
    for path, file in sorted(held.files.items()):
        if not file.is_regular:
            what = _WHAT.get(stat.S_IFMT(file.mode), "is not a regular file")
            step = "" if file.kind in _MEMORIES else "nothing, or remove it"
            severity: Severity | None = None if file.kind in _MEMORIES else "warning"
            findings.append(found("not-a-file", path, what, next_step=step, severity=severity))
        elif file.kind == "temp":
            findings.append(found("left-over", path, "was left by a killed command"))
        elif file.kind == "unknown":
            findings.append(found("unknown-file", path, "is no part of a memory"))
        elif file.error is not None:
            findings.append(_closed(file))
        elif not file.size and file.kind in ("log", "tombstones"):
            findings.append(found("empty-file", path, "is empty, which clsm never leaves"))
    for path, (mode, _) in sorted(held.folders.items()):
        if not mode & stat.S_IRUSR or not mode & stat.S_IXUSR:
            findings.append(found("unreadable-file", path, "cannot be looked into", mends=True))
    kept = [f.path.removeprefix("quarantine/") for f in held.of_kind("quarantine")]
    if kept:
        findings.append(found("quarantine", "quarantine", f"holds {listed(kept)}"))
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
        return found("too-large", file.path, file.error)
    is_ours = file.owner == os.geteuid() and not file.mode & stat.S_IRUSR
    return found("unreadable-file", file.path, file.error or "", mends=is_ours)


def modes(held: Held) -> list[Finding]:
    """Folders that are not 0700 and files that are not 0600, and what belongs to others."""
    findings: list[Finding] = []
    wrong: list[tuple[str, int]] = []
    root = held.store.root.stat()
    looked = [(".", root.st_mode, root.st_uid)]
    looked += [(path, *of) for path, of in sorted(held.folders.items())]
    looked += [(p, f.mode, f.owner) for p, f in sorted(held.files.items()) if f.is_regular]
    for path, mode, owner in looked:
        if owner != os.geteuid():
            findings.append(found("foreign-owner", path, f"belongs to user {owner}"))
        wanted = atomic.FOLDER_MODE if stat.S_ISDIR(mode) else atomic.FILE_MODE
        if stat.S_IMODE(mode) != wanted and not _is_gits(path):
            wrong.append((path, stat.S_IMODE(mode)))
    for path, mode in wrong:
        is_ours = not any(f.path == path for f in findings)
        findings.append(found("open-to-others", path, f"has mode {mode:04o}", mends=is_ours))
    return findings


def _is_gits(path: str) -> bool:
    """Whether git may have written it, which knows no modes but executable; it is no memory."""
    return path in (".gitattributes", ".gitignore")


def contents(held: Held) -> list[Finding]:
    """NUL bytes, bytes that are no UTF-8, and what git's conflicts leave."""
    findings: list[Finding] = []
    for file in held.of_kind("topic", "shard", "episode", "inbox", "log", "tombstones", "settings"):
        if file.nul is not None:
            findings.append(_spoilt("bad-bytes", file, "holds NUL bytes", file.nul))
        if file.broken is not None:
            findings.append(_spoilt("bad-bytes", file, "is not UTF-8", file.broken))
        if file.markers and file.kind != "episode" and _is_conflict(file):
            lines = listed([str(line) for line in file.markers])
            reason = f"holds git's conflict markers (lines {lines})"
            findings.append(_spoilt("conflict-markers", file, reason, file.markers[0]))
    return findings


def _spoilt(code: str, file: File, reason: str, line: int) -> Finding:
    """What is wrong with a line; in the log of recalls it is left out, and nothing else."""
    if is_shared(file.path):
        step = "nothing; its good lines count"
        return found(
            code, file.path, reason, line=line, mends=False, severity="warning", next_step=step
        )
    mends = file.kind in _REWRITTEN or (code == "conflict-markers" and file.kind == "topic")
    return found(code, file.path, reason, line=line, mends=mends)


def _is_conflict(file: File) -> bool:
    """Whether markers are a conflict: in Markdown seven equals signs may underline a title."""
    return file.kind != "topic" or len(file.markers) > 1


def misplaced(held: Held) -> list[Finding]:
    """Files that belong elsewhere by what they hold."""
    going = moves(held)
    return [
        found("misplaced", path, f"belongs to {home}", mends=path in going)
        for path, home in sorted(_odd(held).items())
    ]


def moves(held: Held) -> dict[str, str]:
    """Path of each file that can go where it belongs → that place."""
    odd = _odd(held)
    going = {path: home for path, home in odd.items() if list(odd.values()).count(home) == 1}
    while True:
        left = {p: h for p, h in going.items() if h not in held.files or h in going}
        if left == going:
            return going
        going = left


def _odd(held: Held) -> dict[str, str]:
    homes = {path: home_of(held, path) for path in (*held.episodes, *held.topics, *held.boxes)}
    return {path: home for path, home in homes.items() if home is not None and home != path}


def home_of(held: Held, path: str) -> str | None:
    """The name that a file should have; None where that is not certain."""
    if path in held.episodes:
        return _of_episode(held, path)
    if path in held.topics:
        home = _of_topic(held, path)
        is_swap = home in held.topics and home != path and _of_topic(held, str(home)) == path
        return home if is_swap else None  # else a person may have renamed it
    box = held.boxes[path]
    sessions = {item.session for item in (*box.items, *box.calls)}
    if len(sessions) != 1 or box.problems:
        return None
    folder, _, name = path.rpartition("/")
    stem = file_name_of(sessions.pop())
    return path if name.startswith(stem + ASIDE) else f"{folder}/{stem}.jsonl"


def _of_episode(held: Held, path: str) -> str | None:
    episode = held.episodes[path]
    if episode is None:
        return None
    flow = held.store.root / "flow" / (device_of(path) or held.store.device)
    try:
        return episodes.file_of(episode, flow).relative_to(held.store.root).as_posix()
    except ValueError:  # its start is no time
        return None


def _of_topic(held: Held, path: str) -> str | None:
    """The place that its front matter names."""
    try:
        raw, _, _ = front_matter.split("\n".join(held.topics[path].lines))
        head = front_matter.parse(raw) if raw is not None else {}
    except LineError:
        return None
    stream, topic = head.get("stream"), head.get("topic")
    return f"{stream}/{topic}.md" if stream and topic else None
