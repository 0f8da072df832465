"""The four streams, to look through: topics with their statements, and the latest episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.records import NamedTuple
from clsm_cli.store import episodes, logs, shards, statements
from clsm_cli.store.layout import TOPIC_STREAMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.model.codec import Record
    from clsm_cli.model.graph import Statement
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store

RECENT = 20
"""Episodes that are listed."""


class Entry(NamedTuple):
    """Something that can be read whole.

    Attributes:
        stream: Where it belongs.
        name: A topic, or the id of an episode.
        title: For people.
    """

    stream: Stream
    name: str
    title: str


def entries(store: Store) -> list[Entry]:
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


def topic(store: Store, stream: Stream, name: str) -> list[Statement]:
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
    return dict(shards.load_graph(store.graphs(), logs.forgotten(store)).records)


def _current(store: Store, records: dict[str, Record]) -> Iterator[Statement]:
    """Statements that hold now, with what a person changed in the Markdown since."""
    for statement in statements.load(store, records, "").values():
        if statement.is_current and statement.text and statement.stream != "flow":
            yield statement


def _latest(store: Store) -> list[str]:
    """Ids of the latest episodes by the times in the names of their files."""
    forgotten = logs.forgotten(store)
    names = {path.stem for flow in store.flows() for path in episodes.files(flow)}
    ids = [name.partition("-")[2] for name in sorted(names, reverse=True)]
    return [each for each in ids if not logs.is_forgotten(each, forgotten)][:RECENT]
