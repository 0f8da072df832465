"""Safe writes into a model folder: private modes, one installer at a time, all or nothing.

What is written lies in a scratch folder inside the model folder (so on the same disk) until it is
complete and synced; a rename then makes it visible. A scratch folder that a killed process left is
removed by the next install.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_PREFIX = ".incoming-"


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder inside ``folder``, and remove it with all it holds on any exit."""
    import tempfile

    with tempfile.TemporaryDirectory(dir=folder, prefix=_PREFIX) as scratch:
        yield Path(scratch)


@contextmanager
def create(path: Path) -> Iterator[Callable[[bytes], int]]:
    """Write a file that only the owner can read, whatever the umask, and see it on disk."""
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        yield file.write
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """See a folder's names on disk: a rename before this call survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents for the owner only, whatever the umask.

    A folder that exists keeps its mode: someone may share one model between users.
    """
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
        os.chmod(folder, 0o700)


@contextmanager
def only_installer(folder: Path) -> Iterator[None]:
    """Wait until no other process installs into a folder; the kernel frees a dead one's lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process staged.

    Call it as the only installer: then the one scratch folder that may still be in use is that
    of a start renewing its record, which goes on without.
    """
    import shutil

    for entry in folder.glob(f"{_PREFIX}*"):
        shutil.rmtree(entry, ignore_errors=True)
