"""The format of a backup: write its parts byte for byte, and read it back with every byte verified.

A backup is a tar file, compressed with gzip. Its first member is the manifest: one line of JSON for
the store, one for each file with its size and sha256, and one with the sha256 of the lines before.
All other bytes follow from the manifest and the files, so a reader need not believe anything that a
header says: it works out what must stand there and compares. In need any ``tar`` unpacks it.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from clsm_cli.config import FORMAT_VERSION
from clsm_cli.errors import DamagedBackupError, NewerFormatError
from clsm_cli.model.ids import is_id, sha256
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic
from clsm_cli.store.jsonlines import LineError, dump, load
from clsm_cli.store.layout import CONFIG_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

MANIFEST = "manifest.jsonl"
"""Name of the first member."""
FOLDER = "memory/"
"""What the names of all other members begin with."""
BLOCK = 512
"""Bytes of a block of tar (POSIX.1-2001, pax)."""
END = bytes(2 * BLOCK)
MAX_MANIFEST = 256 << 20
"""Bytes of a manifest; about 1.5 million files."""
MAX_PATH = 4096
"""Bytes of a path, and 255 of each name in it (Linux)."""
_MAX_LINE = 32 << 10
_MAX_SIZE = 1 << 60
_MAX_MTIME = 8**11 - 1
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_SIZE = re.compile(rb"([0-7]{11})\0")
_KEPT = ("runs", "edit", "shadow")
"""What of ``.clsm`` cannot be derived: what undo needs, a refused draft, the log of shadow mode."""


class Entry(NamedTuple):
    """A file of a backup.

    Attributes:
        path: Relative to the store, with slashes.
        size: Bytes.
    """

    path: str
    size: int
    sha256: str


class Manifest(NamedTuple):
    """What a backup holds, and of what.

    Attributes:
        format: Version of the store format.
        store: Id of the store.
        device: The name under which the machine wrote to it.
        at: When, in UTC, as in the logs.
        files: Sorted by path.
    """

    format: int
    store: str
    device: str
    at: str
    files: tuple[Entry, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(entry.size for entry in self.files)

    @property
    def mtime(self) -> int:
        """The time that every member has, in seconds since 1970."""
        return min(max(0, int(datetime.fromisoformat(self.at).timestamp())), _MAX_MTIME)


def is_kept(path: str) -> bool:
    """Whether a file of a store belongs into a backup, and may come out of one.

    Git's own folders do not: a repository is copied by ``git clone``, and one that comes with a
    backup could name programs to be run.

    >>> [is_kept(p) for p in ("tasks/today.md", ".clsm/runs/run-1/x/0000", ".clsm/index/index.sqlite")]
    [True, True, False]
    >>> [is_kept(p) for p in (".git/config", "../x", "/etc/passwd", "a//b", "tasks/.tmp-today.md")]
    [False, False, False, False, False]
    """
    names = path.split("/")
    if len(path.encode("utf-8", "surrogatepass")) > MAX_PATH or not all(map(_is_name, names)):
        return False
    return names[0] != ".clsm" or (len(names) > 1 and names[1] in _KEPT)


def _is_name(name: str) -> bool:
    if name in ("", ".", "..") or name.casefold() == ".git" or name.startswith(atomic.TEMP_PREFIX):
        return False
    return is_plain(name) and len(name.encode()) <= 255


def is_plain(name: str) -> bool:
    r"""Whether a name is UTF-8 without control characters.

    >>> is_plain("Zoë.md"), is_plain("a\x1b[31m"), is_plain("\udcff")
    (True, False, False)
    """
    return not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in name)


def render(manifest: Manifest) -> bytes:
    """The bytes of a manifest."""
    names = ("format", "store", "device", "at")
    first: dict[str, Any] = {name: getattr(manifest, name) for name in names}
    first |= {"files": len(manifest.files), "size": manifest.size}
    lines = [dump(first), *(dump(entry._asdict()) for entry in manifest.files)]
    text = "".join(f"{line}\n" for line in lines).encode()
    return text + _last_line(text)


def _last_line(text: bytes) -> bytes:
    return f"{dump({'sha256': sha256(text)})}\n".encode()


def parse(data: bytes, path: Path, known: int) -> Manifest:
    """The manifest that stands in ``data``.

    Args:
        data: The first member of a backup.
        path: The backup, for messages.
        known: The newest format that can be read.

    Raises:
        LineError: It is none; the text says why.
        NewerFormatError: A newer clsm wrote it.
    """
    body = data[: data.rstrip(b"\n").rfind(b"\n") + 1]
    if data != body + _last_line(body):
        raise LineError("its manifest is not as it was written")
    try:
        rows = [load(line, _MAX_LINE) for line in body.decode("utf-8").split("\n")[:-1]]
        first = rows[0] if rows else None
        if not isinstance(first, dict) or type(first["format"]) is not int:
            raise LineError("its manifest has no format")
        if first["format"] > known:
            raise NewerFormatError(path, first["format"], known)
        files = tuple(Entry(row["path"], row["size"], row["sha256"]) for row in rows[1:])
        found = Manifest(first["format"], first["store"], first["device"], first["at"], files)
        if render(found) != data:
            raise LineError("its manifest is not as it was written")
    except (UnicodeDecodeError, LookupError, TypeError) as error:
        raise LineError(f"its manifest cannot be read ({error})") from None
    _check(found)
    return found


def _check(manifest: Manifest) -> None:
    """Refuse a manifest that a clsm would not have written; its values have a form, and no more."""
    if not is_id(manifest.device) or not isinstance(manifest.store, str):
        raise LineError("its manifest names no device or store")
    try:
        is_time = _TIME.fullmatch(manifest.at) and datetime.fromisoformat(manifest.at)
    except (TypeError, ValueError):
        is_time = None
    if not is_time:
        raise LineError("its manifest has no time")
    paths: set[str] = set()
    folders: set[str] = set()
    last = ""
    for entry in manifest.files:
        if not isinstance(entry.path, str) or not is_kept(entry.path):
            raise LineError(f"it names a file that no store has ({str(entry.path)[:80]})")
        if entry.path <= last:
            raise LineError(f"its files are not in order ({entry.path})")
        if type(entry.size) is not int or not 0 <= entry.size < _MAX_SIZE:
            raise LineError(f"{entry.path} has no size")
        last = entry.path
        paths.add(entry.path)
        names = entry.path.split("/")
        folders |= {"/".join(names[:n]) for n in range(1, len(names))}
    if paths & folders:
        raise LineError(f"{min(paths & folders)} is a file and a folder")


def header(name: str, size: int, mtime: int) -> bytes:
    """The blocks before a member's content.

    A name that is longer than 100 bytes or not ASCII, and a size of 8 GiB or more, stand in an
    extended header before it, as POSIX (pax) has it.

    Args:
        name: Of the member.
        size: Bytes of its content.
        mtime: Seconds since 1970.
    """
    more = b""
    if not name.isascii() or len(name) > 100:
        more += _record("path", name)
    if size >= 8**11:
        more += _record("size", str(size))
    own = _block(name, 0 if size >= 8**11 else size, mtime, b"0")
    if not more:
        return own
    return _block("extended", len(more), mtime, b"x") + more + padding(len(more)) + own


def padding(size: int) -> bytes:
    """What fills the last block after ``size`` bytes.

    >>> len(padding(0)), len(padding(1)), len(padding(512))
    (0, 511, 0)
    """
    return bytes(-size % BLOCK)


def _record(key: str, value: str) -> bytes:
    r"""A record of an extended header: its length, which counts itself, then key and value.

    >>> _record("path", "x" * 91)[:10], len(_record("path", "x" * 91))
    (b'101 path=x', 101)
    """
    rest = f" {key}={value}\n".encode()
    size = len(rest)
    while len(str(size)) + len(rest) != size:
        size = len(str(size)) + len(rest)
    return str(size).encode() + rest


def _block(name: str, size: int, mtime: int, kind: bytes) -> bytes:
    """A header of tar: an ordinary private file, by nobody in particular."""
    short = name.encode("ascii", "replace")[:100]
    fields = short.ljust(100, b"\0") + b"%07o\0%07o\0%07o\0" % (atomic.FILE_MODE, 0, 0)
    fields += b"%011o\0%011o\0" % (size, mtime)
    rest = kind + bytes(100) + b"ustar\x0000" + bytes(64) + b"%07o\0%07o\0" % (0, 0)
    rest += bytes(167)
    total = sum(fields) + sum(rest) + 8 * ord(" ")
    return fields + b"%06o\0 " % total + rest


def size_in(block: bytes) -> int | None:
    """The size that a header names; None when it is none.

    >>> size_in(header("a", 70, 0)), size_in(b"short")
    (70, None)
    """
    digits = _SIZE.fullmatch(block[124:136])
    return int(digits[1], 8) if digits else None


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
            head = header(FOLDER + entry.path, entry.size, mtime)
            self._expect(head, f"what stands before {entry.path} is not as it was written")
            yield entry, self._content(entry)
            self._expect(padding(entry.size), f"{entry.path} is not as it was written")
        self._expect(END, "its end is missing")
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
        head = self._exactly(BLOCK)
        size = size_in(head)
        if size is None or not head.startswith(MANIFEST.encode()):
            raise self._damaged("is no backup of a clsm memory")
        if size > MAX_MANIFEST:
            raise self._damaged("its manifest is too large")
        data = self._exactly(size)
        try:
            manifest = parse(data, self.path, FORMAT_VERSION)
        except LineError as error:
            raise self._damaged(str(error)) from None
        if head != header(MANIFEST, size, manifest.mtime):
            raise self._damaged("what stands before its manifest is not as it was written")
        self._expect(padding(size), "its manifest is not as it was written")
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
        atomic.open_to_read(path) as file,
        gzip.GzipFile(fileobj=file, mode="rb") as stream,
    ):
        yield Reader(path, stream)  # type: ignore[arg-type]  # it reads like one
