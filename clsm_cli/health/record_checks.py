"""Checks of shards, logs and inboxes: bad lines, misplaced records, references that lead nowhere.

What follows from the episodes alone (edges, mentions) is derived again by ``consolidate``; doctor only
reports it.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from clsm_cli.health.file_checks import bad_shared_line, has_right_key
from clsm_cli.health.findings import list_names, make_finding
from clsm_cli.health.store_snapshot import is_shared
from clsm_cli.model.episodes import Document, EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import is_id
from clsm_cli.store import atomic, logs, shards
from clsm_cli.store.index import database
from clsm_cli.store.shards import shard_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from clsm_cli.health.findings import Finding
    from clsm_cli.health.store_snapshot import Snapshot
    from clsm_cli.model.codec import Record

_MARKERS = "is a git conflict marker"


def check_lines(snapshot: Snapshot) -> Iterator[Finding]:
    """Lines of shards that are no records."""
    for path, shard in sorted(snapshot.shards.items()):
        for problem in shard.problems:
            if not problem.reason.startswith((_MARKERS, "is not UTF-8")):
                yield make_finding("unreadable-line", path, problem.reason, line=problem.line)


def check_order(snapshot: Snapshot) -> Iterator[Finding]:
    """Shards that are not as they would be written: records of others, twice, not sorted."""
    for path, shard in sorted(snapshot.shards.items()):
        ids = [record.id for record in shard.records]
        name = path.rpartition("/")[2]
        if odd := [i for i in ids if name not in (shard_name(i, 1), shard_name(i, 2))]:
            yield make_finding("wrong-shard", path, f"holds records of others: {list_names(odd)}")
        elif not shard.problems and (
            len({*ids}) < len(ids) or atomic.sha256(shards.render(shard.records)) != shard.sha256
        ):
            yield make_finding("not-normal", path, "is not as clsm would write it")


def check_references(snapshot: Snapshot) -> Iterator[Finding]:
    """Records, and episodes of documents, that rest on what is not there."""
    known = {*snapshot.records, *snapshot.episode_ids, *snapshot.turns}
    lost: dict[str, list[str]] = {}
    for record in snapshot.records.values():
        gone = [each for each in _references(snapshot, record) if each not in known]
        if not all(map(snapshot.is_gone, gone)):
            lost.setdefault(snapshot.where[record.id], []).append(record.id)
    read = ((path, each) for path, each in snapshot.episodes.items() if each is not None)
    for path, episode in read:
        if episode.document is not None and episode.document not in snapshot.records:
            lost.setdefault(path, []).append(episode.id)
    for path, ids in sorted(lost.items()):
        reason = f"these rest on what is gone: {list_names(sorted(ids))}"
        yield make_finding("dangling", path, reason)


def _references(snapshot: Snapshot, record: Record) -> Iterable[str]:
    """Ids of records and episodes, and keys of turns, that a record names."""
    if isinstance(record, Edge):
        return (record.source, record.target, *record.sources)
    if isinstance(record, Statement):
        return (*record.sources, *record.contradicted_by)
    if isinstance(record, Document):
        return [block.key for block in record.blocks]
    if isinstance(record, EpisodeRecord) and record.id in snapshot.episode_ids:
        turns = [key for keys in record.mentions.values() for key in keys]
        # What is mentioned before a night may become a node then, or never.
        return turns if record.stage == "pending" else [*record.mentions, *turns]
    return record.sources if isinstance(record, Node) else ()


def check_episodes(snapshot: Snapshot) -> Iterator[Finding]:
    """Records of episodes without a file."""
    unread = "".join(path for path, episode in snapshot.episodes.items() if episode is None)
    for record in snapshot.records.values():
        is_lost = isinstance(record, EpisodeRecord) and record.id not in snapshot.episode_ids
        if not is_lost or record.id in unread:
            continue
        path, what = snapshot.where[record.id], f"the episode {record.id}"
        kept = [file.path for file in snapshot.of_kind("quarantine") if record.id in file.path]
        if kept:
            step = "mend it there and put it back, or restore it from git or from a backup"
            reason = f"{what} is in {kept[-1]}"
            yield make_finding("missing-episode", path, reason, severity="warning", next_step=step)
        else:
            yield make_finding("missing-episode", path, f"{what} has no file")


def check_tombstones(snapshot: Snapshot) -> Iterator[Finding]:
    """Tombstones that are gone: by the index, or as a forget of a ledger left none."""
    if lost := lost_tombstones(snapshot):
        reason = f"{len(lost)} tombstones are gone that the index knows"
        yield make_finding("tombstone-lost", "tombstones", reason)
        return
    stones = {str(row.get("at")) for _, row in _stones(snapshot)}
    for path in sorted(p for p in snapshot.logs if p.endswith("/runs.jsonl")):
        place = f"tombstones/{path.split('/')[1]}.jsonl"
        for at in _forgets(snapshot, path):
            if at not in stones:
                yield make_finding("forget-lost", place, f"the forget of {at} left none")


def _forgets(snapshot: Snapshot, path: str) -> list[str]:
    """Times of the forgets of a ledger since doctor last wrote tombstones again, which have its time."""
    times: list[str] = []
    for _, row in snapshot.logs[path].rows:
        if row.get("command") == "forget":
            times.append(str(row.get("at")))
        elif row.get("command") == "doctor" and "tombstones/" in str(row.get("changes")):
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


_HASH = re.compile(r"[0-9a-f]{64}")
_Row = dict[str, Any]


def bad_rows(snapshot: Snapshot, path: str) -> list[tuple[int | None, str]]:
    """Lines of a log or an inbox that are none of it, with why."""
    if path in snapshot.inboxes:
        return [(problem.line, problem.reason) for problem in snapshot.inboxes[path].problems]
    bad = [(problem.line, problem.reason) for problem in snapshot.logs[path].problems]
    name = "tombstones" if path.startswith("tombstones/") else path.rpartition("/")[2]
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


_KINDS: dict[str, type[logs.LogLine]] = {
    "activation.jsonl": logs.Activation,
    "activation-old.jsonl": logs.Activation,
    "uses.jsonl": logs.Use,
    "feedback.jsonl": logs.Feedback,
    "review.jsonl": logs.ReviewItem,
    "runs.jsonl": logs.RunLine,
    "archived.jsonl": logs.Use,
    "tombstones": logs.Tombstone,
}


def _check_row(name: str, row: _Row) -> None:
    """Raises where a row is no line of its log."""
    if name == "archived.jsonl":
        row = {"id": "as_of" if "as_of" in row else row["id"], "n": 0} | {
            "day": row["as_of"] if "as_of" in row else row["since"]
        }
    line: logs.LogLine = logs.parse(_KINDS[name], row)
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
    "state": lambda state: state in ("open", "accepted", "rejected"),
    "hash": _is_digest,
    "changes": lambda changes: all(
        _is_digest(digest) for c in changes for digest in (c.before, c.after) if digest
    ),
}
"""Field of a line of a log → whether it can have a value."""


def check_logs(snapshot: Snapshot) -> Iterator[Finding]:
    """Lines of logs, tombstones and inboxes that are none."""
    for path in (*sorted(snapshot.logs), *sorted(snapshot.inboxes)):
        markers = snapshot.files[path].markers
        for number, reason in bad_rows(snapshot, path):
            if is_torn(snapshot, path, number):
                mends = not is_shared(path)
                yield make_finding("torn-line", path, "was cut short", line=number, mends=mends)
            elif number not in markers and is_shared(path):
                yield bad_shared_line("unreadable-line", path, reason, number)
            elif number not in markers:
                yield make_finding("unreadable-line", path, reason, line=number)
    for path, box in sorted(snapshot.inboxes.items()):
        if odd := [i.turn.key for i in box.turns if not has_right_key(i.turn, i.session)]:
            yield make_finding("edited-turn", path, f"the text of {list_names(odd)} was changed")
