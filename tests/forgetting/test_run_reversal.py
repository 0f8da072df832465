"""Which run is meant, and what newer records say where bytes cannot come back."""

from datetime import datetime
from pathlib import Path

import pytest
from curation.test_correction import BELL, HOME, QUARTER, bell, hold, home
from forgetting.undoing import AT, LATER, NOON, content, copied, heard, newest, noted, undo
from ingesting import opened
from sleeping import current, edges, nodes, rows, sleep

from clsm_cli.curation.correction import correct
from clsm_cli.errors import BadInputError, DamagedStoreError, RefusedError
from clsm_cli.model.graph import Node
from clsm_cli.store import atomic, ledger, runs, topics
from clsm_cli.store.layout import Store

# Which run is meant, and why some cannot be taken back.


def note(store: Store, text: str = "The stove needs a new grate.") -> str:
    noted(store, text)
    return newest(store).id


def refused(store: Store, wanted: str | None = None, *, redo: bool = False) -> str:
    before = content(store)
    with pytest.raises((RefusedError, BadInputError)) as caught:
        undo(store, wanted, redo=redo)
    assert content(store) == before
    return str(caught.value)


def test_undone_and_redone_only_once(store: Store) -> None:
    run = note(store)
    assert "is not undone; undo it with: clsm undo run-" in refused(store, run, redo=True)
    done = undo(store)
    back = f"is undone already, by {done.run}; take that back with: clsm undo {done.run}"
    assert refused(store, run).endswith(back)
    assert "has nothing to undo" in refused(store)
    again = undo(store, run, redo=True)
    assert (again.of, again.is_redo) == (done.run, True)
    assert f"is undone already, by {again.run}" in refused(store, done.run)
    assert "is not undone" in refused(store, run, redo=True)
    assert "has no undo of this machine" in refused(store, redo=True)
    assert not undo(store, again.run).is_redo  # an undo of the redo
    assert undo(store, newest(store).id).is_redo


def test_what_was_forgotten_cannot_be_undone(store: Store) -> None:
    run = note(store)
    page = store.root / "projects" / "a.md"
    line = runs.apply(store, "forget", NOON, [runs.Put(page, b"x")], whole=True, undoable=False)
    assert line is not None
    assert refused(store, line.id).startswith(f"{line.id}: a forget cannot be undone:")
    atomic.remove_folder(store.derived / "runs")  # as a forget does
    found = refused(store)  # the newest that could be meant is the one before
    assert found.startswith(f"{run}: what it replaced is destroyed by {line.id} (forget); ")


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
    other = opened(store.root, "desk")
    for wanted in (run, run[:9]):
        with pytest.raises(RefusedError, match=f"^{run}: was made on pi; undo it there$"):
            undo(other, wanted)
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


# Where bytes cannot come back, newer records say what was before, and nothing of others is lost.
THREE = "The bell rings every 3 minutes."
YORK = "Mara lives in York with her sister."
PAGE = "projects/facts.md"


@pytest.fixture
def rested(store: Store) -> Store:
    concept = Node(id="bell", rev=(1, "pi"), label="Bell")
    hold(store, bell(), home(stream="projects", topic="facts"), concept)
    return store


def corrected(rested: Store, wanted: str, text: str, now: datetime = AT) -> str:
    """Correct a statement; the run."""
    run = correct(rested, wanted, text, now, heard).run
    assert run is not None
    return run


def by_hand(rested: Store, old: str, new: str, page: str = PAGE) -> None:
    text = (rested.root / page).read_text()
    assert old in text
    (rested.root / page).write_text(text.replace(old, new))


def test_a_later_run_wrote_other_lines_of_the_same_files(rested: Store) -> None:
    first = corrected(rested, bell().id, QUARTER)
    corrected(rested, home().id, YORK)
    changed = rows(rested)
    done = undo(rested, first)
    assert (done.is_exact, done.is_redo) == (False, False)
    assert done.reason.startswith(f"{PAGE}, projects/graph/")
    assert done.reason.endswith(".yaml changed since")
    assert bell().id in done.changed
    assert len(done.withdrawn) == 2  # the new one, and the closed copy of the old one
    assert current(rested) == sorted([BELL, YORK])
    after = rows(rested)
    assert after[bell().id].rev == (changed[bell().id].rev[0] + 1, "pi")
    assert after[bell().id].superseded_at is None
    assert {after[i].withdrawn for i in done.withdrawn} == {True}
    before = {changed[i].superseded_at for i in done.withdrawn}
    assert {after[i].superseded_at for i in done.withdrawn} <= {"2026-03-02T19:00:00Z", *before}
    assert QUARTER not in (rested.root / PAGE).read_text()


def test_what_a_person_wrote_before_stays_when_the_run_only_took_it_over(
    rested: Store,
) -> None:
    path = rested.root / PAGE
    path.write_text(f"{path.read_text().rstrip()}\n- The heron came.\n")
    by_hand(rested, HOME, YORK)
    run = corrected(rested, bell().id, QUARTER)
    corrected(rested, "Mara", "Mara lives in Hull with her sister.")
    undo(rested, newest(rested).id)
    by_hand(rested, "The heron came.", "The heron came twice.")
    assert not undo(rested, run).is_exact
    assert current(rested) == sorted([BELL, YORK, "The heron came twice."])


@pytest.mark.parametrize("written", [THREE, ""])
def test_a_later_edit_by_hand_is_named_and_nothing_is_written(rested: Store, written: str) -> None:
    run = corrected(rested, bell().id, QUARTER)
    new = next(row for row in rows(rested).values() if row.text == QUARTER)
    by_hand(rested, QUARTER if written else f"- {QUARTER}  ^{new.id}\n", written)
    before = content(rested)
    with pytest.raises(RefusedError) as caught:
        undo(rested, run)
    assert str(caught.value) == (
        f"{run}: what it wrote was changed since, so nothing is undone: {new.id} in {PAGE}"
        " (an edit by hand, or a merge); say what should stand there with clsm correct or clsm edit"
    )
    assert content(rested) == before
    assert newest(rested).id == run


def test_a_later_run_on_the_same_records_is_to_be_undone_first(rested: Store) -> None:
    first = corrected(rested, bell().id, QUARTER)
    new = next(row for row in rows(rested).values() if row.text == QUARTER)
    second = corrected(rested, new.id, THREE, datetime.fromisoformat(LATER))
    corrected(rested, home().id, YORK)
    with pytest.raises(RefusedError) as caught:
        undo(rested, first)
    assert f"({second}); undo {second} first, with: clsm undo {second}" in str(caught.value)
    assert f"{new.id} in projects/graph/" in str(caught.value)
    undo(rested, second)  # by newer records, as the third run wrote the same page
    assert current(rested) == sorted([QUARTER, YORK])
    assert not undo(rested, first).is_exact
    assert current(rested) == sorted([BELL, YORK])


def test_a_night_is_taken_back_by_newer_records(tmp_path: Path) -> None:
    rested = copied(tmp_path / "memory")
    page = rested.root / "identity" / "people.md"
    page.write_text(f"{page.read_text()}- A heron by hand.\n")
    assert nodes(rested)
    done = undo(rested)
    assert (done.command, done.is_exact) == ("consolidate", False)
    assert current(rested) == ["A heron by hand."]
    assert not nodes(rested)
    assert not edges(rested)
    assert len(done.removed) > 10
    assert len(done.withdrawn) > 10
    assert page.read_text().endswith("- A heron by hand.\n")
    left = rested.root / "identity" / "preferences.md"
    assert topics.parse(left.read_bytes(), left).items == ()  # gone, git could not merge it
    report = sleep(rested, LATER)  # what was withdrawn is not learnt again
    assert current(rested) == ["A heron by hand."]
    assert report.nodes["total"] > 10
    assert nodes(rested)
