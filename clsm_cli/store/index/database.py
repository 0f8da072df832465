"""The index database: the three ways to open it (write, read, in memory)."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from clsm_cli.errors import DiskError
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA_VERSION = 13
"""Raised whenever the tables (``schema``) or what they mean change; an older index is rebuilt."""


MALFORMED = "malformed"
"""A ``sqlite3.DatabaseError`` whose text begins so tells of a value that the index cannot hold."""
_PAGE = 2048
"""Bytes: with SQLite's 4,096 the many small tables of a small store take a sixth more."""

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
_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_SPOILT = ("no such column", "no such table", "Could not decode", MALFORMED)
"""What else is said of a damaged one: a letter of its schema, or a byte of a text, is another."""

_STUMBLES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What a command ends with that meets what no index holds; a text with another byte among them."""


@contextlib.contextmanager
def disk_errors(derived: Path) -> Iterator[None]:
    """Turn what SQLite says of a disk into the sentence a user can act on.

    A damaged index is deleted: the next command makes it anew. SQLite reads past much damage, rows
    are then missing or are other ones; so whoever stumbles over a row asks whether it was that.
    """
    try:
        yield
    except _STUMBLES as error:
        if not isinstance(error, UnicodeDecodeError) and _is_whole(derived):
            raise
        raise _deleted(derived) from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in _DAMAGE or str(error).startswith(_SPOILT):
            raise _deleted(derived) from error
        if code in _DISK:
            raise DiskError(path_of(derived), str(error)) from error
        raise


def path_of(derived: Path) -> Path:
    """The database file."""
    return derived / "index" / "index.sqlite"


def open_to_write(derived: Path) -> sqlite3.Connection:
    """The index on disk, made new when missing, old or damaged; the caller holds the lock.

    Raises:
        DiskError: The operating system refused.
    """
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
                connection = _connect(f"file:{_quoted(path)}?mode=rw")
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
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DISK:
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
            connection = _connect(f"file:{_quoted(path)}?{options}")
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
    """A private index in memory, a copy of another or empty; for changes that cannot be kept."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if copy_of is None:
        connection.executescript(_schema())
    else:
        copy_of.backup(connection)
    return connection


def tidy(connection: sqlite3.Connection, before: int) -> None:
    """Put the rows of an index that doubled in their order: a twentieth less."""
    if pages(connection) > 2 * before:
        with contextlib.suppress(sqlite3.OperationalError):  # there may be no room
            connection.execute("VACUUM")


def pages(connection: sqlite3.Connection) -> int:
    """The size of the index, in pages."""
    return int(connection.execute("PRAGMA page_count").fetchone()[0])


def discard(derived: Path) -> None:
    """Delete the whole index."""
    folder = path_of(derived).parent
    with atomic.disk_errors(folder):
        if folder.is_symlink():
            os.unlink(folder)
            os.mkdir(folder, atomic.FOLDER_MODE)
        for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
            os.unlink(folder / name)


def _is_whole(derived: Path) -> bool:
    """Whether SQLite finds nothing wrong in all of the database; slow, for the day something is."""
    connection = open_to_read(derived)
    if connection is None:
        return False
    with contextlib.closing(connection), contextlib.suppress(sqlite3.DatabaseError):
        return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    return False


def _deleted(derived: Path) -> DiskError:
    """Delete a damaged index, and what is to be said of it."""
    discard(derived)
    return DiskError(path_of(derived), "was damaged and has been deleted")


def _schema() -> str:
    """What a recall from a fresh index does not load."""
    from clsm_cli.store.index.schema import SCHEMA

    return SCHEMA


def _connect(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=10, isolation_level=None)


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(str(path))


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
