"""Checks of files of lines: logs, tombstones, inboxes."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.note_checks import has_right_key
from clsm_cli.health.places import is_shared
from clsm_cli.model.episodes import EndMark
from clsm_cli.model.ids import is_id
from clsm_cli.store import logs
from clsm_cli.store.inbox import CapturedTurn
from clsm_cli.store.logs import Activation

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.health.findings import Finding, Severity
    from clsm_cli.health.store_snapshot import Snapshot

_HASH = re.compile(r"[0-9a-f]{64}")
_Row = dict[str, Any]


def _name(path: str) -> str:
    return "tombstones" if path.startswith("tombstones/") else path.rpartition("/")[2]


def bad_rows(snapshot: Snapshot, path: str) -> list[tuple[int | None, str]]:
    """Lines of a log that are none of it, with why; a torn last line is left out."""
    bad = [
        (p.line, p.reason)
        for p in snapshot.logs[path].problems
        if not is_torn(snapshot, path, p.line)
    ]
    check = _CHECKS.get(_name(path), _activation)
    for number, row in snapshot.logs[path].rows:
        try:
            check(row)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            bad.append((number, f"is no line of this log ({type(error).__name__}: {error})"[:120]))
    return bad


def is_torn(snapshot: Snapshot, path: str, line: int | None) -> bool:
    """Whether a line is the last of its file, and was cut short."""
    file = snapshot.files[path]
    return not file.is_ended and line == file.last


def _activation(row: _Row) -> None:
    line = logs.parse_activation(row)
    _moment(line.at)
    if not all(isinstance(each, str) for each in (line.recall, *line.ids)):
        raise TypeError("ids must be text")


def _use(row: _Row) -> None:
    use = logs.parse_use(row)
    date.fromisoformat(use.day)
    _id(use.id)


def _feedback(row: _Row) -> None:
    line = logs.parse_feedback(row)
    _moment(line.at)


def _review(row: _Row) -> None:
    item = logs.parse_review(row)
    _moment(item.at)
    if item.state not in ("open", "accepted", "rejected"):
        raise ValueError(f"unknown state {item.state!r}")


def _run(row: _Row) -> None:
    line = logs.parse_run(row)
    _id(line.id)
    _moment(line.at)
    for change in line.changes:
        for digest in (change.before, change.after):
            if digest and not _HASH.fullmatch(digest):
                raise ValueError("a digest is none")


def _archived(row: _Row) -> None:
    date.fromisoformat(row["as_of"] if "as_of" in row else row["since"])
    if "as_of" not in row:
        _id(row["id"])


def _tombstone(row: _Row) -> None:
    stone = logs.parse_tombstone(row)
    _moment(stone.at)
    if not _HASH.fullmatch(stone.hash):
        raise ValueError("is no hash")


def _id(value: object) -> None:
    if not is_id(value):
        raise ValueError("is no id")


def _moment(value: object) -> None:
    """Raises when it is no time; those of the record axis are whole."""
    datetime.fromisoformat(str(value))


_CHECKS: dict[str, Callable[[_Row], None]] = {
    "activation.jsonl": _activation,
    "activation-old.jsonl": _activation,
    "uses.jsonl": _use,
    "feedback.jsonl": _feedback,
    "review.jsonl": _review,
    "runs.jsonl": _run,
    "archived.jsonl": _archived,
    "tombstones": _tombstone,
}


def check_lines(snapshot: Snapshot) -> list[Finding]:
    """Lines of logs and tombstones that are none, or stand there twice."""
    findings: list[Finding] = []
    for path in sorted(p for p in snapshot.logs if p not in snapshot.inboxes):
        is_left = is_shared(path)
        for number, reason in bad_rows(snapshot, path):
            if _is_marker(snapshot, path, number):
                continue
            severity: Severity | None = "warning" if is_left else None
            step = "nothing; its good lines count" if is_left else ""
            findings.append(
                make_finding(
                    "unreadable-line",
                    path,
                    reason,
                    line=number,
                    severity=severity,
                    mends=not is_left,
                    next_step=step,
                )
            )
        findings += _strange(snapshot, path)
        findings += _torn(snapshot, path, [p.line for p in snapshot.logs[path].problems])
        findings += _repeated(snapshot, path)
    return findings


def _is_marker(snapshot: Snapshot, path: str, line: int | None) -> bool:
    return line in snapshot.files[path].markers


def _torn(snapshot: Snapshot, path: str, bad: list[int | None]) -> list[Finding]:
    return [
        make_finding("torn-line", path, "was cut short", line=line, mends=not is_shared(path))
        for line in bad
        if is_torn(snapshot, path, line)
    ]


_FIELDS: dict[str, frozenset[str]] = {
    "activation.jsonl": frozenset(Activation._fields),
    "activation-old.jsonl": frozenset(Activation._fields),
    "uses.jsonl": frozenset(logs.Use._fields),
    "feedback.jsonl": frozenset(logs.Feedback._fields),
    "review.jsonl": frozenset(logs.ReviewItem._fields),
    "runs.jsonl": frozenset((*logs.RunLine._fields, *logs.Change._fields)),
    "archived.jsonl": frozenset({"as_of", "id", "since"}),
    "tombstones": frozenset(logs.Tombstone._fields),
}


def _strange(snapshot: Snapshot, path: str) -> list[Finding]:
    """Lines with fields that are none of theirs: a newer clsm wrote them, or they are damaged."""
    known = _FIELDS[_name(path)]
    for number, row in snapshot.logs[path].rows:
        fields = {*row}
        changes = row.get("changes")
        for change in changes if isinstance(changes, list) else ():
            fields |= {*change} if isinstance(change, dict) else set()
        if fields - known:
            reason = f"has unknown fields: {list_names(sorted(fields - known))}"
            return [make_finding("unknown-field", path, reason, line=number)]
    return []


def _repeated(snapshot: Snapshot, path: str) -> list[Finding]:
    seen: set[str] = set()
    twice: list[int] = []
    for number, row in snapshot.logs[path].rows:
        text = repr(row)
        if text in seen:
            twice.append(number)
        seen.add(text)
    reason = f"lines {list_names(list(map(str, twice)))} stand there before"
    return [make_finding("repeated-line", path, reason, line=twice[0])] if twice else []


def check_inboxes(snapshot: Snapshot) -> list[Finding]:
    """Inboxes: lines that are no turns, turns twice or with another key."""
    findings: list[Finding] = []
    for path, box in sorted(snapshot.inboxes.items()):
        file = snapshot.files[path]
        for problem in box.problems:
            if problem.line in file.markers:
                continue
            code = "torn-line" if is_torn(snapshot, path, problem.line) else "unreadable-line"
            findings.append(make_finding(code, path, problem.reason, line=problem.line))
        findings += _repeated(snapshot, path)
        odd = [i.turn.key for i in box.turns if not has_right_key(i.turn, i.session)]
        if odd:
            findings.append(
                make_finding("edited-turn", path, f"the text of {list_names(odd)} was changed")
            )
        known = {item.turn.key for item in box.items if isinstance(item, CapturedTurn)}
        ends = [i.after for i in box.items if isinstance(i, EndMark) and i.after not in known]
        lost = [key for key in ends if key not in snapshot.turns and not snapshot.is_gone(key)]
        if lost:
            reason = f"an end stands behind turns that are gone: {list_names(lost)}"
            findings.append(make_finding("dangling-link", path, reason))
    return findings
