"""Index queries of ranking; this module imports next to nothing."""

from __future__ import annotations

import json
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import isqrt
from sqlite3 import Connection
from typing import TYPE_CHECKING, Any, Self

from clsm_cli.model.grouping import grouped
from clsm_cli.model.trust import UNTRUSTED
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import postings
from clsm_cli.store.index.database import column, json_list, select
from clsm_cli.store.index.vector_files import VectorFiles, VectorRow
from clsm_cli.store.layout import Store

if TYPE_CHECKING:
    from clsm_cli.store.index.passages import Passage

_COLUMNS = (
    "p.key, p.part, p.kind, p.stream, p.trust, p.text, p.session, p.episode, p.document,"
    " p.speaker, p.role, p.time, COALESCE(d.path, p.path),"
    " COALESCE(b.line_start + p.line_offset, p.line_start),"
    " COALESCE(b.line_start + p.line_offset + p.line_end - p.line_start, p.line_end),"
    " p.line_offset, p.foreign_id, COALESCE(h.text, ''), p.sources, p.current, p.origin"
)
"""The fields of ``Passage`` in order."""
NODE_MENTIONS = (
    "FROM names n JOIN mentions m ON m.name = n.id JOIN passages p ON p.id = m.passage"
    " WHERE p.current AND (n.node = ? OR n.node IN (SELECT alias FROM aliases WHERE node = ?))"
)
"""Mentions of a node in current passages, under its own name or an alias."""


class Traits(NamedTuple):
    """The properties of a passage that ranking uses, without its text."""

    key: str  # turn key or statement id; with ``part``, it identifies the passage
    part: int  # of a long one, from 0
    previous: int | None
    next: int | None
    group: int  # first passage of its group of eight
    kind: str  # passage, statement or gist
    speaker: str
    day: int | None  # proleptic ordinal of the day it was told
    periods: str | None  # JSON: [[first, until], …], days that it refers to; None for none
    is_question: bool
    is_document: bool
    session: str
    vector: int  # row of its sentence vector; −1 without one
    token: int
    tokens: int
    checksum: int  # of its vectors, see ``vector_files``
    length: int
    is_own: bool  # a turn of the person, not of an agent or a tool

    @property
    def vector_rows(self) -> VectorRow:
        """The position of its vectors in their files."""
        return VectorRow(0, self.vector, self.token, self.tokens, self.checksum)


class Filters(NamedTuple):
    """Conditions on a passage; None means any."""

    kind: str | None = None
    stream: str | None = None
    project: str | None = None  # a name: its topic in ``projects/`` and passages that mention it
    session: str | None = None  # a conversation's id, or a note's path as given
    first: int | None = None  # day, as a proleptic ordinal
    until: int | None = None  # the day after the last
    without: tuple[str, ...] = ()  # keys of excluded turns and blocks, ids of excluded statements


class GroupMember(NamedTuple):
    """A passage of a group: its row, its sentence vector's row (−1: none), its length in terms."""

    row: int
    vector: int
    length: int


class Search:
    """A view of the database, as fresh as possible, and its vectors.

    A view never changes; its methods return other views.
    """

    def __init__(self, connection: Connection, store: Store) -> None:
        self.connection = connection
        self.store = store
        self.vectors = VectorFiles(connection, store.derived)
        self._hidden: frozenset[int] | None = None
        self._shows_archive = False
        self._restored: frozenset[int] = frozenset()
        self.after_cutoff: Mapping[int, str] = {}  # row → time told, if after the view's time

    def _view(self, **changed: Any) -> Self:
        view = object.__new__(type(self))
        view.__dict__.update(self.__dict__, **{"_restored": frozenset(), **changed})
        return view

    def as_of(self, at: str, known_at: str | None = None) -> Self:
        """The view as of a time (``hidden.past``), archive included."""
        from clsm_cli.store.index import hidden

        past = hidden.past(self.connection, at, known_at)
        return self._view(_shows_archive=True, _hidden=past.hidden, after_cutoff=past.after_cutoff)

    def only_after_cutoff(self) -> Self:
        """From a view as of a time: the view of only what was told later."""
        rows = column(self.connection, "SELECT id FROM passages")
        return self._view(_hidden=frozenset(rows) - self.after_cutoff.keys())

    def with_archive(self) -> Self:
        """The view with archived passages (``hidden``) visible."""
        return self if self._shows_archive else self._view(_shows_archive=True, _hidden=None)

    def with_former(self) -> Self:
        """The view with archived passages and the former blocks of documents visible."""
        query = "SELECT id FROM placed_passages WHERE NOT current AND document IS NULL"
        return self._view(_shows_archive=True, _hidden=frozenset(column(self.connection, query)))

    def with_rare(self, terms: Sequence[str]) -> Self:
        """The view with those archived passages visible that contain a rare term."""
        if not self.has_archived():
            return self
        restored = _with_rare_terms(self.connection, terms)
        return self._view(_restored=restored, _hidden=self.hidden() - restored)

    def has_archived(self) -> bool:
        """Whether the archive hides any current passage."""
        if self._shows_archive:
            return False
        return bool(self.connection.execute("SELECT passages FROM archived_rows").fetchone()[0])

    def hides(self, vectors: Sequence[int], view: Self) -> bool:
        """Whether another view shows a passage that this one hides, of a sentence vector by row."""
        return any(each[-1] in self.hidden() for each in view.rows_of_vectors(vectors))

    def size(self) -> tuple[int, int]:
        """Number of current passages, and the sum of their lengths in terms.

        Hidden archived passages are not counted: a word is as rare as it is among searched passages,
        and a view with the archive ranks as if nothing were archived.
        """
        query = "SELECT t.passages - a.passages, t.length - a.length FROM totals t, archived_rows a"
        if self._shows_archive:
            query = "SELECT passages, length FROM totals"
        row = self.connection.execute(query).fetchone()
        restored = [each.length for each in self.traits(sorted(self._restored)).values()]
        return int(row[0]) + len(restored), int(row[1]) + sum(restored)

    def speakers(self) -> list[str]:
        """Names of all speakers, sorted."""
        return column(self.connection, "SELECT name FROM speakers ORDER BY name")

    def postings(self, term: str) -> list[tuple[int, int, int]]:
        """Postings of a term in visible passages: passage, count, length in terms."""
        found = postings.term_postings(self.connection, term)
        hidden = self.hidden()
        return [each for each in found if each[0] not in hidden] if hidden else list(found)

    def hidden(self) -> frozenset[int]:
        """Rows of the invisible passages: closed, superseded or archived."""
        if self._hidden is None:
            found = {*column(self.connection, "SELECT id FROM passages WHERE NOT current")}
            if not self._shows_archive:
                found.update(_archived_rows(self.connection))
            self._hidden = frozenset(found)
        return self._hidden

    def passages(self, rows: Sequence[int]) -> dict[int, Passage]:
        """Passages by row."""
        query = (
            f"SELECT p.id, {_COLUMNS} FROM placed_passages p"
            " LEFT JOIN blocks b ON b.document = p.document AND b.key = p.key"
            " LEFT JOIN documents d ON d.id = b.document"
            " LEFT JOIN headings h ON h.id = COALESCE(b.heading, p.heading) WHERE p.id IN ({})"
        )
        return {row[0]: _passage(row[1:]) for row in select(self.connection, query, rows)}

    def traits(self, rows: Sequence[int]) -> dict[int, Traits]:
        """Traits by row."""
        query = (
            "SELECT id, key, part, previous, next, grp, kind, speaker, day, periods, is_question,"
            " document IS NOT NULL, session, COALESCE(v.row, -1), COALESCE(v.token, 0),"
            " COALESCE(v.tokens, 0), COALESCE(v.checksum, 0), length,"
            " kind = 'passage' AND document IS NULL AND role = 'user'"
            " FROM placed_passages LEFT JOIN vectors v ON v.digest = embedded WHERE id IN ({})"
        )
        return {row[0]: Traits(*row[1:]) for row in select(self.connection, query, rows)}

    def members(self, groups: Sequence[int]) -> dict[int, list[GroupMember]]:
        """Group → its passages."""
        found: dict[int, list[GroupMember]] = {group: [] for group in groups}
        query = (
            "SELECT p.grp, p.id, COALESCE(v.row, -1), p.length FROM passages p"
            " LEFT JOIN vectors v ON v.digest = p.embedded WHERE p.grp IN ({}) ORDER BY p.id"
        )
        for group, *member in select(self.connection, query, groups):
            found[group].append(GroupMember(*member))
        return found

    def rows_of_vectors(self, rows: Sequence[int]) -> list[tuple[int, str, int, int]]:
        """Visible passages of sentence vectors: vector row, key, part, passage row."""
        query = (
            "SELECT v.row, p.key, p.part, p.id FROM vectors v"
            " JOIN passages p ON p.embedded = v.digest WHERE v.row IN ({})"
        )
        hidden = self.hidden()
        return [each for each in select(self.connection, query, rows) if each[-1] not in hidden]

    def names_in(self, rows: Sequence[int]) -> dict[int, list[str]]:
        """Row → names marked in the text, speakers left out."""
        speakers = {speaker.casefold() for speaker in self.speakers()}
        query = (
            "SELECT m.passage, n.label FROM mentions m JOIN names n ON n.id = m.name"
            " WHERE m.passage IN ({}) ORDER BY m.passage, n.label"
        )
        found = select(self.connection, query, rows)
        return grouped(each for each in found if each[1].casefold() not in speakers)

    def rows_of(self, keys: Iterable[str]) -> list[int]:
        """Rows of the visible passages with some keys."""
        query = "SELECT id FROM passages WHERE key IN ({}) ORDER BY id"
        rows = select(self.connection, query, sorted(keys))
        return [row for (row,) in rows if row not in self.hidden()]

    def in_order(self, rows: Sequence[int]) -> list[int]:
        """Rows in order of key and part, which does not depend on row numbers."""
        query = "SELECT key, part, id FROM passages WHERE id IN ({})"
        return [row for _, _, row in sorted(select(self.connection, query, rows))]

    def on_days(self, first: int, until: int, limit: int) -> list[int]:
        """Visible passages told on days ``first`` … ``until`` − 1, newest first."""
        hidden = self.hidden()
        query = (
            "SELECT id FROM passages WHERE day >= ? AND day < ?"
            " ORDER BY day DESC, time DESC, key, part"
        )
        rows = column(self.connection, query, (first, until))
        return [row for row in rows if row not in hidden][:limit]

    def matching_rows(self, filters: Filters) -> Collection[int]:
        """Rows of the visible passages that match the filters."""
        return _matching(self.connection, filters) - self.hidden()


def _matching(connection: Connection, filters: Filters) -> frozenset[int]:
    """Rows of the matching passages, closed ones included. Undated ones match no day."""
    clauses: list[str] = []
    values: list[object] = []
    for clause, value in (
        ("p.kind = ?", filters.kind),
        ("p.stream = ?", filters.stream),
        ("p.day >= ?", filters.first),
        ("p.day < ?", filters.until),
        ("? IN (p.session, COALESCE(d.path, p.path))", filters.session),
        ("p.key NOT IN (SELECT value FROM json_each(?))", json.dumps(filters.without)),
    ):
        if value is not None:
            clauses.append(clause)
            values.append(value)
    if filters.project is not None:
        from clsm_cli.text.node_ids import node_id

        name = node_id(filters.project)
        clauses.append(
            "(p.stream = 'projects' AND p.path IN (?, ?) OR p.id IN (SELECT m.passage FROM names n"
            " JOIN mentions m ON m.name = n.id LEFT JOIN aliases a ON a.alias = n.node"
            " WHERE COALESCE(a.node, n.node) = ?))"
        )
        values += [f"projects/{filters.project}.md", f"projects/{name}.md", name]
    query = (
        "SELECT p.id FROM placed_passages p LEFT JOIN documents d ON d.id = p.document"
        f" WHERE {' AND '.join(clauses)}"
    )
    return frozenset(column(connection, query, values))


def untrusted_rows(connection: Connection, rows: Sequence[int]) -> set[int]:
    """The rows whose passages come from tools or strangers."""
    names = ",".join(f"'{trust}'" for trust in sorted(UNTRUSTED))
    query = f"SELECT id FROM passages WHERE trust IN ({names}) AND id IN ({{}})"
    return {row for (row,) in select(connection, query, rows)}


def _with_rare_terms(connection: Connection, terms: Sequence[str]) -> frozenset[int]:
    """Rows of the archived passages with a rare term.

    A term is rare if at most √N of all N passages have it: its IDF is at least half that of a term in
    a single passage, as ln(N / √N) = ½ ln N.
    """
    (most,) = connection.execute("SELECT passages FROM totals").fetchone()
    found: set[int] = set()
    for term in terms:
        if postings.document_frequency(connection, term) <= isqrt(most):
            found.update(row for row, _, _ in postings.term_postings(connection, term))
    return frozenset(found.intersection(_archived_rows(connection)))


def _archived_rows(connection: Connection) -> array[int]:
    (packed,) = connection.execute("SELECT rows FROM archived_rows").fetchone()
    return postings.unpack(packed)


def _passage(row: Sequence[Any]) -> Passage:
    from clsm_cli.store.index.passages import Passage

    *values, sources, current, origin = row
    known: Any = (*values, tuple(json_list(sources)), bool(current), origin)
    return Passage(*known)
