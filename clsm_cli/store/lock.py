"""One writer at a time: ``flock`` on the store folder itself.

The kernel frees the lock when its holder dies, however it dies, so there is no stale lock and
nothing to clean up. clsm never replaces the folder; where somebody else does (a backup is put back,
the store is moved), who waited takes the new folder's lock instead, and who holds the old one's is
refused further writes (``require``), so two holders do not write to one folder.
Readers need no lock. Local file systems only: over NFS a lock may hold nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from clsm_cli.errors import LockedError, RefusedError
from clsm_cli.store.atomic import disk_errors

POLL_SECONDS = 0.02
_held: dict[str, int] = {}
"""Folders that this process has locked → the descriptor that holds each."""


@contextlib.contextmanager
def locked(root: Path, wait: float) -> Iterator[None]:
    """Hold the store's lock; wait at most ``wait`` seconds for it.

    Raises:
        LockedError: Somebody else held it all the time; says who.
    """
    deadline = time.monotonic() + wait
    fd = _opened(root)
    try:
        with disk_errors(root):
            while is_held := _acquire(fd, deadline - time.monotonic()):
                if _is_there(root, fd):
                    break
                os.close(fd)  # it was replaced while this waited
                fd = -1
                fd = _opened(root)
        if not is_held:
            raise LockedError(root, holder(root), wait)
        _held[str(root)] = fd
        yield
    finally:
        _held.pop(str(root), None)
        if fd >= 0:
            os.close(fd)


def pause(root: Path, wait: float) -> None:
    """Let somebody else in: a hook that captures a turn must not wait for a long import.

    What the caller, who holds the lock, knew of the store may be old afterwards.
    """
    fd = _held[str(root)]
    fcntl.flock(fd, fcntl.LOCK_UN)
    time.sleep(1.5 * POLL_SECONDS)  # longer than others sleep between two tries
    with disk_errors(root):
        if not _acquire(fd, wait):
            raise LockedError(root, holder(root), wait)
    require(root)


def require(root: Path) -> None:
    """Refuse to write where the folder is another than the one that this process has locked.

    Raises:
        RefusedError: It was moved or replaced. (Where it is not locked there is nothing to compare.)
    """
    fd = _held.get(str(root))
    with disk_errors(root):
        is_there = fd is None or _is_there(root, fd)
    if not is_there:
        reason = "was moved or replaced while clsm worked"
        raise RefusedError(str(root), reason, "run the same command again where it is now")


@contextlib.contextmanager
def try_locked(root: Path) -> Iterator[bool]:
    """Hold the lock if it is free right now; the value tells whether it is held."""
    fd = _opened(root)
    try:
        with disk_errors(root):
            is_held = _acquire(fd, 0) and _is_there(root, fd)
        yield is_held
    finally:
        os.close(fd)


def _opened(root: Path) -> int:
    with disk_errors(root):
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _is_there(root: Path, fd: int) -> bool:
    """Whether a path still leads to the folder that was opened."""
    try:
        return os.path.samestat(os.stat(root), os.fstat(fd))
    except FileNotFoundError:
        return False


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


def holder(root: Path) -> str | None:
    """Who holds the lock: ``clsm consolidate (process 4711)``; None where nobody is known to.

    Linux lists locks with their inode in /proc/locks; elsewhere nobody is known.
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
    return None


def _command(pid: str) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return "a process"
    names = [os.path.basename(word) for word in words if word and not word.startswith("-")]
    for place, name in enumerate(names):
        if name in ("clsm", "clsm_cli"):  # the program, or: python -m clsm_cli
            return " ".join(["clsm", *names[place + 1 : place + 2]])
    return names[0] if names else "a process"
