"""Move rows superseded long ago to the archive, and find undo data that is old enough to delete.

A superseded row stays as long as an unused trace of its stream lasts. No machine moves rows that
another one wrote into its own flow.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING, cast

from clsm_cli.errors import ClsmError
from clsm_cli.forgetting.fading import days_later
from clsm_cli.forgetting.turn_history import day
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.model.streams import STREAMS
from clsm_cli.scoring import retention
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs, shards

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from pathlib import Path

    from clsm_cli.model.codec import Record
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store


class CompactedRow(NamedTuple):
    """A row that goes from the graph of a stream to its archive.

    Attributes:
        ended: Day on which it was superseded or withdrawn.
        since: Day from which it may go.
    """

    row: Statement | Edge
    stream: Stream
    ended: date
    since: date


def compactable_rows(
    store: Store, records: Mapping[str, Record], today: date, behind: Mapping[date, date]
) -> list[CompactedRow]:
    """Rows in this machine's shards whose time in them is over, by stream and id."""
    curve = cast("retention.Curve", store.settings.graph.retention)
    days = {
        stream: retention.days_until(curve, retention.ARCHIVE, base)
        for stream, base in retention.STREAM_DAYS.items()
    }
    ended = {i: at for i, record in records.items() if (at := _ended(record, behind)) is not None}
    oldest = min(days.values())
    if not any(days_later(at, oldest) <= today for at in ended.values()):
        return []
    found = []
    for stream in STREAMS:
        paths = shards.shard_files(store.graph(stream))
        there = {record.id for path in paths for record in shards.read(path).records}
        for record_id in sorted(there & ended.keys()):
            row, at = records[record_id], ended[record_id]
            since = days_later(at, days[stream])
            if since <= today and isinstance(row, (Statement, Edge)):
                found.append(CompactedRow(row, stream, at, since))
    return found


def _ended(record: Record, behind: Mapping[date, date]) -> date | None:
    """When a row ended; None of one that stands, or that ended at an unknown time.

    An edge that a person pinned stays: weaving looks for it among what the graph holds.
    """
    if isinstance(record, Statement) or (isinstance(record, Edge) and not record.pinned):
        return day(record.superseded_at, behind)
    return None


KEPT = timedelta(30)
"""Age up to which a run can be undone."""


def old_run_folders(store: Store, today: date, behind: Mapping[date, date]) -> list[Path]:
    """The folders of runs that are too old to be undone, or that a crash left before they began.

    Args:
        today: In UTC; what a wrong clock dated after it stays.
    """
    folder = store.derived / "runs"
    if not folder.is_dir():
        return []
    first = today - KEPT
    runs = [path for path in sorted(folder.iterdir()) if path.is_dir()]
    return [path for path in runs if _is_before(path, first, behind)]


def _is_before(run: Path, first: date, behind: Mapping[date, date]) -> bool:
    """Whether all steps of a run were made before a day."""
    steps = [_day_of(path, behind) for path in run.glob("*/run.json")]
    return all(at is not None and at < first for at in steps)


def _day_of(path: Path, behind: Mapping[date, date]) -> date | None:
    """When a step was made; None where that cannot be read."""
    try:
        row = json.loads(atomic.read(path, logs.MAX_LOG) or b"null")
    except (ClsmError, ValueError, RecursionError):
        return None
    return day(row.get("at"), behind) if isinstance(row, dict) else None
