"""clsm with bad habits, for the rigs to catch; each function is a program of its own.

Nothing here touches the program under test.
"""

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from clsm_cli import __main__ as program
from clsm_cli.errors import LockedError
from clsm_cli.forgetting import fading
from clsm_cli.store import atomic, lock, runs
from clsm_cli.store.layout import Store
from clsm_cli.store.logs import RunLine

_apply = runs.apply


def careless() -> None:
    """Files are written in place, and the inbox goes first."""
    atomic.put_all = _put_in_place
    backwards()


def backwards() -> None:
    """The inbox goes first; all else is as it should be."""
    runs.apply = _apply_backwards
    program.main()


def unsynced() -> None:
    """A file is replaced by a rename, and nothing is ever synced, as in many programs."""

    def fsync(fd: object) -> None:
        del fd

    os.fsync = fsync
    program.main()


def believing() -> None:
    """Every clock is believed, and none counts as behind."""
    fading.check_clock = _believe
    fading.clock_corrections = lambda *_: {}
    program.main()


def stale() -> None:
    """The lock is a file, as git's, which stays when its maker is killed."""
    lock.locked = _locked_by_file
    program.main()


def unlocked() -> None:
    """Everybody has the lock."""
    lock._acquire = lambda *_: True
    program.main()


def _put_in_place(files: Mapping[Path, bytes], *, durable: bool = True) -> None:
    """No temp file, no fsync, two writes."""
    del durable
    for path, data in files.items():
        os.makedirs(path.parent, exist_ok=True)
        with open(path, "wb", buffering=0) as file:
            file.write(data[: len(data) // 2])
            file.write(data[len(data) // 2 :])


def _apply_backwards(
    store: Store, command: str, now: str, writes: Sequence[runs.Write], **how: Any
) -> RunLine | None:
    """The inbox is emptied before the episodes are written."""
    how.pop("whole", None)
    return _apply(store, command, now, list(reversed(writes)), **how)


def _believe(
    today: date, stamps: Iterable[date], known: date | None, *, is_explicit: bool
) -> fading.Clock:
    """As ``fading.check_clock``."""
    del stamps, is_explicit
    return fading.Clock(today, known, True, ())


@contextlib.contextmanager
def _locked_by_file(root: Path, wait: float) -> Iterator[None]:
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
        yield
    finally:
        os.close(fd)
        path.unlink()
