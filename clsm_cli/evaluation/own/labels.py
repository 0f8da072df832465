"""The labels of a store, ``eval/queries.yaml``: read as they are now, changed under the lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import DamagedStoreError
from clsm_cli.ingestion.ingest import end_begun_run
from clsm_cli.store import atomic, label_edit
from clsm_cli.store import labels as files
from clsm_cli.store.lock import locked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.store.labels import Label, Labels
    from clsm_cli.store.layout import Store


ADVICE = (
    "holds no labelled queries yet",
    "make some in ten minutes with: clsm eval label",
)
"""What is wrong where there is no labelled set, and how to make one."""


def path(store: Store) -> Path:
    """The file of a store's labels."""
    return files.path_of(store.root)


def read(store: Store) -> Labels:
    """The labels of a store; none where it has no such file.

    Raises:
        BadInputError: The file is not what it must be.
        DamagedStoreError: It is no regular file, or too large.
        DiskError: It cannot be read.
    """
    data = atomic.read(path(store), files.MAX_LABELS)
    name = str(path(store))
    return files.EMPTY if data is None else files.parse(files.decoded(data, name), name)


def save(store: Store, rows: Sequence[Label], without: Sequence[str] = ()) -> list[str]:
    """Add some labels, or write those with the same ids anew; and take some out.

    The file is read again under the lock, so what a person or another command changed meanwhile
    stays; one that an editor saves at this very moment is not overwritten.

    Args:
        store: Where.
        rows: What is added or changed.
        without: Ids of those that go.

    Returns:
        What the user should hear.

    Raises:
        BadInputError: The file is not what it must be.
        RefusedError: Somebody changed it at this moment.
        LockedError: Another clsm kept the lock.
        DiskError: The operating system refused.
    """
    name = str(path(store))
    with locked(store.root, store.settings.store.lock_wait):
        warnings = end_begun_run(store)
        data = atomic.read(path(store), files.MAX_LABELS)
        text = "" if data is None else files.decoded(data, name)
        known = {row.id for row in files.parse(text, name).rows}
        change: dict[str, Label | None] = {row.id: row for row in rows if row.id in known}
        change |= dict.fromkeys(known.intersection(without))
        fresh = [row for row in rows if row.id not in known]
        made = label_edit.edited(text, change, fresh).encode()
        if len(made) > files.MAX_LABELS:
            raise DamagedStoreError(
                name, None, f"would be larger than {files.MAX_LABELS >> 20} MiB"
            )
        if made != data:
            read_as = None if data is None else atomic.sha256(data)
            atomic.put(path(store), made, read_as=read_as)
    return warnings
