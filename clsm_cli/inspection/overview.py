"""The state of a store (``clsm status``), and its topics and episodes to browse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import ledger, logs
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.postings import store_counts

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store


class RunState(NamedTuple):
    """What became of a run.

    Attributes:
        undo_of: For an undo: the run that it took back.
        is_kept: Whether what it replaced is still there, so that it can be undone.
    """

    at: str
    files: int
    undone_by: str | None
    undo_of: str | None
    is_kept: bool


class ListedRun(NamedTuple):
    """A run of this machine, by its id, and the command that made it."""

    id: str
    command: str
    state: RunState


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file of the store that could not be read as it should."""

    path: str
    line: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The state of a store.

    Attributes:
        counts: Kind of thing → how many (see ``Index.counts``).
        runs: The runs of this machine, newest first.
    """

    root: str
    store_id: str
    device: str
    time_zone: str
    counts: dict[str, int]
    unembedded: int
    problems: tuple[FileProblem, ...]
    runs: tuple[ListedRun, ...]


def overview(store: Store) -> Overview:
    """Look at a store; its index is brought up to date by words if the lock is free."""
    with open_index(store, None) as opened:
        held = store_counts(opened.index.connection)
        unembedded = opened.index.unembedded()
        problems = tuple(FileProblem(*row) for row in opened.index.problems())
    torn = logs.rows(store.flow / ledger.FILE)[1]
    problems += tuple(
        FileProblem(str(p.path.relative_to(store.root)), p.line, p.reason) for p in torn
    )
    return Overview(
        root=str(store.root),
        store_id=store.store_id,
        device=store.device,
        time_zone=store.zone_name,
        counts=held,
        unembedded=unembedded,
        problems=problems,
        runs=tuple(_listed(store, entry) for entry in reversed(ledger.entries(store.flow))),
    )


def _listed(store: Store, entry: ledger.Entry) -> ListedRun:
    is_kept = not entry.is_final and ledger.is_kept(store, entry)
    state = RunState(entry.at, len(entry.paths), entry.undone_by, entry.undoes, is_kept)
    return ListedRun(entry.id, entry.command, state)
