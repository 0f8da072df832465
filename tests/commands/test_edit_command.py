"""``clsm edit``: the editor, the file it opens, and what becomes of a bad one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from consolidation.test_correction import BELL, NOW, QUARTER, bell, hold
from in_process import InProcess
from ingesting import new_store, tree
from sleeping import current, rows
from typer.testing import Result

from clsm_cli.errors import BadInputError
from clsm_cli.store.layout import Store

_COMMAND = InProcess("edit", NOW)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    hold(made, bell())
    return made


def editor(folder: Path, script: str) -> str:
    """A program that edits the file it is given as a shell script does, ``$1``."""
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o700)
    return f"'{path}' --wait"


def run(store: Store, script: str, *words: str, variable: str = "VISUAL") -> Result:
    script = script.replace("$1", "$2")  # behind --wait
    values = {"VISUAL": "", "EDITOR": "false", variable: editor(store.root.parent, script)}
    return _COMMAND.run(store, *(words or (bell().id,)), env=values)


def left(store: Store) -> list[Path]:
    return sorted((store.derived / "edit").glob("*"))


@pytest.mark.parametrize("variable", ["VISUAL", "EDITOR"])
def test_a_line_is_changed(store: Store, variable: str) -> None:
    done = run(store, 'sed -i "s/10 minutes/15 minutes/" "$1"', variable=variable)
    assert done.exit_code == 0, (done.output, done.exception)
    assert done.stdout.startswith(f"statement {bell().id} changed and pinned · run-")
    assert current(store) == [QUARTER]
    assert rows(store)[bell().id].pinned
    assert left(store) == []


def test_the_file_is_private(store: Store) -> None:
    seen = store.root.parent / "seen"
    done = run(store, f'stat -c "%a %n" "$1" "$(dirname "$1")" > {seen}; cat "$1" >> {seen}')
    assert done.exit_code == 0
    first, second, *text = seen.read_text(encoding="utf-8").splitlines()
    assert first == f"600 {store.derived}/edit/{bell().id}.yaml"
    assert second.startswith("700 ")
    assert f"text: {BELL}" in text


def test_a_bad_file_is_kept_and_named(store: Store) -> None:
    before = tree(store.root)
    kept = []
    for number, name in enumerate((f"{bell().id}.yaml", f"2-{bell().id}.yaml"), 1):
        done = run(store, f'echo "subject: [{number}" > "$1"')
        assert isinstance(done.exception, BadInputError)
        path = store.derived / "edit" / name
        kept.append(path)
        assert str(path) in str(done.exception)
        assert "is not YAML" in str(done.exception)
        assert path.read_text(encoding="utf-8") == f"subject: [{number}\n"
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert left(store) == sorted(kept)
    assert tree(store.root) == before


@pytest.mark.parametrize(
    ("script", "reason"), [("exit 3", "ended with code 3"), ("kill -9 $$", "ended with code")]
)
def test_an_editor_that_fails(store: Store, script: str, reason: str) -> None:
    done = run(store, script)
    assert isinstance(done.exception, BadInputError)
    assert reason in str(done.exception)
    assert left(store) == []


@pytest.mark.parametrize("named", ["/nowhere/vi", "'unbalanced", ""])
def test_an_editor_that_is_none(store: Store, named: str) -> None:
    done = _COMMAND.run(store, bell().id, env={"VISUAL": named, "EDITOR": ""})
    assert isinstance(done.exception, BadInputError)
    assert "$EDITOR" in str(done.exception)
    assert left(store) == []


def test_a_file_that_became_a_link(store: Store, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("subject: stolen\n", encoding="utf-8")
    done = run(store, f'ln -sf {secret} "$1"')
    assert done.exit_code != 0
    assert "stolen" not in str(done.exception)
    assert rows(store)[bell().id].subject == "bell"
