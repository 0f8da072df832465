"""Publishing: what a run did is seen in one moment, when it ends.

A run changes files for seconds or for minutes. While it does, and only then, the index says so; and
whoever cannot have the lock reads the index as it was before, whole, instead of files in flux.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from clsm_cli.store.index import database

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.store.layout import Store

_MARK = "at_work"
_AWAY = f"DELETE FROM meta WHERE key = '{_MARK}'"


@contextlib.contextmanager
def at_work(connection: sqlite3.Connection) -> Iterator[None]:
    """A run, while it changes files step by step: until it ends, others read the index as it was.

    The caller holds the lock, has brought the index up to date, and does so again before this ends:
    what the run did is published in that moment. If it fails, or is killed, nothing is; who next
    has the lock brings the index up to date. (A mark that a killed run left tells nothing then.)
    """
    before = database.pages(connection)
    connection.execute(f"INSERT OR REPLACE INTO meta VALUES ('{_MARK}', '')")
    try:
        with database.transaction(connection):
            yield
            connection.execute(_AWAY)
    except BaseException:
        with contextlib.suppress(sqlite3.OperationalError):  # the disk may be full
            connection.execute(_AWAY)
        raise
    database.tidy(connection, before)


def is_at_work(store: Store) -> bool:
    """Whether a run changes files at this moment, so that they are not yet what they will be.

    Raises:
        DiskError: The index is damaged; it is deleted, and the next call makes it.
    """
    from clsm_cli.store.lock import try_locked

    disk = database.open_to_read(store.derived)
    if disk is None:
        return False
    with contextlib.closing(disk), database.disk_errors(store.derived):
        if not is_marked(disk):
            return False
    with try_locked(store.root) as is_held:
        return not is_held


def is_marked(connection: sqlite3.Connection) -> bool:
    """Whether a run was at work when this was read, or was killed at it."""
    query = f"SELECT 1 FROM meta WHERE key = '{_MARK}'"
    return connection.execute(query).fetchone() is not None
