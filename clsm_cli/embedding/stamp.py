"""What the model files looked like when they were last hashed.

Hashing 90 MB at every start would cost more than a recall. A start compares size, modification
time and inode with this record instead; any replacement or edit through the file system changes
at least one of them.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from clsm_cli.embedding.pins import ENGINE, FILES
from clsm_cli.errors import DiskError, ModelMissingError
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

NAME = "installed.json"
"""The record's file, beside the files it describes."""


class FileStamp(NamedTuple):
    """One file as it was when its digest was computed.

    Attributes:
        sha256: Hex digest of the content.
        size: Bytes.
        mtime_ns: Modification time, nanoseconds since 1970.
        inode: Inode number.
    """

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
        files: File name to its stamp.
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
    from clsm_cli.embedding import weights

    weights.verify(folder)


def save(folder: Path, record: Stamp) -> None:
    """Write the record, whole or not at all.

    Raises:
        OSError: The folder cannot be written.
    """
    # Loads tempfile and shutil: 10 ms that a start does without.
    from clsm_cli.embedding import staging

    with staging.scratch_folder(folder) as scratch:
        with staging.create(scratch / NAME) as write:
            write(record.to_json())
        os.replace(scratch / NAME, folder / NAME)
    staging.sync_folder(folder)
