"""A bit that turned where SQLite does not look: in its schema, a text, a key, a page's head."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from ingesting import new_store, take
from sample_store import ask

from clsm_cli.errors import DiskError
from clsm_cli.store.index import database, graph

FACT = "The ferry leaves at nine."


@pytest.mark.parametrize(
    ("was", "now"), [(b"embedded", b"embfdded"), (b"leaves at nine", b"leaves at n\xefne")]
)
def test_the_next_command_makes_the_index_anew(tmp_path: Path, was: bytes, now: bytes) -> None:
    """These ended in a traceback."""
    store = new_store(tmp_path / "memory")
    (tmp_path / "a.md").write_text(FACT + "\n")
    take(store, tmp_path / "a.md", model=False)
    assert [memory.text for memory in ask(store, "when does the ferry leave").memories] == [FACT]
    path = database.path_of(store.derived)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    assert was in data
    path.write_bytes(data.replace(was, now))
    with pytest.raises(DiskError, match="was damaged and has been deleted"):
        ask(store, "when does the ferry leave")
    assert [memory.text for memory in ask(store, "when does the ferry leave").memories] == [FACT]


def test_a_row_that_is_gone_from_its_page(tmp_path: Path) -> None:
    """This was a KeyError: SQLite reads a page that says it has fewer rows as if it were so."""
    store = new_store(tmp_path / "memory")
    (tmp_path / "a.md").write_text(FACT + "\n")
    take(store, tmp_path / "a.md", model=False)
    path = database.path_of(store.derived)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'totals'"
        (root,) = connection.execute(query).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    cells = (root - 1) * size + 3
    assert data[cells : cells + 2] == b"\0\1"
    data[cells + 1] = 0
    path.write_bytes(data)
    with pytest.raises(DiskError, match="was damaged and has been deleted"):
        ask(store, "when does the ferry leave")
    assert [memory.text for memory in ask(store, "when does the ferry leave").memories] == [FACT]


def test_what_is_no_damage_stays_what_it_is(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    (tmp_path / "a.md").write_text(FACT + "\n")
    take(store, tmp_path / "a.md", model=False)
    with pytest.raises(KeyError, match="ours"), database.disk_errors(store.derived):
        raise KeyError("ours")
    assert database.path_of(store.derived).exists()


def test_a_key_that_is_none_is_damage(tmp_path: Path) -> None:
    """This was a ValueError."""
    with (
        contextlib.closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(DiskError, match="was damaged and has been deleted"),
        database.disk_errors(tmp_path),
    ):
        graph.noted(connection, ["ce03b0r35be8"])
