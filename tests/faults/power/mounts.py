"""File systems of their own: small ones in an image file, which can lose their power, and tmpfs.

All of it needs root. What is mounted is unmounted at the end, also after Ctrl-C or SIGTERM; the loop device
of an image frees itself then.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

SHUTDOWN = 0x8004587D
"""``ioctl`` that ends a file system as if its power were cut (FS_IOC_SHUTDOWN, xfstests' godown)."""
_LOG_LOST = 2
"""What is in memory of its journal is lost. (The other way, LOGFLUSH, writes the sizes of files and
not their data, which ext4 and xfs never do at a power cut.)"""
PATIENCE = 10.0
"""Seconds for processes to let go of a file system."""
_MAKE = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f")}


class Disk:
    """A file system and where it is mounted.

    Attributes:
        kind: ext4, xfs or tmpfs.
        options: Mount options, joined by commas.
        point: The folder that it is mounted on.
    """

    def __init__(self, kind: str, options: str, folder: Path) -> None:
        self.kind = kind
        self.options = options
        self.image = folder / "image"
        self.point = folder / "disk"
        self.point.mkdir()

    def make(self, mib: int, features: Sequence[str] = ()) -> None:
        """A new, empty file system; of tmpfs it is mounted by that."""
        if self.kind == "tmpfs":
            self.options = ",".join(filter(None, (f"size={mib}m", self.options)))
            return
        with open(self.image, "wb") as file:
            file.truncate(mib << 20)
        _run(*_MAKE[self.kind], *features, str(self.image))

    def keep(self, copy: Path) -> None:
        """Copy the unmounted file system, holes left out."""
        _run("cp", "--sparse=always", str(self.image), str(copy))

    def bring(self, copy: Path) -> None:
        """Put a kept one in its place."""
        _run("cp", "--sparse=always", str(copy), str(self.image))

    def mount(self) -> None:
        """Mount it; a journal is replayed."""
        if self.kind == "tmpfs":
            _run("mount", "-t", "tmpfs", "-o", self.options, "none", str(self.point))
            return
        options = ",".join(filter(None, ("loop", self.options)))
        _run("mount", "-t", self.kind, "-o", options, str(self.image), str(self.point))

    def cut(self, *, synced: bool = False) -> None:
        """Cut its power: nothing reaches the image from now on, and every write fails.

        Args:
            synced: Right after all that was in memory has been written, as by chance.
        """
        fd = os.open(self.point, os.O_RDONLY | os.O_DIRECTORY)
        try:
            if synced:
                ctypes.CDLL(None).syncfs(fd)
            fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", _LOG_LOST))
        finally:
            os.close(fd)

    def unmount(self) -> None:
        """Unmount it as soon as nobody uses it.

        Raises:
            RuntimeError: Somebody does not let go; it is detached then.
        """
        end = time.monotonic() + PATIENCE
        while is_mounted(self.point):
            done = subprocess.run(["umount", self.point], capture_output=True, check=False)
            if done.returncode and time.monotonic() > end:
                _run("umount", "-l", str(self.point))
                raise RuntimeError(f"{self.point} stays in use: {done.stderr.decode().strip()}")
            if done.returncode:
                time.sleep(0.01)


def is_mounted(point: Path) -> bool:
    """Whether something is mounted there; ``os.path.ismount`` says no where the power was cut."""
    rows = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return str(point) in (row.split()[1] for row in rows)


@contextlib.contextmanager
def disk(kind: str, options: str = "") -> Iterator[Disk]:
    """A disk whose image lies in memory; at the end it is detached, whoever still uses it."""
    shm = "/dev/shm"
    with tempfile.TemporaryDirectory(
        prefix="clsm-disk-", dir=shm if os.access(shm, os.W_OK) else None
    ) as folder:
        made = Disk(kind, options, Path(folder))
        before = signal.signal(signal.SIGTERM, _end)
        try:
            yield made
        finally:
            signal.signal(signal.SIGTERM, before)
            while is_mounted(made.point):
                _run("umount", "-l", str(made.point))


def _end(*_: object) -> None:
    """Be ended as by Ctrl-C: what is mounted is unmounted first."""
    raise SystemExit(128 + signal.SIGTERM)


def _run(*words: str) -> None:
    """Run a program of the system.

    Raises:
        RuntimeError: It failed; with what it said.
    """
    done = subprocess.run(words, capture_output=True, check=False, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
