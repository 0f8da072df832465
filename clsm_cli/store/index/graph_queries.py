"""Index queries about the graph: nodes, links, mentions, facts.

Rows name nodes by a number, a hash of the id, so they are the same on every machine.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clsm_cli.model.ids import digest
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.ranking_queries import batches

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Sequence


class NodeRow(NamedTuple):
    """A node that has a record.

    Attributes:
        n: Turns that mention it, at the last consolidation.
        last: Day of its last mention, as a proleptic ordinal.
        degree: Nodes that it has current edges with.
        strongest: Weight of its strongest current edge.
        vector: Row of the sentence vector of ``node_text``; −1 without one.
    """

    number: int
    id: str
    label: str
    aliases: tuple[str, ...]
    kind: str
    stream: str
    n: int
    last: int | None
    summary: str
    degree: int
    strongest: float
    vector: int


class LinkRow(NamedTuple):
    """An edge between nodes, as seen from one of its ends.

    Attributes:
        outward: ``node`` is its source.
        edge: Number of its record's id.
        pinned: Whether a person set it.
    """

    node: int
    other: int
    edge: int
    outward: bool
    type: str
    weight: float
    directed: bool
    valid_from: str | None
    valid_until: str | None
    recorded_at: str | None
    superseded_at: str | None
    pinned: bool


class Fact(NamedTuple):
    """A statement's place on the two clocks; ``key`` is its id, and that of its passage."""

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
    """What stands for a node where meaning is compared.

    >>> node_text("Hardin", ["Garrett Hardin"], "He wrote of filters.")
    'Hardin; Garrett Hardin: He wrote of filters.'
    """
    names = "; ".join((label, *aliases))
    return f"{names}: {summary}" if summary else names


def nodes(connection: sqlite3.Connection, numbers: Collection[int]) -> dict[int, NodeRow]:
    """Nodes by number; those that only others name, an edge or a mention, are left out."""
    found: dict[int, NodeRow] = {}
    for batch in batches(sorted(numbers)):
        marks = ",".join("?" * len(batch))
        for row in connection.execute(
            "SELECT n.number, n.id, n.label, n.aliases, n.kind, n.stream, n.n, n.last, n.summary,"
            " n.degree, n.strongest, COALESCE(v.row, -1) FROM nodes n"
            " LEFT JOIN vectors v ON v.digest = n.embedded"
            f" WHERE n.number IN ({marks}) AND n.label IS NOT NULL",
            batch,
        ):
            aliases = tuple(json.loads(row[3])) if row[3] else ()
            found[row[0]] = NodeRow._make((*row[:3], aliases, *row[4:]))
    return found


def nodes_by_name(connection: sqlite3.Connection, name_ids: Sequence[str]) -> dict[str, list[int]]:
    """The nodes that have a label or alias: id of the name → numbers, in order of their ids."""
    found: dict[str, list[int]] = {}
    for batch in batches(name_ids):
        marks = ",".join("?" * len(batch))
        for alias, node in connection.execute(
            f"SELECT alias, node FROM aliases WHERE alias IN ({marks}) ORDER BY alias, node", batch
        ):
            found.setdefault(alias, []).append(number_of(node))
    return found


def names_from(connection: sqlite3.Connection, letter: str) -> list[tuple[str, str]]:
    """The names of nodes that begin with a letter: ids of the name and of the node."""
    query = "SELECT alias, node FROM aliases WHERE alias >= ? AND alias < ? ORDER BY alias, node"
    return connection.execute(query, (letter, chr(ord(letter) + 1))).fetchall()


def links(connection: sqlite3.Connection, numbers: Collection[int]) -> list[LinkRow]:
    """The edges of some nodes with other nodes, closed and superseded ones too."""
    found: list[LinkRow] = []
    for batch in batches(sorted(numbers)):
        marks = ",".join("?" * len(batch))
        rows = connection.execute(
            f"SELECT * FROM links WHERE node IN ({marks}) ORDER BY node, other, edge", batch
        )
        found += map(LinkRow._make, rows)
    return found


def set_by_hand(connection: sqlite3.Connection, numbers: Collection[int]) -> list[LinkRow]:
    """The edges of some nodes that a person set and nothing has ended."""
    found: list[LinkRow] = []
    for batch in batches(sorted(numbers)):
        marks = ",".join("?" * len(batch))
        rows = connection.execute(
            f"SELECT * FROM links WHERE pinned AND node IN ({marks})"
            " AND valid_until IS NULL AND superseded_at IS NULL ORDER BY node, other, edge",
            batch,
        )
        found += map(LinkRow._make, rows)
    return found


def rows_mentioning(connection: sqlite3.Connection, ids: Collection[str]) -> list[tuple[str, int]]:
    """The passages that mention some nodes with a record, as episodes note it: id of the node, row."""
    found: list[tuple[str, int]] = []
    for batch in batches(sorted(ids)):
        marks = ",".join("?" * len(batch))
        found += connection.execute(
            "SELECT x.id, p.id FROM nodes x JOIN noted t ON t.node = x.number"
            " JOIN passages p ON p.key = printf('%012x', t.turn)"
            f" WHERE x.label IS NOT NULL AND x.number IN ({marks})",
            [number_of(node) for node in batch],
        )
    return found


def nodes_of_turns(connection: sqlite3.Connection, keys: Collection[str]) -> dict[str, list[int]]:
    """The nodes that turns mention, as their episodes' records have it: key → numbers.

    Raises:
        sqlite3.DatabaseError: A key is none; the index is damaged.
    """
    found: dict[str, list[int]] = {}
    for batch in batches(sorted(keys)):
        marks = ",".join("?" * len(batch))
        for turn, node in connection.execute(
            f"SELECT turn, node FROM noted WHERE turn IN ({marks}) ORDER BY turn, node",
            [_number(key) for key in batch],
        ):
            found.setdefault(f"{turn:012x}", []).append(node)
    return found


def _number(key: str) -> int:
    try:
        return int(key, 16)
    except ValueError:
        import sqlite3

        raise sqlite3.DatabaseError(f"malformed key {key!r}") from None


def recall_counts(
    connection: sqlite3.Connection, ids: Collection[str]
) -> dict[str, list[tuple[int, int]]]:
    """How often ids were recalled: id → day as a proleptic ordinal, uses; only what is folded."""
    found: dict[str, list[tuple[int, int]]] = {}
    for batch in batches(sorted(ids)):
        marks = ",".join("?" * len(batch))
        for name, day, count in connection.execute(
            f"SELECT id, day, SUM(n) FROM uses WHERE id IN ({marks})"
            " GROUP BY id, day ORDER BY id, day",
            batch,
        ):
            found.setdefault(name, []).append((day, count))
    return found
