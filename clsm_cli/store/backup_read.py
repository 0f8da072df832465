"""Reading a backup: every byte of it is what the manifest and the digests say, or it is refused."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from clsm_cli.config import FORMAT_VERSION
from clsm_cli.errors import DamagedBackupError
from clsm_cli.store import atomic, backup_form
from clsm_cli.store.jsonlines import LineError
from clsm_cli.store.layout import CONFIG_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

    from clsm_cli.store.backup_form import Entry, Manifest

Progress = Callable[[str, int, int], None]
"""Called with what is done, and how much of how much."""
PIECE = 1 << 20
"""Bytes that are in memory at once, of a file of whatever size."""


class Reader:
    """An opened backup.

    Attributes:
        manifest: What it holds; it is consistent, the files are not read yet.
    """

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path = path
        self._stream = stream
        self.manifest: Manifest = self._read_manifest()

    def files(self) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """Each file with its bytes in pieces, which must be used up before the next is asked for.

        Only at the end of all is it sure that the backup is whole.

        Raises:
            DamagedBackupError: It is not what was written.
        """
        mtime = self.manifest.mtime
        for entry in self.manifest.files:
            head = backup_form.header(backup_form.FOLDER + entry.path, entry.size, mtime)
            self._expect(head, f"what stands before {entry.path} is not as it was written")
            yield entry, self._content(entry)
            self._expect(backup_form.padding(entry.size), f"{entry.path} is not as it was written")
        self._expect(backup_form.END, "its end is missing")
        if self._read(1):
            raise self._damaged("it goes on behind its end")

    def check(self, progress: Progress) -> None:
        """Read it all.

        Raises:
            DamagedBackupError: It is not what was written.
        """
        done, total = 0, self.manifest.size
        for _, pieces in self.files():
            for piece in pieces:
                done += len(piece)
                progress("checking", done, total)

    def _content(self, entry: Entry) -> Iterator[bytes]:
        digest = hashlib.sha256()
        left = entry.size
        while left:
            piece = self._read(min(left, PIECE))
            if not piece:
                raise self._damaged("it breaks off")
            digest.update(piece)
            left -= len(piece)
            yield piece
        if digest.hexdigest() != entry.sha256:
            raise self._damaged(f"{entry.path} is not what was stored")

    def _read_manifest(self) -> Manifest:
        head = self._exactly(backup_form.BLOCK)
        size = backup_form.size_in(head)
        if size is None or not head.startswith(backup_form.MANIFEST.encode()):
            raise self._damaged("is no backup of a clsm memory")
        if size > backup_form.MAX_MANIFEST:
            raise self._damaged("its manifest is too large")
        data = self._exactly(size)
        try:
            manifest = backup_form.parse(data, self.path, FORMAT_VERSION)
        except LineError as error:
            raise self._damaged(str(error)) from None
        if head != backup_form.header(backup_form.MANIFEST, size, manifest.mtime):
            raise self._damaged("what stands before its manifest is not as it was written")
        self._expect(backup_form.padding(size), "its manifest is not as it was written")
        if all(entry.path != CONFIG_NAME for entry in manifest.files):
            raise self._damaged(f"it has no {CONFIG_NAME}")
        return manifest

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            piece = self._read(size - len(found))
            if not piece:
                raise self._damaged("it breaks off")
            found += piece
        return found

    def _expect(self, wanted: bytes, reason: str) -> None:
        if self._exactly(len(wanted)) != wanted:
            raise self._damaged(reason)

    def _read(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except EOFError:
            raise self._damaged("it breaks off") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise self._damaged(f"cannot be unpacked ({error})") from None

    def _damaged(self, reason: str) -> DamagedBackupError:
        return DamagedBackupError(self.path, reason)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Reader]:
    """Open a backup and read its manifest.

    Raises:
        DamagedBackupError: It is none, or is damaged.
        NewerFormatError: A newer clsm wrote it.
        DiskError: It cannot be read.
    """
    with (
        atomic.disk_errors(path),
        atomic.reader(path) as file,
        gzip.GzipFile(fileobj=file, mode="rb") as stream,
    ):
        yield Reader(path, stream)  # type: ignore[arg-type]  # it reads like one
