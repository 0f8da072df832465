"""Which run is meant, and why some cannot be taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from forgetting.undoing import NOON, content, newest, noted, undo

from clsm_cli.errors import BadInputError, DamagedStoreError, RefusedError
from clsm_cli.store import atomic, layout, ledger, runs

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store


def note(store: Store, text: str = "The stove needs a new grate.") -> str:
    noted(store, text)
    return newest(store).id


def refused(store: Store, wanted: str | None = None, *, redo: bool = False) -> str:
    before = content(store)
    with pytest.raises((RefusedError, BadInputError)) as caught:
        undo(store, wanted, redo=redo)
    assert content(store) == before
    return str(caught.value)


def test_an_empty_store_has_nothing_to_undo(store: Store) -> None:
    assert refused(store).endswith(
        "memory: has nothing to undo (pi); list the runs with: clsm status --verbose"
    )
    assert "has no undo of this machine to redo (pi)" in refused(store, redo=True)


def test_runs_are_named_by_the_beginning_of_their_ids(store: Store) -> None:
    first, second = note(store, "One."), note(store, "Two.")
    assert undo(store, first[:8]).of == first
    assert undo(store).of == second
    assert refused(store, "run-zzzz").startswith("run-zzzz: no run of this machine has that id;")
    assert "several ids begin so (" in refused(store, "run-")
    assert "no run of this machine" in refused(store, "")


def test_an_ambiguous_beginning(store: Store) -> None:
    ids: dict[str, str] = {}
    for number in range(40):
        run = note(store, f"Note {number}.")
        other = ids.setdefault(run[:5], run)
        if other != run:
            found = refused(store, run[:5])
            assert "several ids begin so (" in found
            assert run in found or found.count("run-") >= 6
            return
    raise AssertionError("two of forty ids begin with the same digit")


def test_undone_and_redone_only_once(store: Store) -> None:
    run = note(store)
    assert "is not undone; undo it with: clsm undo run-" in refused(store, run, redo=True)
    done = undo(store)
    back = f"is undone already, by {done.run}; redo it with: clsm undo --redo {done.run}"
    assert refused(store, run).endswith(back)
    assert refused(store, done.run).endswith(f"take it back with: clsm undo --redo {done.run}")
    assert "has nothing to undo" in refused(store)
    again = undo(store, run, redo=True)
    assert (again.of, again.is_redo) == (done.run, True)
    assert f"taken back already, by {again.run}; undo the run again" in refused(
        store, done.run, redo=True
    )
    assert "took an undo back" in refused(store, again.run)
    assert "is not undone" in refused(store, again.run, redo=True)
    assert "has no undo of this machine" in refused(store, redo=True)


def test_again_and_again_at_the_same_time(store: Store) -> None:
    run = note(store)
    seen = {run}
    for _ in range(3):
        for redo in (False, True):
            done = undo(store, redo=redo)
            assert done.run not in seen
            seen.add(str(done.run))
    states = {entry.id: entry.undone_by for entry in ledger.entries(store.flow)}
    assert len(states) == 7
    assert states[run] is None


def test_what_was_forgotten_cannot_be_undone(store: Store) -> None:
    run = note(store)
    page = store.root / "projects" / "a.md"
    line = runs.apply(store, "forget", NOON, [runs.Put(page, b"x")], whole=True, keep=False)
    assert line is not None
    assert refused(store, line.id).startswith(f"{line.id}: a forget cannot be undone:")
    atomic.remove_folder(store.derived / "runs")  # as a forget does
    found = refused(store)  # the newest that could be meant is the one before
    assert found.startswith(f"{run}: what it replaced is destroyed by {line.id} (forget); ")


def test_what_decay_deleted_cannot_be_undone(store: Store) -> None:
    run = note(store)
    atomic.remove_folder(store.derived / "runs" / run)
    assert "no longer on this machine: decay deletes it after 30 days; " in refused(store)


def test_a_preimage_that_is_damaged(store: Store) -> None:
    page = store.root / "projects" / "a.md"
    atomic.put(page, b"old")
    line = runs.apply(store, "edit", NOON, [runs.Put(page, b"new")])
    assert line is not None
    (kept,) = (store.derived / "runs" / line.id).glob("*/0000")
    kept.write_bytes(b"bad")
    with pytest.raises(DamagedStoreError, match="is not what the run replaced"):
        undo(store)
    assert page.read_bytes() == b"new"


def test_a_run_of_another_device(store: Store) -> None:
    run = note(store)
    other = layout.open_store(store.root, {"CLSM_DEVICE": "desk"})
    for wanted in (run, run[:9]):
        with pytest.raises(RefusedError) as caught:
            undo(other, wanted)
        assert str(caught.value) == f"{run}: was made on pi; undo it there"
    with pytest.raises(RefusedError, match=r"has nothing to undo \(desk\)"):
        undo(other)


def test_what_is_back_already_leaves_nothing_to_do(store: Store) -> None:
    page = store.root / "projects" / "a.md"
    atomic.put(page, b"old")
    runs.apply(store, "edit", NOON, [runs.Put(page, b"new")])
    page.write_bytes(b"old")
    assert "nothing of it is left to take back; name another run" in refused(store)


def test_a_path_that_leads_out_of_the_store(store: Store) -> None:
    note(store)
    outside = store.root.parent / "outside.jsonl"
    outside.write_bytes(b"\n{}\n")
    path = store.flow / ledger.FILE
    line = path.read_text()
    inside = newest(store).paths[0]
    path.write_text(line.replace(inside, "../outside.jsonl"))
    assert "what it replaced is no longer on this machine" in refused(store)
    assert outside.read_bytes() == b"\n{}\n"
