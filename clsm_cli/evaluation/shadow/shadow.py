"""Shadow mode from start to report: what the commands call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.shadow import log, report, static
from clsm_cli.evaluation.shadow.log import Mode
from clsm_cli.ingestion.report import utc
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.evaluation.shadow.log import Row
    from clsm_cli.evaluation.shadow.report import Report
    from clsm_cli.store.layout import Store


class Started(NamedTuple):
    """Shadow mode as it is now, and whether it was off before."""

    mode: Mode
    is_new: bool


def start(store: Store, named: Sequence[str], budget: int | None, now: datetime) -> Started:
    """Turn shadow mode on; where it is on, only what is named changes.

    Args:
        store: Of which memory.
        named: Files and workspaces that the agent loads; none: those that the store took in.
        budget: Tokens of a briefing, and of each answer; None: as ``clsm recall`` has it.
        now: What the store takes in from now on is logged.

    Raises:
        BadInputError: A file is missing, not text, or too large; nothing is changed.
        DamagedStoreError: What is on cannot be read.
        DiskError: The disk refused.
    """
    files = static.check(named)
    before = log.mode(store)
    if before is None:
        wanted = Mode(
            utc(now), files or static.known(store), budget or store.settings.recall.budget
        )
    else:
        wanted = Mode(before.since, files or before.static, budget or before.budget)
    if wanted != before:
        log.start(store, wanted)
    return Started(wanted, before is None)


def of_log(store: Store, since: datetime | None) -> Report:
    """What the log says.

    Args:
        store: Whose log.
        since: Leave out sessions that began before.

    Raises:
        BadInputError: Shadow mode is off and nothing is logged.
        DamagedStoreError: The log is no file that can be read.
    """
    mode = log.mode(store)
    rows, bad = log.rows(store)
    if mode is None and not rows and not bad:
        reason = "is off on this machine and has logged nothing"
        raise BadInputError("shadow mode", reason, "turn it on with: clsm eval shadow start")
    first = "" if since is None else utc(since)
    kept = [row for row in rows if row.at >= first]
    return report.build(kept, _notes(store, kept, bad), is_on=mode is not None)


def _notes(store: Store, rows: Sequence[Row], bad: int) -> list[str]:
    notes = []
    if changed := sum(row.changed for row in rows):
        notes.append(
            f"in {changed} of {len(rows)} sessions a file was written after the session began; what"
            " was used of it may come from that session"
        )
    if bad:
        lines = "1 line of the log is" if bad == 1 else f"{bad} lines of the log are"
        notes.append(f"{lines} not readable and left out")
    if others := log.others(store):
        notes.append(f"other machines have logs of their own: {', '.join(others)}")
    return notes
