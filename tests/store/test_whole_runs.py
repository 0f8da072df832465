"""A run that was begun whole is ended by whoever writes next, wherever its process died."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from killing import Killed, killed_at

from clsm_cli.store import atomic, layout, logs, runs

if TYPE_CHECKING:
    from pathlib import Path

NOW = "2026-02-24T22:00:00Z"


@pytest.fixture
def store(tmp_path: Path) -> layout.Store:
    layout.create(tmp_path / "m", "UTC")
    found = layout.open_store(tmp_path / "m", {"CLSM_DEVICE": "pi"})
    atomic.put(found.root / "projects" / "a.md", b"old a")
    atomic.put(found.root / "projects" / "gone.md", b"gone")
    atomic.append(found.flow / "review.jsonl", b'{"n": 0}')
    return found


def writes(store: layout.Store) -> list[runs.Write]:
    a, b, gone = (store.root / "projects" / name for name in ("a.md", "b.md", "gone.md"))
    return [
        runs.Put(a, b"new a", read_as=atomic.sha256(b"old a")),
        runs.Put(b, b"\xff not text", read_as=None),
        runs.Append(store.flow / "review.jsonl", b'{"n": 1}'),
        runs.Remove(gone),
    ]


def content(store: layout.Store) -> dict[str, bytes]:
    files = (path for path in store.root.rglob("*") if path.is_file())
    return {
        path.relative_to(store.root).as_posix(): path.read_bytes()
        for path in files
        if ".clsm/runs" not in path.as_posix() and path.name != "clsm.yaml"
    }


@pytest.mark.parametrize("step", range(1, 12))
def test_all_or_nothing_wherever_it_dies(
    store: layout.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    layout.create(tmp_path / "whole", "UTC")
    other = layout.open_store(tmp_path / "whole", {"CLSM_DEVICE": "pi"})
    atomic.put(other.root / "projects" / "a.md", b"old a")
    atomic.put(other.root / "projects" / "gone.md", b"gone")
    atomic.append(other.flow / "review.jsonl", b'{"n": 0}')
    runs.apply(other, "consolidate", NOW, writes(other), whole=True)
    before = content(store)
    with monkeypatch.context() as patch:
        killed_at(patch, step)
        with contextlib.suppress(Killed):
            runs.apply(store, "consolidate", NOW, writes(store), whole=True)
    assert runs.recover(store) == []
    after = content(store)
    before.pop(".clsm/device", None)
    nothing = {name: data for name, data in after.items() if name != ".clsm/device"} == before
    assert nothing or after == content(other)
    assert runs.recover(store) == []
    assert content(store) == after


def test_a_file_changed_in_the_meantime_is_left_as_it_is(
    store: layout.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        killed_at(patch, 6)  # device, two preimages and their line, redo: before the first Put
        with pytest.raises(Killed):
            runs.apply(store, "consolidate", NOW, writes(store), whole=True)
    a = store.root / "projects" / "a.md"
    a.write_bytes(b"by hand")
    assert runs.recover(store) == ["projects/a.md"]
    assert a.read_bytes() == b"by hand"
    assert (store.root / "projects" / "b.md").read_bytes() == b"\xff not text"
    assert not (store.root / "projects" / "gone.md").exists()


def test_a_torn_redo_means_that_nothing_was_begun(store: layout.Store) -> None:
    before = content(store)
    atomic.put(store.derived / "redo", b'{"line": {"id"')
    assert runs.recover(store) == []
    assert content(store) == before


def test_the_ledger_has_one_line_for_it(store: layout.Store) -> None:
    runs.apply(store, "consolidate", NOW, writes(store), whole=True)
    rows, _ = logs.rows(store.flow / "runs.jsonl")
    assert [row["command"] for _, row in rows] == ["consolidate"]
    assert not (store.derived / "redo").exists()
