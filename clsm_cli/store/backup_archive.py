"""Make a backup: everything of a store that cannot be derived again, in one file, read back and checked.

What is in it is decided under the lock: every path, size and digest. The bytes are copied after it,
so that a hook which writes down a turn need not wait: a file that was replaced meanwhile has another
digest, and then all is done again under the lock; a log that grew is cut where it ended.

The file is written beside its name, synced, read back, and every digest verified, before it gets
its name. So under that name there is a whole backup, whenever the process dies.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
from typing import TYPE_CHECKING

from clsm_cli.config import FORMAT_VERSION
from clsm_cli.errors import BadInputError, DamagedBackupError, DiskError, RefusedError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, backup_files
from clsm_cli.store.backup_files import Entry, Manifest
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

    from clsm_cli.store.backup_files import Progress
    from clsm_cli.store.layout import Store

_LEVEL = 6
"""Of compression: a memory shrinks to a fifth, and 9 gains two percent for twice the time."""


class SkippedEntry(NamedTuple):
    """Something in the folder that a backup cannot hold."""

    path: str
    reason: str


class BackupResult(NamedTuple):
    """What a backup holds, or would hold.

    Attributes:
        packed: Bytes of the file that was written; None for a dry run.
        left_out: What was found in the store's folder and is not in it.
        warnings: What the user should hear besides.
    """

    manifest: Manifest
    packed: int | None
    left_out: tuple[SkippedEntry, ...]
    warnings: tuple[str, ...]


class _ChangedError(Exception):
    """A file is not what it was when it was listed."""


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
        store: What is backed up.
        path: The file; its folder must be there.
        at: UTC time that the backup gets. The same store and time give the same bytes.
        end_begun: Ends what a killed command began, and says what the user should hear of it.
        progress: Told how far it is.
        force: Replace a file of that name.
        dry_run: Only say what it would hold.

    Raises:
        BadInputError: The folder is not there, or the name is that of no file.
        RefusedError: There is a file of that name, or it would lie inside the store.
        LockedError: Another clsm kept the lock.
        DiskError: The disk refused; an older backup of that name is as it was.
    """
    path = _checked(store, path, force=force)
    for is_held in (False, True):  # the second time nothing can change but by hand
        try:
            return _made(store, path, at, end_begun, progress, is_held=is_held, dry_run=dry_run)
        except _ChangedError as error:
            changed = str(error)
    raise atomic.changed_meanwhile(store.root / changed)


def _made(
    store: Store,
    path: Path,
    at: str,
    end_begun: Callable[[Store], list[str]],
    progress: Progress,
    *,
    is_held: bool,
    dry_run: bool,
) -> BackupResult:
    with contextlib.ExitStack() as stack:
        stack.enter_context(locked(store.root, store.settings.store.lock_wait))
        warnings = () if dry_run else tuple(end_begun(store))
        files, left_out = _listed(store, progress)
        if not is_held:
            stack.close()
        manifest = Manifest(FORMAT_VERSION, store.store_id, store.device, at, files)
        packed = None if dry_run else _write(store, manifest, path, progress)
        return BackupResult(manifest, packed, left_out, warnings)


def _checked(store: Store, path: Path, *, force: bool) -> Path:
    """Where the file goes, links in its folder resolved."""
    with atomic.disk_errors(path):
        if not path.parent.is_dir():
            raise BadInputError(str(path.parent), "is not there", "make the folder first")
        path = path.parent.resolve() / path.name
        if path.is_relative_to(store.root.resolve()):
            raise RefusedError(
                str(path), "lies inside the store", "name a file elsewhere, best on another disk"
            )
        if os.path.lexists(path):
            if not path.is_file():
                raise BadInputError(str(path), "is not a file", "name one")
            if not force:
                raise RefusedError(
                    str(path), "is there already", "name another file, or add --force"
                )
    return path


def _listed(store: Store, progress: Progress) -> tuple[tuple[Entry, ...], tuple[SkippedEntry, ...]]:
    """Every file that belongs into a backup, as it is now."""
    found, left_out = _names(store.root)
    entries = []
    for number, name in enumerate(found):
        progress("reading", number, len(found))
        with atomic.disk_errors(store.root / name), atomic.open_to_read(store.root / name) as file:
            digest, size = hashlib.sha256(), 0
            while piece := file.read(backup_files.PIECE):
                digest.update(piece)
                size += len(piece)
        entries.append(Entry(name, size, digest.hexdigest()))
    return tuple(entries), tuple(left_out)


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
                if not backup_files.is_plain(entry.name):
                    left_out.append(SkippedEntry(path, "its name is not plain UTF-8"))
                elif entry.is_dir(follow_symlinks=False):
                    if backup_files.is_kept(f"{path}/x") or path == ".clsm":
                        waiting.append(f"{path}/")
                elif not backup_files.is_kept(path):
                    continue  # derived, of git, or a temporary file
                elif entry.is_file(follow_symlinks=False):
                    found.append(path)
                else:
                    left_out.append(SkippedEntry(path, "is a link or no regular file"))
    return sorted(found), sorted(left_out)


def _write(store: Store, manifest: Manifest, path: Path, progress: Progress) -> int:
    """Write the file, read it back, and give it its name; its size in bytes."""
    temp = path.with_name(f"{atomic.TEMP_PREFIX}{path.name}")
    with atomic.disk_errors(temp):
        try:
            with atomic.create_exclusive(temp) as file:
                _pack(store, manifest, file, progress)
                file.flush()
                os.fsync(file.fileno())
                written = os.fstat(file.fileno())
            _read_back(temp, manifest, progress)
            if not os.path.samestat(written, os.stat(temp)):
                raise atomic.changed_meanwhile(temp)  # by another store's backup to the same name
            atomic.move(temp, path.name)
        except BaseException:
            with contextlib.suppress(DiskError):
                atomic.remove(temp)
            raise
    return written.st_size


def _read_back(path: Path, manifest: Manifest, progress: Progress) -> None:
    try:
        with backup_files.opened(path) as reader:
            reader.check(progress)
            if reader.manifest == manifest:
                return
        reason = "its manifest is another"
    except DamagedBackupError as error:
        reason = error.reason
    raise DiskError(path, f"what was written is not what is read back ({reason})")


def _pack(store: Store, manifest: Manifest, file: BinaryIO, progress: Progress) -> None:
    data = backup_files.render(manifest)
    mtime, done, total = manifest.mtime, 0, manifest.size
    # No name and no time of its own: the same memory has the same bytes.
    with gzip.GzipFile("", "wb", _LEVEL, file, mtime=0) as out:
        out.write(backup_files.header(backup_files.MANIFEST, len(data), mtime))
        out.write(data + backup_files.padding(len(data)))
        for entry in manifest.files:
            name = backup_files.FOLDER + entry.path
            out.write(backup_files.header(name, entry.size, mtime))
            for piece in _content(store.root, entry):
                out.write(piece)
                done += len(piece)
                progress("writing", done, total)
            out.write(backup_files.padding(entry.size))
        out.write(backup_files.END)


def _content(root: Path, entry: Entry) -> Iterator[bytes]:
    """The bytes of a file, as many as there were when it was listed."""
    digest, left = hashlib.sha256(), entry.size
    try:
        with atomic.open_to_read(root / entry.path) as file:
            while left and (piece := file.read(min(left, backup_files.PIECE))):
                digest.update(piece)
                left -= len(piece)
                yield piece
    except FileNotFoundError:
        raise _ChangedError(entry.path) from None
    if left or digest.hexdigest() != entry.sha256:
        raise _ChangedError(entry.path)
