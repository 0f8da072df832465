"""What undo keeps of the files that a run replaced, and how long."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

from clsm_cli.errors import ClsmError
from clsm_cli.forgetting.heard import day
from clsm_cli.store import atomic, logs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from pathlib import Path

    from clsm_cli.store.layout import Store

KEPT = timedelta(30)
"""Age up to which a run can be undone."""


def old(store: Store, today: date, behind: Mapping[date, date]) -> list[Path]:
    """The folders of runs that are too old to be undone, or that a crash left before they began.

    Args:
        store: Where.
        today: In UTC; what a wrong clock dated after it stays.
        behind: See ``clock.behind``.
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
