"""What a store holds and how it is: the answer of ``clsm status``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.store import logs
from clsm_cli.store.index.counts import counts
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store

RECENT_RUNS = 5


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
        unembedded: Passages without a vector.
        runs: The newest runs on this machine: id, command, time.
    """

    root: str
    store_id: str
    device: str
    time_zone: str
    counts: dict[str, int]
    unembedded: int
    problems: tuple[FileProblem, ...]
    runs: tuple[tuple[str, str, str], ...]


def overview(store: Store) -> Overview:
    """Look at a store; its index is brought up to date by words if the lock is free."""
    with open_index(store, None) as opened:
        held = counts(opened.index.connection)
        unembedded = opened.index.unembedded()
        problems = tuple(FileProblem(*row) for row in opened.index.problems())
    rows, torn = logs.rows(store.flow / "runs.jsonl")
    lines = [logs.parse_run(row) for _, row in rows if "changes" in row]
    recent = {line.id: (line.id, line.command, line.at) for line in reversed(lines)}
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
        runs=tuple(recent.values())[:RECENT_RUNS],
    )
