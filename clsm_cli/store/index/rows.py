"""Rows of passages: their terms and mentions come and go with them."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from typing import TYPE_CHECKING

from clsm_cli.store.index.passages import Passage
from clsm_cli.store.jsonlines import dump
from clsm_cli.text import mentions, tokens

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

_COLUMNS = tuple(f.name for f in fields(Passage) if f.name not in ("sources", "current"))


def insert(connection: sqlite3.Connection, file: int, found: Iterable[Passage]) -> None:
    """Add passages of a file (0: of none), with their terms and mentions."""
    extra = ("file", "sources", "tokens", "length", "embedded", "current")
    names = ", ".join((*_COLUMNS, *extra))
    marks = ", ".join("?" * (len(_COLUMNS) + 6))
    for passage in found:
        terms = Counter(tokens.stems(f"{passage.speaker} {passage.embedded_text}"))
        values = [getattr(passage, name) for name in _COLUMNS]
        row = connection.execute(
            f"INSERT INTO passages ({names}) VALUES ({marks})",
            (
                *values,
                file,
                dump(list(passage.sources)),
                tokens.count_tokens(passage.text),
                terms.total(),
                passage.embedded_digest,
                passage.current,
            ),
        ).lastrowid
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)", [(term, row, tf) for term, tf in terms.items()]
        )
        connection.executemany(
            "INSERT OR IGNORE INTO mentions VALUES (?, ?, ?, ?)",
            [
                (row, mentions.node_id(m.label), m.label, m.kind)
                for m in mentions.find(passage.text)
            ],
        )


def drop(connection: sqlite3.Connection, where: str, value: object) -> None:
    """Remove the passages for which ``where`` holds, one of our own constant clauses."""
    chosen = f"(SELECT id FROM passages WHERE {where})"
    for table in ("postings", "mentions"):
        connection.execute(f"DELETE FROM {table} WHERE passage IN {chosen}", (value,))
    connection.execute(f"DELETE FROM passages WHERE {where}", (value,))
