"""How the last consolidations of this machine ended.

The ledger has a line for each run that changed something; a night that found nothing new, and one
that failed, leave none. So that somebody who looks can tell a quiet night from a broken one, each
run says how it ended in ``.clsm/consolidated.json``. It is derived: without it the ledger still
tells when a run last changed something.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import ClsmError
from clsm_cli.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

_WAIT = 2.0
"""Seconds to wait for another run that says how it ended."""
_LIMIT = 64 << 10
_MOST_REASON = 2000
"""Characters of a reason that are kept."""


class Nights(NamedTuple):
    """How runs ended.

    Attributes:
        good: UTC time of the last that succeeded, whether or not it changed anything; None: unknown.
        failed: How many failed since then.
        failed_at: UTC time of the last of these.
        reason: What it said.
        woken: UTC time when OpenClaw was last told of one; None: never, or it was not to be reached.
    """

    good: str | None = None
    failed: int = 0
    failed_at: str | None = None
    reason: str | None = None
    woken: str | None = None


def read(store: Store) -> Nights:
    """What was written down; nothing where it is missing or cannot be read."""
    try:
        data = atomic.read(_path(store), _LIMIT)
        found = json.loads(data or b"{}")
        names = ("good", "failed_at", "reason", "woken")
        texts: dict[str, Any] = {name: found.get(name) for name in names}
        failed = found.get("failed", 0)
    except (ClsmError, ValueError, AttributeError, RecursionError):
        return Nights()
    if type(failed) is not int or any(not isinstance(text, str | None) for text in texts.values()):
        return Nights()
    return Nights(failed=failed, **texts)


def succeeded(store: Store, at: str) -> None:
    """A run succeeded; what failed before it is forgotten.

    Raises:
        DiskError: The operating system refused.
        LockedError: Another run kept writing down how it ended.
    """
    _write(store, Nights(good=at, woken=read(store).woken))


def failed(store: Store, at: str, reason: str) -> None:
    """A run failed. Where that cannot be written down either, nothing happens."""
    try:
        before = read(store)
        reason = reason[:_MOST_REASON]
        _write(store, before._replace(failed=before.failed + 1, failed_at=at, reason=reason))
    except ClsmError:
        return


def woken(store: Store, at: str | None, problem: str | None = None) -> bool:
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


def _write(store: Store, nights: Nights) -> None:
    """Under a lock of its own: the store's may be what a run waited for in vain."""
    atomic.make_folder(store.derived)
    with locked(store.derived, _WAIT):
        atomic.put(_path(store), json.dumps(nights._asdict()).encode(), durable=False)


def _path(store: Store) -> Path:
    return store.derived / "consolidated.json"
