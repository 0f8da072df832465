"""Runs: applied, recorded, kept for an undo; whole or not at all, and ended by whoever writes next."""

import contextlib
import json
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ingesting import new_store, tree, unchanged
from killing import Killed, killed_at

from clsm_cli.errors import DiskError, RefusedError
from clsm_cli.store import atomic, layout, logs, runs

NOW = "2026-02-24T22:00:00Z"


def filled(root: Path) -> layout.Store:
    store = new_store(root)
    atomic.put(store.root / "projects" / "a.md", b"old a")
    atomic.put(store.root / "projects" / "gone.md", b"gone")
    atomic.append(store.flow / "review.jsonl", b'{"n": 0}')
    return store


def full_at(monkeypatch: pytest.MonkeyPatch, name: str, before: Callable[[], None]) -> None:
    """The disk is full when a file of some name is put."""
    put_all = atomic.put_all

    def fails(files: Mapping[Path, bytes], **options: Any) -> None:
        for path in files:
            if path.name == name:
                before()
                raise DiskError(path, "No space left on device")
        put_all(files, **options)

    monkeypatch.setattr(atomic, "put_all", fails)


def test_a_run_is_applied_recorded_and_its_preimages_kept(store: layout.Store) -> None:
    note, log, gone = (store.root / name for name in ("projects/a.md", "log.jsonl", "tasks/b.md"))
    atomic.put(note, b"old")
    atomic.put(gone, b"gone")
    atomic.append(log, b"{}")
    line = runs.apply(
        store,
        "consolidate",
        NOW,
        [
            runs.Put(note, b"new", read_as=atomic.sha256(b"old")),
            runs.Put(store.root / "projects" / "c.md", b"fresh", read_as=None),
            runs.Append(log, b'{"n": 1}'),
            runs.Remove(gone),
        ],
    )
    assert line is not None
    assert note.read_bytes() == b"new"
    assert not gone.exists()
    assert line.changes == (
        logs.Change("projects/a.md", atomic.sha256(b"old"), atomic.sha256(b"new")),
        logs.Change("projects/c.md", None, atomic.sha256(b"fresh")),
        logs.Change("log.jsonl", None, "", 4, 10),
        logs.Change("tasks/b.md", atomic.sha256(b"gone"), None),
    )
    ((_, row),), problems = logs.rows(store.flow / "runs.jsonl")
    assert (logs.parse(logs.RunLine, row), problems) == (line, [])
    (kept,) = (store.derived / "runs" / line.id).iterdir()
    saved = {path.name: path.read_bytes() for path in kept.iterdir() if path.suffix == ""}
    assert {name: zlib.decompress(data) for name, data in saved.items()} == {
        "0000": b"old",
        "0003": b"gone",
    }
    told = json.loads((kept / "run.json").read_bytes())
    assert logs.parse(logs.RunLine, told) == line
    assert told["added"] == {
        "projects/a.md": [atomic.sha256(b"new")[:12]],
        "projects/c.md": [],
        "log.jsonl": [atomic.sha256(b'{"n": 1}')[:12]],
        "tasks/b.md": [],
    }
    assert {path.stat().st_mode & 0o077 for path in store.root.rglob("*")} == {0}


@pytest.mark.parametrize("at", [0, 1])
def test_preimages_are_there_before_the_first_write_and_go_where_none_happened(
    store: layout.Store, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    notes = [store.root / "projects" / name for name in ("a.md", "b.md")]
    for note in notes:
        atomic.put(note, b"old")

    def are_there() -> None:
        (step,) = (store.derived / "runs").glob("run-*/*")
        kept = [(step / name).read_bytes() for name in ("0000", "0001")]
        assert [*map(zlib.decompress, kept)] == [b"old", b"old"]
        assert (step / "run.json").exists()

    full_at(monkeypatch, notes[at].name, are_there)
    with pytest.raises(DiskError):
        runs.apply(store, "consolidate", NOW, [runs.Put(note, b"new") for note in notes])
    assert [note.read_bytes() for note in notes] == [b"new", b"old"] if at else [b"old", b"old"]
    assert not (store.flow / "runs.jsonl").exists()
    kept = list((store.derived / "runs").glob("run-*/*"))
    assert len(kept) == at, "what was replaced is kept, and nothing else"


@pytest.mark.parametrize("is_other_begun", [False, True])
@pytest.mark.parametrize("step", ["0000", "run.json", "redo"])
def test_a_disk_that_is_full_before_the_first_write_leaves_no_run(
    store: layout.Store, monkeypatch: pytest.MonkeyPatch, step: str, *, is_other_begun: bool
) -> None:
    note = store.root / "projects" / "a.md"
    atomic.put(note, b"old")
    is_whole = not is_other_begun
    if is_other_begun:  # a hook writes without completing it
        atomic.put(store.derived / "redo", b"{}")
        step = step.replace("redo", note.name)
    full_at(monkeypatch, step, lambda: None)
    line = runs.Append(store.flow / "review.jsonl", b"{}")
    with pytest.raises(DiskError):
        runs.apply(store, "consolidate", NOW, [runs.Put(note, b"new"), line, line], whole=is_whole)
    assert list((store.derived / "runs").glob("*")) == []
    assert note.read_bytes() == b"old"


def test_one_stale_file_stops_a_run_before_its_first_write(store: layout.Store) -> None:
    one, two = store.root / "projects" / "a.md", store.root / "projects" / "b.md"
    atomic.put(two, b"by hand")
    with unchanged(store.root, derived=True):
        writes = [runs.Put(one, b"1", None), runs.Put(two, b"2", atomic.sha256(b"as read"))]
        with pytest.raises(RefusedError, match=r"b\.md: was changed while clsm worked"):
            runs.apply(store, "consolidate", NOW, writes)


@pytest.mark.parametrize("dies", [False, True])
def test_a_run_that_keeps_nothing_leaves_neither_preimages_nor_names(
    store: layout.Store, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    """And is ended by the next where its process died."""
    note, gone = (store.root / "projects" / name for name in ("a.md", "gone.md"))
    atomic.put(note, b"old")
    atomic.put(gone, b"gone")
    writes = (runs.Put(note, b"new", atomic.sha256(b"old")), runs.Remove(gone))
    with monkeypatch.context() as patch:
        if dies:
            killed_at(patch, 4)  # the device, the redo and the first file are written
        with contextlib.suppress(Killed):
            runs.apply(store, "forget", NOW, writes, whole=True, undoable=False)
    assert (note.read_bytes(), gone.exists()) == (b"new", dies)
    begun = runs.interrupted_run(store)
    assert (begun is not None) == dies
    assert runs.recover(store) == []
    assert (runs.interrupted_run(store), gone.exists()) == (None, False)
    ((_, row),), _ = logs.rows(store.flow / "runs.jsonl")
    line = logs.parse(logs.RunLine, row)
    assert (line.command, line.changes) == ("forget", ())
    assert begun in (None, line)
    assert not (store.derived / "runs").exists()


def test_the_same_change_made_again_at_one_time_is_another_run(store: layout.Store) -> None:
    note = store.root / "projects" / "a.md"
    for _ in range(3):
        runs.apply(store, "edit", NOW, [runs.Put(note, b"1", None)])
        note.unlink()
    assert len({row["id"] for _, row in logs.rows(store.flow / "runs.jsonl")[0]}) == 3


# A run that was begun whole is ended by whoever writes next, wherever its process died.


def writes(store: layout.Store) -> list[runs.Write]:
    a, b, gone = (store.root / "projects" / name for name in ("a.md", "b.md", "gone.md"))
    return [
        runs.Put(a, b"new a", read_as=atomic.sha256(b"old a")),
        runs.Put(b, b"\xff not text", read_as=None),
        runs.Append(store.flow / "review.jsonl", b'{"n": 1}'),
        runs.Remove(gone),
    ]


def content(store: layout.Store) -> dict[str, bytes]:
    left_out = (".clsm/runs", ".clsm/device", "clsm.yaml")
    found = tree(store.root, derived=True)
    return {name: data for name, data in found.items() if not name.startswith(left_out)}


def died_at(store: layout.Store, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """A run whose process died before a step, if it has so many."""
    with monkeypatch.context() as patch, contextlib.suppress(Killed):
        killed_at(patch, step)
        runs.apply(store, "consolidate", NOW, writes(store), whole=True)


@pytest.mark.parametrize("step", range(1, 12))
def test_all_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    store, other = filled(tmp_path / "m"), filled(tmp_path / "whole")
    runs.apply(other, "consolidate", NOW, writes(other), whole=True)
    before = content(store)
    died_at(store, monkeypatch, step)
    assert runs.recover(store) == []
    after = content(store)
    assert after in (before, content(other))
    assert runs.recover(store) == []
    assert content(store) == after


def test_a_file_changed_meanwhile_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = filled(tmp_path / "m")
    died_at(store, monkeypatch, 6)  # device, two preimages and their line, redo; no Put
    assert runs.interrupted_run(store) is not None
    a = store.root / "projects" / "a.md"
    a.write_bytes(b"by hand")
    assert runs.recover(store) == ["projects/a.md"]
    assert a.read_bytes() == b"by hand"
    assert (store.root / "projects" / "b.md").read_bytes() == b"\xff not text"
    assert not (store.root / "projects" / "gone.md").exists()


# A file of begun work that is not what it must be is dropped, and nothing is written by it.
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
def test_it_is_dropped(store: layout.Store, tmp_path: Path, value: object) -> None:
    for folder in (store.derived, store.root / ".git", store.root / "projects/.git"):
        folder.mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (store.root / "identity" / "in").symlink_to(tmp_path / "outside")
    before = sorted(tmp_path.rglob("*"))
    (store.derived / "redo").write_text(json.dumps(value))
    assert runs.recover(store) == []
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("path", [*FOREIGN, "projects/../../x", "identity/in/a/b"])
@pytest.mark.parametrize("kind", ["put", "append", "remove"])
def test_no_run_writes_there(store: layout.Store, tmp_path: Path, path: str, kind: str) -> None:
    (store.root / "identity" / "in").symlink_to(tmp_path)
    place = store.root / path
    writes: dict[str, runs.Write] = {
        "put": runs.Put(place, b"x"),
        "append": runs.Append(place, b"x"),
        "remove": runs.Remove(place),
    }
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RefusedError, match="is no place in a memory"):
        runs.apply(store, "undo", LINE["at"], [writes[kind]])
    assert sorted(tmp_path.rglob("*")) == before
