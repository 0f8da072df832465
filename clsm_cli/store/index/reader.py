"""Questions that retrieval and ingestion ask the index."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NamedTuple

from clsm_cli.model.codec import decode
from clsm_cli.model.graph import Node
from clsm_cli.model.join import join_all
from clsm_cli.store.index import vectors
from clsm_cli.store.index.passages import Passage

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.model.codec import Record
    from clsm_cli.store.layout import Store

_BATCH = 500
_COLUMNS = (
    "p.key, p.part, p.kind, p.stream, p.trust, p.text, p.session, p.episode, p.document, p.speaker,"
    " p.role, p.time, COALESCE(b.path, p.path), COALESCE(b.line_start + p.line_offset, p.line_start),"
    " COALESCE(b.line_start + p.line_offset + p.line_end - p.line_start, p.line_end),"
    " p.line_offset, p.foreign_id, COALESCE(b.heading, p.heading), p.sources, p.current"
)

_FIELDS = tuple(f.name for f in fields(Passage) if f.name not in ("sources", "current"))


class Posting(NamedTuple):
    """A term's occurrence: passage row, count, and the passage's length in terms."""

    passage: int
    tf: int
    length: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A node that a passage mentions, under the name the text uses."""

    passage: int
    node: str
    label: str
    kind: str


class KnownTurn(NamedTuple):
    """A turn that the store has, as far as recognising it again needs."""

    key: str
    speaker: str
    time: str | None
    path: str
    line: int


class Index:
    """A database that is as fresh as it could be made, and the vectors beside it."""

    def __init__(self, connection: sqlite3.Connection, store: Store) -> None:
        self.connection = connection
        self.store = store

    def size(self) -> tuple[int, int]:
        """Current passages, and the sum of their lengths in terms."""
        row = self.connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(length), 0) FROM passages WHERE current"
        ).fetchone()
        return int(row[0]), int(row[1])

    def postings(self, term: str) -> list[Posting]:
        """Where a term occurs among current passages."""
        rows = self.connection.execute(
            "SELECT o.passage, o.tf, p.length FROM postings o JOIN passages p ON p.id = o.passage"
            " WHERE o.term = ? AND p.current",
            (term,),
        )
        return [Posting(*row) for row in rows]

    def passages(self, rows: Sequence[int]) -> dict[int, Passage]:
        """Passages by row number."""
        found: dict[int, Passage] = {}
        for batch in _batches(rows):
            marks = ",".join("?" * len(batch))
            query = (
                f"SELECT p.id, {_COLUMNS} FROM passages p LEFT JOIN blocks b"
                f" ON b.document = p.document AND b.key = p.key WHERE p.id IN ({marks})"
            )
            for row in self.connection.execute(query, batch):
                found[row[0]] = _passage(row[1:])
        return found

    def by_key(self, prefix: str) -> list[Passage]:
        """Passages whose key begins with ``prefix``, in order; at most one of each id."""
        rows = [
            row[0]
            for row in self.connection.execute(
                "SELECT id FROM passages WHERE key >= ? AND key < ? ORDER BY key, part, episode",
                (prefix, prefix + "\U0010ffff"),
            )
        ]
        found = self.passages(rows)
        return list({found[row].id: found[row] for row in rows}.values())

    def vector_rows(self) -> tuple[list[int], list[int]]:
        """Current passages that have a vector: their row numbers, and the vectors' rows."""
        rows = self.connection.execute(
            "SELECT p.id, v.row FROM passages p JOIN vectors v ON v.digest = p.embedded"
            " WHERE p.current ORDER BY v.row"
        ).fetchall()
        return [row[0] for row in rows], [row[1] for row in rows]

    def matrix(self) -> Any:
        """The vector rows, memory-mapped (see ``vectors.row_type``); None when there are none."""
        return vectors.load(self.connection, self.store.derived)

    def unembedded(self) -> int:
        """Passages without a vector."""
        row = self.connection.execute(
            "SELECT COUNT(*) FROM passages WHERE embedded NOT IN (SELECT digest FROM vectors)"
        ).fetchone()
        return int(row[0])

    def mentions(self, rows: Sequence[int]) -> list[Mention]:
        """What some passages mention; an alias counts as its node."""
        found: list[Mention] = []
        for batch in _batches(rows):
            marks = ",".join("?" * len(batch))
            query = (
                "SELECT m.passage, COALESCE(a.node, m.node), m.label, m.kind FROM mentions m"
                f" LEFT JOIN aliases a ON a.alias = m.node WHERE m.passage IN ({marks})"
                " ORDER BY m.passage, m.node, a.node"
            )
            found += [Mention(*row) for row in self.connection.execute(query, batch)]
        return found

    def mentioned(self, node: str) -> list[tuple[str, int]]:
        """The names current passages use for a node id, with how many use each."""
        rows = self.connection.execute(
            "SELECT m.label, COUNT(*) FROM mentions m JOIN passages p ON p.id = m.passage"
            " WHERE p.current AND (m.node = ? OR m.node IN"
            " (SELECT alias FROM aliases WHERE node = ?)) GROUP BY m.label ORDER BY m.label",
            (node, node),
        )
        return [(str(label), int(count)) for label, count in rows]

    def is_mentioned(self, node: str) -> bool:
        """Whether a current passage mentions a node under its own id."""
        row = self.connection.execute(
            "SELECT 1 FROM mentions m JOIN passages p ON p.id = m.passage"
            " WHERE m.node = ? AND p.current LIMIT 1",
            (node,),
        ).fetchone()
        return row is not None

    def node_of(self, name_id: str) -> str:
        """The node that an id of a name stands for: itself, or the one it is an alias of."""
        row = self.connection.execute(
            "SELECT node FROM aliases WHERE alias = ? ORDER BY node LIMIT 1", (name_id,)
        ).fetchone()
        return str(row[0]) if row else name_id

    def record(self, record_id: str) -> Record | None:
        """The joined record of an id."""
        lines = self.connection.execute(
            "SELECT line FROM records WHERE id = ?", (record_id,)
        ).fetchall()
        versions = [decode(json.loads(line)) for (line,) in lines]
        return join_all(versions).record if versions else None

    def node(self, node_id: str) -> Node | None:
        """A node's record, if consolidation or a person made one."""
        record = self.record(node_id)
        return record if isinstance(record, Node) else None

    def ids(self, prefix: str) -> list[str]:
        """Ids of records that begin with ``prefix``."""
        rows = self.connection.execute(
            "SELECT DISTINCT id FROM records WHERE id >= ? AND id < ? ORDER BY id",
            (prefix, prefix + "\U0010ffff"),
        )
        return [str(row[0]) for row in rows]

    def known_turns(self, session: str) -> list[KnownTurn]:
        """The turns of a session that episodes and inboxes hold, each once."""
        rows = self.connection.execute(
            "SELECT key, speaker, time, path, line_start FROM passages"
            " WHERE session = ? AND part = 0 ORDER BY path, line_start, id",
            (session,),
        )
        return list({row[0]: KnownTurn(*row) for row in rows}.values())

    def episode_ids(self, prefix: str) -> list[str]:
        """Ids of episodes that begin with ``prefix``."""
        rows = self.connection.execute(
            "SELECT DISTINCT id FROM episodes WHERE id >= ? AND id < ? ORDER BY id",
            (prefix, prefix + "\U0010ffff"),
        )
        return [str(row[0]) for row in rows]

    def episode_files(self, episode: str) -> list[str]:
        """The files, relative to the store, that hold an episode (one on each machine)."""
        rows = self.connection.execute(
            "SELECT f.path FROM episodes e JOIN files f ON f.id = e.file"
            " WHERE e.id = ? ORDER BY f.path",
            (episode,),
        )
        return [str(row[0]) for row in rows]

    def last_episode(self, session: str) -> str | None:
        """The newest episode of a session: the one that no other names as its previous."""
        row = self.connection.execute(
            "SELECT id FROM episodes e WHERE session = ? AND NOT EXISTS"
            " (SELECT 1 FROM episodes n WHERE n.previous = e.id) ORDER BY id LIMIT 1",
            (session,),
        ).fetchone()
        return str(row[0]) if row else None

    def undescribed(self) -> list[tuple[str, str]]:
        """Episodes without a record: id and file; the earlier of a session first."""
        rows = self.connection.execute(
            "SELECT e.id, f.path, e.previous FROM episodes e JOIN files f ON f.id = e.file"
            " WHERE e.id NOT IN (SELECT id FROM records) ORDER BY f.path"
        ).fetchall()
        waiting = {row[0]: (row[1], row[2]) for row in reversed(rows)}
        ordered: dict[str, str] = {}
        for episode in sorted(waiting):
            chain = []
            link: str | None = episode
            while (
                link is not None and link in waiting and link not in ordered and link not in chain
            ):
                chain.append(link)
                link = waiting[link][1]
            ordered |= {known: waiting[known][0] for known in reversed(chain)}
        return list(ordered.items())

    def closed_keys(self, session: str) -> set[str]:
        """Keys of the turns of a session that lie in episodes."""
        rows = self.connection.execute(
            "SELECT DISTINCT key FROM passages WHERE session = ? AND episode IS NOT NULL",
            (session,),
        )
        return {str(row[0]) for row in rows}

    def vectors_of(self, keys: Sequence[str]) -> dict[str, Any]:
        """Unit vectors float32 [384] of the first part of turns, by key, as the index keeps them."""
        matrix = self.matrix()
        found: dict[str, Any] = {}
        for start in range(0, len(keys), _BATCH):
            batch = list(keys[start : start + _BATCH])
            marks = ",".join("?" * len(batch))
            query = (
                "SELECT p.key, v.row FROM passages p JOIN vectors v ON v.digest = p.embedded"
                f" WHERE p.part = 0 AND p.key IN ({marks}) ORDER BY p.id"
            )
            for key, row in self.connection.execute(query, batch):
                found[key] = vectors.unit(matrix[row]) if matrix is not None else None
        return {key: vector for key, vector in found.items() if vector is not None}

    def problems(self) -> Iterator[tuple[str, int | None, str]]:
        """Files of the store that could not be read as they should: path, line, reason."""
        for path, listed in self.connection.execute(
            "SELECT path, problems FROM files WHERE problems IS NOT NULL ORDER BY path"
        ):
            for line, reason in json.loads(listed):
                yield path, line, reason


def _passage(row: Sequence[Any]) -> Passage:
    """A row of ``_COLUMNS``, which are the fields of ``Passage`` in order."""
    *values, sources, current = row
    named = dict(zip(_FIELDS, values, strict=True))
    return Passage(**named, sources=tuple(json.loads(sources)), current=bool(current))


def _batches(values: Iterable[int]) -> Iterator[list[int]]:
    """SQLite takes a limited number of parameters at once."""
    listed = list(values)
    for start in range(0, len(listed), _BATCH):
        yield listed[start : start + _BATCH]
