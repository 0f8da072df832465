"""Backups: all data of a store that cannot be derived, in one file.

The format (docs/format.md §12) is a tar file in gzip. Its first member, the manifest, lists every file
with size and sha256. The reader uses the manifest alone, but any ``tar`` can unpack it.

A backup is made under the lock, which hooks and notes do not need: a log that grows meanwhile is cut at
its size in the manifest, any other change is an error. The file gets its name after it has been read
back and verified.
"""

import contextlib
import gzip
import hashlib
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, BinaryIO, Self, cast

from clsm_cli.config import FORMAT_VERSION
from clsm_cli.errors import (
    BadInputError,
    ClsmError,
    DamagedBackupError,
    DiskError,
    NewerFormatError,
    RefusedError,
)
from clsm_cli.model.ids import is_id, sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, layout
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked
from clsm_cli.store.recovery import complete_interrupted

MANIFEST, FOLDER = "manifest.jsonl", "memory/"
"""The name of the first member, and the prefix of all others."""
MAX_MANIFEST = 256 << 20  # bytes; about 1.5 million files
_BLOCK = tarfile.BLOCKSIZE
_END = bytes(2 * _BLOCK)
_MAX_PATH, _MAX_NAME = 4096, 255  # bytes, as on Linux
_MAX_LINE = 32 << 10
_UNDERIVED = ("runs", "edit")
"""What of ``.clsm`` cannot be derived: preimages, a refused draft."""
_PIECE = 1 << 20  # bytes in memory at once
_LEVEL = 6  # the compression level: a fifth of the size; 9 saves two percent more in twice the time

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the amount done, and the total."""


class BackupFile(NamedTuple):
    """A file in a backup: its path in the store, with slashes, its size in bytes, and its sha256."""

    path: str
    size: int
    sha256: str


Files = Iterator[tuple[BackupFile, Iterator[bytes]]]
"""Each file with its content in pieces, which must be consumed before the next file."""


class Manifest(NamedTuple):
    """The files of a backup, sorted by path, and their store; ``at`` is UTC, as in the logs."""

    format: int
    store: str
    device: str
    at: str
    files: tuple[BackupFile, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    def render(self) -> bytes:
        """The manifest's lines; the last has the digest of the others."""
        first = self._asdict() | {"files": len(self.files), "size": self.size}
        rows = (first, *(entry._asdict() for entry in self.files))
        body = "".join(f"{dump(row)}\n" for row in rows).encode()
        return body + _last_line(body)


class SkippedFile(NamedTuple):
    """Something in the store that a backup cannot contain."""

    path: str
    reason: str


class BackupResult(NamedTuple):
    """The content of a backup; ``packed`` is the size of its file in bytes, None for a dry run."""

    manifest: Manifest
    packed: int | None
    left_out: tuple[SkippedFile, ...]
    warnings: tuple[str, ...]


def _is_backed_up(path: str) -> bool:
    """Whether a file of a store belongs in a backup, and may be restored from one.

    Git's own folders do not: one from a backup could name programs to run.

    >>> [_is_backed_up(p) for p in ("tasks/today.md", ".clsm/runs/run-1/x/0000", ".clsm/index/index.sqlite")]
    [True, True, False]
    >>> [_is_backed_up(p) for p in (".git/config", "../x", "/etc/passwd", "a//b", "tasks/.tmp-today.md")]
    [False, False, False, False, False]
    """
    names = path.split("/")
    if len(path.encode("utf-8", "surrogatepass")) > _MAX_PATH or not all(map(_is_name, names)):
        return False
    return names[0] != ".clsm" or (len(names) > 1 and names[1] in _UNDERIVED)


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
    progress: Progress,
    *,
    force: bool = False,
    dry_run: bool = False,
) -> BackupResult:
    """Write a backup of a store.

    Args:
        path: The file; its folder must exist.
        at: The UTC time of the backup. The same store and time give the same bytes.

    Raises:
        BadInputError: The folder does not exist, or the name is not that of a file.
        RefusedError: The file exists, or would be inside the store.
    """
    path = _check_target(store, path, force=force)
    with locked(store.root, store.settings.store.lock_wait):
        warnings = () if dry_run else tuple(complete_interrupted(store))
        names, left_out = _find_files(store.root)
        files = _read_digests(store.root, names, progress)
        manifest = Manifest(FORMAT_VERSION, store.store_id, store.device, at, files)
        packed = None if dry_run else _write(store, manifest, path, progress)
    return BackupResult(manifest, packed, tuple(left_out), warnings)


def _check_target(store: Store, path: Path, *, force: bool) -> Path:
    with atomic.disk_errors(path):
        if not path.parent.is_dir():
            raise BadInputError(str(path.parent), "is not there", "make the folder first")
        path = path.parent.resolve() / path.name
        if path.is_relative_to(store.root.resolve()):
            next_step = "name a file elsewhere, best on another disk"
            raise RefusedError(str(path), "lies inside the store", next_step)
        if os.path.lexists(path) and not path.is_file():
            raise BadInputError(str(path), "is not a file", "name one")
        if os.path.lexists(path) and not force:
            raise RefusedError(str(path), "is there already", "name another file, or add --force")
    return path


def _find_files(root: Path) -> tuple[list[str], list[SkippedFile]]:
    """The sorted paths of files, and entries that are no regular file or have an invalid name."""
    found: list[str] = []
    left_out: list[SkippedFile] = []
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with atomic.disk_errors(root / prefix), os.scandir(root / prefix) as entries:
            for entry in entries:
                path = prefix + entry.name
                if not _is_plain(entry.name):
                    left_out.append(SkippedFile(path, "its name is not plain UTF-8"))
                elif entry.is_dir(follow_symlinks=False):
                    if _is_backed_up(f"{path}/x") or path == ".clsm":
                        waiting.append(f"{path}/")
                elif _is_backed_up(path) and entry.is_file(follow_symlinks=False):
                    found.append(path)
                elif _is_backed_up(path):
                    left_out.append(SkippedFile(path, "is a link or no regular file"))
    return sorted(found), sorted(left_out)


def _read_digests(root: Path, names: list[str], progress: Progress) -> tuple[BackupFile, ...]:
    entries = []
    for number, name in enumerate(names):
        progress("reading", number, len(names))
        with atomic.disk_errors(root / name), atomic.open_to_read(root / name) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            entries.append(BackupFile(name, file.tell(), digest))
    return tuple(entries)


def _write(store: Store, manifest: Manifest, path: Path, progress: Progress) -> int:
    """Write the file under a temporary name, verify and rename it; returns its size in bytes."""
    temp = path.with_name(f"{atomic.TEMP_PREFIX}{path.name}")
    with atomic.disk_errors(temp):
        try:
            with atomic.create_exclusive(temp) as file:
                _pack(store.root, manifest, file, progress)
                file.flush()
                os.fsync(file.fileno())
                size = os.fstat(file.fileno()).st_size
            _verify(temp, manifest, progress)
            atomic.move(temp, path.name)
        except BaseException:
            with contextlib.suppress(DiskError):
                atomic.remove(temp)
            raise
    return size


def _verify(path: Path, manifest: Manifest, progress: Progress) -> None:
    try:
        with opened_backup(path) as (found, files):
            check(found, files, progress)
            if found == manifest:
                return
        reason = "its manifest is another"
    except DamagedBackupError as error:
        reason = error.reason
    raise DiskError(path, f"what was written is not what is read back ({reason})")


def _pack(root: Path, manifest: Manifest, file: BinaryIO, progress: Progress) -> None:
    data, done = manifest.render(), 0
    # No name and no time of its own: the same memory has the same bytes.
    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as out:
        out.write(member_header(MANIFEST, len(data), manifest.at) + data + padding(len(data)))
        for entry in manifest.files:
            out.write(member_header(FOLDER + entry.path, entry.size, manifest.at))
            changed = atomic.changed_meanwhile(root / entry.path)
            with atomic.open_to_read(root / entry.path) as source:
                for piece in _pieces(entry, source.read, changed):
                    out.write(piece)
                    done += len(piece)
                    progress("writing", done, manifest.size)
            out.write(padding(entry.size))
        out.write(_END)


def member_header(name: str, size: int, at: str) -> bytes:
    """The header of a member of ``size`` bytes: a private file without an owner."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, atomic.FILE_MODE
    info.mtime = min(max(0, int(datetime.fromisoformat(at).timestamp())), 8**11 - 1)
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8")


def padding(size: int) -> bytes:
    """The bytes that fill the last block after ``size`` bytes."""
    return bytes(-size % _BLOCK)


def _pieces(entry: BackupFile, read: Callable[[int], bytes], error: ClsmError) -> Iterator[bytes]:
    """The content of a file in pieces; raises ``error`` if it is not that of the entry."""
    digest, left = hashlib.sha256(), entry.size
    while left and (piece := read(min(left, _PIECE))):
        digest.update(piece)
        left -= len(piece)
        yield piece
    if left or digest.hexdigest() != entry.sha256:
        raise error


class _Member(tarfile.TarInfo):
    """A header as clsm writes it; refuses others, which could be links or take any memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Parse a header; raises HeaderError."""
        info = super().frombuf(buf, encoding, errors)
        is_long_name = info.type == tarfile.XHDTYPE and info.size <= 2 * _MAX_PATH
        if info.type != tarfile.REGTYPE and not is_long_name:
            raise tarfile.HeaderError("a member is no regular file")
        return info


@contextlib.contextmanager
def opened_backup(path: Path) -> Iterator[tuple[Manifest, Files]]:
    """Open a backup: its manifest, and its files.

    It is verified only when the last file has been consumed.

    Raises:
        DamagedBackupError: It is not valid, at any time until then.
    """
    with atomic.disk_errors(path), atomic.open_to_read(path) as file:
        try:
            with (
                gzip.GzipFile(fileobj=file, mode="rb") as stream,
                tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive,
            ):
                first = archive.next()
                if first is None or first.name != MANIFEST:
                    raise LineError("is no backup of a clsm memory")
                if first.size > MAX_MANIFEST:
                    raise LineError("its manifest is too large")
                manifest = _parse(_content(archive, first).read(), path)
                yield manifest, _files(path, manifest, archive, cast("BinaryIO", stream))
        except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, LineError) as error:
            raise DamagedBackupError(path, str(error)) from None


def _files(path: Path, manifest: Manifest, archive: tarfile.TarFile, stream: BinaryIO) -> Files:
    for entry in manifest.files:
        member = archive.next()
        if member is None or (member.name, member.size) != (FOLDER + entry.path, entry.size):
            raise LineError(f"what stands before {entry.path} is not as it was written")
        error = DamagedBackupError(path, f"{entry.path} is not what was stored")
        yield entry, _pieces(entry, _content(archive, member).read, error)
    if archive.next() is not None:
        raise LineError("it holds more than its manifest names")
    while stream.read(_PIECE):  # to the checksum at its end
        pass


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = archive.extractfile(member)
    assert content is not None  # it is a regular file
    return content


def check(manifest: Manifest, files: Files, progress: Progress) -> None:
    """Verify a whole backup."""
    done = 0
    for _, pieces in files:
        for piece in pieces:
            done += len(piece)
            progress("checking", done, manifest.size)


def _parse(data: bytes, path: Path) -> Manifest:
    """Parse a manifest; refuses one that clsm would not have written."""
    body = data[: data.rstrip(b"\n").rfind(b"\n") + 1]
    if data != body + _last_line(body):
        raise LineError("its manifest is not as it was written")
    try:
        first, *rows = (load(line, _MAX_LINE) for line in body.decode().split("\n")[:-1])
        version = int(first["format"])
        if version > FORMAT_VERSION:
            raise NewerFormatError(path, version, FORMAT_VERSION)
        entries = (BackupFile(str(r["path"]), int(r["size"]), str(r["sha256"])) for r in rows)
        store, device, at = (str(first[name]) for name in ("store", "device", "at"))
        found = Manifest(version, store, device, at, tuple(entries))
    except (LookupError, TypeError, UnicodeDecodeError) as error:
        raise LineError(f"its manifest cannot be read ({error})") from None
    if found.render() != data:
        raise LineError("its manifest is not as it was written")
    _check_names(found)
    return found


def _last_line(body: bytes) -> bytes:
    return f"{dump({'sha256': sha256(body)})}\n".encode()


def _check_names(manifest: Manifest) -> None:
    if not is_id(manifest.device):
        raise LineError("its manifest names no device")
    names = {entry.path for entry in manifest.files}
    if odd := sorted(path for path in names if not _is_backed_up(path)):
        raise LineError(f"it names a file that no store has ({odd[0][:80]})")
    if len(names) < len(manifest.files):
        raise LineError("it names a file twice")
    if layout.CONFIG_NAME not in names:
        raise LineError(f"it has no {layout.CONFIG_NAME}")
