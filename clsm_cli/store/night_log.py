"""How the last consolidations of this machine ended, in ``.clsm/consolidated.json``.

The ledger has no line for a night that found nothing new, or that failed. This file is derived:
without it the ledger still tells when a run last changed something.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

from clsm_cli.errors import ClsmError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

_LIMIT = 64 << 10
_MOST_REASON = 2000
"""Characters of a reason that are kept."""


class NightLog(NamedTuple):
    """How consolidations ended; times are UTC."""

    good: str | None = None  # when the last succeeded, whether or not it changed anything
    failed: int = 0  # how many failed since then
    failed_at: str | None = None  # the last of these
    reason: str | None = None  # what it said
    woken: str | None = None  # when OpenClaw was last told of one, and was reached


def read(store: Store) -> NightLog:
    """What was written down; nothing where it is missing or cannot be read."""
    try:
        return logs.parse(NightLog, json.loads(atomic.read(_path(store), _LIMIT) or b"{}"))
    except (ClsmError, ValueError, TypeError, AttributeError, RecursionError):
        return NightLog()


def note_success(store: Store, at: str) -> None:
    """A run succeeded; what failed before it is forgotten."""
    _write(store, NightLog(good=at, woken=read(store).woken))


def note_failure(store: Store, at: str, reason: str) -> None:
    """A run failed. Where that cannot be written down either, nothing happens."""
    with contextlib.suppress(ClsmError):
        before = read(store)
        reason = reason[:_MOST_REASON]
        _write(store, before._replace(failed=before.failed + 1, failed_at=at, reason=reason))


def note_wake(store: Store, at: str | None, problem: str | None = None) -> bool:
    """OpenClaw is told of a failure, or (None) could not be; whether that could be written down."""
    try:
        before = read(store)
        reason = before.reason
        if problem is not None:
            reason = "; ".join(filter(None, (reason, f"no wake sent: {problem}")))
        _write(store, before._replace(woken=at, reason=reason))
    except ClsmError:
        return False
    return True


def _write(store: Store, nights: NightLog) -> None:
    atomic.put(_path(store), json.dumps(nights._asdict()).encode(), durable=False)


def _path(store: Store) -> Path:
    return store.derived / "consolidated.json"
