"""How the last consolidations of this machine ended, in ``.clsm/consolidated.json``.

The ledger has no line for runs that found nothing new or failed. This file is derived: without it,
the ledger still shows when a run last changed something.
"""

from __future__ import annotations  # ``logs.parse`` reads them as text

import contextlib
import json
from pathlib import Path

from clsm_cli.errors import ClsmError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, logs
from clsm_cli.store.layout import Store

_MAX_BYTES = 64 << 10
_MAX_REASON = 2000  # characters of a reason


class NightLog(NamedTuple):
    """How consolidations ended; times are UTC."""

    good: str | None = None  # when the last one succeeded, whether or not it changed anything
    failed: int = 0  # failures since then
    failed_at: str | None = None  # when the last one failed
    reason: str | None = None  # the error message of that
    held: str | None = None  # what the last good one left for a person to decide


def read(store: Store) -> NightLog:
    """Read the file; empty if it is missing or unreadable."""
    try:
        return logs.parse(NightLog, json.loads(atomic.read(_path(store), _MAX_BYTES) or b"{}"))
    except (ClsmError, ValueError, TypeError, AttributeError, RecursionError):
        return NightLog()


def note_success(store: Store, at: str, held: str | None = None) -> None:
    """Record a success, which clears earlier failures."""
    _write(store, NightLog(good=at, held=held))


def note_failure(store: Store, at: str, reason: str) -> None:
    """Record a failure; ignores errors of writing it."""
    with contextlib.suppress(ClsmError):
        before = read(store)
        reason = reason[:_MAX_REASON]
        _write(store, before._replace(failed=before.failed + 1, failed_at=at, reason=reason))


def _write(store: Store, nights: NightLog) -> None:
    atomic.put(_path(store), json.dumps(nights._asdict()).encode(), durable=False)


def _path(store: Store) -> Path:
    return store.derived / "consolidated.json"
