"""Index queries about the graph: nodes, links, mentions, facts, and the sources of statements.

Rows refer to nodes by a hash of the id, so they are the same on every machine.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from sqlite3 import Connection

from clsm_cli.model.grouping import grouped
from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.database import DamagedRowError, json_list, select


class NodeRow(NamedTuple):
    """A node with a record."""

    number: int
    id: str
    label: str
    aliases: tuple[str, ...]
    kind: str
    stream: str
    n: int
    last: int | None  # day of its last mention, as a proleptic ordinal
    summary: str
    vector: int  # row of the sentence vector of ``node_text``; −1 without one

    @property
    def names(self) -> tuple[str, ...]:
        """Label and aliases."""
        return (self.label, *self.aliases)


class LinkRow(NamedTuple):
    """A pinned edge between nodes, seen from one end."""

    node: int
    other: int
    type: str
    weight: float


class StatementTimes(NamedTuple):
    """The valid and recorded times of a statement; ``key`` is its id and its passage's key."""

    key: str
    stream: str
    valid_from: str | None
    valid_until: str | None
    recorded_at: str | None
    superseded_at: str | None
    withdrawn: bool


def number_of(record_id: str) -> int:
    """The number of a node or an edge: 48 bits of a hash of its id."""
    return int(digest("node", record_id), 16)


def node_text(label: str, aliases: Sequence[str], summary: str) -> str:
    """The embedded text of a node.

    >>> node_text("Hardin", ["Garrett Hardin"], "He wrote of filters.")
    'Hardin; Garrett Hardin: He wrote of filters.'
    """
    names = "; ".join((label, *aliases))
    return f"{names}: {summary}" if summary else names


def nodes(connection: Connection, numbers: Collection[int]) -> dict[int, NodeRow]:
    """Nodes by number; those without a record are left out."""
    query = (
        "SELECT n.number, n.id, n.label, n.aliases, n.kind, n.stream, n.n, n.last, n.summary,"
        " COALESCE(v.row, -1) FROM nodes n LEFT JOIN vectors v ON v.digest = n.embedded"
        " WHERE n.number IN ({}) AND n.label IS NOT NULL"
    )
    found = select(connection, query, sorted(numbers))
    rows = ((*row[:3], tuple(json_list(row[3])), *row[4:]) for row in found)
    return {row[0]: NodeRow._make(row) for row in rows}


def nodes_by_name(connection: Connection, name_ids: Sequence[str]) -> dict[str, list[int]]:
    """Id of a label or alias → numbers of its nodes, in order of node ids."""
    query = "SELECT alias, node FROM aliases WHERE alias IN ({}) ORDER BY alias, node"
    found = select(connection, query, name_ids)
    return grouped((alias, number_of(node)) for alias, node in found)


def names_with_initial(connection: Connection, letter: str) -> list[tuple[str, str]]:
    """Names with a first letter, of nodes or from texts: ids of the name and of the node."""
    query = (
        "SELECT alias, node FROM aliases WHERE alias >= ?1 AND alias < ?2 UNION"
        " SELECT node, node FROM names WHERE node >= ?1 AND node < ?2 AND kind = 'name'"
        " ORDER BY 1, 2"
    )
    return connection.execute(query, (letter, f"{letter}\U0010ffff")).fetchall()


def begins_name(connection: Connection, word: str) -> bool:
    """Whether a word, given as an id, is a name or the first word of one."""
    query = (
        "SELECT 1 FROM aliases WHERE alias = ?1 OR (alias >= ?2 AND alias < ?3) UNION ALL SELECT 1"
        " FROM names WHERE (node = ?1 OR (node >= ?2 AND node < ?3)) AND kind = 'name' LIMIT 1"
    )
    after = chr(ord("-") + 1)
    values = (word, f"{word}-", f"{word}{after}")
    return connection.execute(query, values).fetchone() is not None


def pinned_links(connection: Connection, numbers: Collection[int]) -> list[LinkRow]:
    """The pinned edges of some nodes that have not ended."""
    order = "ORDER BY node, other, edge"
    query = f"SELECT node, other, type, weight FROM links WHERE node IN ({{}}) {order}"
    return [LinkRow._make(row) for row in select(connection, query, sorted(numbers))]


def rows_mentioning(connection: Connection, ids: Collection[str]) -> list[tuple[str, int]]:
    """Passages that mention nodes with a record, by the episode records: (node id, row)."""
    query = (
        "SELECT DISTINCT x.id, p.id FROM nodes x JOIN turn_nodes t ON t.node = x.number"
        " JOIN passages p ON p.key = printf('%012x', t.turn)"
        " WHERE x.label IS NOT NULL AND x.number IN ({})"
    )
    return list(select(connection, query, map(number_of, sorted(ids))))


def nodes_of_turns(connection: Connection, keys: Collection[str]) -> dict[str, list[int]]:
    """Key of a turn → numbers of the nodes it mentions, by the episode records."""
    query = "SELECT DISTINCT turn, node FROM turn_nodes WHERE turn IN ({}) ORDER BY turn, node"
    found = select(connection, query, map(_number, sorted(keys)))
    return grouped((f"{turn:012x}", node) for turn, node in found)


def _number(key: str) -> int:
    try:
        return int(key, 16)
    except ValueError:
        raise DamagedRowError(f"no key of a turn: {key!r}") from None


class SourceStatement(NamedTuple):
    """A statement made of a turn or block; ``until``: the end of its validity."""

    id: str
    text: str
    is_current: bool
    until: str | None


def statements_of(connection: Connection, keys: Sequence[str]) -> dict[str, list[SourceStatement]]:
    """The statements made of some turns and blocks, closed ones too, by key."""
    query = (
        "SELECT r.turn, p.key, p.text, p.current, c.valid_until FROM statement_sources r"
        " JOIN placed_passages p ON p.id = r.passage"
        " LEFT JOIN clocks c ON c.key = p.key"
        " WHERE r.turn IN ({}) AND p.kind <> 'gist' ORDER BY r.turn, p.key"
    )
    return grouped((key, SourceStatement(*row)) for key, *row in select(connection, query, keys))


def shared_sources(connection: Connection, keys: Sequence[str]) -> set[tuple[str, str]]:
    """Pairs of turns and blocks that are sources of one current statement; tasks do not count."""
    query = (
        "SELECT DISTINCT r.turn, o.turn FROM statement_sources r JOIN statement_sources o ON o.passage = r.passage"
        " JOIN placed_passages p ON p.id = r.passage"
        " WHERE r.turn IN ({}) AND p.current AND p.kind <> 'gist' AND p.path <> 'tasks/tasks.md'"
        " ORDER BY r.turn, o.turn"
    )
    return set(select(connection, query, keys))


def rows_with(connection: Connection, documents: Sequence[str], word: str) -> list[int]:
    """Rows of the current blocks of some documents that contain a word."""
    query = (
        "SELECT id FROM placed_passages WHERE document IN ({})"
        f" AND current AND text LIKE '%{word}%' ORDER BY id"
    )
    return [row for (row,) in select(connection, query, documents)]


def source_keys(connection: Connection, rows: Sequence[int]) -> list[tuple[int, str]]:
    """The sources of some statements: (row of the statement, key of the turn or block)."""
    query = (
        "SELECT passage, turn FROM statement_sources WHERE passage IN ({}) ORDER BY passage, turn"
    )
    return list(select(connection, query, rows))


_AFTER = "~"  # sorts after every file name


def recent_files(connection: Connection, days: int, until: str | None = None) -> list[str]:
    """Files of the episodes started up to ``days`` before the newest one, and of all undated blocks.

    File names begin with the start in UTC (``episodes.file_of``), so they sort regardless of offset.
    Episodes started after ``until``, a time of that form, are left out. The oldest comes first,
    undated blocks last.
    """
    rows = connection.execute(
        "WITH dated AS (SELECT f.path, substr(f.path, instr(f.path, '/episodes/') + 18) AS name"
        "  FROM episodes e JOIN files f ON f.id = e.file"
        "  WHERE e.start IS NOT NULL AND name <= :until)"
        " SELECT path, name FROM dated WHERE name >= strftime('%Y%m%d', (SELECT"
        "  substr(max(name), 1, 4) || '-' || substr(max(name), 5, 2) || '-' || substr(max(name), 7, 2)"
        "  FROM dated), :back)"
        " UNION ALL SELECT f.path, '~' FROM episodes e JOIN files f ON f.id = e.file"
        "  WHERE e.start IS NULL AND e.document IS NOT NULL ORDER BY name, path",
        {"until": until + _AFTER if until else _AFTER, "back": f"-{days} days"},
    )
    return list(dict.fromkeys(str(path) for path, _ in rows))


class SourceDates(NamedTuple):
    """The date of a source turn."""

    day: int | None  # proleptic ordinal of the day
    periods: str | None  # JSON: [[first, until], …], days that it refers to; None for none


def source_dates(connection: Connection, rows: Iterable[int]) -> dict[int, list[SourceDates]]:
    """Row of a statement → the dates of its source turns."""
    query = (
        "SELECT DISTINCT r.passage, t.key, t.day, t.periods FROM statement_sources r"
        " JOIN passages t ON t.key = r.turn AND t.part = 0 WHERE r.passage IN ({})"
        " ORDER BY r.passage, t.key, t.day, t.periods"
    )
    found = select(connection, query, rows)
    return grouped((row, SourceDates(*dates)) for row, _, *dates in found)
