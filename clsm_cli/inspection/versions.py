"""One row of a record's history: what it said, on both clocks, and where that stands."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Literal

from clsm_cli.model import clocks
from clsm_cli.model.graph import Edge, Statement
from clsm_cli.records import NamedTuple
from clsm_cli.store.index import openable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.index.reader import Index

Row = Statement | Edge
State = Literal["current", "future", "ended", "superseded", "withdrawn"]


class Version(NamedTuple):
    """A statement or an edge at one time.

    Attributes:
        kind: Of the statement, or ``edge``.
        value: Of its slot, else its text; of an edge the other end.
        state: current, future (not true yet), ended (true until then, and still believed to have
            been), superseded (no longer believed), withdrawn (taken back).
        source: Where its earliest source stands, as it was given, else its own line in a topic file,
            ``path:line``.
        file: Absolute path of what can be opened, see ``store.index.openable``; "" for none.
        line: In that file.
        begin: When it became true, in seconds since 1970; None: unbounded. ``end`` likewise.
    """

    id: str
    kind: str
    value: str
    text: str
    valid_from: str | None
    valid_until: str | None
    recorded_at: str | None
    superseded_at: str | None
    state: State
    supersedes: str | None
    sources: tuple[str, ...]
    source: str | None
    file: str
    line: int
    begin: float | None
    end: float | None


def state_of(row: Row, now: str) -> State:
    """What a row is worth now.

    >>> state_of(Edge(id="g-1", rev=(1, "pi"), valid_until="2026-02-20"), "2026-02-20")
    'ended'
    """
    if isinstance(row, Statement) and row.withdrawn:
        return "withdrawn"
    if row.superseded_at is not None:
        return "superseded"
    if clocks.is_true(row, now):
        return "current"
    return "ended" if clocks.has_ended(row, now) else "future"


def version(row: Row, value: str, index: Index, now: str, zone: tzinfo) -> Version:
    """A row with its state and source.

    Args:
        row: A statement with its text, or an edge.
        value: What it says, for a person.
        index: Knows where its sources stand.
        now: An instant.
        zone: Of a bare date.
    """
    told = _earliest(index, row.sources) or _earliest(index, (row.id,))
    place = openable.spot(index, told) if told else openable.in_store(index, row.id)
    return Version(
        id=row.id,
        kind="edge" if isinstance(row, Edge) else row.kind,
        value=value,
        text="" if isinstance(row, Edge) else row.text,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        recorded_at=row.recorded_at,
        superseded_at=row.superseded_at,
        state=state_of(row, now),
        supersedes=None if isinstance(row, Edge) else row.supersedes,
        sources=row.sources,
        source=f"{told.path}:{told.line_start}" if told and told.line_start else None,
        file=place.file if place else "",
        line=place.line if place else 0,
        begin=seconds(row.valid_from, zone),
        end=seconds(row.valid_until, zone),
    )


def seconds(time: str | None, zone: tzinfo) -> float | None:
    """Seconds since 1970 of a time, of a bare date at its beginning; None where it is none.

    >>> from datetime import UTC
    >>> seconds("1970-01-02", UTC), seconds("1970-01-01T01:00:10+01:00", UTC), seconds(None, UTC)
    (86400.0, 10.0, None)
    """
    try:
        moment = datetime.fromisoformat(time or "")
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()


def _earliest(index: Index, keys: Iterable[str]) -> Passage | None:
    """The first of some passages that was told, one with a line before one without."""
    found = [each for key in keys for each in index.by_key(key) if each.key == key]
    return min(found, key=_order, default=None)


def _order(passage: Passage) -> tuple[bool, bool, str, str, int]:
    time, line = passage.time, passage.line_start
    return not line, time is None, time or "", passage.path, line
