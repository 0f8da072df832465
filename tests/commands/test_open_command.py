"""Every source that is printed is a file that is there, and opens at the line with the words."""

import contextlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from curation.test_review_queue import ask
from ingesting import new_store, place, take, tree
from processes import Cli
from sleeping import chat, sleep
from tables import table
from typer.testing import CliRunner, Result

from clsm_cli.app import app
from clsm_cli.curation.review_queue import CONTRADICTION
from clsm_cli.ingestion.capture import write_note
from clsm_cli.store import layout
from clsm_cli.store.layout import Store

NOW = "2026-03-01T12:00:00+01:00"
NOTE = "# Boat\n\n- The heron sits on the mooring post.\n- Wim lives in Holm.\n"
SAID = ("user", "2026-02-28T09:00:00+01:00", "The theremin is kept in the loft of the old mill.")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Taken in by relative paths, and slept on."""
    folder = tmp_path_factory.mktemp("made")
    made = new_store(folder / "memory")
    (folder / "desk").mkdir()
    with contextlib.chdir(folder / "desk"):
        Path("boat.md").write_text(NOTE)
        chat(Path(), "talk", [SAID])
        take(made, Path("boat.md"), Path("talk.jsonl"))
    write_note(made, "The stove needs a grate.", datetime.fromisoformat(NOW), by="user")
    sleep(made, NOW)
    return made


@pytest.fixture
def store(made: Store) -> Iterator[Store]:
    """What was taken in is put back when a test has changed it."""
    desk = made.root.parent / "desk"
    kept = tree(desk)
    yield made
    place(desk, **kept)


def run(store: Store, command: str, *words: str) -> Result:
    done = CliRunner().invoke(app, [command, *words, "--store", str(store.root), "--now", NOW])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


@pytest.mark.parametrize("is_gone", [False, True])
def test_what_is_recalled_opens_at_its_words(store: Store, is_gone: bool) -> None:
    desk = store.root.parent / "desk"
    if is_gone:
        for path in desk.iterdir():
            path.unlink()
    for query, words, file in (
        ("heron", "The heron sits", "boat.md"),
        ("theremin", "The theremin is kept", "talk.jsonl"),
        ("grate for the stove", "The stove needs", ""),
    ):
        found = json.loads(run(store, "recall", query, "-k", "1", "--json").stdout)
        (source, *_) = found["memories"][0]["sources"]
        lines = Path(source["file"]).read_text(encoding="utf-8").split("\n")
        assert words in lines[source["line"] - 1]
        is_own = source["file"] == str(desk / file)
        assert is_own == bool(file and not is_gone), source
        assert run(store, "open", found["memories"][0]["id"], "--print").stdout.strip() == (
            f"{source['file']}:{source['line']}"
        )


def test_show_says_what_it_says_first(store: Store) -> None:
    statement = json.loads(run(store, "list", "--json").stdout)["statements"][0]
    lines = run(store, "show", statement["id"][:8]).stdout.splitlines()
    assert lines[0] == statement["text"]
    assert lines[2].startswith(f"{statement['kind']} {statement['id']} · ")
    assert any(f":{statement['line']} · " in line for line in lines[3:])
    assert "rev: " in run(store, "show", statement["id"], "--verbose").stdout


@pytest.mark.parametrize(("editor", "expected"), table(__file__, "editors"))
def test_an_editor_is_told_the_line_in_its_own_way(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, expected: str
) -> None:
    program = tmp_path / editor
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    program.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(program))
    (memory, *_) = json.loads(run(store, "recall", "heron", "-k", "1", "--json").stdout)["memories"]
    note = store.root.parent / "desk" / "boat.md"
    note.write_text(f"Two lines\nmore.\n{NOTE}")  # edited since: the words are found again
    run(store, "open", memory["id"])
    assert (tmp_path / "asked").read_text().strip() == expected.format(file=note, line=5)


PRINTED = re.compile(r"(\S+\.(?:md|jsonl|yaml)):(\d+)(?= ·|\s|$)")


def places(data: Any) -> Iterator[tuple[str, int]]:
    """All files with their lines that JSON names."""
    if isinstance(data, dict):
        if "file" in data and "line" in data:
            yield data["file"], data["line"]
        for value in data.values():
            yield from places(value)
    elif isinstance(data, list):
        for value in data:
            yield from places(value)


def test_every_source_is_there(slept_cli: Cli) -> None:
    cli = slept_cli
    store = layout.open_store(cli.store, {"CLSM_DEVICE": "pi"})
    (first, second, *_) = cli.ok("list", "--json").json["statements"]
    (turn, *_) = cli.ok("show", second["id"], "--json").json["told"]
    about = f"{first['id']} {turn['id']}"
    ask(store, "a1", CONTRADICTION, about, first["text"], second["text"])
    asked = (
        ("recall", "what did Brian build", "--no-touch", "--min-score", "0"), ("show", first["id"]),
        ("show", "brian"), ("show", turn["id"]), ("list", "-n", "1000"), ("list", "--kind", "gist"),
        ("log", "--since", "2020-01-01", "-n", "1000"), ("review", "--now", NOW),
        ("history", "Brian"),
    )  # fmt: skip
    for words in asked:
        told = [(file, int(line)) for file, line in PRINTED.findall(cli.ok(*words).out)]
        given = [*places(cli.ok(*words, "--json").json)]
        assert told, words
        assert given, words
        assert not [file for file, _ in given if not Path(file).is_absolute()], words
        for file, line in {*told, *given}:
            text = (cli.folder / file).read_text(encoding="utf-8")
            assert 1 <= line <= len(text.split("\n")), (words, file, line)
