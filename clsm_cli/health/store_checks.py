"""Check the files of a store, their digests in the ledger, and their records.

The ledger has the digest of each file after each run, which shows files that changed or vanished
since. A forget hides what it wrote, so digests from before it do not count. ``consolidate`` derives
edges and mentions from the episodes again; doctor only reports them.
"""

import contextlib
import os
import re
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from typing import Any

from clsm_cli.errors import ClsmError, list_names
from clsm_cli.health.findings import Finding, make_finding
from clsm_cli.health.store_snapshot import LIMITS, File, Snapshot, is_shared
from clsm_cli.ingestion.turns import ordinal_of
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import Document, Episode, EpisodeRecord, Turn
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import is_id
from clsm_cli.store import atomic, cleanup, ledger, logs, runs, settle, shards
from clsm_cli.store.file_kinds import Kind, kind_of
from clsm_cli.store.index import database, hidden
from clsm_cli.store.layout import device_of
from clsm_cli.store.shards import shard_name

_REWRITABLE: tuple[Kind, ...] = ("shard", "inbox", "log", "tombstones")
"""Kinds that ``--fix`` can rewrite without their bad lines."""


def check_places(snapshot: Snapshot) -> Iterator[Finding]:
    """Paths of no known kind, links and devices, and files too large or unreadable."""
    for path, file in snapshot.files.items():
        if not file.is_regular:
            what = "is a symbolic link" if stat.S_ISLNK(file.mode) else "is not a regular file"
            if file.kind in LIMITS:
                yield make_finding("not-a-file", path, what)
            else:
                step = "nothing, or remove it"
                yield make_finding("not-a-file", path, what, severity="warning", next_step=step)
        elif file.kind == "temp":
            yield make_finding("left-over", path, "was left by a killed command")
        elif file.kind == "unknown":
            yield make_finding("unknown-file", path, "is no part of a memory")
        elif file.error is not None and file.error.startswith("is larger"):
            yield make_finding("too-large", path, file.error)
        elif file.error is not None:
            is_ours = file.owner == os.geteuid() and not file.mode & stat.S_IRUSR
            yield make_finding("unreadable-file", path, file.error, mends=is_ours)
        elif not file.size and file.kind in ("log", "tombstones"):
            yield make_finding("empty-file", path, "is empty, which clsm never leaves")
    kept = [f.path.removeprefix("quarantine/") for f in snapshot.of_kind("quarantine")]
    if kept:
        yield make_finding("quarantine", "quarantine", f"holds {list_names(kept)}")


def check_modes(snapshot: Snapshot) -> Iterator[Finding]:
    """Folders not 0700, files not 0600, and paths owned by another user."""
    root = snapshot.store.root.stat()
    looked = {".": (root.st_mode, root.st_uid), **snapshot.folders}
    looked |= {p: (f.mode, f.owner) for p, f in snapshot.files.items() if f.is_regular}
    for path, (mode, owner) in looked.items():
        is_ours = owner == os.geteuid()
        if not is_ours:
            yield make_finding("foreign-owner", path, f"belongs to user {owner}")
        wanted = atomic.FOLDER_MODE if stat.S_ISDIR(mode) else atomic.FILE_MODE
        # Git keeps only the executable bit, and may have written these two, which hold no memory.
        if stat.S_IMODE(mode) != wanted and path not in (".gitattributes", ".gitignore"):
            is_open = stat.S_ISREG(mode) or mode & 0o500 == 0o500  # a folder needs r and x
            code = "open-to-others" if is_open else "unreadable-file"
            yield make_finding(code, path, f"has mode {stat.S_IMODE(mode):04o}", mends=is_ours)


def check_contents(snapshot: Snapshot) -> Iterator[Finding]:
    """NUL bytes, invalid UTF-8, and git conflict markers."""
    for file in snapshot.of_kind(*LIMITS):
        if file.nul is not None:
            yield _bad_line("bad-bytes", file, "holds NUL bytes", file.nul)
        if file.broken is not None:
            yield _bad_line("bad-bytes", file, "is not UTF-8", file.broken)
        # In Markdown seven equals signs may underline a title.
        if file.markers and file.kind != "episode" and len(file.markers) > (file.kind == "topic"):
            lines = list_names([str(line) for line in file.markers])
            reason = f"holds git's conflict markers (lines {lines})"
            yield _bad_line("conflict-markers", file, reason, file.markers[0])


def _bad_line(code: str, file: File, reason: str, line: int | None) -> Finding:
    """A finding about a bad line; the recall log skips the line and is never rewritten."""
    if is_shared(file.path):
        step = "nothing; its good lines count"
        bad = make_finding(code, file.path, reason, line=line, mends=False, next_step=step)
        return bad._replace(severity="warning")
    mends = file.kind in _REWRITABLE or (code == "conflict-markers" and file.kind == "topic")
    return make_finding(code, file.path, reason, line=line, mends=mends)


def check_episodes(snapshot: Snapshot) -> Iterator[Finding]:
    """Episode files that cannot be read, or whose turns and texts differ."""
    for path, episode in snapshot.episodes.items():
        if not isinstance(episode, Episode):
            yield make_finding("unreadable-episode", path, episode.reason, line=episode.line)
            continue
        keys, headings = tuple(turn.key for turn in episode.turns), snapshot.headings[path]
        if headings != keys:
            yield make_finding("turn-mismatch", path, _difference(headings, keys))
        else:
            yield from _edited(path, ((turn, episode.session) for turn in episode.turns))


def _edited(path: str, turns: Iterable[tuple[Turn, str]]) -> Iterator[Finding]:
    """Turns (with their conversation) whose key does not match their text."""
    if odd := [turn.key for turn, session in turns if ordinal_of(turn, session) is None]:
        yield make_finding("edited-turn", path, f"the text of {list_names(odd)} was changed")


def _difference(headings: tuple[str, ...], keys: tuple[str, ...]) -> str:
    if missing := [key for key in keys if key not in headings]:
        return f"the text of {list_names(missing)} is missing"
    if strange := [key for key in headings if key not in keys]:
        return f"the text of {list_names(strange)} belongs to no turn"
    return "turns and texts stand in another order, or twice"


def check_topics(snapshot: Snapshot) -> Iterator[Finding]:
    """Unreadable front matter, and statements whose topic file is missing or truncated."""
    for path, topic in snapshot.topics.items():
        for problem in topic.problems:
            if problem.line is None:
                yield make_finding("unreadable-head", path, problem.reason)
    there = {item.id for topic in snapshot.topics.values() for item in topic.items}
    missing = grouped(
        (f"{record.stream}/{record.topic}.md", record.id)
        for record in snapshot.records.values()
        if isinstance(record, Statement)
        and record.is_current
        and record.stream != "flow"
        and record.id not in there
    )
    for path, gone in missing.items():
        file = snapshot.files.get(path)
        if file is None:
            yield make_finding("missing-file", path, f"is gone, and with it {list_names(gone)}")
        elif file.torn is not None:
            reason = f"its end is missing, and with it {list_names(gone)}"
            yield make_finding("cut-short", path, reason)


def check_loss(snapshot: Snapshot) -> Iterator[Finding]:
    """More statements missing from the Markdown than a person removes by hand."""
    for warning in settle.plan(snapshot.store, utc_text(snapshot.around.now))[1]:
        stream, _, reason = warning.partition(": ")
        if "nothing was withdrawn" in reason:
            yield make_finding("statements-gone", stream, reason.partition(";")[0])


def check_ledger(snapshot: Snapshot) -> Iterator[Finding]:
    """Files that are missing, shorter or changed since the last run."""
    written = {device_of(path): known for path, known in _written_files(snapshot)}
    for path in {path for known in written.values() for path in known}:
        known = written.get(device_of(path) or snapshot.store.device, {})
        if path in known and kind_of(path) in LIMITS and not path.endswith(ledger.FILE):
            left = {each[path][0].after for each in written.values() if path in each}
            yield from _compare(snapshot, *known[path], left)


def _written_files(
    snapshot: Snapshot,
) -> Iterator[tuple[str, dict[str, tuple[logs.Change, str]]]]:
    """For each ledger, the last change of each file and its run."""
    for path, rows in snapshot.ledgers.items():
        known: dict[str, tuple[logs.Change, str]] = {}
        for line in ledger.run_lines(rows):
            if not line.changes:
                known.clear()  # a forget, or the purge after it
            known |= {change.path: (change, line.id) for change in line.changes}
        yield path, known


def _compare(
    snapshot: Snapshot, mine: logs.Change, run: str, left: set[str | None]
) -> Iterator[Finding]:
    """Compare a file with this machine's last change and the digests ``left`` by all machines."""
    path, file = mine.path, snapshot.files.get(mine.path)
    if file is None:
        is_told = mine.after is None or kind_of(path) == "topic"
        episode = path.rpartition("/")[2].removesuffix(".md").partition("-")[2]
        is_explained = snapshot.is_gone(episode) or episode in snapshot.episode_ids
        if not is_told and not is_explained:
            yield make_finding("missing-file", path, f"{run} wrote it, and it is gone")
    elif file.sha256 is None:
        return  # reported as unreadable
    elif mine.after == "":  # of a log only the size is recorded
        size = (mine.size or 0) + (mine.added or 0)
        if file.size < size:
            reason = f"has {file.size:,} of {size:,} bytes that {run} left"
            yield make_finding("shorter", path, reason)
    elif file.sha256 not in left:
        how = f"not as {run} left it"
        if mine.after is None:
            how = f"there again, since {run} removed it"
        yield make_finding("changed-outside", path, f"is {how}")


def check_begun(snapshot: Snapshot) -> Iterator[Finding]:
    """Interrupted runs and forgets."""
    store = snapshot.store
    if (store.derived / "redo").exists():
        line = runs.interrupted_run(store)
        reason = "was never whole" if line is None else f"is {line.id} ({line.command})"
        yield make_finding("begun-run", ".clsm/redo", reason)
    if cleanup.is_interrupted(store):
        yield make_finding("begun-run", ".clsm/purge", "is a forget that was cut short")


def check_preimages(snapshot: Snapshot) -> Iterator[Finding]:
    """Compare the preimages with this machine's ledger."""
    store = snapshot.store
    known = {entry.id: entry for entry in ledger.entries(store.flow)}
    folder = store.derived / "runs"
    for path in folder.iterdir() if folder.is_dir() else ():
        inside = path.relative_to(store.root).as_posix()
        if path.name not in known:
            reason = "belongs to no run of the ledger"
            yield make_finding("preimage", inside, reason, severity="note")
        elif not all(_is_kept(snapshot, line) for line in known[path.name].steps):
            yield make_finding("preimage", inside, "cannot be used")


def _is_kept(snapshot: Snapshot, line: logs.RunLine) -> bool:
    """Whether all preimages of a run are intact, or none is kept."""
    if not ledger.step_folder(snapshot.store, line).is_dir():
        return True  # decay removed it, or it was made elsewhere
    kept = ledger.load_step(snapshot.store, line)
    try:
        return kept is not None and all(
            change.before is None or kept.preimage(place) is not None
            for place, change in enumerate(line.changes)
        )
    except ClsmError:
        return False


def check_lines(snapshot: Snapshot) -> Iterator[Finding]:
    """Lines of shards that are not records."""
    reported = ("is a git conflict marker", "is not UTF-8")  # by ``check_contents``
    for path, shard in snapshot.shards.items():
        for problem in shard.problems:
            if not problem.reason.startswith(reported):
                yield make_finding("unreadable-line", path, problem.reason, line=problem.line)


def check_order(snapshot: Snapshot) -> Iterator[Finding]:
    """Shards not in canonical form: foreign, duplicate or unsorted records."""
    for path, shard in snapshot.shards.items():
        ids = [record.id for record in shard.records]
        name = path.rpartition("/")[2]
        if odd := [i for i in ids if name not in (shard_name(i, 1), shard_name(i, 2))]:
            yield make_finding("wrong-shard", path, f"holds records of others: {list_names(odd)}")
        elif not shard.problems and (
            len({*ids}) < len(ids) or atomic.sha256(shards.render(shard.records)) != shard.sha256
        ):
            yield make_finding("not-normal", path, "is not as clsm would write it")


def check_references(snapshot: Snapshot) -> Iterator[Finding]:
    """Records, and episodes of documents, with missing references."""
    known = {*snapshot.records, *snapshot.episode_ids, *snapshot.turns}
    lost: list[tuple[str, str]] = []
    for record in snapshot.records.values():
        gone = [each for each in _references(snapshot, record) if each not in known]
        if not all(map(snapshot.is_gone, gone)):
            lost.append((snapshot.where[record.id], record.id))
    documents = {None, *snapshot.records}
    for path, each in snapshot.episodes.items():
        if isinstance(each, Episode) and each.document not in documents:
            lost.append((path, each.id))
    for path, ids in grouped(sorted(lost)).items():
        yield make_finding("dangling", path, f"these rest on what is gone: {list_names(ids)}")


def _references(snapshot: Snapshot, record: Record) -> Iterable[str]:
    if isinstance(record, Edge):
        return (record.source, record.target, *record.sources)
    if isinstance(record, Statement):
        return record.sources
    if isinstance(record, Document):
        return [block.key for block in record.blocks]
    if isinstance(record, EpisodeRecord) and record.id in snapshot.episode_ids:
        turns = [key for keys in record.mentions.values() for key in keys]
        # The mentions of a pending episode need not be nodes yet.
        return turns if record.stage == "pending" else [*record.mentions, *turns]
    return record.sources if isinstance(record, Node) else ()


def check_episode_records(snapshot: Snapshot) -> Iterator[Finding]:
    """Records of episodes without a file."""
    unread = "".join(path for path, e in snapshot.episodes.items() if not isinstance(e, Episode))
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
    """Missing tombstones: known to the index, or expected from a forget in a ledger."""
    if lost := lost_tombstones(snapshot):
        reason = f"{len(lost)} tombstones are gone that the index knows"
        yield make_finding("tombstone-lost", "tombstones", reason)
        return
    stones = {str(row.get("at")) for row in _tombstone_rows(snapshot)}
    for path, rows in snapshot.ledgers.items():
        for at in _forgets(rows.mappings):
            if at not in stones:
                place = f"tombstones/{device_of(path)}.jsonl"
                yield make_finding("forget-lost", place, f"the forget of {at} left none")


def _forgets(ledger_rows: Iterable[dict[str, object]]) -> list[str]:
    """Times of a ledger's forgets since doctor last restored tombstones, which got its time."""
    times: list[str] = []
    for row in ledger_rows:
        if row.get("command") == "forget":
            times.append(str(row.get("at")))
        elif row.get("command") == "doctor" and "tombstones/" in str(row.get("changes")):
            times.clear()
    return times


def _tombstone_rows(snapshot: Snapshot) -> list[dict[str, object]]:
    found = (rows for path, rows in snapshot.logs.items() if path.startswith("tombstones/"))
    return [row for rows in found for row in rows.mappings]


def lost_tombstones(snapshot: Snapshot) -> list[str]:
    """Hashes of the index that no tombstone file has any more, sorted."""
    try:
        connection = database.open_to_read(snapshot.store.derived)
        if connection is None:
            return []
        with contextlib.closing(connection):
            known = hidden.forgotten_hashes(connection)
    except sqlite3.DatabaseError:
        return []
    there = {str(row.get("hash")) for row in _tombstone_rows(snapshot)}
    return sorted(filter(_is_digest, known - there))


_HASH = re.compile(r"[0-9a-f]{64}")


def bad_rows(snapshot: Snapshot, path: str) -> list[tuple[int | None, str]]:
    """Invalid lines of a log or an inbox, with the reason."""
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


_KINDS: dict[str, type[logs.LogLine]] = {
    "activation.jsonl": logs.Activation,
    "activation-old.jsonl": logs.Activation,
    logs.USES: logs.Use,
    "feedback.jsonl": logs.Feedback,
    logs.REVIEW: logs.ReviewItem,
    ledger.FILE: logs.RunLine,
    logs.ARCHIVED: logs.Use,
    "tombstones": logs.Tombstone,
}


def _check_row(name: str, row: dict[str, Any]) -> None:
    """Raise if a row is not valid in its log."""
    if name == logs.ARCHIVED and "as_of" in row:
        row = {"id": "as_of", "day": row["as_of"], "n": 0}
    elif name == logs.ARCHIVED:
        row = {"id": row["id"], "day": row["since"], "n": 0}
    line: logs.LogLine = logs.parse(_KINDS[name], row)
    for field, is_right in _FIELD_CHECKS.items():
        value = getattr(line, field, None)
        if value is not None and not is_right(value):
            raise ValueError(f"{field} cannot be {value!r}")


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


_FIELD_CHECKS: dict[str, Callable[[Any], bool]] = {
    "at": lambda at: bool(datetime.fromisoformat(str(at))),
    "day": lambda day: bool(date.fromisoformat(day)),
    "id": is_id,
    "state": lambda state: state in ("open", "accepted", "rejected"),
    "hash": _is_digest,
    "changes": lambda changes: all(
        _is_digest(digest) for c in changes for digest in (c.before, c.after) if digest
    ),
}
"""Field of a log line → whether a value is valid."""


def check_logs(snapshot: Snapshot) -> Iterator[Finding]:
    """Invalid lines of logs, tombstones and inboxes."""
    for path in (*snapshot.logs, *snapshot.inboxes):
        file = snapshot.files[path]
        for number, reason in bad_rows(snapshot, path):
            if number is not None and number == file.torn:
                mends = not is_shared(path)
                yield make_finding("torn-line", path, "was cut short", line=number, mends=mends)
            elif number not in file.markers:
                yield _bad_line("unreadable-line", file, reason, number)
    for path, box in snapshot.inboxes.items():
        yield from _edited(path, ((item.turn, item.session) for item in box.turns))
