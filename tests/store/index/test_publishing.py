"""Recall while a run is at work: a real one, stopped when its files are written and not yet published."""

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import forking
import pytest
import sample_store
from forking import Forks
from processes import TIMEOUT, Cli, environment

from clsm_cli.retrieval.answer import Answer
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
NIGHT = ("clsm_cli.consolidation.write_plan:Writer:write", "consolidate")
TAKING = ("clsm_cli.ingestion.ingest_run:Intake:read_all", "ingest", "later")
WRITING = "clsm_cli.forgetting.run_reversal:runs:_write"
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


@pytest.fixture(scope="module")
def held(noted: Path, model_folder: Path) -> Iterator[Forks]:
    with Forks(environment(noted / "home", model_folder), program="store.index.held:main") as forks:
        yield forks


@pytest.fixture
def desk(cli: Cli, noted: Path) -> Cli:
    shutil.rmtree(cli.store)
    shutil.copytree(noted, cli.folder, dirs_exist_ok=True)
    return cli


@contextmanager
def stopped(desk: Cli, held: Forks, where: str, *words: str) -> Iterator[Callable[[int], int]]:
    """A command that stands still behind a step; what sends it a signal and tells how it ended."""
    asked = (where, *words, "-q", *NOW)
    pid = held.begin(asked, desk.environment, desk.folder, forking.in_memory())
    codes: list[int] = []

    def end(sign: int) -> int:
        os.kill(pid, sign)
        codes.append(held.end(TIMEOUT).code)
        return codes[0]

    try:
        while Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "T":
            time.sleep(0.01)
        yield end
    finally:
        if not codes:
            end(signal.SIGKILL)


def answers(desk: Cli, *questions: str) -> list[Answer]:
    store = layout.open_store(desk.store, dict(desk.environment))
    return [sample_store.ask(store, each, now=NOW[1]) for each in questions or QUESTIONS]


def ask(desk: Cli, question: str) -> tuple[str, str]:
    """The texts that are found, and what is said beside them."""
    (found,) = answers(desk, question)
    return "\n".join(memory.text for memory in found.memories), "\n".join(found.warnings)


def read(desk: Cli, question: str) -> set[str]:
    """The files of the store that a recall opens, but for its index."""
    words = ("recall", "--json", "--no-touch", *NOW, question)
    forks = forking.forks(desk.environment)
    done = forks.run(words, desk.environment, desk.folder, seconds=TIMEOUT, hear="files")
    assert done.code == 0
    root = f"{desk.store}/"
    paths = [path for event, path in done.heard if event == "open"]
    opened = {path.removeprefix(root) for path in paths if root in path}
    assert opened
    return {path for path in opened if not path.startswith(".clsm/index/")}


@pytest.mark.parametrize(
    "run",
    [
        *(NIGHT, TAKING, (WRITING, "decay"), (WRITING, "undo")),
        (WRITING, "forget", "--yes", "--force", "--source", "boat.md"),
        (WRITING, "correct", "Mara lives in York.", "--yes"),
    ],
    ids=lambda run: run[1],
)
def test_answers_change_in_one_moment(desk: Cli, held: Forks, run: tuple[str, ...]) -> None:
    if run[0] == WRITING:
        desk.ok("consolidate", "-q", *NOW)
        desk.ok("recall", "-q", *NOW, QUESTIONS[2])  # a use, which a decay folds
    before = answers(desk)
    assert "until May" in str(before[3].memories)
    files = read(desk, MOORING)
    with stopped(desk, held, *run) as end:
        assert answers(desk) == before
        assert read(desk, MOORING) == files == {"clsm.yaml"}
        assert end(signal.SIGCONT) == 0
    if run[0] == WRITING:
        assert read(desk, MOORING) == files  # it left nothing for a recall to do
    after = answers(desk)
    assert after != before or run[0] == WRITING
    assert ("until May" in str(after[3].memories)) is (run[1] != "forget")
    assert ("York" in str(after[0].memories)) is (run[1] == "correct")


SAID = b'{"role": "user", "session": "talk", "content": "The theremin is out of tune."}'


def test_what_comes_during_the_night_is_found_by_its_words(desk: Cli, held: Forks) -> None:
    before, _ = ask(desk, QUESTIONS[0])
    with stopped(desk, held, *NIGHT) as end:
        desk.ok("ingest", "--capture", "-q", "-", *NOW, stdin=SAID)
        desk.ok("note", "Salt is in the blue jar.", *NOW)
        assert "theremin" in ask(desk, "theremin")[0]
        assert "what is new was searched by words only" in ask(desk, "blue jar")[1]
        assert ask(desk, QUESTIONS[0])[0] == before
        assert {path.split("/")[2] for path in read(desk, "salt") - {"clsm.yaml"}} == {"inbox"}
        assert "theremin" in desk.ok("context", *NOW).out
        (desk.store / "tasks" / "during.md").write_text("- [ ] Oil the barometer.\n")
        ask(desk, "barometer")
        assert end(signal.SIGCONT) == 0
    assert "theremin" in ask(desk, "theremin")[0]
    assert "barometer" in ask(desk, "barometer")[0]
    desk.ok("ingest", "-q", *NOW)
    assert not [path for path in desk.store.rglob("inbox/*") if "~" in path.name]
    for query, text in (("theremin", "The theremin is out of tune."), ("jar", "in the blue jar.")):
        assert text in ask(desk, query)[0]
    assert not ask(desk, "theremin")[1]


def test_a_hand_edit_before_the_night_is_seen_during_it(desk: Cli, held: Forks) -> None:
    (desk.store / "tasks" / "before.md").write_text("- [ ] Polish the theremin.\n")
    with stopped(desk, held, *NIGHT):
        assert "theremin" in ask(desk, "theremin")[0]


@pytest.mark.parametrize("run", [NIGHT, TAKING], ids=["consolidate", "ingest"])
def test_a_killed_run_leaves_an_index_that_the_next_recall_completes(
    desk: Cli, held: Forks, run: tuple[str, ...]
) -> None:
    with stopped(desk, held, *run) as end:
        assert end(signal.SIGKILL) == -signal.SIGKILL
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
