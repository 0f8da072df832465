"""The lock for writers: ``flock`` on the store folder itself. Readers need none.

The kernel releases the lock when its holder dies, so there are no stale locks. clsm never replaces
the folder. If somebody else does (restores a backup, moves the store), waiting processes take the
lock of the new folder, and the holder of the old one is refused further writes (``require``), so two
holders never write to one folder. Local file systems only: NFS may not honour the lock.
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
_held: dict[str, int] = {}  # folders locked by this process → the descriptor of each lock


@contextlib.contextmanager
def locked(root: Path, wait: float) -> Iterator[None]:
    """Hold the store's lock; wait for it at most ``wait`` seconds.

    Raises:
        LockedError: Another process held it all the time; the message names it.
    """
    deadline = time.monotonic() + wait
    fd = _open_folder(root)
    try:
        with disk_errors(root):
            while is_held := _acquire(fd, deadline - time.monotonic()):
                if _is_same_folder(root, fd):
                    break
                os.close(fd)  # the folder was replaced meanwhile
                fd = -1
                fd = _open_folder(root)
        if not is_held:
            raise LockedError(root, holder(root), wait)
        _held[str(root)] = fd
        yield
    finally:
        _held.pop(str(root), None)
        if fd >= 0:
            os.close(fd)


def require(root: Path) -> None:
    """Check that the path still leads to the folder that this process has locked, if it has.

    Raises:
        RefusedError: The folder was moved or replaced.
    """
    fd = _held.get(str(root))
    with disk_errors(root):
        is_there = fd is None or _is_same_folder(root, fd)
    if not is_there:
        reason = "was moved or replaced while clsm worked"
        raise RefusedError(str(root), reason, "run the same command again where it is now")


@contextlib.contextmanager
def try_locked(root: Path) -> Iterator[bool]:
    """Take the lock without waiting; the value says whether it is held."""
    fd = _open_folder(root)
    try:
        with disk_errors(root):
            is_held = _acquire(fd, 0) and _is_same_folder(root, fd)
        yield is_held
    finally:
        os.close(fd)


def _open_folder(root: Path) -> int:
    with disk_errors(root):
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _is_same_folder(root: Path, fd: int) -> bool:
    """Whether a path still leads to the opened folder."""
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
    """The process that holds the lock, as ``clsm consolidate (process 4711)``; None if unknown.

    Reads /proc/locks, which lists locks by inode; only Linux has it.
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
