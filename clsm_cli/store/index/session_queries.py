"""Index queries about sessions: their order in time, and which mention a concept.

Only questions such as "the third time we talked about X" need these. Session starts come from episodes,
so the cost grows with their number, not with that of passages.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC
from sqlite3 import Connection

from clsm_cli.model import clocks
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.database import IN_SESSION, column, select
from clsm_cli.store.index.ranking_queries import NODE_MENTIONS


class Session(NamedTuple):
    """A conversation or a note; times are seconds since 1970 (UTC)."""

    id: str  # from its source; a note's path as given
    start: int
    day: int  # of the start in its own offset, as a proleptic ordinal
    is_note: bool
    last_open: int | None  # time of its newest turn not yet in an episode


def sessions_by_time(connection: Connection) -> list[Session]:
    """All dated sessions, earliest first."""
    begun: dict[str, tuple[int, int, bool]] = {}
    latest: dict[str, int] = {}
    for session, time, is_note, is_open in connection.execute(
        "SELECT session, start, document IS NOT NULL, 0 FROM episodes"
        " UNION ALL SELECT session, time, 0, 1 FROM placed_passages"
        " WHERE episode IS NULL AND kind = 'passage' AND document IS NULL AND session <> ''"
    ):
        first = clocks.span(time, UTC)
        if first is None:
            continue
        start = int(first[0].timestamp())
        begin = (start, first[0].toordinal(), bool(is_note))
        begun[session] = min(begin, begun.get(session, begin))
        if is_open:
            latest[session] = max(start, latest.get(session, start))
    found = [Session(each, *begun[each], latest.get(each)) for each in begun]
    return sorted(found, key=lambda each: (each.start, each.id))


def rows_naming(connection: Connection, node: str) -> list[int]:
    """Rows of current passages that mention a node by its name or an alias."""
    query = f"SELECT DISTINCT m.passage {NODE_MENTIONS} ORDER BY m.passage"
    return column(connection, query, (node, node))


def session_days(connection: Connection, sessions: Collection[str]) -> list[tuple[int, int]]:
    """First day and day after the last of each session, as proleptic ordinals."""
    query = (
        "SELECT MIN(day), MAX(day) + 1 FROM placed_passages"
        " WHERE session IN ({}) AND day IS NOT NULL GROUP BY session"
    )
    return sorted(select(connection, query, sessions))


class TrustedTurn(NamedTuple):
    """A trusted passage of an episode."""

    row: int
    key: str
    episode: str
    is_by_user: bool
    day: int


def trusted_on_days(connection: Connection, first: int, until: int) -> list[TrustedTurn]:
    """Trusted passages first on days ``first`` … ``until`` − 1, newest first, closed ones included."""
    trusts = ",".join(f"'{trust}'" for trust in sorted(UNTRUSTED))
    query = (
        "SELECT id, key, episode, trust = 'user', day FROM placed_passages"
        " WHERE day >= ? AND day < ? AND kind = 'passage' AND episode IS NOT NULL"
        f" AND trust NOT IN ({trusts}) ORDER BY time DESC, id DESC"
    )
    return [TrustedTurn(*row) for row in connection.execute(query, (first, until))]


class PlacedTurn(NamedTuple):
    """A dated passage; ``episode`` is its session if it is in no episode yet."""

    row: int
    episode: str
    session: str
    is_note: bool
    day: int
    time: str


def passages_near_day(connection: Connection, day: int, side: str) -> Iterator[PlacedTurn]:
    """Current passages from a day on (``side`` "after") or up to it, nearest first; lazy."""
    than, order = (">=", "") if side == "after" else ("<=", " DESC")
    query = (
        "SELECT p.id, COALESCE(l.episode, l.session), l.session, l.document IS NOT NULL, p.day, p.time"
        " FROM passages p CROSS JOIN places l ON l.id = p.place"
        f" WHERE p.day {than} ? AND p.current AND l.kind = 'passage'"
        f" ORDER BY p.day{order}, p.time{order}, p.id{order}"
    )
    for row in connection.execute(query, (day,)):
        yield PlacedTurn(*row)


def statements_of_session(connection: Connection, session: str) -> list[int]:
    """Current statements from a session's turns, in the order of their first source."""
    query = (
        "SELECT r.passage, MIN(p.id) FROM placed_passages p"
        " JOIN statement_sources r ON r.turn = p.key JOIN passages s ON s.id = r.passage AND s.current"
        f" WHERE {IN_SESSION} GROUP BY r.passage ORDER BY 2, 1"
    )
    return column(connection, query, (session,))


def session_rows(connection: Connection, sessions: Collection[str]) -> frozenset[int]:
    """Rows of the current passages of sessions."""
    query = "SELECT id FROM placed_passages WHERE kind = 'passage' AND current AND session IN ({})"
    return frozenset(row for (row,) in select(connection, query, sessions))
