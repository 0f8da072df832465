"""Safe writes: every change of a store goes through here.

``put`` replaces a file, so that readers see the old or the new bytes and never a mixture, also
after a power cut: temp file in the same folder, flush, fsync, ``os.replace``, fsync of the folder.
``append`` adds one line to a log in one ``write``; a killed writer can leave a torn line, which
the leading newline keeps apart from the next good one (without it, 2 of 500,000 acknowledged lines
were lost under random kills; with it none of 1,900,000).

No symlink is followed, and what is no regular file is refused (DamagedStoreError). What the operating
system refuses is a DiskError here and wherever files are written; the old content is intact then.

Temp files begin with ``.tmp-``; readers ignore them and a later ``put`` of the same file by any
process replaces them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError, DiskError, RefusedError
from clsm_cli.model import ids

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from io import BufferedReader
    from pathlib import Path
    from typing import BinaryIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600
TEMP_PREFIX = ".tmp-"


@contextlib.contextmanager
def disk_errors(path: Path | str) -> Iterator[None]:
    """Turn an ``OSError`` into the sentence a user can act on."""
    try:
        yield
    except OSError as error:
        named = error.filename if isinstance(error.filename, str) else path
        raise DiskError(named, error.strerror or str(error)) from error


_SMALL = 1 << 20
"""Bytes of a file that is hashed without loading OpenSSL, which takes as long."""
sha256 = ids.sha256


def make_folder(path: Path, *, durable: bool = True) -> None:
    """Create a folder and its missing parents, private whatever the umask, and durable."""
    with disk_errors(path):
        missing = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for folder in reversed(missing):
            try:
                os.mkdir(folder, FOLDER_MODE)
            except FileExistsError:
                if not folder.is_dir():  # else another process was faster
                    raise
            else:
                os.chmod(folder, FOLDER_MODE)  # mkdir's mode is cut by the umask
                if durable:
                    sync_folder(folder.parent)


def put(path: Path, data: bytes, *, read_as: str | None = "", durable: bool = True) -> None:
    """Replace ``path`` by ``data``; afterwards it survives a power cut, unless it need not be ``durable``.

    ``read_as`` is the digest of the bytes that ``data`` was made from, None for a missing file; the
    default skips the check.

    Raises:
        RefusedError: Somebody changed the file since it was read.
    """
    make_folder(path.parent, durable=durable)
    if read_as != "" and digest_of(path) != read_as:
        raise changed_meanwhile(path)
    temp = path.with_name(f"{TEMP_PREFIX}{path.name}")
    with disk_errors(path):
        try:
            with create_exclusive(temp) as file:
                file.write(data)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(temp, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temp)
            raise
        if durable:
            sync_folder(path.parent)


def changed_meanwhile(path: Path) -> RefusedError:
    """The refusal to overwrite what somebody changed since it was read."""
    return RefusedError(str(path), "was changed while clsm worked", "run the same command again")


def append(path: Path, record: bytes, *, durable: bool = True) -> None:
    """Add one record, or lines of them joined by newlines, to an append-only log.

    What is acknowledged must be ``durable``. Else the system is asked to begin: left alone, Linux would
    wait for 30 s, so it waits for the file system's journal only, 5 s on ext4.
    """
    make_folder(path.parent)
    with disk_errors(path):
        is_new = not path.exists()
        fd = _open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            if is_new:
                os.fchmod(fd, FILE_MODE)
            line = b"\n" + record + b"\n"
            if os.write(fd, line) != len(line):
                raise OSError(errno.ENOSPC, "the disk is full", str(path))
            if durable:
                os.fsync(fd)
            elif hasattr(os, "posix_fadvise"):  # as sync_file_range would, which Python lacks
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(fd)
        if is_new and durable:
            sync_folder(path.parent)


def remove(path: Path) -> None:
    """Delete a file, durably; a missing one is fine."""
    with disk_errors(path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        sync_folder(path.parent)


def move(path: Path, name: str) -> None:
    """Give a file another name in its folder, durably; one of that name is replaced."""
    with disk_errors(path):
        os.replace(path, path.with_name(name))
        sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Delete a folder with all that is in it, durably; a missing one is fine, no symlink is followed."""
    with disk_errors(path):
        if path.is_dir():
            from shutil import rmtree

            rmtree(path)
        sync_folder(path.parent)


def clear_folder(folder: Path, keep: Collection[str] = ()) -> None:
    """Delete all that is in a folder, but for some names; no symlink is followed."""
    for name in names_in(folder):
        path = folder / name
        if name not in keep:
            (remove_folder if path.is_dir() and not path.is_symlink() else remove)(path)


def names_in(folder: Path) -> list[str]:
    """Names of what lies in a folder, sorted; none where it is missing."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def make_private(path: Path) -> None:
    """Give a folder mode 0700 or a regular file 0600; what is neither stays."""
    with disk_errors(path):
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            os.chmod(path, FOLDER_MODE)
        elif stat.S_ISREG(mode):
            os.chmod(path, FILE_MODE)


def read(path: Path, limit: int) -> bytes | None:
    """The bytes of a regular file of at most ``limit`` bytes, None when it is missing."""
    with disk_errors(path):
        try:
            file = open_to_read(path)
        except FileNotFoundError:
            return None
        with file:
            # Room is made for what is asked for, so a limit of 256 MiB is not asked for.
            known = os.fstat(file.fileno()).st_size
            data = file.read(min(known, limit) + 1)
            if known < len(data) <= limit:  # it grew
                data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit >> 10} KiB"
        raise DamagedStoreError(path, None, f"is larger than {size}")
    return data


def _open(path: Path, flags: int) -> int:
    """A descriptor of a regular file, never of what a symlink points to; a FIFO does not block."""
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        fd = os.open(path, flags, FILE_MODE)
    except OSError as error:
        if error.errno == errno.ELOOP and os.path.islink(path):
            raise DamagedStoreError(path, None, "is a symbolic link") from error
        if error.errno in (errno.ENXIO, errno.EISDIR):
            raise DamagedStoreError(path, None, "is not a regular file") from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise DamagedStoreError(path, None, "is not a regular file")
    return fd


def open_to_read(path: Path) -> BufferedReader:
    """A regular file to read piece by piece."""
    return open(_open(path, os.O_RDONLY), "rb")


def create_exclusive(path: Path) -> BinaryIO:
    """A new private file to write piece by piece, in a folder that is there.

    One that a killed process left behind goes first: only the holder of the store's lock writes, so
    nobody else is using it. The caller syncs what it wrote, and the folder. Raises OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    os.fchmod(fd, FILE_MODE)
    return open(fd, "wb")


def digest_of(path: Path) -> str | None:
    """sha256 of a file, None when it is missing."""
    with disk_errors(path):
        try:
            with open_to_read(path) as file:
                if os.fstat(file.fileno()).st_size <= _SMALL:
                    return sha256(file.read())
                import hashlib  # faster, once it is there

                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return None


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder survive a power cut; raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
