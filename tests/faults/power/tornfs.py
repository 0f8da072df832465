"""A file system that breaks when it is told to: a window on a folder, through FUSE.

``python -m faults.power.tornfs FOLDER POINT PLAN`` shows FOLDER at POINT until it is unmounted. PLAN is a
file that both sides map (``plan``): what breaks, at which operation, and how many there were.
"""

from __future__ import annotations

import errno
import mmap
import os
import sys
from pathlib import Path
from typing import Any

WHOLE, TORN, DEAD = range(3)
"""Nothing breaks; one write does half of its work and fails; from one operation on all of them fail."""
MODE, AT, WRITES, ALL, FIRED = range(5)
"""Places of a plan: what breaks, at the how manieth, writes and operations until now, whether it broke."""


def plan(path: Path) -> memoryview[int]:
    """The five numbers of a plan, shared by all who map this file; a new one is made of zeros."""
    if not path.exists():
        path.write_bytes(bytes(5 * 8))
    with path.open("r+b") as file:
        return memoryview(mmap.mmap(file.fileno(), 0)).cast("q")


class Torn:
    """Passes everything on to a folder."""

    use_ns = True

    def __init__(self, folder: str, told: memoryview[int]) -> None:
        self._folder = folder
        self._plan = told

    def __call__(self, op: str, *args: Any) -> Any:
        """Every operation comes by here; raises OSError where it fails, or is to fail."""
        if op in ("init", "destroy"):
            return None
        self._plan[ALL] += 1
        self._plan[WRITES] += op == "write"
        if self._plan[MODE] == DEAD and self._plan[ALL] >= self._plan[AT] and op != "release":
            self._plan[FIRED] = 1
            raise OSError(errno.EIO, "torn")
        if op == "write" and self._plan[MODE] == TORN and self._plan[WRITES] == self._plan[AT]:
            self._plan[FIRED] = 1
            _, data, offset, file = args
            os.pwrite(file, data[: len(data) // 2], offset)
            raise OSError(errno.EIO, "torn")
        action = getattr(self, f"_{op}", None)
        if action is None:
            raise OSError(errno.ENOTSUP, "not here")
        return action(*args)

    def _at(self, path: str) -> str:
        return self._folder + path

    def _getattr(self, path: str, file: int | None = None) -> dict[str, int]:
        found = os.lstat(self._at(path)) if file is None else os.fstat(file)
        names = ("st_mode", "st_nlink", "st_size", "st_uid", "st_gid", "st_ino", "st_blocks")
        times = ("st_atime", "st_mtime", "st_ctime")
        return {name: getattr(found, name) for name in names} | {
            name: getattr(found, f"{name}_ns") for name in times
        }

    def _access(self, path: str, mode: int) -> None:
        if not os.access(self._at(path), mode):
            raise PermissionError(errno.EACCES, "no access")

    def _readdir(self, path: str, _: int) -> list[str]:
        return [".", "..", *os.listdir(self._at(path))]

    def _readlink(self, path: str) -> str:
        return os.readlink(self._at(path))

    def _statfs(self, path: str) -> dict[str, int]:
        found = os.statvfs(self._at(path))
        names = ("f_bavail", "f_bfree", "f_blocks", "f_bsize", "f_files", "f_ffree", "f_frsize")
        return {name: getattr(found, name) for name in (*names, "f_favail", "f_flag", "f_namemax")}

    def _mkdir(self, path: str, mode: int) -> None:
        os.mkdir(self._at(path), mode)

    def _rmdir(self, path: str) -> None:
        os.rmdir(self._at(path))

    def _unlink(self, path: str) -> None:
        os.unlink(self._at(path))

    def _rename(self, old: str, new: str) -> None:
        os.rename(self._at(old), self._at(new))

    def _chmod(self, path: str, mode: int) -> None:
        os.chmod(self._at(path), mode)

    def _chown(self, path: str, user: int, group: int) -> None:
        os.chown(self._at(path), user, group)

    def _utimens(self, path: str, times: tuple[int, int]) -> None:
        os.utime(self._at(path), ns=times)

    def _create(self, path: str, mode: int, _: Any = None) -> int:
        return os.open(self._at(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def _open(self, path: str, flags: int) -> int:
        return os.open(self._at(path), flags & ~(os.O_CREAT | os.O_EXCL | os.O_APPEND))

    def _read(self, _: str, size: int, offset: int, file: int) -> bytes:
        return os.pread(file, size, offset)

    def _write(self, _: str, data: bytes, offset: int, file: int) -> int:
        return os.pwrite(file, data, offset)

    def _truncate(self, path: str, length: int, file: int | None = None) -> None:
        os.truncate(self._at(path) if file is None else file, length)

    def _flush(self, _: str, __: int) -> None:
        """There is nothing to flush."""

    def _fsync(self, _: str, __: int, file: int) -> None:
        os.fsync(file)

    def _fsyncdir(self, _: str, __: int, ___: int) -> None:
        """The folder below is in memory."""

    def _opendir(self, _: str) -> int:
        return 0

    def _releasedir(self, _: str, __: int) -> None:
        """There is nothing to close."""

    def _release(self, _: str, file: int) -> None:
        os.close(file)


def _serve(folder: str, point: str, numbers: str) -> None:
    import fuse  # the long form alone needs it

    class Operations(Torn, fuse.Operations):  # type: ignore[misc]  # fusepy has no types
        """With the names by which libfuse sees what there is."""

    operations = Operations(folder, plan(Path(numbers)))
    fuse.FUSE(operations, point, foreground=True, nothreads=True, hard_remove=True)


if __name__ == "__main__":
    _serve(*sys.argv[1:])
