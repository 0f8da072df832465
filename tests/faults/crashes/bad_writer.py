"""clsm with bad habits, for rigs to catch; each a program of its own.

Nothing here touches the program under test.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli import __main__ as program
from clsm_cli.store import atomic, runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.store.layout import Store
    from clsm_cli.store.logs import RunLine

_apply = runs.apply


def put_in_place(
    path: Path, data: bytes, *, read_as: str | None = "", durable: bool = True
) -> None:
    """No temp file, no fsync, two writes."""
    del read_as, durable
    os.makedirs(path.parent, exist_ok=True)
    with open(path, "wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        file.write(data[len(data) // 2 :])


def apply_backwards(
    store: Store,
    command: str,
    now: str,
    writes: Sequence[runs.Write],
    *,
    run_id: str | None = None,
    whole: bool = False,
    keep: bool = True,
    of: str | None = None,
) -> RunLine | None:
    """The inbox is emptied before the episodes are written."""
    del whole
    return _apply(store, command, now, list(reversed(writes)), run_id=run_id, keep=keep, of=of)


def careless() -> None:
    """Files are written in place, and the inbox goes first."""
    atomic.put = put_in_place
    backwards()


def backwards() -> None:
    """The inbox goes first; all else is as it should be."""
    runs.apply = apply_backwards
    program.main()


def unsynced() -> None:
    """A file is replaced by a rename, and nothing is ever synced, as in many programs."""

    def fsync(fd: object) -> None:
        del fd

    os.fsync = fsync
    program.main()
