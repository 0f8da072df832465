"""Index queries of ranking; this module loads next to nothing."""

from __future__ import annotations

import json
from array import array
from itertools import islice
from typing import TYPE_CHECKING, Any

from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.index import postings
from clsm_cli.store.index.vector_state import VectorReader

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from clsm_cli.store.index.filters import Filters
    from clsm_cli.store.index.passages import Passage
    from clsm_cli.store.layout import Store

BATCH = 500
"""SQLite takes a limited number of parameters at once."""
_COLUMNS = (
    "p.key, p.part, l.kind, l.stream, p.trust, p.text, l.session, l.episode, l.document,"
    " p.speaker, p.role, p.time, COALESCE(d.path, l.path),"
    " COALESCE(b.line_start + p.line_offset, p.line_start),"
    " COALESCE(b.line_start + p.line_offset + p.line_end - p.line_start, p.line_end),"
    " p.line_offset, p.foreign_id, COALESCE(h.text, ''), p.sources, p.current, l.origin"
)
"""The fields of ``Passage`` in order."""


class Traits(NamedTuple):
    """Where a passage stands, without its text.

    Attributes:
        key: Turn key or statement id; with ``part`` it names the passage, whatever its row.
        part: From 0, of a long one.
        previous: The passage before it in its session or section.
        next: The one after it.
        group: First passage of its group of eight.
        kind: passage, statement or gist; ``day``: the proleptic ordinal of when it was told.
        periods: JSON: [[first, until], …], days that it speaks of; None for none.
        session: Of the conversation it was said in.
        vector: Row of its sentence vector; −1 without one.
        token: Row of its first token vector.
        tokens: Number of its token vectors.
        checksum: Of its vectors, see ``vector_files``.
        length: Terms.
    """

    key: str
    part: int
    previous: int | None
    next: int | None
    group: int
    kind: str
    speaker: str
    day: int | None
    periods: str | None
    is_question: bool
    is_document: bool
    session: str
    vector: int
    token: int
    tokens: int
    checksum: int
    length: int


class Member(NamedTuple):
    """A passage of a group: its row, the row of its sentence vector (−1: none), its terms."""

    row: int
    vector: int
    length: int


class Search:
    """A database that is as fresh as it could be made, and the vectors beside it."""

    def __init__(self, connection: sqlite3.Connection, store: Store) -> None:
        """Ask ``connection``, the index of ``store``."""
        self.connection = connection
        self.store = store
        self.vectors = VectorReader(connection, store.derived)
        self._hidden: frozenset[int] | None = None
        self._shows_archive = False
        self._is_past = False
        self._woken: frozenset[int] = frozenset()

    def look_at(self, at: str | None, known_at: str | None = None) -> None:
        """Answer from here on as of a time (``publishing.hidden_rows``), the archive too; None: as of now."""
        self._hidden = None
        self._is_past = at is not None
        if at is not None:
            from clsm_cli.store.index.publishing import hidden_rows

            self._hidden = hidden_rows(self.connection, at, known_at)

    def look_into_archive(self, *, shown: bool) -> None:
        """Whether passages that are archived (``archived``) count from here on; at first not."""
        self._shows_archive = shown
        self._woken = frozenset()
        if not self._is_past:
            self._hidden = None

    def has_archived(self) -> bool:
        """Whether a current passage does not count because it is archived."""
        if self._shows_archive or self._is_past:
            return False
        return bool(self.connection.execute("SELECT passages FROM asleep").fetchone()[0])

    def wake_archived(self, terms: Sequence[str]) -> None:
        """Let those archived passages count, until the next look, that hold a rare word of a question."""
        if self.has_archived():
            from clsm_cli.store.index import archived

            self._hidden, self._woken = None, archived.rows_with_rare_terms(self.connection, terms)
            self._hidden = self.hidden() - self._woken

    def size(self) -> tuple[int, int]:
        """Current passages, and the sum of their lengths in terms.

        What is archived and does not count is not in the sums: a word is as rare as it is among
        what is searched, and a look that shows the archive ranks as if nothing were archived.
        """
        query = "SELECT t.passages - a.passages, t.length - a.length FROM totals t, asleep a"
        if self._shows_archive or self._is_past:
            query = "SELECT passages, length FROM totals"
        row = self.connection.execute(query).fetchone()
        woken = [each.length for each in self.traits(sorted(self._woken)).values()]
        return int(row[0]) + len(woken), int(row[1]) + sum(woken)

    def unembedded(self) -> int:
        """Texts without a vector."""
        from clsm_cli.store.index import vectors

        return vectors.waiting(self.connection)

    def speakers(self) -> list[str]:
        """Everyone who speaks, by name."""
        query = "SELECT name FROM speakers ORDER BY name"
        return [str(row[0]) for row in self.connection.execute(query)]

    def postings(self, term: str) -> list[tuple[int, int, int]]:
        """Where a term occurs among visible passages: passage, count, terms of the passage."""
        found = postings.term_postings(self.connection, term)
        hidden = self.hidden()
        return [each for each in found if each[0] not in hidden] if hidden else list(found)

    def hidden(self) -> frozenset[int]:
        """Rows of the passages that do not count: closed, no longer held to be true, archived."""
        if self._hidden is None:
            closed = "SELECT id FROM passages WHERE NOT current"
            found = {row[0] for row in self.connection.execute(closed)}
            if not self._shows_archive:
                (asleep,) = self.connection.execute("SELECT rows FROM asleep").fetchone()
                found.update(array("I", asleep))
            self._hidden = frozenset(found)
        return self._hidden

    def passages(self, rows: Sequence[int]) -> dict[int, Passage]:
        """Passages by row number."""
        found: dict[int, Passage] = {}
        for batch in batches(rows):
            query = (
                f"SELECT p.id, {_COLUMNS} FROM passages p JOIN places l ON l.id = p.place"
                " LEFT JOIN blocks b ON b.document = l.document AND b.key = p.key"
                " LEFT JOIN documents d ON d.id = b.document"
                " LEFT JOIN headings h ON h.id = COALESCE(b.heading, p.heading)"
                f" WHERE p.id IN ({','.join('?' * len(batch))})"
            )
            for row in self.connection.execute(query, batch):
                found[row[0]] = _passage(row[1:])
        return found

    def traits(self, rows: Sequence[int]) -> dict[int, Traits]:
        """Where passages stand, by row number."""
        found: dict[int, Traits] = {}
        for batch in batches(rows):
            marks = ",".join("?" * len(batch))
            query = (
                "SELECT p.id, p.key, p.part, p.previous, p.next, p.grp, l.kind, p.speaker, p.day, p.periods,"
                " p.is_question, l.document IS NOT NULL, l.session, COALESCE(v.row, -1),"
                " COALESCE(v.token, 0), COALESCE(v.tokens, 0), COALESCE(v.checksum, 0), p.length"
                " FROM passages p JOIN places l ON l.id = p.place"
                f" LEFT JOIN vectors v ON v.digest = p.embedded WHERE p.id IN ({marks})"
            )
            found |= {row[0]: Traits(*row[1:]) for row in self.connection.execute(query, batch)}
        return found

    def members(self, groups: Sequence[int]) -> dict[int, list[Member]]:
        """The passages of groups."""
        found: dict[int, list[Member]] = {group: [] for group in groups}
        for batch in batches(groups):
            marks = ",".join("?" * len(batch))
            for group, *member in self.connection.execute(
                "SELECT p.grp, p.id, COALESCE(v.row, -1), p.length FROM passages p"
                " LEFT JOIN vectors v ON v.digest = p.embedded"
                f" WHERE p.grp IN ({marks}) ORDER BY p.id",
                batch,
            ):
                found[group].append(Member(*member))
        return found

    def rows_of_vectors(self, rows: Sequence[int]) -> list[tuple[int, str, int, int]]:
        """The visible passages of sentence vectors: row of the vector, key, part, passage."""
        found: list[tuple[int, str, int, int]] = []
        hidden = self.hidden()
        for batch in batches(rows):
            marks = ",".join("?" * len(batch))
            found += self.connection.execute(
                "SELECT v.row, p.key, p.part, p.id FROM vectors v"
                " JOIN passages p ON p.embedded = v.digest"
                f" WHERE v.row IN ({marks})",
                batch,
            )
        return [each for each in found if each[-1] not in hidden] if hidden else found

    def names_in(self, rows: Sequence[int]) -> dict[int, list[str]]:
        """The names that passages mention, by the marks of their texts, speakers left out."""
        speakers = {speaker.casefold() for speaker in self.speakers()}
        found: dict[int, list[str]] = {}
        for batch in batches(rows):
            marks = ",".join("?" * len(batch))
            for row, label in self.connection.execute(
                "SELECT m.passage, n.label FROM mentions m JOIN names n ON n.id = m.name"
                f" WHERE m.passage IN ({marks}) ORDER BY m.passage, n.label",
                batch,
            ):
                if label.casefold() not in speakers:
                    found.setdefault(row, []).append(label)
        return found

    def rows_of(self, keys: Iterable[str]) -> list[int]:
        """The visible passages with some keys, by row number."""
        found: list[int] = []
        hidden = self.hidden()
        for batch in batches(sorted(keys)):
            marks = ",".join("?" * len(batch))
            rows = self.connection.execute(
                f"SELECT id FROM passages WHERE key IN ({marks}) ORDER BY id", batch
            )
            found += [row[0] for row in rows if row[0] not in hidden]
        return found

    def in_order(self, rows: Sequence[int]) -> list[int]:
        """Passages in the order of their keys, which does not depend on rows."""
        found: list[tuple[str, int, int]] = []
        for batch in batches(rows):
            marks = ",".join("?" * len(batch))
            found += self.connection.execute(
                f"SELECT key, part, id FROM passages WHERE id IN ({marks})", batch
            )
        return [row for _, _, row in sorted(found)]

    def on_days(self, first: int, until: int, limit: int) -> list[int]:
        """Visible passages told on days ``first`` … ``until`` − 1, the newest first."""
        hidden = self.hidden()
        rows = self.connection.execute(
            "SELECT id FROM passages WHERE day >= ? AND day < ?"
            " ORDER BY day DESC, time DESC, key, part",
            (first, until),
        )
        return list(islice((int(row[0]) for row in rows if row[0] not in hidden), limit))

    def matching_rows(self, filters: Filters) -> Collection[int]:
        """The visible passages that a filter lets through."""
        from clsm_cli.store.index.filters import matching_rows

        return matching_rows(self.connection, filters) - self.hidden()


def batches(values: Iterable[Any]) -> Iterator[list[Any]]:
    """Lists of at most ``BATCH``."""
    listed = list(values)
    for start in range(0, len(listed), BATCH):
        yield listed[start : start + BATCH]


def _passage(row: Sequence[Any]) -> Passage:
    """A row of ``_COLUMNS``."""
    from clsm_cli.store.index.passages import Passage

    *values, sources, current, origin = row
    known: Any = (*values, tuple(json.loads(sources)) if sources else (), bool(current), origin)
    return Passage(*known)
