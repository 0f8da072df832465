"""Backups: everything of a store that cannot be derived again, in one file.

The format (docs/format.md §12) is a tar file in gzip whose first member, the manifest, names every
file with its size and sha256. The reader follows the manifest alone, and any ``tar`` unpacks it too.

It is made under the lock: hooks and notes need none. A log may grow meanwhile and is cut where it ended;
what a person changes at that moment is refused. The file gets its name once it has been read back and
verified.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, cast

from clsm_cli.config import FORMAT_VERSION
from clsm_cli.errors import (
    BadInputError,
    ClsmError,
    DamagedBackupError,
    DiskError,
    NewerFormatError,
    RefusedError,
)
from clsm_cli.model.clocks import utc_text
from clsm_cli.model.ids import is_id, sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, layout
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

MANIFEST, FOLDER = "manifest.jsonl", "memory/"
"""The first member; what the names of all others begin with."""
MAX_MANIFEST = 256 << 20
"""Bytes; about 1.5 million files."""
_BLOCK = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK)
_MAX_PATH, _MAX_NAME = 4096, 255  # bytes, as on Linux
_MAX_LINE = 32 << 10
_KEPT = ("runs", "edit", "shadow")
"""What of ``.clsm`` cannot be derived: what undo needs, a refused draft, the log of shadow mode."""
_PIECE = 1 << 20
"""Bytes that are in memory at once, of a file of whatever size."""
_LEVEL = 6
"""Of compression: a memory shrinks to a fifth, and 9 gains two percent for twice the time."""

Progress = Callable[[str, int, int], None]
"""Called with what is done, and how much of how much."""


class Entry(NamedTuple):
    """A file of a backup: its path in the store, with slashes; its bytes; its digest."""

    path: str
    size: int
    sha256: str


class Manifest(NamedTuple):
    """What a backup holds, sorted by path, and of what; ``at`` is UTC, as in the logs."""

    format: int
    store: str
    device: str
    at: str
    files: tuple[Entry, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    def render(self) -> bytes:
        """Its lines; the last has the digest of those before."""
        first = self._asdict() | {"files": len(self.files), "size": self.size}
        rows = (first, *(entry._asdict() for entry in self.files))
        body = "".join(f"{dump(row)}\n" for row in rows).encode()
        return body + _last_line(body)


class SkippedEntry(NamedTuple):
    """Something in the folder that a backup cannot hold."""

    path: str
    reason: str


class BackupResult(NamedTuple):
    """What a backup holds, or would hold; ``packed``: bytes of its file, None for a dry run."""

    manifest: Manifest
    packed: int | None
    left_out: tuple[SkippedEntry, ...]
    warnings: tuple[str, ...]


def is_kept(path: str) -> bool:
    """Whether a file of a store belongs into a backup, and may come out of one.

    Git's own folders do not: one that comes with a backup could name programs to be run.

    >>> [is_kept(p) for p in ("tasks/today.md", ".clsm/runs/run-1/x/0000", ".clsm/index/index.sqlite")]
    [True, True, False]
    >>> [is_kept(p) for p in (".git/config", "../x", "/etc/passwd", "a//b", "tasks/.tmp-today.md")]
    [False, False, False, False, False]
    """
    names = path.split("/")
    if len(path.encode("utf-8", "surrogatepass")) > _MAX_PATH or not all(map(_is_name, names)):
        return False
    return names[0] != ".clsm" or (len(names) > 1 and names[1] in _KEPT)


def _is_name(name: str) -> bool:
    if name in ("", ".", "..") or name.casefold() == ".git" or name.startswith(atomic.TEMP_PREFIX):
        return False
    return _is_plain(name) and len(name.encode()) <= _MAX_NAME


def _is_plain(name: str) -> bool:
    """Whether a name is UTF-8 without control characters."""
    return not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in name)


def make_backup(
    store: Store,
    path: Path,
    at: str,
    end_begun: Callable[[Store], list[str]],
    progress: Progress,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> BackupResult:
    """Write a backup of a store.

    Args:
        path: The file; its folder must be there.
        at: UTC time that the backup gets. The same store and time give the same bytes.
        end_begun: Ends what a killed command began, and says what the user should hear of it.

    Raises:
        BadInputError: The folder is not there, or the name is that of no file.
        RefusedError: There is a file of that name, or it would lie inside the store.
    """
    path = _target(store, path, force=force)
    with locked(store.root, store.settings.store.lock_wait):
        warnings = () if dry_run else tuple(end_begun(store))
        names, left_out = _names(store.root)
        files = _listed(store.root, names, progress)
        manifest = Manifest(FORMAT_VERSION, store.store_id, store.device, at, files)
        packed = None if dry_run else _write(store, manifest, path, progress)
    return BackupResult(manifest, packed, tuple(left_out), warnings)


def _target(store: Store, path: Path, *, force: bool) -> Path:
    with atomic.disk_errors(path):
        if not path.parent.is_dir():
            raise BadInputError(str(path.parent), "is not there", "make the folder first")
        path = path.parent.resolve() / path.name
        if path.is_relative_to(store.root.resolve()):
            raise RefusedError(
                str(path), "lies inside the store", "name a file elsewhere, best on another disk"
            )
        if os.path.lexists(path) and not path.is_file():
            raise BadInputError(str(path), "is not a file", "name one")
        if os.path.lexists(path) and not force:
            raise RefusedError(str(path), "is there already", "name another file, or add --force")
    return path


def _names(root: Path) -> tuple[list[str], list[SkippedEntry]]:
    """Paths of files, sorted, and what is no file or has a name that no backup may have."""
    found: list[str] = []
    left_out: list[SkippedEntry] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with atomic.disk_errors(root / prefix), os.scandir(root / prefix) as entries:
            for entry in entries:
                path = prefix + entry.name
                if not _is_plain(entry.name):
                    left_out.append(SkippedEntry(path, "its name is not plain UTF-8"))
                elif entry.is_dir(follow_symlinks=False):
                    if is_kept(f"{path}/x") or path == ".clsm":
                        waiting.append(f"{path}/")
                elif is_kept(path) and entry.is_file(follow_symlinks=False):
                    found.append(path)
                elif is_kept(path):
                    left_out.append(SkippedEntry(path, "is a link or no regular file"))
    return sorted(found), sorted(left_out)


def _listed(root: Path, names: list[str], progress: Progress) -> tuple[Entry, ...]:
    entries = []
    for number, name in enumerate(names):
        progress("reading", number, len(names))
        with atomic.disk_errors(root / name), atomic.open_to_read(root / name) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            entries.append(Entry(name, file.tell(), digest))
    return tuple(entries)


def _write(store: Store, manifest: Manifest, path: Path, progress: Progress) -> int:
    """Write the file, read it back, and give it its name; its size in bytes."""
    temp = path.with_name(f"{atomic.TEMP_PREFIX}{path.name}")
    with atomic.disk_errors(temp):
        try:
            with atomic.create_exclusive(temp) as file:
                _pack(store.root, manifest, file, progress)
                file.flush()
                os.fsync(file.fileno())
                size = os.fstat(file.fileno()).st_size
            _read_back(temp, manifest, progress)
            atomic.move(temp, path.name)
        except BaseException:
            with contextlib.suppress(DiskError):
                atomic.remove(temp)
            raise
    return size


def _read_back(path: Path, manifest: Manifest, progress: Progress) -> None:
    try:
        with opened_backup(path) as reader:
            reader.check(progress)
            if reader.manifest == manifest:
                return
        reason = "its manifest is another"
    except DamagedBackupError as error:
        reason = error.reason
    raise DiskError(path, f"what was written is not what is read back ({reason})")


def _pack(root: Path, manifest: Manifest, file: BinaryIO, progress: Progress) -> None:
    data, done, total = manifest.render(), 0, manifest.size
    # No name and no time of its own: the same memory has the same bytes.
    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as out:
        out.write(member_header(MANIFEST, len(data), manifest.at) + data + padding(len(data)))
        for entry in manifest.files:
            out.write(member_header(FOLDER + entry.path, entry.size, manifest.at))
            changed = atomic.changed_meanwhile(root / entry.path)
            with atomic.open_to_read(root / entry.path) as source:
                for piece in _content(entry, source.read, changed):
                    out.write(piece)
                    done += len(piece)
                    progress("writing", done, total)
            out.write(padding(entry.size))
        out.write(_END)


def member_header(name: str, size: int, at: str) -> bytes:
    """The blocks before a member of ``size`` bytes: a private file, by nobody in particular."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, atomic.FILE_MODE
    info.mtime = min(max(0, int(datetime.fromisoformat(at).timestamp())), 8**11 - 1)
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8")


def padding(size: int) -> bytes:
    """What fills the last block after ``size`` bytes."""
    return bytes(-size % _BLOCK)


def _content(entry: Entry, read: Callable[[int], bytes], otherwise: ClsmError) -> Iterator[bytes]:
    """The bytes of a file in pieces, as many as there were when it was listed, and the same."""
    digest, left = hashlib.sha256(), entry.size
    while left and (piece := read(min(left, _PIECE))):
        digest.update(piece)
        left -= len(piece)
        yield piece
    if left or digest.hexdigest() != entry.sha256:
        raise otherwise


@contextlib.contextmanager
def opened_backup(path: Path) -> Iterator[Reader]:
    """Open a backup and read its manifest."""
    with (
        atomic.disk_errors(path),
        atomic.open_to_read(path) as file,
        gzip.GzipFile(fileobj=file, mode="rb") as stream,
    ):
        yield Reader(path, cast("BinaryIO", stream))


class Reader:
    """An opened backup; its manifest is consistent, its files are not read yet."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self._stream = stream
        size = self._next_size("is no backup of a clsm memory")
        if size > MAX_MANIFEST:
            raise self._damaged("its manifest is too large")
        data = self._exactly(size)
        try:
            self.manifest = _parse(data, path)
        except LineError as error:
            raise self._damaged(str(error)) from None
        self._exactly(-size % _BLOCK)

    def files(self) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """Each file with its bytes in pieces, which must be used up before the next is asked for.

        Only at the end of all is it sure that the backup is whole.
        """
        for entry in self.manifest.files:
            reason = f"what stands before {entry.path} is not as it was written"
            if self._next_size(reason) not in (entry.size, 0):  # 0: it stands before, as text
                raise self._damaged(reason)
            other = self._damaged(f"{entry.path} is not what was stored")
            yield entry, _content(entry, self._exactly, other)
            self._exactly(-entry.size % _BLOCK)
        if self._exactly(len(_END)) != _END or self._read(1):
            raise self._damaged("its end is not as it was written")

    def check(self, progress: Progress) -> None:
        """Read it all."""
        done, total = 0, self.manifest.size
        for _, pieces in self.files():
            for piece in pieces:
                done += len(piece)
                progress("checking", done, total)

    def _next_size(self, reason: str) -> int:
        """The bytes of the next member by its header; an extended one before it is passed over."""
        try:
            info = tarfile.TarInfo.frombuf(self._exactly(_BLOCK), "utf-8", "replace")
            if info.type == tarfile.XHDTYPE and info.size <= 2 * _MAX_PATH:
                self._exactly(info.size + -info.size % _BLOCK)
                info = tarfile.TarInfo.frombuf(self._exactly(_BLOCK), "utf-8", "replace")
        except tarfile.HeaderError:
            raise self._damaged(reason) from None
        if info.type != tarfile.REGTYPE:
            raise self._damaged(reason)
        return info.size

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            piece = self._read(size - len(found))
            if not piece:
                raise self._damaged("it breaks off")
            found += piece
        return found

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except EOFError:
            raise self._damaged("it breaks off") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._damaged(f"cannot be unpacked ({error})") from None

    def _damaged(self, reason: str) -> DamagedBackupError:
        return DamagedBackupError(self.path, reason)


def _parse(data: bytes, path: Path) -> Manifest:
    """The manifest in a first member; refused where a clsm would not have written it."""
    body = data[: data.rstrip(b"\n").rfind(b"\n") + 1]
    if data != body + _last_line(body):
        raise LineError("its manifest is not as it was written")
    try:
        first, *rows = (load(line, _MAX_LINE) for line in body.decode().split("\n")[:-1])
        if type(first["format"]) is not int:
            raise LineError("its manifest has no format")
        if first["format"] > FORMAT_VERSION:
            raise NewerFormatError(path, first["format"], FORMAT_VERSION)
        files = tuple(Entry(row["path"], row["size"], row["sha256"]) for row in rows)
        found = Manifest(first["format"], first["store"], first["device"], first["at"], files)
        if found.render() != data:
            raise LineError("its manifest is not as it was written")
    except (ValueError, LookupError, TypeError) as error:
        if isinstance(error, LineError):
            raise
        raise LineError(f"its manifest cannot be read ({error})") from None
    _check(found)
    return found


def _last_line(body: bytes) -> bytes:
    return f"{dump({'sha256': sha256(body)})}\n".encode()


def _check(manifest: Manifest) -> None:
    if not is_id(manifest.device) or not isinstance(manifest.store, str):
        raise LineError("its manifest names no device or store")
    try:
        is_time = utc_text(datetime.fromisoformat(manifest.at)) == manifest.at
    except (TypeError, ValueError, OverflowError):
        is_time = False
    if not is_time:
        raise LineError("its manifest has no time")
    folders: set[str] = set()
    last = ""
    for entry in manifest.files:
        if not isinstance(entry.path, str) or not is_kept(entry.path):
            raise LineError(f"it names a file that no store has ({str(entry.path)[:80]})")
        if entry.path <= last:
            raise LineError(f"its files are not in order ({entry.path})")
        if type(entry.size) is not int or not 0 <= entry.size < 1 << 60:
            raise LineError(f"{entry.path} has no size")
        last = entry.path
        names = entry.path.split("/")
        folders |= {"/".join(names[:n]) for n in range(1, len(names))}
    files = {entry.path for entry in manifest.files}
    if both := folders & files:
        raise LineError(f"{min(both)} is a file and a folder")
    if layout.CONFIG_NAME not in files:
        raise LineError(f"it has no {layout.CONFIG_NAME}")
