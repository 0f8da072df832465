"""The state of a store (``clsm status``), and its topics and episodes to browse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import episodes, ledger, logs, record_files, shards
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.index.postings import store_counts
from clsm_cli.store.layout import TOPIC_STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store


class RunState(NamedTuple):
    """What became of a run.

    Attributes:
        files: How many files it wrote.
        undone_by: The undo that took it back.
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
        unembedded: Passages without a vector.
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


RECENT = 20
"""Episodes that are listed."""


class Entry(NamedTuple):
    """Something that can be read whole."""

    stream: Stream
    name: str
    title: str


def readable_entries(store: Store) -> list[Entry]:
    """Every topic that holds something now, then the latest episodes, newest first."""
    records = _records(store)
    topics = sorted({(s.stream, s.topic) for s in _current(store, records)})
    found = [
        Entry(stream, topic, f"{stream}: {topic}")
        for stream in TOPIC_STREAMS
        for of, topic in topics
        if of == stream
    ]
    for episode in _latest(store):
        record = records.get(episode)
        title = record.title if isinstance(record, EpisodeRecord) else ""
        found.append(Entry("flow", episode, title or episode))
    return found


def topic_statements(store: Store, stream: Stream, name: str) -> list[Statement]:
    """What holds now of a topic, in the order of its ids.

    Raises:
        BadInputError: Nothing is held under that name.
    """
    found = [
        statement
        for statement in _current(store, _records(store))
        if (statement.stream, statement.topic) == (stream, name)
    ]
    if not found:
        raise BadInputError(f"{stream}/{name}", "no such topic is held", "list the stream first")
    return found


def _records(store: Store) -> dict[str, Record]:
    return dict(shards.load_graph(store.graphs(), logs.load_tombstones(store)).records)


def _current(store: Store, records: dict[str, Record]) -> Iterator[Statement]:
    """Statements that hold now, with what a person changed in the Markdown since."""
    for statement in record_files.load_statements(store, records, "").values():
        if statement.is_current and statement.text and statement.stream != "flow":
            yield statement


def _latest(store: Store) -> list[str]:
    """Ids of the latest episodes by the times in the names of their files."""
    forgotten = logs.load_tombstones(store)
    names = {path.stem for flow in store.flows() for path in episodes.files(flow)}
    ids = [name.partition("-")[2] for name in sorted(names, reverse=True)]
    return [each for each in ids if not logs.is_forgotten(each, forgotten)][:RECENT]
