"""Recall while a run is at work: a real one, stopped when its files are written and not yet published."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import forking
import pytest
from processes import TIMEOUT, Cli, Done, environment

from clsm_cli.store import layout
from clsm_cli.store.index import database
from clsm_cli.store.index.maintenance import differences
from clsm_cli.store.index.opening import run_in_progress

NOW = ("--now", "2026-03-01T12:00:00+01:00")
NOTES = {
    "people.md": "# People\n\n- Mara lives in Holm.\n- Wim is Mara's father.\n- Mara prefers tea.\n",
    "boat.md": "# Boat\n\n- The boat's name is Heron.\n- The mooring is paid until May.\n",
}
LATER = "# Stove\n\n- The stove was mended by Tom.\n- Tom lives in Holm.\n"
HELD = """
import importlib, os, signal, sys
from clsm_cli.__main__ import main
module, owner, name = sys.argv.pop(1).split(":")
owner = getattr(importlib.import_module(module), owner)
step = getattr(owner, name)
def held(*args, **options):
    step(*args, **options)
    if ".clsm" not in str(getattr(args[0], "root", "")):  # a plan is made on a copy there
        os.kill(os.getpid(), signal.SIGSTOP)
setattr(owner, name, held)
main()
"""
"""clsm, stopped behind a step of its work."""
NIGHT = ("clsm_cli.consolidation.write_plan:Writer:write", "consolidate")
TAKING = ("clsm_cli.ingestion.ingest_run:Intake:read_all", "ingest", "later")
WRITING = "clsm_cli.forgetting.run_reversal:runs:_write"
RUNS = pytest.mark.parametrize("run", [NIGHT, TAKING], ids=["consolidate", "ingest"])
MOORING = "Where is the mooring paid until?"
QUESTIONS = ("Where does Mara live?", "Who mended the stove?", "Heron", MOORING)


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Path:
    """A folder with a store that took in some notes and never slept."""
    folder = tmp_path_factory.mktemp("noted")
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    (folder / "later").mkdir()
    (folder / "later" / "stove.md").write_text(LATER)
    made = Cli(folder, environment(folder / "home", model_folder))
    layout.create(made.store, "Europe/Amsterdam")
    made.ok("ingest", "-q", *NOTES, *NOW, CLSM_STORE=made.store)
    return folder


@pytest.fixture
def desk(cli: Cli, noted: Path) -> Cli:
    shutil.rmtree(cli.store)
    shutil.copytree(noted, cli.folder, dirs_exist_ok=True)
    return cli


@contextmanager
def stopped(desk: Cli, where: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command that stands still behind a step, and is ended if the test does not."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, where, *words, "-q", *NOW],
        cwd=desk.folder,
        env=dict(desk.environment),
        stdout=subprocess.DEVNULL,
    )
    try:
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        yield process
    finally:
        process.kill()
        process.wait()


def ended(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 0


def ask(desk: Cli, question: str) -> Done:
    return desk.ok("recall", "--json", "--no-touch", *NOW, question)


def texts(desk: Cli, question: str) -> str:
    return "\n".join(memory["text"] for memory in ask(desk, question).json["memories"])


def answers(desk: Cli) -> list[str]:
    """What is answered to each of the questions, and what is said beside it."""
    rows = "".join(json.dumps({"query": each}) + "\n" for each in QUESTIONS)
    done = desk.ok("recall", "--batch", "-", "--no-touch", *NOW, stdin=rows.encode())
    return [*done.out.splitlines(), done.err]


def read(desk: Cli, question: str) -> set[str]:
    """The files of the store that a recall opens, but for its index."""
    words = ("recall", "--json", "--no-touch", *NOW, question)
    forks = forking.forks(desk.environment)
    done = forks.run(words, desk.environment, desk.folder, seconds=TIMEOUT, hear="files")
    assert done.code == 0
    root = f"{desk.store}/"
    opened = {
        path.removeprefix(root)
        for event, path in done.heard
        if event == "open" and path.startswith(root)
    }
    assert opened
    return {path for path in opened if not path.startswith(".clsm/index/")}


@pytest.mark.parametrize(
    "run",
    [
        NIGHT,
        TAKING,
        (WRITING, "decay"),
        (WRITING, "undo"),
        (WRITING, "forget", "--yes", "--force", "--source", "boat.md"),
        (WRITING, "correct", "Mara lives in York.", "--yes"),
    ],
    ids=lambda run: run[1],
)
def test_answers_are_those_of_before_and_change_in_one_moment(
    desk: Cli, run: tuple[str, ...]
) -> None:
    if run[0] == WRITING:
        desk.ok("consolidate", "-q", *NOW)
        desk.ok("recall", "-q", *NOW, QUESTIONS[2])  # a use, which a decay folds
    before = answers(desk)
    assert "until May" in before[3]
    files = read(desk, MOORING)
    with stopped(desk, *run) as process:
        assert answers(desk) == before
        assert read(desk, MOORING) == files == {"clsm.yaml"}
        ended(process)
    if run[0] == WRITING:
        assert read(desk, MOORING) == files  # it left nothing for a recall to do
    after = answers(desk)
    assert after != before or run[0] == WRITING
    assert ("until May" in after[3]) is (run[1] != "forget")
    assert ("York" in after[0]) is (run[1] == "correct")


SAID = b'{"role": "user", "session": "talk", "content": "The theremin is out of tune."}'


def test_what_is_captured_during_the_night_is_found_by_its_words(desk: Cli) -> None:
    before = texts(desk, QUESTIONS[0])
    with stopped(desk, *NIGHT) as process:
        desk.ok("ingest", "--capture", "-q", "-", *NOW, stdin=SAID)
        desk.ok("note", "Salt is in the blue jar.", *NOW)
        assert "theremin" in texts(desk, "theremin")
        assert "what is new was searched by words only" in ask(desk, "blue jar").err
        assert texts(desk, QUESTIONS[0]) == before
        assert {path.split("/")[2] for path in read(desk, "salt") - {"clsm.yaml"}} == {"inbox"}
        assert "theremin" in desk.ok("context", *NOW).out
        ended(process)
    assert "theremin" in texts(desk, "theremin")
    desk.ok("ingest", "-q", *NOW)
    assert not [path for path in desk.store.rglob("inbox/*") if "~" in path.name]
    found = [each for q in ("theremin", "blue jar") for each in ask(desk, q).json["memories"]]
    for text in ("The theremin is out of tune.", "Salt is in the blue jar."):
        assert text in {memory["text"] for memory in found}
    assert not ask(desk, "theremin").err


def test_a_hand_edit_is_seen_during_the_night_or_when_it_ends(desk: Cli) -> None:
    (desk.store / "tasks" / "before.md").write_text("- [ ] Polish the theremin.\n")
    with stopped(desk, *NIGHT) as process:
        assert "theremin" in texts(desk, "theremin")
        (desk.store / "tasks" / "during.md").write_text("- [ ] Oil the barometer.\n")
        ask(desk, "barometer")
        ended(process)
    assert "barometer" in texts(desk, "barometer")


@RUNS
def test_a_killed_run_leaves_an_index_that_the_next_recall_completes(
    desk: Cli, run: tuple[str, ...]
) -> None:
    with stopped(desk, *run) as process:
        process.kill()
        process.wait()
        ask(desk, QUESTIONS[0])
    store = layout.open_store(desk.store, dict(desk.environment))
    connection = database.open_to_read(store.derived)
    assert connection is not None
    with closing(connection):
        assert differences(store, connection) == []


def test_what_a_failing_run_did_to_the_index_is_not_published(tmp_path: Path) -> None:
    with closing(database.open_to_write(tmp_path)) as connection:
        with suppress(ZeroDivisionError), run_in_progress(connection):
            connection.execute("INSERT INTO documents VALUES ('d', 'a.md')")
            reader = database.open_to_read(tmp_path)
            assert reader is not None
            with closing(reader):
                assert reader.execute("SELECT * FROM documents").fetchall() == []
                assert reader.execute("SELECT key FROM meta").fetchall() == [("at_work",)]
            raise ZeroDivisionError
        assert not connection.in_transaction
        assert connection.execute("SELECT * FROM documents").fetchall() == []
        assert connection.execute("SELECT * FROM meta").fetchall() == []


def test_a_transaction_within_another_fails_alone(tmp_path: Path) -> None:
    with closing(database.open_to_write(tmp_path)) as connection:
        with database.transaction(connection):
            connection.execute("INSERT INTO documents VALUES ('a', 'a.md')")
            with suppress(ZeroDivisionError), database.transaction(connection):
                connection.execute("INSERT INTO documents VALUES ('b', 'b.md')")
                raise ZeroDivisionError
        rows = connection.execute("SELECT id FROM documents").fetchall()
    assert rows == [("a",)]
