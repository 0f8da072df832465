"""Restore a backup into a new folder, completely or not at all.

The files are unpacked into a hidden folder beside it, verified, synced and opened as a store. Then the
folder is renamed. Two stores must not write under one device name, so the store keeps the old name only
if it is also this machine's name for the folder, or ``CLSM_DEVICE`` sets it.
"""

import collections
import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from clsm_cli.errors import DamagedBackupError, DiskError, LockedError, RefusedError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, layout
from clsm_cli.store.backups import Files, Manifest, Progress, check, opened_backup
from clsm_cli.store.device import device_name
from clsm_cli.store.lock import holder, try_locked

_RUNS = ".clsm/runs/"


class Restored(NamedTuple):
    """A store restored from a backup; in a dry run, which only verifies it, there is no store."""

    manifest: Manifest
    root: Path
    device: str  # its device name
    store: layout.Store | None = None
    in_the_way: str | None = None  # in a dry run, why the folder could not take the store

    @property
    def keeps_device(self) -> bool:
        """Whether the store keeps the device name of the backup."""
        return self.device == self.manifest.device


def restore(
    path: Path,
    root: Path,
    environment: dict[str, str],
    progress: Progress,
    *,
    dry_run: bool = False,
) -> Restored:
    """Verify a backup and make a store from it; a dry run only verifies it.

    Args:
        root: The store's folder: missing or empty, except in a dry run.
        environment: For ``CLSM_DEVICE``.

    Raises:
        DamagedBackupError: The file is not a valid backup.
        NewerFormatError: A newer clsm wrote it.
        RefusedError: The folder is not empty, or cannot be replaced.
    """
    in_the_way = store = None
    try:
        root = _check_target(root)
    except RefusedError as error:
        if not dry_run:
            raise
        root, in_the_way = root.resolve(), str(error)
    device = device_name(root, environment)
    with opened_backup(path) as (manifest, files):
        if dry_run:
            check(manifest, files, progress)
        else:
            atomic.make_folder(root.parent)
            with _staged(root) as staging:
                _unpack(manifest, files, staging, progress, device)
                store = layout.open_store(staging, environment)
                if store.store_id != manifest.store:
                    raise DamagedBackupError(path, "its memory has another id than its manifest")
        return Restored(manifest, root, device, store, in_the_way)


def _check_target(root: Path) -> Path:
    """Check that the folder is missing or empty and can be replaced by a rename; resolves links."""
    with atomic.disk_errors(root):
        root = root.resolve()
        if os.path.lexists(root) and (not root.is_dir() or os.listdir(root)):
            raise _not_empty(root)
        if os.path.ismount(root):
            next_step = f"name a folder in it, like {root / 'memory'}"
            raise RefusedError(str(root), "is a mount point", next_step)
    return root


def _not_empty(root: Path) -> RefusedError:
    reason = "is not empty, and a restore never mixes two memories"
    return RefusedError(str(root), reason, "name a new folder, or move this one away first")


@contextlib.contextmanager
def _staged(root: Path) -> Iterator[Path]:
    """A locked, hidden folder beside ``root`` that replaces it at the end; deleted on an error."""
    staging = root.with_name(f"{atomic.TEMP_PREFIX}restore-{root.name}")
    missing = [folder for folder in root.parents if not folder.is_dir()]
    atomic.make_folder(staging)
    with try_locked(staging) as is_held:
        if not is_held:
            raise LockedError(staging, holder(staging), 0)
        _clear(staging)
        try:
            yield staging
            if os.path.lexists(root) and os.listdir(root):
                raise _not_empty(root)
            atomic.move(staging, root.name)
        except BaseException:
            with contextlib.suppress(OSError, DiskError):
                for folder in (staging, *missing):
                    if folder == staging or not os.listdir(folder):
                        atomic.remove_folder(folder)
            raise


def _clear(staging: Path) -> None:
    with atomic.disk_errors(staging):
        found = os.lstat(staging)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            next_step = "have it removed, or name a new folder"
            raise RefusedError(str(staging), "is not yours", next_step)
    atomic.clear_folder(staging)


def _unpack(
    manifest: Manifest, files: Files, staging: Path, progress: Progress, device: str
) -> None:
    keeps_device = device == manifest.device
    done, total = 0, manifest.size
    with atomic.disk_errors(staging):
        if shutil.disk_usage(staging).free < total:
            raise DiskError(staging, f"there is no room for {total} bytes")
        folders = {staging}
        for entry, pieces in files:
            if not keeps_device and entry.path.startswith(_RUNS):
                collections.deque(pieces, 0)  # only verify: useless under another device name
                continue
            path = staging / entry.path
            if path.parent not in folders:
                atomic.make_folder(path.parent, durable=False)
                folders |= {p for p in path.parents if p.is_relative_to(staging)}
            _write_file(path, pieces)
            done += entry.size
            progress("restoring", done, total)
        if keeps_device:
            atomic.put(staging / ".clsm" / "device", f"{manifest.device}\n".encode())
            folders.add(staging / ".clsm")
        for folder in sorted(folders):
            atomic.sync_folder(folder)


def _write_file(path: Path, pieces: Iterator[bytes]) -> None:
    if os.path.lexists(path):
        reason = "has the name of another file on this disk, which does not tell a from A"
        raise RefusedError(str(path), reason, "restore on one that does")
    with atomic.create_exclusive(path) as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())
