"""The index database: the three ways to open it (write, read, in memory), and the rows of a query."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import DiskError
from clsm_cli.store import atomic
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from clsm_cli.model.codec import Record

SCHEMA_VERSION = 24
"""Raised whenever the tables (``schema.sql``) or what they mean change; an older index is rebuilt."""

_PAGE = 2048  # bytes: with SQLite's 4,096 the many small tables of a small store take a sixth more
_MAPPED = 1 << 30
"""Bytes of an index that are mapped while it is copied; the rest of a larger one is read."""

_DISK = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
    }
)
_BATCH = 500  # SQLite takes a limited number of parameters
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SPOILT = ("no such column", "no such table", "Could not decode", "malformed")
"""What else SQLite says of a damaged one: a letter of its schema, or a byte of a text, is another."""

_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a command may end with that finds other rows than it expects."""


class DamagedRowError(sqlite3.DatabaseError):
    """A value that cannot be read as what was written there."""


@contextlib.contextmanager
def index_errors(derived: Path) -> Iterator[None]:
    """Turn what SQLite says of a disk into the sentence a user can act on.

    A damaged index is deleted: the next command makes it anew. Only what reads a row says that it is
    damaged. SQLite also reads past much damage, rows are then missing or are other ones, and what is
    done with them stumbles somewhere else. Whether it was that is for SQLite to say, since a fault of
    clsm looks the same.
    """
    try:
        yield
    except _STUMBLES as error:
        if not _is_damaged(derived):
            raise
        raise _deleted(derived) from error
    except sqlite3.DatabaseError as error:
        if _tells_of_damage(error):
            raise _deleted(derived) from error
        if is_of_disk(error):
            raise DiskError(path_of(derived), str(error)) from error
        raise


def _tells_of_damage(error: sqlite3.DatabaseError) -> bool:
    if isinstance(error, DamagedRowError) or _code(error) in _DAMAGE:
        return True
    return str(error).startswith(_SPOILT)


def is_of_disk(error: sqlite3.DatabaseError) -> bool:
    """Whether it was the disk that refused, or another process; a new index would fare no better."""
    return _code(error) in _DISK


def _code(error: sqlite3.DatabaseError) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def path_of(derived: Path) -> Path:
    """The database file."""
    return derived / "index" / "index.sqlite"


def open_to_write(derived: Path) -> sqlite3.Connection:
    """The index on disk, made new when missing, old or damaged; the caller holds the lock."""
    path = path_of(derived)
    atomic.make_folder(path.parent)
    with atomic.disk_errors(path):
        reason = "cannot be made"
        if path.is_symlink() or path.parent.is_symlink():
            discard(derived)
        for _ in range(2):
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            fd = os.open(path, flags, atomic.FILE_MODE)
            os.fchmod(fd, atomic.FILE_MODE)  # SQLite gives its side files the same mode
            os.close(fd)
            try:
                connection = _connect(f"{path.absolute().as_uri()}?mode=rw")
                connection.execute(f"PRAGMA page_size = {_PAGE}")
                connection.execute("PRAGMA journal_mode = WAL")
                if _version(connection) == 0:
                    connection.executescript(_schema())
                    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
                if _version(connection) == SCHEMA_VERSION:
                    return connection
                connection.close()
            except sqlite3.DatabaseError as error:
                reason = str(error)
                if is_of_disk(error):
                    break
            discard(derived)
    raise DiskError(path, reason)


def open_to_read(derived: Path) -> sqlite3.Connection | None:
    """The index on disk for reading only; None when it is missing, old or damaged."""
    path = path_of(derived)
    if not path.exists() or path.is_symlink() or path.parent.is_symlink():
        return None
    for options in ("mode=ro", "mode=ro&immutable=1"):  # the second where the folder is read-only
        if "immutable" in options and os.access(path.parent, os.W_OK):
            break
        with contextlib.suppress(sqlite3.DatabaseError):
            connection = _connect(f"{path.absolute().as_uri()}?{options}")
            if _version(connection) == SCHEMA_VERSION:
                return connection
            connection.close()
            return None
    return None


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing; within another one, part of that."""
    is_own = not connection.in_transaction
    connection.execute("BEGIN IMMEDIATE" if is_own else "SAVEPOINT step")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite may have ended it
            connection.execute("ROLLBACK" if is_own else "ROLLBACK TO step")
        raise
    connection.execute("COMMIT" if is_own else "RELEASE step")


def in_memory(copy_of: sqlite3.Connection | None) -> sqlite3.Connection:
    """A private index in memory, a copy of another or empty; for changes that cannot be kept.

    SQLite has one writer, so beside a run that holds its transaction there is no other way to add to
    what is read. Pages that are mapped are copied at once, 0.7 ms a megabyte, half of what it costs
    to read them one by one.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if copy_of is None:
        connection.executescript(_schema())
    else:
        copy_of.execute(f"PRAGMA mmap_size = {_MAPPED}")
        copy_of.backup(connection)
        copy_of.execute("PRAGMA mmap_size = 0")
    return connection


def discard(derived: Path) -> None:
    """Delete the whole index."""
    folder = path_of(derived).parent
    with atomic.disk_errors(folder):
        if folder.is_symlink():
            os.unlink(folder)
            os.mkdir(folder, atomic.FOLDER_MODE)
        for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
            os.unlink(folder / name)


def select(connection: sqlite3.Connection, query: str, values: Iterable[Any]) -> Iterator[Any]:
    """The rows of a query for some values, which stand where it has ``{}``; at most ``_BATCH`` at once."""
    listed = list(values)
    for start in range(0, len(listed), _BATCH):
        batch = listed[start : start + _BATCH]
        yield from connection.execute(query.format(",".join("?" * len(batch))), batch)


def column(connection: sqlite3.Connection, query: str, values: Sequence[Any] = ()) -> list[Any]:
    """The first value of every row of a query."""
    return [row[0] for row in connection.execute(query, values)]


_FORM = (
    b'{"id": "d-", "record": "document", "rev": [1, "origin": "/", "path": "/memory/2026-", "sha256": ""'
    b'{"id": "", "record": "node", "rev": [1, "", "label": "", "kind": "person", "aliases": ["", "exact":'
    b' ["", "summary": "", "stream": "projects", "confidence": 0.7, "n": 1, "first": "2026-", "last": "'
    b'{"id": "e-", "record": "episode", "rev": [2, "", "title": "", "narrative": "", "topic": "",'
    b' "valence": -0., "novelty": 0., "surprise": 0., "decisions": [], "open_questions": [{"text": "'
    b'", "mentions": {"": [""], "": [""]}, "stage": "consolidated", "digest": ""}'
    b'{"id": "f-", "record": "statement", "rev": [1, "", "text": "", "text_sha": "", "kind": "task",'
    b' "decision", "preference", "stream": "flow", "topic": "tasks", "facts", "decisions", "preferences",'
    b' "state": "open", "due": "", "subject": "", "value": "", "sources": [""], "valid_from": "2026-", '
    b'"valid_until": "", "recorded_at": "2026-", "superseded_at": "", "trust": "agent", "pinned": true}'
    b'{"id": "g-", "record": "edge", "rev": [1, "", "source": "", "target": "", "type": "next",'
    b' "directed": true, "n": 2, "weight": 0.1, "recorded_at": "2026-", "blocks": [{"key": "", '
    b'"lines": [1, 1], "heading": ["'
)
"""Text like that of records, which zlib refers back to: short records have little of their own."""


def pack(mapping: dict[str, Any]) -> bytes:
    """A record's mapping, compressed to a quarter."""
    packer = zlib.compressobj(zdict=_FORM)
    return packer.compress(dump(mapping).encode()) + packer.flush()


def mapping_of(line: bytes) -> dict[str, Any]:
    """The mapping again, not looked at: it was a record when it was packed."""
    try:
        mapping: dict[str, Any] = json.loads(zlib.decompressobj(zdict=_FORM).decompress(line))
    except (zlib.error, TypeError, ValueError) as error:
        raise DamagedRowError(str(error)) from error
    return mapping


def unpack(line: bytes) -> Record:
    """The record again."""
    from clsm_cli.model.codec import decode

    return decode(mapping_of(line))


def json_list(text: str | None) -> list[Any]:
    """The list that a column has as JSON; an empty one for NULL."""
    try:
        found: list[Any] = json.loads(text) if text else []
    except (TypeError, ValueError) as error:
        raise DamagedRowError(str(error)) from error
    return found


def _is_damaged(derived: Path) -> bool:
    """Whether SQLite finds damage anywhere in the database; slow, for the day something is wrong.

    An index that is not there, or that another version made, is not damaged.
    """
    connection = open_to_read(derived)
    if connection is None:
        return False
    with contextlib.closing(connection):
        try:
            connection.execute("SELECT sql FROM sqlite_master").fetchall()  # is it UTF-8?
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",))
        except UnicodeDecodeError:
            return True
        except sqlite3.DatabaseError as error:
            return _tells_of_damage(error)


def _deleted(derived: Path) -> DiskError:
    """Delete a damaged index, and what is to be said of it."""
    discard(derived)
    return DiskError(path_of(derived), "was damaged and has been deleted")


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)


def _schema() -> str:
    return Path(__file__).with_name("schema.sql").read_text("utf-8")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


FOLDER = "rtrim({0}, replace({0}, '/', ''))"
"""SQL for the folder of a path, with its last slash."""
IN_SESSION = "p.session = ? AND p.session <> ''"
"""SQL for the ``placed_passages p`` of a session; SQLite uses their index, which has no empty one, only if told so."""
