"""Checks of shards, logs and inboxes: bad lines, misplaced records, wrong ids, references that lead nowhere.

What follows from the episodes alone (edges, mentions) is derived again by ``consolidate``; doctor only
reports it.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from clsm_cli.health.file_checks import has_right_key
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.store_snapshot import is_shared, stream_of
from clsm_cli.model.episodes import Document, EndMark, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import document_id, edge_id, is_id
from clsm_cli.store import atomic, logs, shards
from clsm_cli.store.inbox import CapturedTurn
from clsm_cli.store.index import database
from clsm_cli.store.shards import shard_name
from clsm_cli.store.topics import text_sha

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clsm_cli.health.findings import Finding, Severity
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.model.codec import Record

_MARKERS = "is a git conflict marker"
_EDGE = re.compile(r"g-[0-9a-f]{12}\Z")


def check_lines(snapshot: Snapshot) -> list[Finding]:
    """Lines of shards that are no records."""
    return [
        make_finding("unreadable-line", path, problem.reason, line=problem.line)
        for path, shard in sorted(snapshot.shards.items())
        for problem in shard.problems
        if not problem.reason.startswith((_MARKERS, "is not UTF-8"))
    ]


def check_order(snapshot: Snapshot) -> list[Finding]:
    """Shards that are not as they would be written: records elsewhere, twice, not sorted."""
    findings: list[Finding] = []
    for path, shard in sorted(snapshot.shards.items()):
        name = path.rpartition("/")[2]
        odd = [r.id for r in shard.records if not _is_at_home(r.id, name) or is_strange(r, path)]
        if odd:
            reason = f"holds records of other shards: {list_names(odd)}"
            findings.append(make_finding("wrong-shard", path, reason))
            continue
        ids = [record.id for record in shard.records]
        twice = sorted({i for i in ids if ids.count(i) > 1}) if len({*ids}) < len(ids) else []
        if twice:
            findings.append(make_finding("not-normal", path, f"holds {list_names(twice)} twice"))
        elif not shard.problems and _is_odd(snapshot, path):
            findings.append(make_finding("not-normal", path, _how(shard.records, ids)))
    return findings


def is_strange(record: Record, path: str) -> bool:
    """Whether a record lies with another stream than its own."""
    return isinstance(record, Statement) and record.stream != stream_of(path)


def _is_at_home(record_id: str, name: str) -> bool:
    return name in (shard_name(record_id, 1), shard_name(record_id, 2))


def _is_odd(snapshot: Snapshot, path: str) -> bool:
    """Whether its bytes are others than its records would be written with."""
    return (
        atomic.sha256(shards.render(snapshot.shards[path].records)) != snapshot.shards[path].sha256
    )


def _how(records: tuple[Record, ...], ids: list[str]) -> str:
    if ids != sorted(ids):
        return "is not sorted"
    strange = sorted({name for record in records for name in record.extra})
    return f"has unknown fields: {list_names(strange)}" if strange else "is written in another way"


def check_ids(snapshot: Snapshot) -> list[Finding]:
    """Records whose id is a hash of what they say, and is not."""
    wrong: dict[str, list[str]] = {}
    for path, shard in sorted(snapshot.shards.items()):
        for record in shard.records:
            if not record.pinned and _is_wrong(record):
                wrong.setdefault(path, []).append(record.id)
    return [
        make_finding("wrong-id", path, f"the id or the text of {list_names(found_ids)} was changed")
        for path, found_ids in wrong.items()
    ]


def _is_wrong(record: Record) -> bool:
    if isinstance(record, Edge):
        # A closed copy, which a correction writes, has another id: it ends.
        given = edge_id(record.source, record.type, record.target, record.valid_from)
        plain = edge_id(record.source, record.type, record.target)
        is_closed = record.valid_until is not None or record.superseded_at is not None
        return bool(_EDGE.match(record.id)) and record.id not in (given, plain) and not is_closed
    if isinstance(record, Document):
        return record.id != document_id(record.origin)
    if isinstance(record, Statement) and record.text and record.text_sha:
        return text_sha(record.text) != record.text_sha
    return False


def check_edges(snapshot: Snapshot) -> list[Finding]:
    """Edges whose ends are not there."""
    known = {*snapshot.records, *(e.id for e in snapshot.episodes.values() if e is not None)}
    odd = [
        record.id
        for record in snapshot.records.values()
        if isinstance(record, Edge) and not {record.source, record.target} <= known
    ]
    return _by_file(snapshot, "dangling-edge", odd, "edges to what is not there")


def check_sources(snapshot: Snapshot) -> list[Finding]:
    """Records that rest on turns which are not there, or replaced a row that is not."""
    odd = [r.id for r in snapshot.records.values() if any(_gone(snapshot, _sources(r)))]
    rows = [
        record.id
        for record in snapshot.records.values()
        if isinstance(record, Statement)
        and record.supersedes is not None
        and record.supersedes not in snapshot.records
        and not snapshot.is_gone(record.supersedes)
    ]
    return [
        *_by_file(snapshot, "dangling-source", odd, "records that rest on turns that are gone"),
        *_by_file(snapshot, "dangling-row", rows, "statements that replaced one that is gone"),
    ]


def _sources(record: Record) -> Iterable[str]:
    if isinstance(record, Statement):
        return (*record.sources, *record.contradicted_by)
    return record.sources if isinstance(record, (Edge, Node)) else ()


def _gone(snapshot: Snapshot, keys: Iterable[str]) -> list[str]:
    return [key for key in keys if key not in snapshot.turns and not snapshot.is_gone(key)]


def check_mentions(snapshot: Snapshot) -> list[Finding]:
    """Episode records that mention unknown nodes or turns, documents with blocks that are gone."""
    turns, blocks = [], []
    for record in snapshot.records.values():
        if isinstance(record, EpisodeRecord) and record.id in _ids(snapshot):
            told = {key for keys in record.mentions.values() for key in keys}
            # What is mentioned before a night may become a node then, or never.
            is_known = (
                record.stage == "pending" or snapshot.records.keys() >= record.mentions.keys()
            )
            if _gone(snapshot, told) or not is_known:
                turns.append(record.id)
        elif isinstance(record, Document) and _gone(snapshot, [b.key for b in record.blocks]):
            blocks.append(record.id)
    return [
        *_by_file(snapshot, "dangling-mention", turns, "episodes that mention what is gone"),
        *_by_file(snapshot, "dangling-block", blocks, "documents with blocks that are gone"),
    ]


def _ids(snapshot: Snapshot) -> set[str]:
    return {episode.id for episode in snapshot.episodes.values() if episode is not None}


def check_episodes(snapshot: Snapshot) -> list[Finding]:
    """Records without an episode, episodes that follow none, documents without a record."""
    there = _ids(snapshot)
    aside = [file.path for file in snapshot.of_kind("quarantine")]
    findings: list[Finding] = []
    unread = {
        p.rpartition("/")[2].partition("-")[2] for p, e in snapshot.episodes.items() if e is None
    }
    for record in snapshot.records.values():
        if not isinstance(record, EpisodeRecord) or record.id in there:
            continue
        if f"{record.id}.md" in unread:
            continue  # told already
        kept = [path for path in aside if record.id in path]
        findings.append(_lost(snapshot.where[record.id], record.id, kept))
    for path, episode in sorted(snapshot.episodes.items()):
        if episode is None or snapshot.is_gone(episode.id):
            continue
        links = [each for each in (episode.previous, episode.continues) if each is not None]
        lost = [each for each in links if each not in there and not snapshot.is_gone(each)]
        if episode.document is not None and episode.document not in snapshot.records:
            lost.append(episode.document)
        if lost:
            findings.append(
                make_finding("dangling-link", path, f"follows {list_names(lost)}, which is gone")
            )
    return findings


def _lost(path: str, record_id: str, kept: list[str]) -> Finding:
    if kept:
        reason = f"the episode {record_id} is in {kept[-1]}"
        step = "mend it there and put it back, or restore it from git or from a backup"
        return make_finding("missing-episode", path, reason, severity="warning", next_step=step)
    return make_finding("missing-episode", path, f"the episode {record_id} has no file")


def check_tombstones(snapshot: Snapshot) -> list[Finding]:
    """Tombstones that are gone: by the index, or as a forget of a ledger left none."""
    stones = {str(row.get("at")) for _, row in _stones(snapshot)}
    findings = []
    lost = lost_tombstones(snapshot)
    if lost:
        reason = f"{len(lost)} tombstones are gone that the index knows"
        findings.append(make_finding("tombstone-lost", "tombstones", reason))
    for path in sorted(p for p in snapshot.logs if p.endswith("/runs.jsonl")):
        device = path.split("/")[1]
        findings += [
            make_finding(
                "forget-lost", f"tombstones/{device}.jsonl", f"the forget of {at} left none"
            )
            for at in ([] if lost else _forgets(snapshot, path))
            if at not in stones
        ]
    return findings


def _forgets(snapshot: Snapshot, path: str) -> list[str]:
    """Times of the forgets of a ledger since doctor last wrote tombstones again, which have its time."""
    times: list[str] = []
    for _, row in snapshot.logs[path].rows:
        changes = row.get("changes")
        if row.get("command") == "forget":
            times.append(str(row.get("at")))
        elif row.get("command") == "doctor" and "tombstones/" in str(changes):
            times.clear()
    return times


def _stones(snapshot: Snapshot) -> list[tuple[int, dict[str, object]]]:
    return [
        each
        for path, rows in sorted(snapshot.logs.items())
        if path.startswith("tombstones/")
        for each in rows.rows
    ]


def lost_tombstones(snapshot: Snapshot) -> list[str]:
    """Hashes that the index took from files which do not have them any more, sorted."""
    try:
        connection = database.open_to_read(snapshot.store.derived)
        if connection is None:
            return []
        with contextlib.closing(connection):
            known = {str(row[0]) for row in connection.execute("SELECT hash FROM tombstones")}
    except sqlite3.DatabaseError:
        return []
    is_hash = re.compile(r"[0-9a-f]{64}").fullmatch
    there = {str(row.get("hash")) for _, row in _stones(snapshot)}
    return sorted(each for each in known - there if is_hash(each))


def _by_file(snapshot: Snapshot, code: str, ids: Iterable[str], what: str) -> list[Finding]:
    by_path: dict[str, list[str]] = {}
    for record_id in sorted(ids):
        by_path.setdefault(snapshot.where[record_id], []).append(record_id)
    return [
        make_finding(code, path, f"{what}: {list_names(group)}")
        for path, group in sorted(by_path.items())
    ]


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
    name = _name(path)
    for number, row in snapshot.logs[path].rows:
        try:
            _check_row(name, row)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            bad.append((number, f"is no line of this log ({type(error).__name__}: {error})"[:120]))
    return bad


def is_torn(snapshot: Snapshot, path: str, line: int | None) -> bool:
    """Whether a line is the last of its file, and was cut short."""
    file = snapshot.files[path]
    return not file.is_ended and line == file.last


def _archived(row: _Row) -> logs.Use:
    day = row["as_of"] if "as_of" in row else row["since"]
    return logs.Use("as_of" if "as_of" in row else row["id"], day, 0)


_PARSERS: dict[str, Callable[[_Row], logs.LogLine]] = {
    "activation.jsonl": logs.parse_activation,
    "activation-old.jsonl": logs.parse_activation,
    "uses.jsonl": logs.parse_use,
    "feedback.jsonl": logs.parse_feedback,
    "review.jsonl": logs.parse_review,
    "runs.jsonl": logs.parse_run,
    "archived.jsonl": _archived,
    "tombstones": logs.parse_tombstone,
}


def _check_row(name: str, row: _Row) -> None:
    """Raises where a row is no line of its log."""
    line = _PARSERS[name](row)
    for field, is_right in _FIELDS.items():
        value = getattr(line, field, None)
        if value is not None and not is_right(value):
            raise ValueError(f"{field} cannot be {value!r}")


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "at": lambda at: bool(datetime.fromisoformat(str(at))),
    "day": lambda day: bool(date.fromisoformat(day)),
    "id": is_id,
    "recall": lambda recall: isinstance(recall, str),
    "ids": lambda ids: all(isinstance(each, str) for each in ids),
    "state": lambda state: state in ("open", "accepted", "rejected"),
    "hash": _is_digest,
    "changes": lambda changes: all(
        _is_digest(digest) for c in changes for digest in (c.before, c.after) if digest
    ),
}
"""Field of a line of a log → whether it can have a value."""


def check_logs(snapshot: Snapshot) -> list[Finding]:
    """Lines of logs and tombstones that are none, or stand there twice."""
    findings: list[Finding] = []
    for path in sorted(p for p in snapshot.logs if p not in snapshot.inboxes):
        is_left = is_shared(path)
        for number, reason in bad_rows(snapshot, path):
            if number in snapshot.files[path].markers:
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
        findings += _torn(snapshot, path, [p.line for p in snapshot.logs[path].problems])
        findings += _repeated(snapshot, path)
    return findings


def _torn(snapshot: Snapshot, path: str, bad: list[int | None]) -> list[Finding]:
    return [
        make_finding("torn-line", path, "was cut short", line=line, mends=not is_shared(path))
        for line in bad
        if is_torn(snapshot, path, line)
    ]


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
