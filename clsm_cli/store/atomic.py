"""Safe writes: every change of a store goes through here.

``put`` replaces a file: readers see the old or the new bytes, never a mixture, even after a power
cut (temp file in the same folder, flush, fsync, ``os.replace``, fsync of the folder). ``append``
adds one line to a log in one ``write``. A killed writer can leave a torn line; the leading newline
separates it from the next line (without it, 2 of 500,000 acknowledged lines were lost under random
kills; with it none of 1,900,000).

Symlinks are never followed, and anything but a regular file raises DamagedStoreError. Errors of the
operating system become DiskError; the old content then stays intact.

Names of temp files begin with ``.tmp-``. Readers ignore them, and the next ``put`` of the same file
by any process replaces them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Collection, Iterator, Mapping
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from clsm_cli.errors import DamagedStoreError, DiskError, RefusedError
from clsm_cli.model import ids

FOLDER_MODE = 0o700
FILE_MODE = 0o600
TEMP_PREFIX = ".tmp-"
_TOGETHER = 64  # files that are open at once


@contextlib.contextmanager
def disk_errors(path: Path | str) -> Iterator[None]:
    """Convert an ``OSError`` to a DiskError, whose sentence a user can act on."""
    try:
        yield
    except OSError as error:
        named = error.filename if isinstance(error.filename, str) else path
        raise DiskError(named, error.strerror or str(error)) from error


_SMALL = 1 << 20
"""Files up to this many bytes are hashed without OpenSSL, which takes longer to load."""
sha256 = ids.sha256


def make_folder(path: Path, *, durable: bool = True) -> None:
    """Create a folder and its missing parents with mode 0700, whatever the umask."""
    with disk_errors(path):
        missing = []
        while not path.is_dir():
            missing.append(path)
            path = path.parent
        for folder in reversed(missing):
            try:
                os.mkdir(folder, FOLDER_MODE)
            except FileExistsError:
                if not folder.is_dir():  # otherwise another process made it
                    raise
            else:
                os.chmod(folder, FOLDER_MODE)  # the umask applies to mkdir
                if durable:
                    sync_folder(folder.parent)


def put(path: Path, data: bytes, *, read_as: str | None = "", durable: bool = True) -> None:
    """Replace the content of ``path``; if ``durable``, it survives a power cut from then on.

    ``read_as`` is the sha256 of the content that ``data`` was made from, None for a missing file; the
    default skips the check.

    Raises:
        RefusedError: The file changed since it was read.
    """
    if read_as != "" and digest_of(path) != read_as:
        raise changed_meanwhile(path)
    put_all({path: data}, durable=durable)


def put_all(files: Mapping[Path, bytes], *, durable: bool = True) -> None:
    """Replace the content of files as ``put`` does, in their order, or in any after a power cut.

    The disk writes them together, which takes less time than one by one.
    """
    paths = list(files)
    for start in range(0, len(paths), _TOGETHER):
        _put_together(
            {path: files[path] for path in paths[start : start + _TOGETHER]}, durable=durable
        )
    for folder in {path.parent: None for path in paths} if durable else ():
        with disk_errors(folder):
            sync_folder(folder)


def _put_together(files: Mapping[Path, bytes], *, durable: bool) -> None:
    temps = {path: path.with_name(f"{TEMP_PREFIX}{path.name}") for path in files}
    with contextlib.ExitStack() as stack:
        try:
            opened = []
            for path, data in files.items():
                make_folder(path.parent, durable=durable)
                with disk_errors(path):
                    file = stack.enter_context(create_exclusive(temps[path]))
                    file.write(data)
                    file.flush()
                    if durable and len(files) > 1:
                        _start_writing(file.fileno())
                opened.append((path, file))
            for path, file in opened:
                with disk_errors(path):
                    if durable:
                        os.fsync(file.fileno())
                    os.replace(temps[path], path)
        except BaseException:
            for temp in temps.values():
                with contextlib.suppress(OSError):
                    os.unlink(temp)
            raise


def _start_writing(fd: int) -> None:
    """Start to write a file to the disk, without waiting."""
    if hasattr(os, "posix_fadvise"):  # acts as sync_file_range, which Python lacks
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def changed_meanwhile(path: Path) -> RefusedError:
    """The error for a file that changed since it was read."""
    return RefusedError(str(path), "was changed while clsm worked", "run the same command again")


def append(path: Path, record: bytes, *, durable: bool = True) -> None:
    """Add a record, or several joined by newlines, to an append-only log.

    A write that is acknowledged must be ``durable``. Otherwise write-back only starts at once, so a
    power cut costs the last 5 s (the journal interval of ext4) instead of Linux's 30 s.
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
            else:
                _start_writing(fd)
        finally:
            os.close(fd)
        if is_new and durable:
            sync_folder(path.parent)


def remove(path: Path) -> None:
    """Delete a file durably; a missing one is no error."""
    with disk_errors(path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        sync_folder(path.parent)


def move(path: Path, name: str) -> None:
    """Rename a file in its folder durably; replaces a file of that name."""
    with disk_errors(path):
        os.replace(path, path.with_name(name))
        sync_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Delete a folder and its content durably; a missing one is no error. Follows no symlink."""
    with disk_errors(path):
        if path.is_dir():
            from shutil import rmtree

            rmtree(path)
        sync_folder(path.parent)


def clear_folder(folder: Path, keep: Collection[str] = ()) -> None:
    """Delete the content of a folder, except the names to ``keep``. Follows no symlink."""
    for name in names_in(folder):
        path = folder / name
        if name not in keep:
            (remove_folder if path.is_dir() and not path.is_symlink() else remove)(path)


def names_in(folder: Path) -> list[str]:
    """Sorted names of a folder's entries; empty if the folder is missing."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def make_private(path: Path) -> None:
    """Set mode 0700 on a folder or 0600 on a regular file; anything else stays as it is."""
    with disk_errors(path):
        mode = os.lstat(path).st_mode
        if stat.S_ISDIR(mode):
            os.chmod(path, FOLDER_MODE)
        elif stat.S_ISREG(mode):
            os.chmod(path, FILE_MODE)


def read(path: Path, limit: int) -> bytes | None:
    """The content of a regular file, None if it is missing; DamagedStoreError above ``limit`` bytes."""
    with disk_errors(path):
        try:
            file = open_to_read(path)
        except FileNotFoundError:
            return None
        with file:
            # ``read`` allocates as much as requested: request the size, not a limit of 256 MiB.
            known = os.fstat(file.fileno()).st_size
            data = file.read(min(known, limit) + 1)
            if known < len(data) <= limit:  # the file has grown
                data += file.read(limit + 1 - len(data))
    if len(data) > limit:
        size = f"{limit >> 20} MiB" if limit >> 20 else f"{limit >> 10} KiB"
        raise DamagedStoreError(path, None, f"is larger than {size}")
    return data


def _open(path: Path, flags: int) -> int:
    """Open a regular file without following a symlink; a FIFO does not block."""
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
    """Open a regular file for reading."""
    return open(_open(path, os.O_RDONLY), "rb")


def create_exclusive(path: Path) -> BinaryIO:
    """Create a private file in an existing folder and open it for writing.

    A file that a killed process left behind is deleted first: only the holder of the store's lock
    writes, so nobody else uses it. The caller syncs the file and the folder. Raises OSError.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE)
    os.fchmod(fd, FILE_MODE)
    return open(fd, "wb")


def digest_of(path: Path) -> str | None:
    """The sha256 of a file, None if it is missing."""
    with disk_errors(path):
        try:
            with open_to_read(path) as file:
                if os.fstat(file.fileno()).st_size <= _SMALL:
                    return sha256(file.read())
                import hashlib  # faster once loaded

                return hashlib.file_digest(file, "sha256").hexdigest()
        except FileNotFoundError:
            return None


def sync_folder(folder: Path) -> None:
    """Sync a folder, so that its names survive a power cut; raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
