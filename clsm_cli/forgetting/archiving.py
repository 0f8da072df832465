"""Decay: fold the activation log, archive items unused for long, and move superseded rows to the archive.

``fading.survey_store`` reads the store; ``fading.archived_shares`` selects what to archive. Nothing is
deleted. The result does not depend on how often decay runs, and a second run changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from clsm_cli.curation.edit_session import EditSession, open_for_edit
from clsm_cli.errors import ClsmError, file_line
from clsm_cli.forgetting import fading, folding
from clsm_cli.forgetting.fading import Clock, StreamShare, StreamState, Survey, Trace, day
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.streams import STREAMS, Stream
from clsm_cli.scoring import retention
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs, record_files, runs, shards
from clsm_cli.store.index.opening import published
from clsm_cli.store.layout import Store
from clsm_cli.text.tokens import count_tokens


class DecayPlan(NamedTuple):
    """What a decay will do."""

    survey: Survey
    shares: dict[Stream, StreamShare]
    moved: list[CompactedRow]
    old: list[Path]

    @property
    def faded(self) -> list[Trace]:
        """The archived traces of all streams."""
        return [trace for share in self.shares.values() for trace in share.faded]


def decay(store: Store, now: datetime, *, explicit: bool, dry_run: bool = False) -> DecayReport:
    """Plan and apply a decay; without a plausible clock, only fold the log. A time the user gave is trusted."""
    warnings: list[str] = []
    with open_for_edit(store, "decay", now, warnings.append, dry_run=dry_run) as edits:
        plan = _plan(edits, now, explicit=explicit)
        run = None if dry_run else _apply(edits, plan)
    found = plan.survey
    problems = (f"{file_line(each.path, each.line)}: {each.reason}" for each in found.problems)
    return DecayReport(
        dry_run=dry_run,
        run=run,
        clock=found.clock,
        recalls=len(found.folded.fresh),
        days=len({*found.folded.fresh}),
        streams={stream: share.state for stream, share in plan.shares.items()},
        archive=tuple(_newly_archived(plan)),
        revive=tuple(_revived(plan)) if found.clock.is_believed else (),
        compact=tuple(_compacted_item(each, found.clock.today, edits.label) for each in plan.moved),
        preimages=len(plan.old),
        warnings=(*warnings, *problems, *_clock_warnings(found.clock)),
    )


def _plan(edits: EditSession, now: datetime, *, explicit: bool) -> DecayPlan:
    store, rows = edits.store, edits.statements
    found = fading.survey_store(store, edits.records, rows, now, is_explicit=explicit)
    if not found.clock.is_believed:
        return DecayPlan(found, {}, [], [])
    today = found.clock.today
    return DecayPlan(
        found,
        fading.archived_shares(found.traces, today),
        _compactable_rows(store, edits.records | rows, today, found.behind),
        _old_run_folders(store, today, found.behind),
    )


def _apply(edits: EditSession, plan: DecayPlan) -> str | None:
    """Write all or nothing; return the id of the run, or None if there was nothing to write.

    The activation log is rotated first: after a crash, its lines are simply folded again.
    """
    store, found = edits.store, plan.survey
    writes = folding.plan(store, found.folded)
    if found.clock.is_believed:
        month = found.clock.today.replace(day=1)
        if found.before.as_of != month:
            folding.rotate(store, found.folded, found.clock.today)
        writes += _archive_writes(store, plan)
        if found.clock.newest is not None:  # what is archived now, in place of what was
            since = {trace.id: trace.since for trace in plan.faded}
            data, path = logs.render_archived(month, since), store.flow / logs.ARCHIVED
            writes += runs.put_changed(path, data, atomic.digest_of(path))
    with published(store):
        run = edits.run.apply(writes, whole=True)
    for folder in plan.old:
        atomic.remove_folder(folder)
    return run


def _archive_writes(store: Store, plan: DecayPlan) -> list[runs.Write]:
    """Writes that move rows from the graph's shards to those of the archive."""
    writes: list[runs.Write] = []
    for stream in STREAMS:
        moved = [each.row for each in plan.moved if each.stream == stream]
        stored = [record_files.as_stored(r) if isinstance(r, Statement) else r for r in moved]
        if moved:
            writes += record_files.plan_records(store, stream, [], {row.id for row in moved})
            writes += record_files.plan_shards(store, store.archive(stream), stored)
    return writes


def _newly_archived(plan: DecayPlan) -> Iterator[DecayedItem]:
    """Newly archived items, by stream and day of archiving."""
    today = plan.survey.clock.today
    for trace in plan.faded:
        if trace.id not in plan.survey.before.since:
            why = f"not used for {_days(trace.last, today)}"
            yield _item(trace, today, trace.since, why)


def _revived(plan: DecayPlan) -> Iterator[DecayedItem]:
    """Items that were archived and are no longer, if they still exist, by id."""
    before, today = plan.survey.before.since, plan.survey.clock.today
    still = {trace.id for trace in plan.faded}
    for trace in plan.survey.traces:
        if trace.id in still or trace.id not in before:
            continue
        if trace.last > before[trace.id]:
            yield _item(trace, today, trace.last, f"used on {trace.last}")
        else:
            is_faded = trace.since <= today
            why = "its stream has lost its share already" if is_faded else "it has not faded"
            yield _item(trace, today, today, trace.kept or why)


def _item(trace: Trace, today: date, since: date, why: str) -> DecayedItem:
    left = round(trace.retention(today), 4)
    what = (trace.id, trace.kind, trace.stream, str(since), str(trace.last), left)
    return DecayedItem(*what, trace.tokens, why, trace.text)


def _compacted_item(each: CompactedRow, today: date, label: Callable[[str], str]) -> DecayedItem:
    row, ended = each.row, str(each.ended)
    if isinstance(row, Edge):
        ends = [label(node) or node for node in (row.source, row.target)]
        kind, text = "edge", f"{ends[0]} {row.type} {ends[1]}"
    else:
        kind, text = row.kind, row.text
    why = f"superseded {_days(each.ended, today)} ago"
    size = count_tokens(text)
    return DecayedItem(row.id, kind, each.stream, str(each.since), ended, None, size, why, text)


def _clock_warnings(clock: Clock) -> list[str]:
    warnings = []
    if not clock.is_believed:
        warnings.append(
            f"the clock says {clock.today}, the newest entry of the store is of {clock.newest}:"
            " nothing was archived, revived or compacted. If the clock is right, say so"
            f" once with: clsm decay --now {clock.today}"
        )
    if clock.future:
        warnings.append(
            f"entries of {len(clock.future)} days lie ahead, up to {clock.future[-1]}; they count as"
            " of today"
        )
    return warnings


def _days(since: date, today: date) -> str:
    count = (today - since).days
    return f"{count} day" if count == 1 else f"{count} days"


class CompactedRow(NamedTuple):
    """A superseded row that moves from its stream's graph to the archive; due on day ``since``."""

    row: Statement | Edge
    stream: Stream
    ended: date
    since: date


def _compactable_rows(
    store: Store, records: Mapping[str, Record], today: date, behind: Mapping[date, date]
) -> list[CompactedRow]:
    """Superseded rows that are due to leave this machine's shards, by stream and id."""
    rows: list[Statement | Edge] = [r for r in records.values() if isinstance(r, Statement)]
    # A pinned edge stays: consolidation looks for it in the graph.
    rows += [r for r in records.values() if isinstance(r, Edge) and not r.pinned]
    ended = {row.id: (row, at) for row in rows if (at := day(row.superseded_at, behind))}
    found = []
    for stream in STREAMS:
        days = retention.days_until(retention.ARCHIVE_RETENTION, retention.STREAM_DAYS[stream])
        since = {i: fading.days_later(at, days) for i, (_, at) in ended.items()}
        due = {i: first for i, first in since.items() if first <= today}
        paths = shards.shard_files(store.graph(stream)) if due else []
        there = {record.id for path in paths for record in shards.read(path).records}
        found += [
            CompactedRow(ended[i][0], stream, ended[i][1], due[i])
            for i in sorted(there & due.keys())
        ]
    return found


UNDO_PERIOD = timedelta(30)  # age up to which a run can be undone


def _old_run_folders(store: Store, today: date, behind: Mapping[date, date]) -> list[Path]:
    """Folders of runs too old to undo, and those a crash left before the run began."""

    def is_old(run: Path) -> bool:
        steps = [_day_of(path, behind) for path in run.glob("*/run.json")]
        return all(at is not None and at < today - UNDO_PERIOD for at in steps)

    return [*filter(is_old, sorted((store.derived / "runs").glob("*/")))]


def _day_of(path: Path, behind: Mapping[date, date]) -> date | None:
    """The day of a step; None if unreadable."""
    try:
        return day(json.loads(atomic.read(path, logs.MAX_LOG) or b"")["at"], behind)
    except (ClsmError, ValueError, RecursionError, TypeError, KeyError):
        return None


class DecayedItem(NamedTuple):
    """One entry of the report."""

    id: str
    kind: str  # ``turn``, ``block``, the kind of a statement, or ``edge``
    stream: Stream
    since: str
    last: str  # day of its last use; for a compacted row, the day it was superseded
    left: float | None  # its retention, 0 … 1; None for a compacted row
    tokens: int
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class DecayReport:
    """What a decay did or would do; it folds ``recalls`` from ``days`` days."""

    dry_run: bool
    run: str | None
    clock: Clock
    recalls: int
    days: int
    streams: dict[Stream, StreamState]
    archive: tuple[DecayedItem, ...]
    revive: tuple[DecayedItem, ...]
    compact: tuple[DecayedItem, ...]
    preimages: int
    warnings: tuple[str, ...]
