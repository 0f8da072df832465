"""What a person at a terminal sees, and what a pipe does not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pseudo_terminal import Terminal

if TYPE_CHECKING:
    from processes import Cli

NOW = ("--now", "2026-02-25T08:00:00+01:00")
HERON = "The heron stood on the gauge. " * 8
ESCAPE = "\x1b"
NO_NETWORK = {"HF_HUB_OFFLINE": "1", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "TERM": "xterm"}


def at_a_terminal(cli: Cli, *words: str, answer: str = "", **environment: str) -> tuple[int, str]:
    """Run a command whose three streams are one terminal; its exit code and all it shows.

    ``answer`` is what the person types.
    """
    command = (sys.executable, "-m", "clsm_cli", *words)
    terminal = Terminal(command, {**cli.environment, **environment}, cli.folder)
    terminal.type(answer)
    return terminal.ended()


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


def test_no_color(cli: Cli) -> None:
    cli.ok("note", HERON, *NOW)
    _, coloured = at_a_terminal(cli, "recall", "heron", *NOW)
    _, plain = at_a_terminal(cli, "recall", "heron", *NOW, NO_COLOR="1")
    assert f"{ESCAPE}[32m" in coloured
    assert not re.search(r"\x1b\[3[0-9]|\x1b\]8", plain)


def test_what_was_remembered_cannot_steer_the_terminal(cli: Cli) -> None:
    text = "heron \x1b]0;owned\x07 \x1b[2J \x9b31m \u202eevil\u202c \u200b[bold]x[/bold] :smile:"
    cli.ok("note", text, *NOW)
    for words in (["recall", "heron"], ["recall", "--json", "heron"]):
        _, shown = at_a_terminal(cli, *words, *NOW)
        for character in (
            "\x07",
            "\x9b",
            "\u202e",
            "\u202c",
            "\u200b",
            f"{ESCAPE}]0",
            f"{ESCAPE}[2J",
        ):
            assert character not in shown
        assert "[bold]x[/bold] :smile:" in shown
    (memory,) = cli.ok("recall", "--json", "heron", *NOW).json["memories"]
    assert memory["text"] == text


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


@pytest.mark.parametrize("words", [["recall", "heron"], ["recall", "heron", "--json"], ["status"]])
def test_a_terminal_that_knows_only_ascii(cli: Cli, words: list[str]) -> None:
    cli.ok("note", "The heron ate a jalapeño — “twice”.", *NOW)
    out = cli.ok(*words, *NOW, PYTHONIOENCODING="ascii").out
    assert out.isascii()
    if "--json" in words:
        assert json.loads(out) == cli.ok(*words, *NOW).json
    elif "recall" in words:
        assert re.search(r"^1\. \S+:2 \| 2026-02-25", out, re.MULTILINE)
        assert "a jalape\\xf1o - \\u201ctwice" in out


def test_the_c_locale(cli: Cli) -> None:
    cli.ok("note", "The heron ate a jalapeño.", *NOW, LC_ALL="C")
    assert "jalapeño" in cli.ok("recall", "jalapeño", *NOW, LC_ALL="C").out
    assert "jalapeño" in cli.ok("recall", "jalapeño", *NOW, LC_ALL=None, LANG=None).out


def shell(cli: Cli, script: str) -> subprocess.CompletedProcess[str]:
    """A line of shell in which ``$CLSM`` is the command."""
    return subprocess.run(
        ["bash", "-c", script],
        cwd=cli.folder,
        env={**cli.environment, "CLSM": f"{sys.executable} -m clsm_cli"},
        capture_output=True,
        check=False,
        text=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("$CLSM recall heron | true; exit ${PIPESTATUS[0]}", 0),
        (
            "$CLSM recall --json heron -k 1000 --budget 9999999 | head -c 1; exit ${PIPESTATUS[0]}",
            0,
        ),
        ("$CLSM recall heron >&-", 0),
        ("$CLSM recall heron 2>&-", 0),
        ("$CLSM ingest - <&-", 12),
        ("$CLSM note - <&-", 12),
        ("$CLSM recall heron > /dev/full", 16),
        ("$CLSM status 2>&- --store nowhere", 11),
        ("mkdir x && cd x && rmdir ../x && $CLSM status --store $CLSM_STORE", 0),
        ("mkdir x && cd x && rmdir ../x && env -u CLSM_STORE $CLSM status", 11),
        ("env -u HOME $CLSM status", 0),
    ],
)
def test_streams_that_are_closed_and_folders_that_are_gone(
    cli: Cli, script: str, code: int
) -> None:
    rows = "".join(f"Visit {n} of the heron.\n\n" + "It waited. " * 200 + "\n\n" for n in range(40))
    (cli.folder / "visits.md").write_text(rows)
    cli.ok("ingest", "visits.md", *NOW, CLSM_MODEL_DIR=cli.folder)
    done = shell(cli, script)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_query_that_looks_like_an_option(cli: Cli) -> None:
    cli.ok("note", "The --store option names the heron's pond.", *NOW)
    assert "heron's pond" in cli.ok("recall", *NOW, "--", "--store", "option").out
    done = cli("recall", "--stork")
    assert done.code == 2
    assert "No such option" in done.err


@pytest.mark.parametrize("value", ["0001-01-01", "9999-12-31T23:59:59", "soon", "", "2026-13-01"])
def test_times_that_are_none(cli: Cli, value: str) -> None:
    for words in (["recall", "x"], ["note", "x"], ["ingest", "x"], ["status"], ["model", "status"]):
        done = cli(*words, "--now", value, TZ="Asia/Tokyo")
        assert done.code in {0, 2, 12}
        assert "Traceback" not in done.err
    assert cli("status", "--now", "soon").code == 2


def test_completion_can_be_installed(cli: Cli) -> None:
    unseen = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # Typer reads it when it loads
    fresh = replace(cli, prefix=("env",))
    assert "complete" in fresh("--show-completion", "bash", **unseen).out
    assert fresh("--install-completion", "bash", **unseen).code == 0
    assert "clsm" in (Path(cli.environment["HOME"]) / ".bashrc").read_text()
