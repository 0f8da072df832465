"""A file of begun work that is not what it must be is dropped, and nothing is written by it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ingesting import new_store

from clsm_cli.store import runs

LINE = {"id": "run-0f3a9c12d08e", "command": "note", "at": "2026-03-01T00:00:00Z"}


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user"},
        {"line": {}, "data": []},
        {"line": {**LINE, "changes": [{"path": "../out", "before": None, "after": "x"}]}, "data": ["eA=="]},
        {"line": {**LINE, "changes": [{"path": "/out", "before": None, "after": "x"}]}, "data": ["eA=="]},
        {"line": {**LINE, "changes": []}, "data": ["eA=="]},
        [1],
    ],
)  # fmt: skip
def test_it_is_dropped(tmp_path: Path, value: object) -> None:
    store = new_store(tmp_path / "memory")
    store.derived.mkdir(exist_ok=True)
    (store.derived / "redo").write_text(json.dumps(value))
    assert runs.recover(store) == []
    assert not (store.derived / "redo").exists()
    assert not (tmp_path / "out").exists()
