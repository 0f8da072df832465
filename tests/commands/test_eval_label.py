"""``clsm eval label``: at a terminal key by key, by a pipe, and by a sheet for scripts."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import labelled_store
import pytest
from ingesting import scratch
from processes import Cli, environment
from pseudo_terminal import Terminal

from clsm_cli.commands import label_session
from clsm_cli.commands.label_session import ENTER, Session
from clsm_cli.evaluation.own.query_proposals import Proposal
from clsm_cli.evaluation.own.sheet import PoolItem
from clsm_cli.store import labels
from clsm_cli.store.labels import Label

ASKED = [Proposal(f"What of {n}?", "asked", f"asked {n}") for n in ("heron", "gauge", "mill")]
FOUND = [PoolItem("a1", "First. " * 200, "2026-02-01"), PoolItem("b2", "Second \x1b[2J.", "")]
INTERRUPT = "\x03"
PROGRAM = (sys.executable, "-m", "clsm_cli", "eval", "label", "--now", labelled_store.NOW)


class File:
    """Labels in memory, changed as a file is."""

    def __init__(self) -> None:
        self.text = ""
        self.times = 0

    def save(self, rows: Sequence[Label], without: Sequence[str]) -> None:
        known = {row.id for row in labels.parse(self.text, "x").rows}
        change: dict[str, Label | None] = {row.id: row for row in rows if row.id in known}
        change |= dict.fromkeys(known.intersection(without))
        self.text = labels.edit(self.text, change, [r for r in rows if r.id not in known])
        self.times += 1

    @property
    def said(self) -> list[tuple[str, tuple[str, ...]]]:
        return [(row.text, row.memories) for row in labels.parse(self.text, "x").rows]


@pytest.fixture
def file() -> File:
    return File()


@pytest.fixture
def session(file: File) -> Session:
    return Session(ASKED, lambda _: list(FOUND), file.save)


def press(session: Session, *keys: str) -> None:
    for key in keys:
        session.press(key)


def test_each_answer_is_saved_at_once(session: Session, file: File) -> None:
    press(session, "y")
    assert file.said == [("What of heron?", ("a1",))]
    press(session, "n")
    assert (session.at, session.item, file.times) == (1, 0, 2)
    press(session, "0")
    assert file.said[1:] == [("What of gauge?", ())]
    press(session, "n", "n")
    assert file.said[2:] == [("What of mill?", ())]
    assert session.is_over
    assert session.saved == 3


def test_back_and_changed(session: Session, file: File) -> None:
    press(session, "y", "u", "n")
    assert file.said == []  # nothing is said yes to, and the last item was not judged
    press(session, " ", ENTER)
    assert file.said == [("What of heron?", ("b2",))]
    press(session, "u")
    session.item = 1
    press(session, " ")
    assert (session.at, file.said) == (0, [])
    press(session, "y")
    assert file.said == [("What of heron?", ("b2",))]
    press(session, "u", "s")
    assert (session.at, file.said, session.saved) == (1, [], 0)


def test_a_query_is_edited(session: Session, file: File) -> None:
    press(session, "y")
    session.edit(" Where is\nthe heron? ")
    assert file.said == [("Where is the heron?", ("a1",))]
    assert session.item == 0


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_a_screen_fits_and_cannot_steer_the_terminal(session: Session, width: int) -> None:
    for _ in FOUND:
        lines = label_session.screen(session, width)
        assert max(map(len, lines)) < max(label_session.NARROW, min(width, label_session.WIDE))
        assert len(lines) <= 24 + 4 * (width < 80)
        assert "\x1b" not in "".join(lines)
        session.item = 1
    assert lines[0] == "1 of 3  (asked heron)"
    assert any(line.startswith("item 2 of 2  Does") for line in lines)


@pytest.fixture(scope="module")
def cli(model_folder: Path) -> Iterator[Cli]:
    """A folder with a store that has something to label."""
    with scratch() as folder:
        labelled_store.make(folder)
        seen = environment(folder, model_folder)
        yield Cli(folder, {**seen, "CLSM_STORE": str(folder / "memory")})


@pytest.fixture
def path(cli: Cli) -> Iterator[Path]:
    """The file of labels, gone before and after."""
    file = labels.path_of(cli.store)
    file.unlink(missing_ok=True)
    yield file
    file.unlink(missing_ok=True)


def run(cli: Cli, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PROGRAM, *words],
        cwd=cli.folder,
        env=dict(cli.environment),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def waits(terminal: Terminal) -> bool:
    """Whether the command sleeps until a key is pressed."""
    is_single = not termios.tcgetattr(terminal.handle)[3] & termios.ICANON
    state = Path(f"/proc/{terminal.process.pid}/stat").read_text().rpartition(") ")[2][0]
    return is_single and state == "S"


def at_a_terminal(cli: Cli, *typed: str) -> tuple[int, str]:
    """Type something at each screen; the exit code and all that was shown."""
    terminal = Terminal([*PROGRAM, "-n", "3"], cli.environment, cli.folder)
    left, screens = list(typed), 0

    def answer() -> None:
        nonlocal screens
        ready = terminal.shown.count(b"q quit") + terminal.shown.count(b"empty keeps it:")
        if ready <= screens or not left:
            return
        screens = ready
        key = left.pop(0)
        if key == INTERRUPT:
            while not waits(terminal):  # a signal just before it does is heard with the next key
                time.sleep(0.01)
            terminal.process.send_signal(signal.SIGINT)
        else:
            terminal.type(key)

    return terminal.ended(answer)


def test_at_a_terminal(cli: Cli, path: Path) -> None:
    code, shown = at_a_terminal(cli, "y", "u", " ", "y", "e", "Who waters the orchids?\n", "q")
    assert code == 0, shown
    assert "1 of 3  (asked 2026-02-20)" in shown
    assert "[x] answers it" in shown
    assert "Who waters the orchids?" in shown
    bare = re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", shown)
    assert "\x1b" not in bare
    assert max(map(len, bare.splitlines())) <= 80 or str(path) in bare
    assert f"in {path}" in shown
    # A second call goes on with what is left.
    assert at_a_terminal(cli, "0", "q")[0] == 0
    first = labels.parse(path.read_text(), "x").rows
    code, shown = at_a_terminal(cli, "0", INTERRUPT)
    assert code == 130, shown
    rows = labels.parse(path.read_text(), "x").rows
    assert [row.text for row in rows[: len(first)]] == [row.text for row in first]
    assert len({row.text for row in rows}) == len(first) + 1


def test_a_sheet_for_scripts(cli: Cli, path: Path) -> None:
    printed = run(cli, "--json", "-n", "4")
    assert printed.returncode == 0, printed.stderr
    assert printed.stdout == run(cli, "--json", "-n", "4").stdout
    assert not path.exists()
    sheet = json.loads(printed.stdout)
    assert [each["kind"] for each in sheet["queries"]].count("negative") == 1
    for item in sheet["queries"][0]["items"]:
        item["relevant"] = "Marsdiep" in item["text"]
    done = run(cli, "--from", "-", "--json", stdin=json.dumps(sheet))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["labelled"] == 1
    assert "passed over: 3" in done.stderr
    (row,) = labels.parse(path.read_text(), "x").rows
    assert row.memories
    assert row.text not in [q["query"] for q in json.loads(run(cli, "--json").stdout)["queries"]]


@pytest.mark.parametrize(
    ("words", "stdin", "code", "said"),
    [
        (["--from", ""], "", 2, "names no file"),
        (["--from", "nowhere.json"], "", 12, "nowhere.json: No such file"),
        (["--from", "-"], "{", 12, "-: "),
        (["--number", "0"], "", 2, "0 is not in the range"),
    ],
)
def test_bad_input(cli: Cli, words: list[str], stdin: str, code: int, said: str) -> None:
    done = run(cli, *words, stdin=stdin)
    if code == 12:
        assert done.returncode != 0
    else:
        assert done.returncode == code
    assert said in done.stderr
