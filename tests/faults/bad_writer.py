"""clsm with two bad habits, for the rig to catch: files are written in place, and the inbox goes first.

A process of its own; nothing here touches the program under test.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clsm_cli.__main__ import main
from clsm_cli.store import atomic, runs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.store.layout import Store
    from clsm_cli.store.logs import RunLine


def put_in_place(
    path: Path, data: bytes, *, read_as: str | None = "", durable: bool = True
) -> None:
    """No temp file, no fsync, two writes."""
    del read_as, durable
    os.makedirs(path.parent, exist_ok=True)
    with open(path, "wb", buffering=0) as file:
        file.write(data[: len(data) // 2])
        file.write(data[len(data) // 2 :])


_apply = runs.apply


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


if __name__ == "__main__":
    atomic.put = put_in_place
    runs.apply = apply_backwards
    main()
