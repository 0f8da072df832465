"""Archived passages, which the first pass of a recall leaves out.

A turn or a statement is archived when a machine's ``archived.jsonl`` names it and no machine has
folded a use of it, or of a part of it, since that day. A recall must not pay for that question once
for each of thousands of passages, so their rows stand packed in one place (``asleep``), counted
again at the end of a refresh that changed any of them.
"""

from __future__ import annotations

from array import array
from math import isqrt
from typing import TYPE_CHECKING

from clsm_cli.store.index import postings

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from pathlib import Path

    from clsm_cli.store.problems import LineProblem

_ASLEEP = (
    "SELECT p.id, p.length FROM (SELECT id, MAX(since) AS since FROM archived GROUP BY id) a"
    " JOIN passages p ON p.key = a.id WHERE p.current AND NOT EXISTS"
    " (SELECT 1 FROM passages s JOIN uses u"
    " ON u.id = CASE s.part WHEN 0 THEN s.key ELSE s.key || '-' || (s.part + 1) END"
    " WHERE s.key = a.id AND u.day > a.since) ORDER BY p.id"
)


def read(connection: sqlite3.Connection, path: Path, file: int) -> Sequence[LineProblem]:
    """Take in a machine's list; a line that is none of it is a problem."""
    from clsm_cli.store import archive  # only a store that was decayed has such a list

    found = archive.read(path.parent)
    connection.executemany(
        "INSERT INTO archived VALUES (?, ?, ?)",
        [(name, day.toordinal(), file) for name, day in found.since.items()],
    )
    return found.problems


def settle(connection: sqlite3.Connection, touched: set[str]) -> None:
    """Count again what is archived, if a refresh may have changed it.

    Args:
        connection: In a transaction.
        touched: Kinds of files that came, changed or went.
    """
    (rows,) = connection.execute("SELECT rows FROM asleep").fetchone()
    if rows is None or touched & {"archived", "uses"}:
        found = connection.execute(_ASLEEP).fetchall()
        packed = array("I", [row for row, _ in found]).tobytes()
        total = sum(length for _, length in found)
        connection.execute(
            "UPDATE asleep SET passages = ?, length = ?, rows = ?", (len(found), total, packed)
        )


def has_archived_vector(connection: sqlite3.Connection, vectors: Sequence[int]) -> bool:
    """Whether an archived passage has one of some sentence vectors.

    Args:
        connection: Of the index.
        vectors: Their rows.
    """
    (asleep,) = connection.execute("SELECT rows FROM asleep").fetchone()
    rows = connection.execute(
        "SELECT p.id FROM vectors v JOIN passages p ON p.embedded = v.digest"
        f" WHERE v.row IN ({','.join('?' * len(vectors))})",
        list(vectors),
    )
    return not {row for (row,) in rows}.isdisjoint(array("I", asleep))


def rows_with_rare_terms(connection: sqlite3.Connection, terms: Sequence[str]) -> frozenset[int]:
    """Rows of the archived passages that hold a rare term.

    A term is rare where at most √N of all N passages hold it: it tells at least half as much as one
    that a single passage holds, as ln(N / √N) = ½ ln N.
    """
    (most,) = connection.execute("SELECT passages FROM totals").fetchone()
    (asleep,) = connection.execute("SELECT rows FROM asleep").fetchone()
    found: set[int] = set()
    for term in terms:
        if postings.document_frequency(connection, term) <= isqrt(most):
            found.update(row for row, _, _ in postings.term_postings(connection, term))
    return frozenset(found.intersection(array("I", asleep)))
