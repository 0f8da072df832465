"""Open an index, brought up to date as far as that is possible without waiting.

With the store's lock free, changes are written to the index on disk. While a run is at work
(``run_in_progress``), that index is read as it is: what it was before the run, whole, until the run
publishes what it did; only what was captured since is added, as below. Else, and on a read-only
disk, all changes are applied to a copy in memory, by words only: the answer is right, only the next
one has to do the same again.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from clsm_cli.errors import DiskError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import database, vectors
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.indexed_files import FileChanges, Progress, changes, split_aside
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.index.vectors import Embed
from clsm_cli.store.layout import Store

_MARK = "at_work"
_AWAY = f"DELETE FROM meta WHERE key = '{_MARK}'"
_OVERLAID = (
    "the index could not be updated now (another clsm is writing, or the disk is read-only): what is"
    " new was searched by words only"
)
_LEFT = "more was captured while another clsm works than a recall reads; it is found once that ends"
_NOTHING = FileChanges({}, ())
_TRIES = 5  # times that files are read again which changed while they were read
_DAMAGED = (
    ".clsm/index/tokens.q2: damaged where {} passages have their vectors, which were left out;"
    " the next command makes them anew"
)


class Embedder(NamedTuple):
    """An engine's name, and how to make it embed; making it may be slow, so it is made late.

    ``words``: what the words of texts mean, without regard to each other (``embedding.wordpiece``).
    """

    engine: str
    embed: Callable[[], Embed]
    words: Callable[[Sequence[str]], Sequence[Sequence[float]]] | None = None


class OpenedIndex:
    """An index and what the reader should be told about it."""

    def __init__(self, index: Index, warnings: list[str]) -> None:
        self.index = index
        self.warnings = warnings

    def late_warnings(self) -> list[str]:
        """What turned out only while the index was asked."""
        count = len(self.index.vectors.damaged)
        return [_DAMAGED.format(count)] if count else []


def bring_up_to_date(
    store: Store,
    connection: sqlite3.Connection,
    embedder: Embedder | None = None,
    progress: Progress | None = None,
    *,
    at_most: int | None = None,
) -> None:
    """Apply all changes of files and embed what has no vector; the caller holds the lock.

    Without an ``embedder`` no vectors are made, nor if more than ``at_most`` passages need one.
    """
    found = changes(connection, store)
    if found.any:
        from clsm_cli.store.index.refresh import refresh

        refresh(connection, store, found)
    if embedder is None:
        return
    files = VectorFiles(connection, store.derived)
    files.use_engine(embedder.engine)
    total = files.waiting
    if not total or (at_most is not None and total > at_most):
        return
    vectors.add(files, vectors.missing(connection), embedder.embed(), progress)


@contextlib.contextmanager
def updated_index(store: Store, embedder: Embedder | None = None) -> Iterator[sqlite3.Connection]:
    """The index on disk, brought up to date and open for writing; the caller holds the lock."""
    with (
        database.index_errors(store.derived),
        contextlib.closing(database.open_to_write(store.derived)) as connection,
    ):
        bring_up_to_date(store, connection, embedder)
        yield connection


@contextlib.contextmanager
def run_in_progress(connection: sqlite3.Connection) -> Iterator[None]:
    """A run, while it changes files step by step: until it ends, others read the index as it was.

    The caller holds the lock, has brought the index up to date, and does so again before this ends:
    what the run did is published in that moment. If it fails, or is killed, nothing is; who next
    has the lock brings the index up to date. (A mark that a killed run left tells nothing then.)
    """
    connection.execute(f"INSERT OR REPLACE INTO meta VALUES ('{_MARK}', '')")
    try:
        with database.transaction(connection):
            yield
            connection.execute(_AWAY)
    except BaseException:
        with contextlib.suppress(sqlite3.OperationalError):  # the disk may be full
            connection.execute(_AWAY)
        raise


def is_run_in_progress(store: Store) -> bool:
    """Whether a run changes files at this moment, so that they are not yet what they will be."""
    disk = database.open_to_read(store.derived)
    if disk is None:
        return False
    from clsm_cli.store.lock import try_locked

    with contextlib.closing(disk), database.index_errors(store.derived):
        if not is_run_marked(disk):
            return False
    with try_locked(store.root) as is_held:
        return not is_held


def is_run_marked(connection: sqlite3.Connection) -> bool:
    """Whether a run was at work when this was read, or was killed at it."""
    query = f"SELECT 1 FROM meta WHERE key = '{_MARK}'"
    return connection.execute(query).fetchone() is not None


@contextlib.contextmanager
def published(store: Store) -> Iterator[None]:
    """What a command writes within is seen in one moment, when this ends (``run_in_progress``).

    The caller holds the lock. A store without an index gets none. Once the files are written, an
    index that cannot follow is no failure of the command: who next has the lock brings it up to date.
    """
    if not database.path_of(store.derived).exists():
        yield
        return
    is_done = False
    try:
        with updated_index(store) as connection, run_in_progress(connection):
            yield
            is_done = True
            bring_up_to_date(store, connection)
    except DiskError:
        if not is_done:
            raise


@contextlib.contextmanager
def open_index(
    store: Store, embedder: Embedder | None, progress: Progress | None = None
) -> Iterator[OpenedIndex]:
    """The index for one recall, without ever waiting for the lock.

    A missing index is made whole; else at most ``recall.refresh_passages`` new passages are
    embedded, so that one recall never pays for a bulk import.
    """
    index = None
    with database.index_errors(store.derived):
        try:
            with _open(store, embedder, progress) as (connection, warnings):
                index = Index(connection, store)
                yield OpenedIndex(index, [*warnings, *_warnings(index, embedder)])
        finally:
            if index is not None and index.vectors.damaged:
                _drop_damaged(store)


@contextlib.contextmanager
def _open(
    store: Store, embedder: Embedder | None, progress: Progress | None
) -> Iterator[tuple[sqlite3.Connection, list[str]]]:
    """The freshest index that can be had now, and why it is not fresher."""
    disk, found = _read(store)
    try:
        if disk is not None and not found.any and _is_ready(disk, store, embedder):
            yield disk, []
            return
        from clsm_cli.store.lock import try_locked

        # What was made without a model is made whole too, or it would stay without vectors.
        is_new = disk is None or VectorFiles(disk, store.derived).engine is None
        limit = None if is_new else store.settings.recall.refresh_passages
        with try_locked(store.root) as is_held:
            connection = _written(store, embedder, progress, limit) if is_held else None
            if connection is not None:
                with contextlib.closing(connection):
                    yield connection, []
                return
        is_marked = disk is not None and not is_held and is_run_marked(disk)
        found, has_more = split_aside(found) if is_marked else (found, False)
        left = [_LEFT] if has_more else []
        if disk is not None and not found.any:
            yield disk, left
        else:
            yield _overlaid(store, disk, found if is_marked else None), [*left, _OVERLAID]
    finally:
        if disk is not None:
            disk.close()


def _overlaid(
    store: Store, disk: sqlite3.Connection | None, found: FileChanges | None
) -> sqlite3.Connection:
    """A copy of the index in memory, with some changes in it by words; None: all there are."""
    from clsm_cli.store.index.refresh import refresh

    copy = database.in_memory(disk)
    if found is not None:
        refresh(copy, store, found)
        return copy
    for _ in range(_TRIES):  # a file that went while it was read has its turns elsewhere now
        found = changes(copy, store)
        if not found.any:
            break
        refresh(copy, store, found)
    return copy


def _drop_damaged(store: Store) -> None:
    """Let what is damaged be made anew, if that can be written down now."""
    from clsm_cli.store.lock import try_locked

    with try_locked(store.root) as is_held, contextlib.suppress(DiskError):
        if is_held:
            with contextlib.closing(database.open_to_write(store.derived)) as connection:
                VectorFiles(connection, store.derived).drop_damaged()


def _read(store: Store) -> tuple[sqlite3.Connection | None, FileChanges]:
    """The index on disk as it is at this moment, whatever others write; how the files differ."""
    disk = database.open_to_read(store.derived)
    if disk is None:
        return None, _NOTHING
    try:
        disk.execute("BEGIN")
        return disk, changes(disk, store)
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # damaged; who has the lock makes it anew
        disk.close()
        from clsm_cli.store.lock import try_locked

        with try_locked(store.root) as is_held, contextlib.suppress(DiskError):
            if is_held:
                database.discard(store.derived)
        return None, _NOTHING


def _is_ready(connection: sqlite3.Connection, store: Store, embedder: Embedder | None) -> bool:
    """Whether a recall has nothing to embed: no passage waits, or more than it would embed."""
    if embedder is None:
        return True
    files = VectorFiles(connection, store.derived)
    if not files.is_whole(embedder.engine):
        return False
    return not (count := files.waiting) or count > store.settings.recall.refresh_passages


def _written(
    store: Store, embedder: Embedder | None, progress: Progress | None, at_most: int | None
) -> sqlite3.Connection | None:
    """The index on disk, brought up to date; None where the disk refuses."""
    with (
        contextlib.suppress(DiskError),
        database.index_errors(store.derived),
        contextlib.ExitStack() as unless_done,
    ):
        connection = database.open_to_write(store.derived)
        unless_done.enter_context(contextlib.closing(connection))
        bring_up_to_date(store, connection, embedder, progress, at_most=at_most)
        unless_done.pop_all()
        return connection
    return None


def _warnings(index: Index, embedder: Embedder | None) -> Iterator[str]:
    if embedder is not None and (waiting := index.vectors.waiting):
        yield (
            f"{waiting} passages have no vector yet and were searched by words only;"
            " embed them with: clsm ingest"
        )
    yield from index.problem_warnings("searched")
