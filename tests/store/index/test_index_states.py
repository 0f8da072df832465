"""Whatever state the index is in, a recall answers: old, being rebuilt, read-only, damaged, without vectors."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from index_changes import fake
from ingesting import take
from processes import Cli, Done
from sample_store import ask as ask_store
from small_store import row

from clsm_cli.embedding.weights import ENGINE
from clsm_cli.errors import DiskError
from clsm_cli.store import layout
from clsm_cli.store.index import database, indexed_files
from clsm_cli.store.index.codes import SENTENCE_BYTES
from clsm_cli.store.index.database import SCHEMA_VERSION
from clsm_cli.store.index.opening import Embedder, bring_up_to_date
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

NOW = ("--now", "2026-02-26T08:00:00+01:00")
HERON = "The heron stood on the gauge."
OTHERS = ("Salt is in the blue jar.", "Who fed the cat?", "The shed is green.")


@pytest.fixture
def told(cli: Cli) -> Cli:
    rows = [row(text, session=text) for text in (HERON, *OTHERS)]
    cli.ok("ingest", "-q", "-", *NOW, stdin="".join(rows).encode())
    return cli


def database_file(cli: Cli) -> Path:
    return cli.store / ".clsm" / "index" / "index.sqlite"


def ask(cli: Cli, query: str = "Where did the heron stand?", *more: str) -> Done:
    return cli.ok("recall", "--json", "--no-touch", *NOW, *more, query)


def first(done: Done) -> str:
    return str(done.json["memories"][0]["text"])


def run_sql(path: Path, script: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def test_an_index_of_version_1_is_made_anew(told: Cli) -> None:
    expected = ask(told).out
    path = database_file(told)
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    run_sql(
        path,
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, key TEXT, text TEXT);"
        "INSERT INTO passages VALUES (1, 'k', 'an old heron'); PRAGMA user_version = 1",
    )
    path.with_name("vectors.i8").write_bytes(b"old" * 1000)
    assert ask(told).out == expected
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert not path.with_name("vectors.i8").exists()


def test_what_another_engine_made_is_made_anew(told: Cli) -> None:
    expected = ask(told).out
    run_sql(database_file(told), "UPDATE meta SET value = 'another' WHERE key = 'engine'")
    path = database_file(told).with_name("sentences.q4")
    path.write_bytes(bytes(path.stat().st_size))
    assert ask(told).out == expected
    assert any(path.read_bytes())


@pytest.fixture
def read_only(told: Cli) -> Iterator[Cli]:
    """A store that nobody may write to, with a file that the index does not know."""
    owner = told.unprivileged()
    ask(told)
    (told.store / "tasks" / "new.md").write_text("- [ ] Polish the theremin.\n")
    paths = [told.store, *told.store.rglob("*")]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield owner
    for path in paths:
        path.chmod(0o700 if path.is_dir() else 0o600)


def test_a_read_only_store_answers(read_only: Cli) -> None:
    before = database_file(read_only).read_bytes()
    done = ask(read_only)
    assert first(done) == HERON
    assert "the disk is read-only" in done.err
    everything = ask(read_only, "theremin", "--min-score", "0").json["memories"]
    assert any("theremin" in memory["text"] for memory in everything)
    assert database_file(read_only).read_bytes() == before


def test_while_another_makes_the_index_words_answer(told: Cli) -> None:
    """As at the first recall of a large store: the other holds the lock, and there is no index yet."""
    shutil.rmtree(told.store / ".clsm")
    with locked(told.store, 1):
        done = ask(told)
    assert first(done) == HERON
    assert "what is new was searched by words only" in done.err
    assert done.json["warnings"]
    assert not database_file(told).exists()
    assert ask(told).err == ""


def killed_in_a_pause(store: Store) -> NoReturn:
    """A process that makes the index, and dies between two batches of vectors."""
    try:
        index, made = database.open_to_write(store.derived), Embedder(ENGINE, lambda: fake)
        bring_up_to_date(store, index, made, None, pause=lambda: os._exit(9))
    finally:
        os._exit(1)


def test_an_index_whose_making_was_killed_is_made_whole(cli: Cli) -> None:
    """Vectors that were made stay."""
    rows = [row(f"Jar {n} holds salt.", session=str(n)) for n in range(200)]
    cli.ok("ingest", "-q", "--capture", "-", *NOW, stdin="".join(rows).encode())
    child = os.fork() or killed_in_a_pause(layout.open_store(cli.store, {"CLSM_DEVICE": "test"}))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    path = database_file(cli).with_name("sentences.q4")
    assert path.stat().st_size == 128 * SENTENCE_BYTES
    done = ask(cli, "Which jar holds salt?")
    assert "72 passages have no vector yet" in done.err
    (cli.folder / "a.md").write_text("Done.\n")
    cli.ok("ingest", "-q", "a.md", *NOW)
    assert path.stat().st_size == 201 * SENTENCE_BYTES
    assert ask(cli, "Which jar holds salt?").err == ""


def test_a_thousand_passages_without_vectors_are_searched_by_words(told: Cli) -> None:
    """Captured by a hook while an index exists: one recall does not pay for a bulk import."""
    rows = [row(f"Fact {n} about jar {n}.", session=str(n // 50), id=str(n)) for n in range(1000)]
    rows.append(row("The theremin is out of tune.", session="music"))
    told.ok("ingest", "-q", "--capture", "-", *NOW, stdin="".join(rows).encode())
    done = ask(told, "theremin tune")
    assert "1001 passages have no vector yet and were searched by words only" in done.err
    assert "clsm ingest" in done.err
    assert "The theremin is out of tune." in {m["text"] for m in done.json["memories"]}
    assert first(ask(told, "Where did the heron stand?")) == HERON
    by_words = told.ok(
        "recall", "--json", "--no-touch", *NOW, "theremin", CLSM_MODEL_DIR=told.folder / "none"
    )
    assert first(by_words) == "The theremin is out of tune."


# A bit that turned where SQLite does not look: in its schema, a text, a key, a page's head.


FACT = "The ferry leaves at nine."


@pytest.mark.parametrize(
    ("was", "now"), [(b"embedded", b"embfdded"), (b"leaves at nine", b"leaves at n\xefne")]
)
def test_the_next_command_makes_the_index_anew(
    store: Store, tmp_path: Path, was: bytes, now: bytes
) -> None:
    """These ended in a traceback."""
    (tmp_path / "a.md").write_text(FACT + "\n")
    take(store, tmp_path / "a.md", model=False)
    question = "when does the ferry leave"
    assert [memory.text for memory in ask_store(store, question).memories] == [FACT]
    path = database.path_of(store.derived)
    run_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    assert was in data
    path.write_bytes(data.replace(was, now))
    with pytest.raises(DiskError, match="was damaged and has been deleted"):
        ask_store(store, question)
    assert [memory.text for memory in ask_store(store, question).memories] == [FACT]


def test_a_record_that_cannot_be_unpacked(store: Store, tmp_path: Path) -> None:
    """This ended in a traceback."""
    (tmp_path / "a.md").write_text(FACT + "\n")
    take(store, tmp_path / "a.md", model=False)
    run_sql(
        database.path_of(store.derived), "UPDATE records SET line = x'00' WHERE type = 'document'"
    )
    with pytest.raises(DiskError, match="was damaged and has been deleted"):
        ask_store(store, "when did the ferry leave", as_of="2026-02-01")
    assert [memory.text for memory in ask_store(store, "when does the ferry leave").memories] == [
        FACT
    ]


def test_a_row_that_is_gone_from_its_page(store: Store, tmp_path: Path) -> None:
    """SQLite reads a page that says it has fewer rows as if it were so."""
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
        ask_store(store, "when does the ferry leave")
    assert [memory.text for memory in ask_store(store, "when does the ferry leave").memories] == [
        FACT
    ]


@pytest.mark.parametrize("state", ["none", "older", "whole"])
@pytest.mark.parametrize(
    "fault", [KeyError("ours"), UnicodeDecodeError("utf-8", b"\xef", 0, 1, "ours")]
)
def test_a_fault_of_clsm_is_no_damage(
    store: Store, tmp_path: Path, state: str, fault: Exception
) -> None:
    """With no index, or an older one, it was told as damage; a byte of any text deleted the index."""
    path = database.path_of(store.derived)
    if state != "none":
        (tmp_path / "a.md").write_text(FACT + "\n")
        take(store, tmp_path / "a.md", model=False)
    if state == "older":
        run_sql(path, f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    was_there = path.exists()
    with pytest.raises(type(fault), match="ours"), database.disk_errors(store.derived):
        raise fault
    assert path.exists() == was_there


def test_a_file_that_goes_while_files_are_listed_is_none(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.inbox.mkdir(parents=True)
    aside = store.inbox / "talk~1.jsonl"
    aside.write_bytes(b"\n")
    listed = list(indexed_files._entries(store))  # a moment earlier
    aside.unlink()
    monkeypatch.setattr(indexed_files, "_entries", lambda _: listed)
    assert listed
    assert indexed_files.scan(store) == {}
