"""What was computed of the store's texts, kept so that a small change computes little again.

A key is the digest of all that a value depends on, and of clsm's version, so a value is never old. The
file lies in the index's folder: it may vanish at any time, which only costs time, and ``clsm forget``
destroys it. Whoever computes of texts opens it before reading them: a forget meanwhile leaves only a
deleted file to write to. Like all of the store, it is written under the lock alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from clsm_cli import __version__
from clsm_cli.errors import DiskError
from clsm_cli.model.ids import sha256
from clsm_cli.store import atomic
from clsm_cli.store.index.database import is_of_disk

_SCHEMA = (
    "CREATE TABLE memo (part TEXT, key BLOB, value BLOB, PRIMARY KEY (part, key)) WITHOUT ROWID"
)


def path_of(derived: Path) -> Path:
    """The file."""
    return derived / "index" / "memo.sqlite"


class Memo:
    """The values of one part, by key; a value is what JSON can hold."""

    def __init__(self, known: dict[bytes, bytes]) -> None:
        """Begin with the packed values that are on disk."""
        self.known = known
        self.asked: dict[bytes, bytes] = {}

    def value(self, depends_on: Any, compute: Callable[[], Any]) -> Any:
        """The value that ``compute`` returns, in JSON's types, or returned once for the same ``depends_on``."""
        key = bytes.fromhex(sha256(repr((__version__, depends_on)).encode()))
        with contextlib.suppress(
            LookupError, TypeError, ValueError, zlib.error
        ):  # missing or damaged
            found = json.loads(zlib.decompress(self.known[key]))
            self.asked[key] = self.known[key]
            return found
        text = json.dumps(compute())
        self.asked[key] = zlib.compress(text.encode())
        return json.loads(text)


Permit = Callable[[], contextlib.AbstractContextManager[bool]]
"""What is entered before the file is written, and tells whether it may be; like ``lock.try_locked``."""


def held() -> contextlib.AbstractContextManager[bool]:
    """The permit of a caller who holds the store's lock."""
    return contextlib.nullcontext(enter_result=True)


def refused() -> contextlib.AbstractContextManager[bool]:
    """The permit of a caller whose values nobody will ask for again."""
    return contextlib.nullcontext(enter_result=False)


@contextlib.contextmanager
def remembered(derived: Path, part: str, permit: Permit = held) -> Iterator[Memo]:
    """The values of a part; with a permit, those that were asked for within are kept, and the others dropped."""
    connection, known = _open(path_of(derived), part, permit)
    with contextlib.closing(connection):
        memo = Memo(known)
        yield memo
        gone = [(part, key) for key in known.keys() - memo.asked.keys()]
        new = [(part, *row) for row in memo.asked.items() if known.get(row[0]) != row[1]]
        if gone or new:
            # The disk may be locked, full or damaged.
            with contextlib.suppress(sqlite3.DatabaseError, DiskError), permit() as may_write:
                if may_write:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany("DELETE FROM memo WHERE part = ? AND key = ?", gone)
                    connection.executemany("INSERT OR REPLACE INTO memo VALUES (?, ?, ?)", new)
                    connection.execute("COMMIT")


def _open(path: Path, part: str, permit: Permit) -> tuple[sqlite3.Connection, dict[bytes, bytes]]:
    """The database and what it holds of a part; made anew if damaged, in memory where that may not be."""
    with contextlib.suppress(DiskError):
        for _ in range(0 if path.parent.is_symlink() else 2):
            try:
                if (path.is_file() and not path.is_symlink()) or _make(path, permit):
                    return _read(_connected(f"{path.absolute().as_uri()}?mode=rw"), part)
                break
            except sqlite3.DatabaseError as error:
                if is_of_disk(error):
                    break
                with permit() as may_write:
                    if not may_write:
                        break
                    atomic.remove(path)
    connection = _connected(":memory:")
    connection.execute(_SCHEMA)
    return _read(connection, part)


def _make(path: Path, permit: Permit) -> bool:
    """Make the file if that is permitted."""
    with permit() as may_write:
        if may_write:
            atomic.make_folder(path.parent)
            with atomic.disk_errors(path):
                flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
                os.close(os.open(path, flags, atomic.FILE_MODE))
            with contextlib.closing(_connected(f"{path.absolute().as_uri()}?mode=rw")) as made:
                made.execute(_SCHEMA)
        return may_write


def _connected(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)
    # Without a journal on disk: a power cut costs the values.
    with _closing_on_error(connection):
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
    return connection


def _read(
    connection: sqlite3.Connection, part: str
) -> tuple[sqlite3.Connection, dict[bytes, bytes]]:
    with _closing_on_error(connection):
        query = "SELECT key, value FROM memo WHERE part = ?"
        return connection, dict(connection.execute(query, (part,)))


@contextlib.contextmanager
def _closing_on_error(connection: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise
