"""``clsm undo`` and the runs in ``clsm status``: what they print."""

from pathlib import Path
from typing import Any

import pytest
from curation.test_correction import BELL, HOME, QUARTER, bell, hold, home
from forgetting.test_run_reversal import corrected
from forgetting.undoing import newest, noted
from in_process import InProcess
from ingesting import new_store
from sleeping import current

from clsm_cli.store import atomic, runs
from clsm_cli.store.layout import Store

NOW = "2026-03-01T12:00:00+01:00"
_UNDO = InProcess("undo", NOW)
STATUS = InProcess("status", NOW)
run, ok = _UNDO.run, _UNDO.ok


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("CLSM_DEVICE", "pi")
    return new_store(tmp_path / "memory")


def test_byte_for_byte(store: Store) -> None:
    noted(store)
    noted_run = newest(store)
    (path,) = noted_run.paths
    planned = ok(store, "--dry-run").splitlines()
    lines = ok(store).splitlines()
    assert planned == [*lines, "nothing was written"]
    assert lines == [
        f"undone  {noted_run.id}  note  2026-03-01T11:00:00Z",
        f"removed   {path}",
        "1 file as before, byte for byte",
    ]
    undone = newest(store)
    assert ok(store, "--redo").splitlines() == [
        f"redone  {undone.id}  undo  2026-03-01T11:00:00Z",
        f"restored  {path}",
        "1 file as before, byte for byte",
    ]


def test_by_newer_records(store: Store) -> None:
    hold(store, bell(), home(stream="projects", topic="facts"))
    first = corrected(store, bell().id, QUARTER)
    corrected(store, home().id, "Mara lives in York with her sister.")
    text = ok(store, first).splitlines()[-1]
    assert text.startswith("by newer records, as projects/facts.md")
    assert text.endswith(
        ": 1 record with the value from before, 2 statements withdrawn, 0 derived records removed"
    )
    assert BELL in current(store)
    assert HOME not in current(store)


def test_status_lists_the_runs_newest_first_with_what_became_of_them(store: Store) -> None:
    at, shown = "2026-03-01T11:00:00Z", "2026-03-01 12:00"
    noted(store, "One.")
    one = newest(store).id
    noted(store, "Two.")
    two = newest(store).id
    ok(store)
    undone = newest(store).id
    runs.apply(
        store,
        "forget",
        at,
        [runs.Put(store.root / "tasks" / "a.md", b"x")],
        whole=True,
        undoable=False,
    )
    forgot = newest(store).id
    atomic.remove_folder(store.derived / "runs" / one)
    assert [row for row in STATUS.ok(store).splitlines() if "  run-" in row] == [
        f"{shown}  forget  {forgot}  0 files  cannot be undone",
        f"{shown}  undo  {undone}  1 file  undo of {two}",
        f"{shown}  note  {two}  1 file  undone by {undone}",
        f"{shown}  note  {one}  1 file  cannot be undone",
    ]
    data: dict[str, Any] = STATUS.data(store)
    assert data["runs"][1] == {
        "id": undone,
        "command": "undo",
        "state": {"at": at, "files": 1, "undone_by": None, "undo_of": two, "is_kept": True},
    }
