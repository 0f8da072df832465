"""A file of begun work that is not what it must be is dropped, and nothing is written by it.

It may have come with a clone or a copy: what it names must be a file of the memory.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ingesting import new_store

from clsm_cli.errors import RefusedError
from clsm_cli.store import runs

LINE = {"id": "run-0f3a9c12d08e", "command": "note", "at": "2026-03-01T00:00:00Z"}
FOREIGN = ("../out", "/out", ".git/config", "projects/.git/config", ".clsm/device", "identity/in/a")
"""Places that are none of a memory's; ``identity/in`` is a link that leads out."""


def begun(path: str, after: str | None) -> dict[str, object]:
    change = {"path": path, "before": None, "after": after}
    return {"line": {**LINE, "changes": [change]}, "data": ["eA=="]}


@pytest.mark.parametrize(
    "value",
    [
        {"role": "user"},
        {"line": {}, "data": []},
        {"line": {**LINE, "changes": []}, "data": ["eA=="]},
        [1],
        *(begun(path, "x") for path in FOREIGN),
        *(begun(path, "") for path in FOREIGN),
    ],
)
def test_it_is_dropped(tmp_path: Path, value: object) -> None:
    store = new_store(tmp_path / "memory")
    for folder in (store.derived, store.root / ".git", store.root / "projects/.git"):
        folder.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (store.root / "identity" / "in").symlink_to(tmp_path / "outside")
    before = sorted(tmp_path.rglob("*"))
    (store.derived / "redo").write_text(json.dumps(value))
    assert runs.recover(store) == []
    assert sorted(tmp_path.rglob("*")) == before


def test_one_of_the_memory_is_ended(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory")
    store.derived.mkdir()
    (store.derived / "redo").write_text(json.dumps(begun("flow/pi/review.jsonl", "")))
    assert runs.recover(store) == []
    assert (store.flow / "review.jsonl").read_bytes() == b"\nx\n"


@pytest.mark.parametrize("path", FOREIGN)
def test_no_run_writes_there(tmp_path: Path, path: str) -> None:
    store = new_store(tmp_path / "memory")
    (store.root / "identity" / "in").symlink_to(tmp_path)
    with pytest.raises(RefusedError, match="is no place in a memory"):
        runs.apply(store, "undo", LINE["at"], [runs.Put(store.root / path, b"x")])
