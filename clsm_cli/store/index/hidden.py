"""Indexed passages hidden from readers: archived, forgotten, or later than the time asked about.

**Archived**: a turn or statement listed in a machine's ``archived.jsonl`` of which no machine has since
folded a use, of any part. Checking thousands of passages would slow down recall, so their rows are packed
into one table row (``archived_rows``), recomputed at the end of a refresh that changed any.

**Forgotten**: a turn, episode or record whose id has a tombstone; it is skipped when its file is read. So
when tombstones are added or removed, all files that may contain such items are read again.

**As of another time**, more passages are hidden. For what was *known* then: everything recorded later. For
what was *true* then: statements whose clocks exclude that time, and passages told later, unless they refer
to a day up to then ("in 2019 I lived in Breda"). A reader without another answer may search only those
told later (``PastView.after_cutoff``), and says so in the answer.

A turn or dated block was told at its time. Any other block was written between two captures of its
document: those of the first capture of a folder may be of any age, those of a later one count as told at its
time. A block closed since then is visible again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from datetime import date
from sqlite3 import Connection
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.database import FOLDER, column, json_list, mapping_of, select
from clsm_cli.store.index.graph_queries import StatementTimes, number_of

if TYPE_CHECKING:
    from clsm_cli.model.codec import Record

_ARCHIVED = (
    "SELECT p.id, p.length FROM (SELECT id, MAX(since) AS since FROM archived GROUP BY id) a"
    " JOIN passages p ON p.key = a.id WHERE p.current AND NOT EXISTS"
    " (SELECT 1 FROM passages s JOIN uses u"
    " ON u.id = CASE s.part WHEN 0 THEN s.key ELSE s.key || '-' || (s.part + 1) END"
    " WHERE s.key = a.id AND u.day > a.since) ORDER BY p.id"
)


def update_archived(connection: Connection, touched: set[str]) -> None:
    """Recompute the archived rows, if a refresh of these kinds of files may have changed them."""
    (rows,) = connection.execute("SELECT rows FROM archived_rows").fetchone()
    if rows is None or touched & {"archived", "uses"}:
        found = connection.execute(_ARCHIVED).fetchall()
        packed = array("I", [row for row, _ in found]).tobytes()
        total = sum(length for _, length in found)
        query = "UPDATE archived_rows SET passages = ?, length = ?, rows = ?"
        connection.execute(query, (len(found), total, packed))


def forgotten_hashes(connection: Connection) -> frozenset[str]:
    """Tombstone hashes, as of the last refresh."""
    return frozenset(column(connection, "SELECT hash FROM tombstones"))


def visible_record(connection: Connection, record: Record) -> Record | None:
    """A record without forgotten content; None for a node without visible mentions."""
    from clsm_cli.model.graph import Node
    from clsm_cli.model.tombstones import visible

    forgotten = forgotten_hashes(connection)
    if forgotten and isinstance(record, Node):
        query = "SELECT label FROM nodes WHERE number = ? AND label IS NOT NULL"
        if connection.execute(query, (number_of(record.id),)).fetchone() is None:
            return None
    return visible(record, forgotten)


class PastView(NamedTuple):
    """Rows of the passages invisible at a past time.

    ``after_cutoff``: row → time of those told later but known by then; some are hidden.
    """

    hidden: frozenset[int]
    after_cutoff: dict[int, str]


def past(connection: Connection, at: str, known_at: str | None) -> PastView:
    """Passages invisible at a time of validity (a bare date is a day) and of knowledge (None: now)."""
    gone: set[int] = set()
    shown = set(_closed_since(connection, at))
    if known_at is not None:
        gone.update(row for row, _, _ in _dated_after(connection, known_at))
        # A dated block of a first capture counts from its date, as in an archive ingested at once.
        for row, time, _, is_first in _captured_after(connection, known_at):
            gone |= {row} if time is None or not is_first else set()
        shown.update(_closed_since(connection, known_at))
    for row, *fact in connection.execute(
        "SELECT p.id, c.key, c.stream, c.valid_from, c.valid_until,"
        " c.recorded_at, c.superseded_at, c.withdrawn FROM clocks c JOIN passages p ON p.key = c.key"
    ):
        (shown if clocks.holds(StatementTimes._make(fact), at, known_at) else gone).add(row)
    gone |= {*column(connection, "SELECT id FROM passages WHERE NOT current")} - shown
    times, hidden = _passages_after(connection, at)
    later = {row: time for row, time in times.items() if row not in gone}
    return PastView(frozenset(gone | hidden), later)


def _passages_after(connection: Connection, at: str) -> tuple[dict[int, str], set[int]]:
    """Row → time of passages told after ``at``; and those of them that refer to no day up to then.

    A statement was told with its first source turn; ``valid_from`` is the day it refers to.
    """
    from clsm_cli.store.index.passage_rows import periods_of

    last = _day(at)
    times: dict[int, str] = {}
    hidden: set[int] = set()
    for row, time, periods in _dated_after(connection, at, kind="passage"):
        times[row] = time
        if not _has_day_by(periods, last):
            hidden.add(row)
    for row, own, recorded, is_first in _captured_after(connection, at):
        if own is None and not is_first:
            times[row] = recorded
            ((text,),) = connection.execute("SELECT text FROM passages WHERE id = ?", (row,))
            if not _has_day_by(periods_of(text, _day(recorded)), last):
                hidden.add(row)
    for row, time, start in _statements_after(connection, times):
        times[row] = time
        if start is None:
            hidden.add(row)
    return times, hidden


def _has_day_by(periods: str | None, last: int) -> bool:
    return any(first <= last for first, _ in json_list(periods))


def _day(time: str) -> int:
    """The day of a time by its own clock, as a proleptic ordinal."""
    return date.fromisoformat(time[:10]).toordinal()


def _dated_after(
    connection: Connection, at: str, kind: str | None = None
) -> Iterator[tuple[int, str, str | None]]:
    """Passages with a time after ``at``: row, time, periods."""
    for row, time, periods in connection.execute(
        "SELECT id, time, periods FROM placed_passages"
        " WHERE day >= ? AND kind = COALESCE(?, kind) ORDER BY id",
        (_day(at) - 1, kind),  # earlier days cannot be, in any zone
    ):
        if not clocks.has_begun(time, at):
            yield row, time, periods


def _captured_after(connection: Connection, at: str) -> Iterator[tuple[int, str | None, str, bool]]:
    """Blocks captured after ``at``: row, own time, capture time, whether in the folder's first capture."""
    episodes = connection.execute(
        "SELECT e.id, document, MIN(recorded), MIN(MIN(recorded)) OVER (PARTITION BY"
        f" COALESCE({FOLDER.format('d.path')}, document))"
        " FROM episodes e LEFT JOIN documents d ON d.id = document"
        " WHERE document IS NOT NULL GROUP BY e.id, document"
    )
    taken = {
        (episode, document): (recorded, recorded == first)
        for episode, document, recorded, first in episodes
        if not clocks.has_begun(recorded, at)
    }
    for row, time, *place in connection.execute(
        "SELECT id, time, episode, document FROM placed_passages"
        " WHERE document IS NOT NULL ORDER BY id"
    ):
        if (found := taken.get((place[0], place[1]))) is not None:
            yield row, time, *found


def _statements_after(
    connection: Connection, times: Mapping[int, str]
) -> Iterator[tuple[int, str, str | None]]:
    """Statements whose sources were all told later: row, first source's time, ``valid_from``."""
    times_of: dict[str, set[str]] = {}
    for key, row in select(connection, "SELECT key, id FROM passages WHERE id IN ({})", times):
        times_of.setdefault(key, set()).add(times[row])
    query = "SELECT key, id FROM passages WHERE key IN ({})"
    old = {key for key, row in select(connection, query, times_of) if row not in times}
    new = times_of.keys() - old
    for row, start, turns in connection.execute(
        "SELECT r.passage, c.valid_from, json_group_array(r.turn) FROM statement_sources r"
        " JOIN passages p ON p.id = r.passage JOIN clocks c ON c.key = p.key GROUP BY r.passage"
    ):
        keys = json_list(turns)
        if new.issuperset(keys):
            yield row, min(min(times_of[key]) for key in keys), start


def _closed_since(connection: Connection, known_at: str) -> Iterator[int]:
    """Rows of blocks that are closed now but were not at a time."""
    for document, line in connection.execute(
        "SELECT id, line FROM records WHERE type = 'document' ORDER BY id"
    ):
        for key, (since, _) in mapping_of(line).get("closed", {}).items():
            if not clocks.has_ended(since, known_at):
                query = "SELECT id FROM placed_passages WHERE key = ? AND document = ?"
                yield from column(connection, query, (key, document))
