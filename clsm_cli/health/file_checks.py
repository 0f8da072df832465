"""Checks of the files in the folder: names, kinds, sizes, modes, owners, bytes, and misplaced files."""

from __future__ import annotations

import os
import stat
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.health import digests
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.store_snapshot import device_of, is_shared, kind_of
from clsm_cli.model.graph import Statement
from clsm_cli.model.ids import file_name_of, turn_key
from clsm_cli.store import atomic, episodes, front_matter, settle
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import ASIDE
from clsm_cli.store.runs import Append

if TYPE_CHECKING:
    from clsm_cli.health.findings import Finding, Severity
    from clsm_cli.health.store_snapshot import File, Snapshot
    from clsm_cli.model.episodes import Turn

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


def episode_findings(snapshot: Snapshot) -> list[Finding]:
    """Files that are no episodes, or whose turns and texts differ."""
    findings: list[Finding] = []
    for path, episode in sorted(snapshot.episodes.items()):
        if episode is None:
            why = snapshot.why[path]
            findings.append(make_finding("unreadable-episode", path, why.reason, line=why.line))
            continue
        keys = tuple(turn.key for turn in episode.turns)
        if snapshot.headings[path] != keys:
            findings.append(
                make_finding("turn-mismatch", path, _difference(snapshot.headings[path], keys))
            )
        elif path in snapshot.odd:
            reason = "is not as clsm would write it"
            findings.append(make_finding("changed-outside", path, reason))
        if snapshot.headings[path] == keys:
            odd = [turn.key for turn in episode.turns if not has_right_key(turn, episode.session)]
            if odd:
                reason = f"the text of {list_names(odd)} was changed"
                findings.append(make_finding("edited-turn", path, reason))
    return findings


def _difference(headings: tuple[str, ...], keys: tuple[str, ...]) -> str:
    if missing := [key for key in keys if key not in headings]:
        return f"the text of {list_names(missing)} is missing"
    if strange := [key for key in headings if key not in keys]:
        return f"the text of {list_names(strange)} belongs to no turn"
    return "turns and texts stand in another order, or twice"


def duplicate_turns(snapshot: Snapshot) -> list[Finding]:
    """Turns that lie in two episode files; each is counted once."""
    seen: dict[str, str] = {}
    again: dict[str, tuple[str, int]] = {}
    for path, episode in sorted(snapshot.episodes.items()):
        for turn in episode.turns if episode is not None else ():
            first = seen.setdefault(turn.key, path)
            if first != path:
                again[path] = (first, again.get(path, (first, 0))[1] + 1)
    return [
        make_finding("turn-twice", path, f"{count} of its turns lie in {first} too")
        for path, (first, count) in sorted(again.items())
    ]


def topic_findings(snapshot: Snapshot) -> list[Finding]:
    """Front matter that cannot be read, ids that stand there twice, a cut end."""
    findings: list[Finding] = []
    for path, topic in sorted(snapshot.topics.items()):
        heads = [problem for problem in topic.problems if problem.line is None]
        findings += [make_finding("unreadable-head", path, problem.reason) for problem in heads]
        counts = Counter(item.id for item in topic.items if item.id is not None)
        again = sorted(i for i, count in counts.items() if count > 1)
        if again:
            findings.append(
                make_finding("item-twice", path, f"two items carry {list_names(again)}")
            )
        if not snapshot.files[path].is_ended and (gone := missing_statements(snapshot, path)):
            reason = f"its end is missing, and with it {list_names(gone)}"
            findings.append(make_finding("cut-short", path, reason))
    return findings


def missing_statements(snapshot: Snapshot, path: str) -> list[str]:
    """Statements that stand in a topic file by their records, and do not."""
    stream, _, name = path.partition("/")
    there = {item.id for item in snapshot.topics[path].items}
    return sorted(
        record.id
        for record in snapshot.records.values()
        if isinstance(record, Statement)
        and record.is_current
        and (record.stream, f"{record.topic}.md") == (stream, name)
        and record.id not in there
    )


def is_doubtful(snapshot: Snapshot) -> bool:
    """Whether what is missing in the Markdown may be damage, and not a person's decision."""
    names = (file for file in snapshot.of_kind("topic"))
    if any(f.nul or f.broken or f.error or not f.is_regular for f in names):
        return True
    codes = ("unreadable-head", "cut-short")
    return any(each.code in codes for each in topic_findings(snapshot)) or any(
        each.code == "missing-file" and kind_of(each.path) == "topic"
        for each in digests.changed_files(snapshot)
    )


def unsettled_edits(snapshot: Snapshot, now: str) -> list[Finding]:
    """Hand edits that no command has settled yet."""
    writes, warnings = settle.plan(snapshot.store, now)
    findings = [
        make_finding(
            "statements-gone", each.partition(":")[0], each.partition(": ")[2].partition(";")[0]
        )
        for each in warnings
        if "nothing was withdrawn" in each
    ]
    paths = sorted(
        {
            w.path.relative_to(snapshot.store.root).as_posix()
            for w in writes
            if not isinstance(w, Append)
        }
    )
    if paths:
        is_mended = not findings and not is_doubtful(snapshot)
        step = "" if is_mended else "mend the damaged files first"
        reason = f"to be written: {list_names(paths)}"
        findings.append(
            make_finding("hand-edits", paths[0], reason, mends=is_mended, next_step=step)
        )
    return findings
