"""One writer at a time: ``flock`` on the store folder itself.

The kernel frees the lock when its holder dies, however it dies, so there is no stale lock and
nothing to clean up. The folder is never replaced, so two holders cannot lock different inodes.
Readers need no lock. Local file systems only: over NFS a lock may hold nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from typing import TYPE_CHECKING

from clsm_cli.errors import LockedError
from clsm_cli.store.atomic import disk_errors

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

POLL_SECONDS = 0.02


class Held:
    """The lock while it is held."""

    def __init__(self, root: Path, fd: int, wait: float) -> None:
        self._root = root
        self._fd = fd
        self._wait = wait

    def pause(self) -> None:
        """Let somebody else in: a hook that captures a turn must not wait for a long import.

        What the caller knew of the store may be old afterwards.

        Raises:
            LockedError: The other one did not give the lock back in time.
        """
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        time.sleep(1.5 * POLL_SECONDS)  # longer than others sleep between two tries
        with disk_errors(self._root):
            if not _acquire(self._fd, self._wait):
                raise LockedError(self._root, holder(self._root), self._wait)


@contextlib.contextmanager
def locked(root: Path, wait: float) -> Iterator[Held]:
    """Hold the store's lock; wait at most ``wait`` seconds for it.

    Raises:
        LockedError: Somebody else held it all the time; says who.
        DiskError: The folder cannot be opened.
    """
    with disk_errors(root):
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with disk_errors(root):
            is_held = _acquire(fd, wait)
        if not is_held:
            raise LockedError(root, holder(root), wait)
        yield Held(root, fd, wait)
    finally:
        os.close(fd)


@contextlib.contextmanager
def try_locked(root: Path) -> Iterator[bool]:
    """Hold the lock if it is free right now; the value tells whether it is held."""
    with disk_errors(root):
        fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with disk_errors(root):
            is_held = _acquire(fd, 0)
        yield is_held
    finally:
        os.close(fd)


def _acquire(fd: int, wait: float) -> bool:
    deadline = time.monotonic() + wait
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_SECONDS)
        else:
            return True


def holder(root: Path) -> str:
    """Who holds the lock, as far as the system tells: ``clsm consolidate (process 4711)``.

    Linux lists locks with their inode in /proc/locks; elsewhere the answer is less precise.
    """
    inode = os.stat(root).st_ino
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as table:
            rows = [line.split() for line in table]
    except OSError:
        rows = []
    for row in rows:
        if "FLOCK" in row and "->" not in row and row[5].rsplit(":", 1)[-1] == str(inode):
            return f"{_command(row[4])} (process {row[4]})"
    return "another process"


def _command(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return "a process"
    names = [os.path.basename(word) for word in words if word and not word.startswith("-")]
    if "clsm" in names:
        return " ".join(names[names.index("clsm") : names.index("clsm") + 2])
    return names[0] if names else "a process"
