"""Whatever state the index is in, a recall answers: old, being rebuilt, read-only, damaged, without vectors."""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest
from index_changes import fake
from ingesting import take
from processes import Cli
from sample_store import ask
from small_store import note, row, tell

from clsm_cli.embedding.weights import ENGINE
from clsm_cli.errors import DiskError
from clsm_cli.retrieval.answer import Answer
from clsm_cli.store import layout
from clsm_cli.store.index import database, indexed_files
from clsm_cli.store.index.codes import SENTENCE_BYTES
from clsm_cli.store.index.database import SCHEMA_VERSION
from clsm_cli.store.index.opening import Embedder, bring_up_to_date
from clsm_cli.store.index.vectors import STEP
from clsm_cli.store.layout import Store
from clsm_cli.store.lock import locked

WHERE = "Where did the heron stand?"
HERON = "The heron stood on the gauge."
OTHERS = ("Salt is in the blue jar.", "Who fed the cat?", "The shed is green.")


@pytest.fixture
def told(store: Store) -> Store:
    tell(store, *(row(text, session=text) for text in (HERON, *OTHERS)))
    return store


def file_of(store: Store, name: str = "index.sqlite") -> Path:
    return store.derived / "index" / name


def texts(answer: Answer) -> list[str]:
    return [memory.text for memory in answer.memories]


def run_sql(path: Path, script: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


def test_an_index_of_version_1_is_made_anew(told: Store) -> None:
    expected = ask(told, WHERE)
    path = file_of(told)
    shutil.rmtree(path.parent)
    path.parent.mkdir()
    run_sql(
        path,
        "CREATE TABLE passages (id INTEGER PRIMARY KEY, key TEXT, text TEXT);"
        "INSERT INTO passages VALUES (1, 'k', 'an old heron'); PRAGMA user_version = 1",
    )
    path.with_name("vectors.i8").write_bytes(b"old" * 1000)
    assert ask(told, WHERE) == expected
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert not path.with_name("vectors.i8").exists()


def test_what_another_engine_made_is_made_anew(told: Store) -> None:
    expected = ask(told, WHERE)
    run_sql(file_of(told), "UPDATE meta SET value = 'another' WHERE key = 'engine'")
    path = file_of(told, "sentences.q4")
    path.write_bytes(bytes(path.stat().st_size))
    assert ask(told, WHERE) == expected
    assert any(path.read_bytes())


@pytest.fixture
def read_only(cli: Cli) -> Iterator[Cli]:
    """A store that nobody may write to, with a file that the index does not know."""
    rows = (row(text, session=text) for text in (HERON, *OTHERS))
    tell(layout.open_store(cli.store, dict(cli.environment)), *rows)
    (cli.store / "tasks" / "new.md").write_text("- [ ] Polish the theremin.\n")
    paths = [cli.store, *cli.store.rglob("*")]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield cli.unprivileged()
    for path in paths:
        path.chmod(0o700 if path.is_dir() else 0o600)


def test_a_read_only_store_answers(read_only: Cli) -> None:
    path = read_only.store / ".clsm" / "index" / "index.sqlite"
    before = path.read_bytes()
    for words, text in (((WHERE,), HERON), (("theremin", "--min-score", "0"), "theremin")):
        done = read_only.ok("recall", "--json", "--no-touch", *words)
        assert text in done.json["memories"][0]["text"]
        assert "the disk is read-only" in done.err
    assert path.read_bytes() == before


def test_while_another_makes_the_index_words_answer(told: Store) -> None:
    """As at the first recall of a large store: the other holds the lock, and there is no index yet."""
    shutil.rmtree(told.derived)
    with locked(told.root, 1):
        answer = ask(told, WHERE)
    assert texts(answer)[0] == HERON
    assert "what is new was searched by words only" in "".join(answer.warnings)
    assert not file_of(told).exists()
    assert not ask(told, WHERE).warnings


def killed_between_batches(store: Store) -> NoReturn:
    """A process that makes the index, and dies between two batches of vectors."""
    try:
        index, made = database.open_to_write(store.derived), Embedder(ENGINE, lambda: fake)
        bring_up_to_date(store, index, made, lambda *_: os._exit(9))
    finally:
        os._exit(1)


def test_an_index_whose_making_was_killed_is_made_whole(store: Store, tmp_path: Path) -> None:
    """Vectors that were made stay."""
    rows = [row(f"Jar {n} holds salt.", session=str(n)) for n in range(400)]
    take(store, stdin="".join(rows).encode(), capture_only=True)
    child = os.fork() or killed_between_batches(store)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    path, question = file_of(store, "sentences.q4"), "Which jar holds salt?"
    assert path.stat().st_size == STEP * SENTENCE_BYTES
    assert f"{400 - STEP} passages have no vector yet" in "".join(ask(store, question).warnings)
    note(store, tmp_path / "a.md", "Done.\n")
    assert path.stat().st_size == 401 * SENTENCE_BYTES
    assert not ask(store, question).warnings


def test_a_thousand_passages_without_vectors_are_searched_by_words(told: Store) -> None:
    """Captured by a hook while an index exists: one recall does not pay for a bulk import."""
    rows = [row(f"Fact {n} about jar {n}.", session=str(n // 50), id=str(n)) for n in range(1000)]
    rows.append(row("The theremin is out of tune.", session="music"))
    take(told, stdin="".join(rows).encode(), capture_only=True)
    answer = ask(told, "theremin tune")
    (warning,) = answer.warnings
    assert "1001 passages have no vector yet and were searched by words only" in warning
    assert "clsm ingest" in warning
    assert "The theremin is out of tune." in texts(answer)
    assert texts(ask(told, WHERE))[0] == HERON


FACT = "The ferry leaves at nine."


@pytest.fixture
def ferry(store: Store, tmp_path: Path) -> Store:
    note(store, tmp_path / "a.md", FACT + "\n", model=False)
    return store


def turned(path: Path, was: bytes, now: bytes) -> None:
    """A bit that turned where SQLite does not look."""
    run_sql(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    data = path.read_bytes()
    assert was in data
    path.write_bytes(data.replace(was, now))


def not_to_be_unpacked(path: Path) -> None:
    run_sql(path, "UPDATE records SET line = x'00' WHERE type = 'document'")


def without_a_row(path: Path) -> None:
    """SQLite reads a page that says it has fewer rows as if it were so."""
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


@pytest.mark.parametrize(
    ("damage", "as_of"),
    [
        (partial(turned, was=b"embedded", now=b"embfdded"), None),
        (partial(turned, was=b"leaves at nine", now=b"leaves at n\xefne"), None),
        (not_to_be_unpacked, "2026-02-01"),
        (without_a_row, None),
    ],
)
def test_the_next_command_makes_the_index_anew(
    ferry: Store, damage: Callable[[Path], None], as_of: str | None
) -> None:
    """Some of these ended in a traceback."""
    question = "when does the ferry leave"
    assert texts(ask(ferry, question)) == [FACT]
    damage(file_of(ferry))
    with pytest.raises(DiskError, match="was damaged and has been deleted"):
        ask(ferry, question, as_of=as_of)
    assert texts(ask(ferry, question)) == [FACT]


@pytest.mark.parametrize("state", ["none", "older", "whole"])
@pytest.mark.parametrize(
    "fault", [KeyError("ours"), UnicodeDecodeError("utf-8", b"\xef", 0, 1, "ours")]
)
def test_a_fault_of_clsm_is_no_damage(ferry: Store, state: str, fault: Exception) -> None:
    """With no index, or an older one, it was told as damage; a byte of any text deleted the index."""
    path = file_of(ferry)
    if state == "none":
        path.unlink()
    if state == "older":
        run_sql(path, f"PRAGMA user_version = {SCHEMA_VERSION - 1}")
    with pytest.raises(type(fault), match="ours"), database.index_errors(ferry.derived):
        raise fault
    assert path.exists() == (state != "none")


def test_a_file_that_goes_meanwhile_is_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.inbox.mkdir(parents=True)
    aside = store.inbox / "talk~1.jsonl"
    aside.write_bytes(b"\n")
    listed = list(indexed_files._entries(store))  # a moment earlier
    aside.unlink()
    monkeypatch.setattr(indexed_files, "_entries", lambda _: listed)
    assert listed
    assert indexed_files.scan(store) == {}
