"""``clsm status --bench``: real processes are timed, and the block tells nothing of the memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
import typer
from ingesting import new_store, take, tree
from typer.testing import CliRunner

from clsm_cli.commands.help import Command
from clsm_cli.commands.status import EXAMPLES, status
from clsm_cli.errors import BadInputError
from clsm_cli.inspection import speed

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

STATUS = typer.Typer(add_completion=False, rich_markup_mode=None)
STATUS.command("status", cls=Command, epilog=EXAMPLES)(status)
SECRET = "Zanzibar"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("CLSM_DEVICE", "pi")
    monkeypatch.setattr(speed, "ROUNDS", 2)
    store = new_store(tmp_path / "memory")
    (tmp_path / "notes.md").write_text(f"We decided about the heartbeat in {SECRET}.\n")
    take(store, tmp_path / "notes.md")
    return store


def test_the_block(store: Store) -> None:
    before = tree(store.root)
    done = CliRunner().invoke(STATUS, ["--bench", "--store", str(store.root)])
    assert done.exception is None
    rows = re.findall(r"^(\w[\w ]*\w) +([\d.]+) +([\d.]+) +([\d.]+)$", done.stdout, re.MULTILINE)
    assert [row[0] for row in rows] == [speed.YARDSTICK, "recall", "context", "capture"]
    assert all(float(number) > 0 for row in rows for number in row[1:])
    assert rows[0][3] == "1.00"
    assert "1 block" in done.stdout
    for told in (SECRET, str(store.root), store.store_id):
        assert told not in done.stdout
    assert tree(store.root) == before


def test_a_command_that_fails_is_told(store: Store) -> None:
    (store.root / "clsm.yaml").write_text("format: 1\nid: [\n")
    with pytest.raises(BadInputError, match=r"^clsm recall: cannot be timed: clsm: .*clsm\.yaml"):
        speed.measured(store.root, 1)


def test_sizes_leave_links_and_git_out(store: Store, tmp_path: Path) -> None:
    own, derived = speed.sizes(store.root)
    assert own > 0
    assert derived > 0
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    (store.root / "link").symlink_to(tmp_path / "large")
    (store.root / ".git").mkdir()
    (store.root / ".git" / "pack").write_bytes(bytes(1 << 20))
    assert speed.sizes(store.root)[0] - own < 1 << 10
    assert speed.sizes(store.root)[1] == derived
