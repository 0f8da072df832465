"""Filters of a recall: the passages it may return, and those that come from untrusted sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index.ranking_queries import batches

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence


class Filters(NamedTuple):
    """What a memory must be; None asks for nothing.

    Attributes:
        kind: passage, statement or gist.
        stream: identity, projects, tasks or flow.
        project: A project's name: its topic in ``projects/``, and what mentions the name.
        session: A conversation's id, or the path of a note as it was given.
        first: First day, as a proleptic ordinal.
        until: The day after the last.
        without: Keys of turns and blocks, and ids of statements, that may not come back.
    """

    kind: str | None = None
    stream: str | None = None
    project: str | None = None
    session: str | None = None
    first: int | None = None
    until: int | None = None
    without: tuple[str, ...] = ()


def matching_rows(connection: sqlite3.Connection, filters: Filters) -> frozenset[int]:
    """The passages that fit, closed ones too. What has no day fits no days."""
    clauses = ["1"]
    values: list[object] = []
    for column, value in (("l.kind", filters.kind), ("l.stream", filters.stream)):
        if value is not None:
            clauses.append(f"{column} = ?")
            values.append(value)
    if filters.session is not None:
        clauses.append("(l.session = ? OR COALESCE(d.path, l.path) = ?)")
        values += [filters.session] * 2
    if filters.project is not None:
        from clsm_cli.text.node_ids import node_id

        name = node_id(filters.project)
        clauses.append(
            "(l.stream = 'projects' AND l.path IN (?, ?) OR p.id IN (SELECT m.passage FROM names n"
            " JOIN mentions m ON m.name = n.id LEFT JOIN aliases a ON a.alias = n.node"
            " WHERE COALESCE(a.node, n.node) = ?))"
        )
        values += [f"projects/{filters.project}.md", f"projects/{name}.md", name]
    if filters.first is not None:
        clauses.append("p.day >= ?")
        values.append(filters.first)
    if filters.until is not None:
        clauses.append("p.day < ?")
        values.append(filters.until)
    if filters.without:
        clauses.append("p.key NOT IN (SELECT value FROM json_each(?))")
        values.append(json.dumps(filters.without))
    found = connection.execute(
        "SELECT p.id FROM passages p JOIN places l ON l.id = p.place"
        " LEFT JOIN documents d ON d.id = l.document"
        f" WHERE {' AND '.join(clauses)}",
        values,
    )
    return frozenset(row[0] for row in found)


def untrusted_rows(connection: sqlite3.Connection, rows: Sequence[int]) -> set[int]:
    """Of the rows of some passages those that a tool printed or a stranger wrote."""
    names = ",".join(f"'{trust}'" for trust in sorted(UNTRUSTED))
    found: set[int] = set()
    for batch in batches(rows):
        marks = ",".join("?" * len(batch))
        query = f"SELECT id FROM passages WHERE trust IN ({names}) AND id IN ({marks})"
        found.update(row for (row,) in connection.execute(query, batch))
    return found
