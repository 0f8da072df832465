"""A disk in memory: a folder with what is safe of it, and every state that a power cut may leave.

The model is that of POSIX, which promises little: bytes written to a file are safe after fsync of
the file, a change of names (create, rename, unlink, mkdir, rmdir) after fsync of the folder they
stand in. Until then each may be there or not, whatever came later: of the bytes of a file all,
none, as many zeros, or the first half.

Modes of files are no part of the model, nor is a disk that keeps less than it promised, or harms what
lies beside.

What a command does to the folder, call by call, as strace saw it, is done to the model. Copies of the
store that are thrown away (``rehearsal``) are left out, and so is what is written through memory: of
SQLite the index of its log, which is made anew after a power cut.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Self

MODES = ("all", "none", "zeros", "half")
"""What may be left of bytes that were written and not made safe."""
LOST = 3
"""Changes of names that may be lost at once; besides those, all."""
MOST = 200
"""Sets of lost changes of names that are looked at after one call."""


class File:
    """An inode: what is safe of its bytes, and what was written since."""

    def __init__(self, safe: bytes = b"") -> None:
        self.safe = safe
        self.since: list[tuple[int, bytes]] = []
        """(offset, bytes) of writes; (length, b"") of a truncation."""

    def bytes_of(self, mode: str) -> bytes:
        r"""What a power cut leaves.

        >>> file = File(b"ab")
        >>> file.since.append((2, b"cdef"))
        >>> [file.bytes_of(mode) for mode in MODES]
        [b'abcdef', b'ab', b'ab\x00\x00\x00\x00', b'abcd']
        """
        since = self.since
        if mode == "none":
            since = []
        elif mode == "zeros":
            since = [(at, bytes(len(data))) for at, data in since]
        elif mode == "half":
            middle = len(since) // 2
            since, (at, data) = since[:middle], since[middle] if since else (0, b"")
            since = [*since, (at, data[: len(data) // 2])] if len(data) > 1 else since
        return _written(self.safe, since)

    def sync(self) -> None:
        self.safe = self.bytes_of("all")
        self.since = []


def _written(data: bytes, writes: Sequence[tuple[int, bytes]]) -> bytes:
    for at, new in writes:
        if new:
            data = data[:at].ljust(at, b"\0") + new + data[at + len(new) :]
        else:
            data = data[:at].ljust(at, b"\0")
    return data


Entry = File | str | None
"""What a name leads to: a file, a folder (by the id it got), nothing."""


@dataclass(slots=True)
class Names:
    """A change of the names in one folder; safe once that is synced."""

    folder: str
    entries: dict[str, Entry]
    is_safe: bool = False


@dataclass(frozen=True, slots=True)
class State:
    files: dict[str, bytes]
    folders: frozenset[str]
    told: bytes
    why: str


@dataclass(slots=True)
class Disk:
    """A folder while a command works on it; folders have ids, their first path."""

    root: Path
    base: dict[str, dict[str, Entry]] = field(default_factory=dict)
    names: list[Names] = field(default_factory=list)
    told: bytes = b""

    @classmethod
    def of(cls, root: Path, before: Path) -> Self:
        """The folder ``root``, with the content of ``before``, all of it safe."""
        disk = cls(root)
        disk.base[""] = {}
        for path in sorted(before.rglob("*")) if before.exists() else []:
            if path.name.endswith("-shm"):
                continue
            name = path.relative_to(before).as_posix()
            parent, _, last = name.rpartition("/")
            disk.base[parent][last] = name if path.is_dir() else File(path.read_bytes())
            if path.is_dir():
                disk.base[name] = {}
        return disk

    def entries(self, folder: str, lost: frozenset[int] = frozenset()) -> dict[str, Entry]:
        """What the names in a folder lead to, when some changes are lost."""
        found = dict(self.base.get(folder, {}))
        for number, change in enumerate(self.names):
            if change.folder == folder and number not in lost:
                found |= change.entries
        return {name: entry for name, entry in found.items() if entry is not None}

    def find(self, path: str) -> Entry:
        """What a path leads to; the folder itself is ""."""
        found: Entry = ""
        for part in PurePosixPath(path).parts:
            found = self.entries(found).get(part) if isinstance(found, str) else None
        return found

    def change(self, path: str, entry: Entry) -> None:
        parent, _, name = path.rpartition("/")
        folder = self.find(parent)
        assert isinstance(folder, str), path
        self.names.append(Names(folder, {name: entry}))

    def move(self, old: str, new: str) -> None:
        """Rename; inside one folder both names change at once, or neither does."""
        entry = self.find(old)
        self.change(new, entry)
        last = self.names[-1]
        self.change(old, None)
        if self.names[-1].folder == last.folder:
            last.entries |= self.names.pop().entries

    def sync(self, folder: str) -> None:
        for change in self.names:
            if change.folder == folder:
                change.is_safe = True

    def states(self, why: str) -> Iterator[State]:
        """Everything that a power cut may leave now."""
        open_ones = [n for n, change in enumerate(self.names) if not change.is_safe]
        subsets = [frozenset[int]()]
        for size in range(1, min(LOST, len(open_ones)) + 1):
            subsets += map(frozenset, combinations(reversed(open_ones), size))
        subsets = list(dict.fromkeys([*subsets[:MOST], frozenset(open_ones)]))
        for lost in subsets:
            tree, folders = self._tree(lost)
            is_open = any(file.since for file in tree.values())
            for mode in MODES if is_open else MODES[:1]:
                files = {name: file.bytes_of(mode) for name, file in tree.items()}
                gone = ", ".join(str(sorted(self.names[n].entries)) for n in sorted(lost))
                told = f"{why}; bytes: {mode}; names lost: {gone or 'none'}"
                yield State(files, folders, self.told, told)

    def _tree(self, lost: frozenset[int]) -> tuple[dict[str, File], frozenset[str]]:
        files: dict[str, File] = {}
        folders: set[str] = set()
        waiting = [("", "")]
        while waiting:
            path, folder = waiting.pop()
            for name, entry in self.entries(folder, lost).items():
                inner = f"{path}/{name}" if path else name
                if isinstance(entry, str):
                    folders.add(inner)
                    waiting.append((inner, entry))
                elif entry is not None:
                    files[inner] = entry
        return files, frozenset(folders)


CALLS = (
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
