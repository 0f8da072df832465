"""What a person at a terminal sees, and what a pipe does not."""

import re
import subprocess
import sys

import pytest
from processes import Cli, ran
from pseudo_terminal import at_a_terminal
from tables import table

NOW = ("--now", "2026-02-25T08:00:00+01:00")
HERON = "The heron stood on the gauge. " * 8
ESCAPE = "\x1b"
NO_NETWORK = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "TERM": "xterm"}


def test_an_answer_is_wrapped_and_has_a_score_bar(cli: Cli) -> None:
    cli.ok("note", HERON, *NOW)
    code, shown = at_a_terminal(cli, "recall", "heron", *NOW)
    assert code == 0
    assert "█" in shown
    plain = re.sub(r"\x1b(\[[0-9;]*m|\]8;[^\x1b]*\x1b\\)", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    head = plain.splitlines()[0]
    (box,) = cli.store.glob("flow/*/inbox/notes-*.jsonl")
    assert re.match(rf"█+░* \d+ % sure  {box.relative_to(cli.folder)}:2\b", head)
    assert f";file://{box}#2{ESCAPE}\\" in shown
    # A pipe gets the same words, one line a paragraph, without bars and colours.
    piped = cli.ok("recall", "heron", *NOW).out
    assert HERON.strip() in piped
    assert "█" not in piped
    assert ESCAPE not in piped


def test_a_missing_model_is_offered_to_a_person_only(cli: Cli) -> None:
    cli.ok("note", HERON, *NOW)
    empty = str(cli.folder / "empty")
    code, shown = at_a_terminal(cli, "recall", "heron", CLSM_MODEL_DIR=empty, **NO_NETWORK)
    assert code == 0
    assert "getting the embedding model into" in shown
    assert "the embedding model could not be obtained" in " ".join(shown.split())
    assert "The heron stood" in shown
    done = cli.ok("recall", "heron", CLSM_MODEL_DIR=empty, **NO_NETWORK)
    assert "getting" not in done.err
    assert "this answer is from words alone" in done.err
    assert not any((cli.folder / "empty").iterdir())


def shell(cli: Cli, script: str) -> subprocess.CompletedProcess[str]:
    """A line of shell in which ``$CLSM`` is the command."""
    env = {**cli.environment, "CLSM": f"{sys.executable} -m clsm_cli"}
    return ran("bash", "-c", script, cwd=cli.folder, env=env, stdin=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def visited(shared: Cli) -> Cli:
    """A store whose answers are longer than a pipe holds; nothing here changes it."""
    rows = "".join(f"Visit {n} of the heron.\n\n" + "It waited. " * 200 + "\n\n" for n in range(40))
    (shared.folder / "visits.md").write_text(rows)
    shared.ok("ingest", "visits.md", *NOW, CLSM_MODEL_DIR=shared.folder)
    return shared


@pytest.mark.parametrize(("script", "code"), table(__file__, "closed"))
def test_closed_streams_and_folders_that_are_gone(visited: Cli, script: str, code: str) -> None:
    done = shell(visited, script)
    assert done.returncode == int(code), done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize(
    "value",
    ["0001-01-01", "9999-12-30T23:59:59", "9998-12-31", "0100-01-01", "soon", "", "2026-13-01"],
)
def test_times_that_are_none(cli: Cli, value: str) -> None:
    commands = "recall x,note x,ingest x,status,model status,context,log --since 9999w"
    for words in map(str.split, commands.split(",")):
        done = cli(*words, "--now", value, TZ="Asia/Tokyo")
        assert done.code in {0, 2, 12}
        assert "Traceback" not in done.err
    assert cli("status", "--now", "soon").code == 2
