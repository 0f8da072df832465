"""Rare operations on a whole index: compare it with a fresh one, and rebuild it.

**Compare.** Row numbers differ between two indexes of the same files, so linked rows are identified by
content. What only grows with use (vectors, texts waiting for one) is left out.

**Compact** removes every trace of what is no longer indexed. A deleted row stays in the free pages of the
database, its write-ahead log and the vector files until it is overwritten. So the index is rebuilt from
the store's files, and its vectors are kept, which take most of the time (without them, a thousand passages
take less than a second). Offsets into the old vector files must never be used with the new ones: the table
of vectors is emptied first, and the files are replaced only when no reader is left that saw it. A crash
in between costs the vectors, which the next command recomputes.
"""

from __future__ import annotations

import contextlib
import json
from sqlite3 import Connection
from typing import Any

from clsm_cli.errors import LockedError
from clsm_cli.store.index import database, postings
from clsm_cli.store.index.indexed_files import changes
from clsm_cli.store.index.refresh import refresh
from clsm_cli.store.index.vector_files import VectorFiles
from clsm_cli.store.layout import Store

_NAMES = (
    "SELECT p.id, COALESCE(f.path, ''), p.key, p.part FROM placed_passages p"
    " LEFT JOIN files f ON f.id = p.file"
)
_PASSAGES = (
    "SELECT p.id, p.previous, p.next, p.grp, p.trust, p.speaker, p.role, p.time, p.day,"
    " p.line_start, p.line_end, p.line_offset, p.foreign_id, h.text, p.sources, p.text, p.length,"
    " p.embedded, p.current, p.periods, p.is_question, p.kind, p.stream, p.session,"
    " p.episode, p.document, p.path, p.origin FROM placed_passages p"
    " LEFT JOIN headings h ON h.id = p.heading"
)
_WHOLE = "documents blocks aliases links turn_nodes episode_stages clocks totals speakers"
_TABLES = {table: f"SELECT * FROM {table}" for table in _WHOLE.split()} | {
    "episodes": "SELECT e.id, f.path, e.session, e.document, e.previous, e.start, e.continues"
    " FROM episodes e JOIN files f ON f.id = e.file",
    "nodes": "SELECT number, id, label, aliases, kind, stream, n, last, summary, embedded"
    " FROM nodes WHERE label IS NOT NULL",
    "records": "SELECT f.path, r.id, r.type, hex(r.line) FROM records r"
    " JOIN files f ON f.id = r.file",
    "statement_sources": "SELECT r.turn, p.key FROM statement_sources r JOIN passages p ON p.id = r.passage",
    "uses": "SELECT u.id, u.day, u.n, f.path FROM uses u JOIN files f ON f.id = u.file",
    "archived": "SELECT a.id, a.since, f.path FROM archived a JOIN files f ON f.id = a.file",
    "tombstones": "SELECT t.hash, f.path FROM tombstones t JOIN files f ON f.id = t.file",
    "phrases": "SELECT COUNT(*) FROM phrases",
    "stated_aliases": "SELECT COUNT(*) FROM stated_aliases",
    "archived_rows": "SELECT passages, length FROM archived_rows",
    "problems": "SELECT path, problems FROM files WHERE problems IS NOT NULL",
}


def differences(store: Store, connection: Connection) -> list[str]:
    """Sorted names of the tables that differ from a fresh index of the same files."""
    with contextlib.closing(database.in_memory(None)) as fresh:
        refresh(fresh, store, changes(fresh, store))
        expected = contents(fresh)
    found = contents(connection)
    return sorted(name for name in expected if found[name] != expected[name])


def contents(connection: Connection) -> dict[str, Any]:
    """The content of an index, by table, in a fixed order."""
    names = {row[0]: tuple(row[1:]) for row in connection.execute(_NAMES)}
    passages = {
        names.get(row[0]): ([names.get(each) for each in row[1:4]], row[4:])
        for row in connection.execute(_PASSAGES)
    }
    found: dict[str, Any] = {
        table: sorted(connection.execute(query).fetchall(), key=json.dumps)
        for table, query in _TABLES.items()
    }
    rows = connection.execute(
        "SELECT m.passage, n.node, n.label, n.kind FROM mentions m JOIN names n ON n.id = m.name"
    )
    mentions = {(names.get(row[0]), *row[1:]) for row in rows}
    return found | {"passages": passages, "terms": _terms(connection, names), "mentions": mentions}


def _terms(connection: Connection, names: dict[int, tuple[Any, ...]]) -> set[Any]:
    return {
        (term, names.get((block << 16) + (code >> 16)), code & 0xFFFF)
        for term, block, data in connection.execute("SELECT term, block, data FROM postings")
        for code in postings.unpack(data)
    }


def compact(store: Store) -> None:
    """Rebuild the index without any text or vector that is no longer indexed.

    Its content stays the same, vectors to the bit. A missing index stays missing. The caller holds the
    lock. Readers continue with the files they have open.

    Raises:
        LockedError: A reader did not finish; nothing is lost, but old bytes may remain.
    """
    if not database.path_of(store.derived).exists():
        database.discard(store.derived)  # what lies beside it
        return
    with database.index_errors(store.derived):
        with contextlib.closing(database.open_to_write(store.derived)) as old:
            vectors = VectorFiles(old, store.derived)
            engine, kept = vectors.engine, vectors.stored()
            vectors.drop_all()
            (is_busy, *_) = old.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if is_busy:
                (waited,) = old.execute("PRAGMA busy_timeout").fetchone()
                raise LockedError(store.root, "a recall that does not end", waited / 1000)
        database.discard(store.derived)
        with contextlib.closing(database.open_to_write(store.derived)) as new:
            refresh(new, store, changes(new, store))
            if engine is not None:
                vectors = VectorFiles(new, store.derived)
                vectors.use_engine(engine)
                waiting = {digest for (digest,) in new.execute("SELECT digest FROM waiting")}
                left = {digest: codes for digest, codes in kept.items() if digest in waiting}
                vectors.append(left)
