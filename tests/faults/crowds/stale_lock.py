"""clsm with git's kind of lock, for the rig to catch: a file, which stays when its maker is killed.

A process of its own; nothing here touches the program under test.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from clsm_cli.__main__ import main
from clsm_cli.errors import LockedError
from clsm_cli.store import lock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def by_file(root: Path, wait: float) -> Iterator[lock.Held]:
    """As ``lock.locked``."""
    path = root / "lock"
    end = time.monotonic() + wait
    while True:
        try:
            fd = os.open(path, os.O_CREAT | os.O_EXCL)
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise LockedError(root, "somebody", wait) from None
            time.sleep(lock.POLL_SECONDS)
    try:
        yield lock.Held(root, fd, wait)
    finally:
        os.close(fd)
        path.unlink()


if __name__ == "__main__":
    lock.locked = by_file
    main()
