"""Insert and remove passages with their terms, mentions and places."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from itertools import takewhile
from sqlite3 import Connection

from clsm_cli.model import clocks
from clsm_cli.model.ids import digest
from clsm_cli.store.index import postings
from clsm_cli.store.index.passages import Passage, terms_of
from clsm_cli.store.jsonlines import dump
from clsm_cli.store.layout import Store
from clsm_cli.text import aliases, mentions, noun_phrases
from clsm_cli.text.node_ids import node_id
from clsm_cli.text.time import expressions

_PLACE = ("kind", "stream", "session", "episode", "document", "path", "origin")
_CONVERTED = ("heading", "sources", "current", "is_dump")
_DIRECT = tuple(name for name in Passage._fields if name not in (*_PLACE, *_CONVERTED))
_DERIVED = (
    "place", "heading", "sources", "day", "length", "embedded", "current", "periods", "is_question"
)  # fmt: skip
_IS_READ = "embedded IS NOT NULL AND kind = 'passage' AND role <> 'tool'"
"""Whether names were looked for in a passage, see ``Batch._insert``."""
_BRACKETED = re.compile(r"(?<!\[)\[(?!\[)[^\[\]\n]{1,500}\](?![\](])")
MAX_PERIOD_DAYS = 366
"""Maximum days of a period; a longer one ("in the last century") is too vague to match."""


class Batch:
    """One transaction on the index, and what it collects to write at its end."""

    def __init__(self, connection: Connection, store: Store) -> None:
        self.connection = connection
        self.store = store
        self.sessions: set[str] = set()  # with added or removed turns
        self.documents: set[str] = set()  # with added or removed blocks
        self.keys: set[str] = set()  # of added blocks
        # Type and id of removed and added records → file and line of each version.
        self.removed: dict[tuple[str, str], set[tuple[str, bytes]]] = defaultdict(set)
        self.added: dict[tuple[str, str], set[tuple[str, bytes]]] = defaultdict(set)
        self.forgotten: frozenset[str] = frozenset()  # hashes of the ids with a tombstone
        self._postings = postings.PostingChanges()

    def changed(self) -> set[tuple[str, str]]:
        """Type and id of the changed records."""
        both = self.removed.keys() | self.added.keys()
        return {each for each in both if self.removed.get(each) != self.added.get(each)}

    def insert(self, file: int, found: Iterable[Passage]) -> None:
        """Add passages of a file (0: no file)."""
        places = self._places(file)
        for passage in found:
            place = _values(passage, _PLACE)
            if place not in places:
                places[place] = self._new_place(file, place)
            self._touch(passage.session, passage.document)
            if passage.document is not None:
                self.keys.add(passage.key)
            self._insert(places[place], passage)

    def replace(self, file: int, found: Sequence[Passage]) -> None:
        """Replace the passages of a file, but keep the rows of the unchanged ones at its start.

        So a captured turn costs one row, not those of all turns captured before it. Only for passages
        without heading and sources.
        """
        query = f"SELECT {', '.join((*_DIRECT, *_PLACE))}, id FROM placed_passages"
        before = self.connection.execute(f"{query} WHERE file = ? ORDER BY id", (file,))
        rows = before.fetchall()
        new = (_values(passage, (*_DIRECT, *_PLACE)) for passage in found)
        pairs = zip(rows, new, strict=False)
        kept = sum(1 for _ in takewhile(lambda pair: pair[0][:-1] == pair[1], pairs))
        for *_, row in rows[kept:]:
            self.drop(row)
        self.insert(file, found[kept:])

    def drop_file(self, file: int) -> None:
        """Remove all passages of a file."""
        self._drop("p.file = ?", file)
        self.connection.execute("DELETE FROM places WHERE file = ?", (file,))

    def drop(self, row: int) -> None:
        """Remove one passage, and its place if that is empty."""
        query = "SELECT place FROM passages WHERE id = ?"
        (place,) = self.connection.execute(query, (row,)).fetchone()
        self._drop("p.id = ?", row)
        self.connection.execute(
            "DELETE FROM places WHERE id = ?"
            " AND NOT EXISTS (SELECT 1 FROM passages WHERE place = places.id)",
            (place,),
        )

    def write(self) -> None:
        """Write the collected postings."""
        self._postings.write(self.connection)

    def _places(self, file: int) -> dict[tuple[object, ...], int]:
        """Values of a file's places → row."""
        if not file:
            return {}
        query = f"SELECT {', '.join(_PLACE)}, id FROM places WHERE file = ?"
        return {tuple(row[:-1]): row[-1] for row in self.connection.execute(query, (file,))}

    def _new_place(self, file: int, place: tuple[object, ...]) -> int:
        marks = ", ".join("?" * (len(_PLACE) + 1))
        query = f"INSERT INTO places (file, {', '.join(_PLACE)}) VALUES ({marks})"
        row = self.connection.execute(query, (file, *place)).lastrowid
        assert row is not None
        return row

    def _insert(self, place: int, passage: Passage) -> None:
        terms, length = terms_of(passage.speaker, passage.heading, passage.text)
        day = day_number(passage.time)
        is_prose = not passage.is_dump
        is_turn = is_prose and passage.document is None and passage.kind == "passage"
        names = (*_DIRECT, *_DERIVED)
        row = self.connection.execute(
            f"INSERT INTO passages ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})",
            (
                *_values(passage, _DIRECT),
                place,
                heading_id(self.connection, passage.heading),
                dump(list(passage.sources)) if passage.sources else None,
                day,
                length,
                passage.embedded_digest,
                passage.current,
                periods_of(passage.text, day) if is_turn and day is not None else None,
                is_turn and is_question(passage.text),
            ),
        ).lastrowid
        assert row is not None
        self._postings.add(row, terms, length)
        self.connection.execute("UPDATE passages SET grp = id WHERE id = ?", (row,))
        if is_prose:
            self._add_mentions(row, passage.text)
        if is_prose and passage.kind == "passage" and passage.role != "tool":
            self._add_names(row, passage.text)

    def _add_mentions(self, row: int, text: str) -> None:
        """Store a passage's mentions: each node once, by the first name used."""
        found: dict[str, tuple[int, str, str, str]] = {}
        for mention in mentions.find_mentions(text):
            node = node_id(mention.label)
            name = int(digest("name", node, mention.label, mention.kind), 16)
            found.setdefault(node, (name, node, mention.label, mention.kind))
        names = "INSERT OR IGNORE INTO names VALUES (?, ?, ?, ?)"
        self.connection.executemany(names, found.values())
        mentioned = [(row, name[0]) for name in found.values()]
        self.connection.executemany("INSERT INTO mentions VALUES (?, ?)", mentioned)

    def _add_names(self, row: int, text: str) -> None:
        phrases = [(phrase, row) for phrase in sorted(name_candidates(text))]
        self.connection.executemany("INSERT INTO phrases VALUES (?, ?)", phrases)
        found = {(each.name, each.alias) for each in aliases.stated_aliases(text)}
        stated = [(row, *each) for each in sorted(found)]
        self.connection.executemany("INSERT INTO stated_aliases VALUES (?, ?, ?)", stated)

    def _drop(self, where: str, value: int) -> None:
        """Remove the passages that match ``where``, a constant SQL condition."""
        rows = self.connection.execute(
            f"SELECT p.id, {_IS_READ}, speaker, COALESCE(h.text, ''), p.text, session, document"
            f" FROM placed_passages p LEFT JOIN headings h ON h.id = heading WHERE {where}",
            (value,),
        ).fetchall()
        for row, is_read, speaker, heading, text, *place in rows:
            self._postings.remove(row, terms_of(speaker, heading, text)[0])
            self._touch(*place)
            phrases = [(phrase, row) for phrase in name_candidates(text)] if is_read else []
            self.connection.executemany(
                "DELETE FROM phrases WHERE phrase = ? AND passage = ?", phrases
            )
        ids = [(row[0],) for row in rows]
        self.connection.executemany("DELETE FROM mentions WHERE passage = ?", ids)
        self.connection.executemany("DELETE FROM passages WHERE id = ?", ids)

    def _touch(self, session: str, document: str | None) -> None:
        if document is not None:
            self.documents.add(document)
        elif session:
            self.sessions.add(session)


def _values(passage: Passage, names: tuple[str, ...]) -> tuple[object, ...]:
    return tuple(getattr(passage, name) for name in names)


def name_candidates(text: str) -> dict[int, str]:
    """Phrases of a text that may be names, by their 48-bit hashes, which are all that the index keeps.

    Text in brackets ("[shares a photo]") is skipped: nobody said it.
    """
    text = _BRACKETED.sub(" ", text)
    found = (phrase for _, _, phrase in noun_phrases.noun_phrases(text))
    return {int(digest("phrase", node_id(phrase)), 16): phrase for phrase in found}


def heading_id(connection: Connection, heading: str) -> int | None:
    """The row of a heading path, inserted if new; None for ""."""
    if not heading:
        return None
    row = int(digest("heading", heading), 16)
    connection.execute("INSERT OR IGNORE INTO headings VALUES (?, ?)", (row, heading))
    return row


def day_number(time: str | None) -> int | None:
    """The day of a time as a proleptic ordinal.

    >>> day_number("2026-02-24T08:15:00+01:00") == date(2026, 2, 24).toordinal()
    True
    """
    day = clocks.day_of(time)
    return None if day is None else day.toordinal()


def periods_of(text: str, day: int) -> str | None:
    """The periods that a text from ``day`` refers to, as JSON; None if none.

    >>> periods_of("We met yesterday.", 739_000), periods_of("We met.", 739_000)
    ('[[738999, 739000]]', None)
    """
    found = [
        [each.first.toordinal(), each.until.toordinal()]
        for each in expressions.find_expressions(text, date.fromordinal(day))
    ]
    kept = [each for each in found if each[1] - each[0] <= MAX_PERIOD_DAYS]
    return dump(kept) if kept else None


def is_question(text: str) -> bool:
    """Whether a turn ends with a question, ignoring a bracketed attachment at its end.

    >>> is_question("Are you in? [shares a map]"), is_question("I am.")
    (True, False)
    """
    text = text.rstrip()
    if text.endswith("]"):
        text = text[: text.rfind("[")].rstrip()
    return text.endswith("?")
