"""What a command does to a folder, call by call, as strace saw it, done to a ``Disk``.

Copies of the store that are thrown away (``rehearsal``) are left out, and so is what is written
through memory: of SQLite the index of its log, which is made anew after a power cut.
"""

from __future__ import annotations

import re
from pathlib import Path

from faults.crashes.disk import Disk, Entry, File

TRACED = (
    "openat", "close", "lseek", "write", "pwrite64", "writev", "ftruncate", "fsync", "fdatasync",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
)  # fmt: skip
_LINE = re.compile(r"(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?(?: .*)?$")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FD = re.compile(r"(\d+)<([^>]*)>")
_SKIPPED = "/.clsm/rehearsal-"
_NAMING = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat")


class Player:
    """Does to a ``Disk`` what strace saw a command do to the folder.

    Args:
        out: The file that was the command's standard output.
        disk: Of ``root``, before.
    """

    def __init__(self, root: Path, out: Path, disk: Disk) -> None:
        self._root, self._out, self.disk = str(root), str(out), disk
        self._open: dict[str, tuple[Entry, int, bool]] = {}
        """Descriptor → file or folder, offset, whether it appends."""
        self._made = 0

    def play(self, line: str) -> str | None:
        """Do one call; what it was if a power cut may leave something new afterwards."""
        match = _LINE.match(line)
        if match is None or match[3].startswith("-"):
            return None
        name, rest = match[1], match[2]
        texts = [bytes.fromhex(each.replace("\\x", "")) for each in _TEXT.findall(rest)]
        if name == "openat":
            return self._opened(rest, match[3], _plain(match[4] or ""))
        if name in _NAMING:
            paths = self._paths(rest, texts)
            return self._renamed(name, paths) if all(p is not None for p in paths) else None
        fd = _FD.match(rest)
        if fd is None:
            return None
        if _plain(fd[2]) == self._out and name == "write":
            self.disk.told += texts[0]
            return "what it printed"
        return self._moved(name, fd[1], rest, texts, int(match[3]))

    def _inside(self, path: str) -> str | None:
        """The path below the folder, "" for itself; None elsewhere and in what is thrown away."""
        if path != self._root and not path.startswith(f"{self._root}/"):
            return None
        is_aside = path.startswith(self._root + _SKIPPED) or path.endswith("-shm")
        return None if is_aside else path[len(self._root) + 1 :]

    def _paths(self, rest: str, texts: list[bytes]) -> list[str | None]:
        bases = [_plain(base) for base in re.findall(r"(?:AT_FDCWD|\b\d+)<([^>]*)>, \"", rest)]
        found = [text.decode() for text in texts]
        if bases:
            found = [f if f[0] == "/" else f"{b}/{f}" for b, f in zip(bases, found, strict=True)]
        return [self._inside(path) for path in found]

    def _opened(self, rest: str, fd: str, path: str) -> str | None:
        inside = self._inside(path)
        self._open.pop(fd, None)
        if inside is None:
            return None
        entry, is_new = self.disk.find(inside), False
        if entry is None and "O_CREAT" in rest:
            entry, is_new = File(), True
            self.disk.change(inside, entry)
        if isinstance(entry, File) and "O_TRUNC" in rest:
            entry.since.append((0, b""))
            is_new = True
        self._open[fd] = (entry, 0, "O_APPEND" in rest)
        return f"openat {inside}" if is_new else None

    def _renamed(self, name: str, paths: list[str | None]) -> str:
        first = str(paths[0])
        if not first:  # the folder itself: none of it is there, or it is empty
            return name
        if name.startswith("rename"):
            self.disk.move(first, str(paths[1]))
        elif name.startswith("mkdir"):
            self._made += 1
            folder = f"{first}#{self._made}"
            self.disk.base[folder] = {}
            self.disk.change(first, folder)
        else:
            self.disk.change(first, None)
        return f"{name} {' '.join(map(str, paths))}"

    def _moved(self, name: str, fd: str, rest: str, texts: list[bytes], result: int) -> str | None:
        """What is done to an open file or folder."""
        if fd not in self._open:
            return None
        entry, _, appends = self._open[fd]
        if name == "close":
            del self._open[fd]
        elif name == "lseek":
            self._open[fd] = (entry, result, appends)
        elif name in ("fsync", "fdatasync"):
            if isinstance(entry, File):
                entry.sync()
            elif entry is not None:
                self.disk.sync(entry)
        elif isinstance(entry, File):
            self._written(name, fd, rest, b"".join(texts)[:result] if result else b"")
        return name if name not in ("close", "lseek") else None

    def _written(self, name: str, fd: str, rest: str, data: bytes) -> None:
        file, offset, appends = self._open[fd]
        assert isinstance(file, File)
        if name == "ftruncate":
            file.since.append((int(rest.rsplit(",", 1)[1]), b""))
        elif name == "pwrite64":
            file.since.append((int(rest.rsplit(",", 1)[1]), data))
        else:
            at = len(file.bytes_of("all")) if appends else offset
            file.since.append((at, data))
            self._open[fd] = (file, at + len(data), appends)


def _plain(text: str) -> str:
    """A text that strace wrote in hexadecimal."""
    if not text.startswith("\\x"):
        return text
    return bytes.fromhex(text.replace("\\x", "")).decode("utf-8", "surrogateescape")
