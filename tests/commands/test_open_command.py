"""Every source that is printed is a file that is there, and opens at the line with the words."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from ingesting import new_store, take
from sleeping import chat, sleep
from typer.testing import CliRunner, Result

from clsm_cli.app import app
from clsm_cli.ingestion.capture import write_note
from clsm_cli.store.layout import Store

NOW = "2026-03-01T12:00:00+01:00"
NOTE = "# Boat\n\n- The heron sits on the mooring post.\n- Wim lives in Holm.\n"
SAID = ("user", "2026-02-28T09:00:00+01:00", "The theremin is kept in the loft of the old mill.")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Taken in by relative paths, slept on, and asked from another folder."""
    made = new_store(tmp_path / "memory")
    (desk := tmp_path / "desk").mkdir()
    monkeypatch.chdir(desk)
    Path("boat.md").write_text(NOTE)
    chat(Path(), "talk", [SAID])
    take(made, Path("boat.md"), Path("talk.jsonl"))
    write_note(
        made,
        "The stove needs a grate.",
        datetime.fromisoformat(NOW),
        by="user",
        fence_key=lambda: None,
    )
    sleep(made, NOW)
    monkeypatch.chdir(tmp_path)
    return made


def run(store: Store, command: str, *words: str) -> Result:
    done = CliRunner().invoke(app, [command, *words, "--store", str(store.root), "--now", NOW])
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def opened(told: dict[str, Any], line: str = "line") -> str:
    lines: list[str] = Path(told["file"]).read_text(encoding="utf-8").split("\n")
    number: int = told[line]
    return lines[number - 1]


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
        assert words in opened(source)
        is_own = source["file"] == str(desk / file)
        assert is_own == bool(file and not is_gone), source
        assert run(store, "open", found["memories"][0]["id"], "--print").stdout.strip() == (
            f"{source['file']}:{source['line']}"
        )


def test_show_says_what_it_says_first(store: Store) -> None:
    statement = json.loads(run(store, "list", "--json").stdout)["statements"][0]
    lines = run(store, "show", statement["id"][:8]).stdout.splitlines()
    assert lines[0] == statement["text"]
    assert lines[2].startswith(f"fact {statement['id']} · ")
    assert any(f":{statement['line']} · " in line for line in lines[3:])
    assert "rev: " in run(store, "show", statement["id"], "--verbose").stdout


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("vim", "+{line} {file}"),
        ("code", "-g {file}:{line}"),
        ("hx", "{file}:{line}"),
        ("other", "{file}"),
    ],
)
def test_an_editor_is_told_the_line_in_its_own_way(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, editor: str, expected: str
) -> None:
    program = tmp_path / editor
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    program.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(program))
    (memory, *_) = json.loads(run(store, "recall", "heron", "-k", "1", "--json").stdout)["memories"]
    note = tmp_path / "desk" / "boat.md"
    note.write_text(f"Two lines\nmore.\n{NOTE}")  # edited since: the words are found again
    run(store, "open", memory["id"])
    assert (tmp_path / "asked").read_text().strip() == expected.format(file=note, line=5)
