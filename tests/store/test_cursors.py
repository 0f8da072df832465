"""Cursors are believed only in the store that they were written in, as it went on since."""

from pathlib import Path

import pytest

from clsm_cli.store import atomic, cursors, layout
from clsm_cli.store.cursors import Cursor


@pytest.fixture
def places(tmp_path: Path) -> cursors.Places:
    path = tmp_path / "a.jsonl"
    path.write_text("{}")
    return {str(path): {"": Cursor(2, 1, "ab", "2:3:4"), "s1": Cursor(7, 7, "cd")}}


def ledger(store: layout.Store, text: str) -> None:
    atomic.append(store.flow / "runs.jsonl", text.encode())


def test_what_was_kept_is_there(store: layout.Store, places: cursors.Places) -> None:
    assert cursors.load_cursors(store) == {}
    ledger(store, '{"id": "run-1"}')
    cursors.save_cursors(store, {**places, "/nowhere/b.jsonl": {"": Cursor(1, 1, "")}})
    assert cursors.load_cursors(store) == places
    ledger(store, '{"id": "run-2", "command": "note"}')
    assert cursors.load_cursors(store) == places
    assert cursors.path_of(store).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "now",
    [
        b"",
        b'\n{"id": "run-0"}\n',
        b'\n{"id": "run-2"}\n\n{"id": "run-3"}\n',
        b'\n{"id": "run-1"}\n\n{"id": "run-2", "of": "run-1"}\n',
    ],
    ids=["gone", "another", "another and more", "undone"],
)
def test_a_ledger_that_breaks_off(store: layout.Store, places: cursors.Places, now: bytes) -> None:
    ledger(store, '{"id": "run-1"}')
    cursors.save_cursors(store, places)
    (store.flow / "runs.jsonl").write_bytes(now)
    assert cursors.load_cursors(store) == {}
