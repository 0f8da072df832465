"""What a forget destroys besides: everything derived that may still hold what went.

A mark stands while it is not done. Whoever next holds the lock finishes it, so that a forget that
was cut short leaves nothing behind either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.store import atomic
from clsm_cli.store.index import database

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store


def mark(store: Store) -> Path:
    """The file that says that a forget is not finished."""
    return store.derived / "purge"


def is_begun(store: Store) -> bool:
    """Whether a forget was cut short."""
    return mark(store).exists()


def finish(store: Store) -> None:
    """Destroy preimages, copies, drafts and the prepared briefing; the caller holds the lock.

    The index was compacted by the forget itself.

    Raises:
        DiskError: The operating system refused; the mark stays.
    """
    if store.derived.is_dir():
        for path in sorted(store.derived.iterdir()):
            if path.name in _KEPT:
                continue
            if path.is_dir() and not path.is_symlink():
                atomic.remove_folder(path)
            else:
                atomic.remove(path)
    atomic.remove(mark(store))


def finish_begun(store: Store) -> None:
    """The same for a forget that was cut short: its index is made anew.

    Raises:
        DiskError: The operating system refused.
    """
    database.discard(store.derived)
    finish(store)


_KEPT = frozenset({"index", "device", "purge", "shadow"})
"""What a forget leaves, the mark until the end. The log of shadow mode holds counts, and of ids the
hashes that tombstones keep too."""
