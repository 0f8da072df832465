"""``clsm pin`` and ``clsm unpin``: what they print, and what they do with odd arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from consolidation.test_correction import BELL, HOME, NOW, bell, hold, home
from in_process import InProcess
from ingesting import new_store, tree
from sleeping import rows
from typer.testing import Result

from clsm_cli.errors import BadInputError
from clsm_cli.store.layout import Store

APPS = {name: InProcess(name, NOW) for name in ("pin", "unpin")}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    hold(made, bell(), home())
    return made


def run(store: Store, command: str, *words: str) -> Result:
    return APPS[command].run(store, *words)


def ok(store: Store, command: str, *words: str) -> str:
    return APPS[command].ok(store, *words)


def test_what_is_said(store: Store) -> None:
    planned = ok(store, "pin", "bell", home().id, "--dry-run").splitlines()
    lines = ok(store, "pin", "bell", home().id).splitlines()
    assert planned == [*lines, "nothing was written"]
    assert lines == [
        f"pinned    statement {bell().id}  {BELL}",
        f"pinned    statement {home().id}  {HOME}",
    ]
    assert ok(store, "pin", "bell") == f"known     statement {bell().id}  {BELL}\n"
    assert ok(store, "unpin", "bell") == f"unpinned  statement {bell().id}  {BELL}\n"
    assert ok(store, "unpin", "bell") == f"known     statement {bell().id}  {BELL}\n"
    assert [row.pinned for row in rows(store).values()] == [
        row == home().id for row in sorted([bell().id, home().id])
    ]


def test_what_cannot_be_used(store: Store) -> None:
    before = tree(store.root, derived=True)
    for command in APPS:
        assert run(store, command).exit_code == 2
        for words in (["Tomas"], ["bell", "f-00ff"], [""], ["f-"], ["\udcff"], ["00ff00ff00ff"]):
            done = run(store, command, *words)
            assert isinstance(done.exception, BadInputError), (words, done.exception)
            assert done.exception.exit_code == 12
    assert tree(store.root, derived=True) == before
