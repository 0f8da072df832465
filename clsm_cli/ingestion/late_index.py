"""The index as an ingest opens it: at its first use, since a plain capture does without."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import contextlib

    from clsm_cli.ingestion.report import Request
    from clsm_cli.store.index.reader import Index
    from clsm_cli.store.layout import Store


class Opening:
    """The index, fresh at its first use: a plain capture of timed turns does without.

    Without the lock it is what the last run published.
    """

    def __init__(
        self, store: Store, request: Request, stack: contextlib.ExitStack, *, is_held: bool
    ) -> None:
        self._store = store
        self._dry_run = request.dry_run
        self._stack = stack
        self._is_held = is_held
        self._index: Index | None = None

    def __call__(self) -> Index:
        """The index; what goes wrong with its database later is a disk error too."""
        if self._index is None:
            from clsm_cli.store.index import database
            from clsm_cli.store.index.opening import bring_up_to_date
            from clsm_cli.store.index.reader import Index

            self._stack.enter_context(database.disk_errors(self._store.derived))
            if self._dry_run or not self._is_held:
                disk = database.open_to_read(self._store.derived)
                connection = database.in_memory(disk)
                if disk is not None:
                    disk.close()
            else:
                connection = database.open_to_write(self._store.derived)
            self._stack.callback(connection.close)
            if self._is_held:
                bring_up_to_date(self._store, connection, None, None)
            self._index = Index(connection, self._store)
        return self._index
