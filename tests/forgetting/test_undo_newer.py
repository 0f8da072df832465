"""Where bytes cannot come back, newer records say what was before, and nothing of others is lost."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from consolidation.test_correct import BELL, HOME, QUARTER, bell, hold, home
from forgetting.undoing import AT, LATER, content, copied, heard, newest, undo
from ingesting import new_store
from sleeping import current, edges, nodes, rows, sleep

from clsm_cli.consolidation.correct import correct
from clsm_cli.consolidation.pin import pin
from clsm_cli.errors import RefusedError
from clsm_cli.model.graph import Node
from clsm_cli.store import topics

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

THREE = "The bell rings every 3 minutes."
YORK = "Mara lives in York with her sister."
PAGE = "projects/facts.md"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = new_store(tmp_path / "memory")
    hold(
        made,
        bell(),
        home(stream="projects", topic="facts"),
        Node(id="bell", rev=(1, "pi"), label="Bell"),
    )
    return made


def corrected(store: Store, wanted: str, text: str, now: datetime = AT) -> str:
    """Correct a statement; the run."""
    run = correct(store, wanted, text, now, heard).run
    assert run is not None
    return run


def by_hand(store: Store, old: str, new: str, page: str = PAGE) -> None:
    path = store.root / page
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_later_run_wrote_other_lines_of_the_same_files(store: Store) -> None:
    first = corrected(store, bell().id, QUARTER)
    corrected(store, home().id, YORK)
    changed = rows(store)
    done = undo(store, first)
    assert (done.is_exact, done.is_redo) == (False, False)
    assert done.reason.startswith(f"{PAGE}, projects/graph/")
    assert done.reason.endswith(".yaml changed since")
    assert bell().id in done.changed
    assert len(done.withdrawn) == 2  # the new one, and the closed copy of the old one
    assert current(store) == sorted([BELL, YORK])
    after = rows(store)
    assert after[bell().id].rev == (changed[bell().id].rev[0] + 1, "pi")
    assert after[bell().id].superseded_at is None
    assert {after[i].withdrawn for i in done.withdrawn} == {True}
    assert {after[i].superseded_at for i in done.withdrawn} <= {
        "2026-03-02T19:00:00Z",
        changed[done.withdrawn[0]].superseded_at,
        changed[done.withdrawn[1]].superseded_at,
    }
    assert QUARTER not in (store.root / PAGE).read_text()


def test_the_redo_of_it_brings_every_byte_back(store: Store) -> None:
    first = corrected(store, bell().id, QUARTER)
    corrected(store, home().id, YORK)
    after = content(store)
    undo(store, first)
    assert undo(store, first, redo=True).is_exact
    assert content(store) == after


def test_a_redo_by_newer_records(store: Store) -> None:
    first = corrected(store, bell().id, QUARTER)
    undo(store, first)
    corrected(store, home().id, YORK)
    done = undo(store, first, redo=True)
    assert not done.is_exact
    assert current(store) == sorted([QUARTER, YORK])


def test_a_line_added_by_hand_stays(store: Store) -> None:
    run = corrected(store, bell().id, QUARTER)
    path = store.root / PAGE
    path.write_text(f"{path.read_text().rstrip()}\n- The heron came.\n")
    assert not undo(store, run).is_exact
    assert current(store) == sorted([BELL, HOME, "The heron came."])
    assert "- The heron came.\n" in path.read_text()


def test_what_a_person_wrote_before_the_run_stays_when_the_run_only_took_it_over(
    store: Store,
) -> None:
    path = store.root / PAGE
    path.write_text(f"{path.read_text().rstrip()}\n- The heron came.\n")
    by_hand(store, HOME, YORK)
    run = corrected(store, bell().id, QUARTER)
    corrected(store, "Mara", "Mara lives in Hull with her sister.")
    undo(store, newest(store).id)
    by_hand(store, "The heron came.", "The heron came twice.")
    assert not undo(store, run).is_exact
    assert current(store) == sorted([BELL, YORK, "The heron came twice."])


@pytest.mark.parametrize("written", [THREE, ""])
def test_a_later_edit_by_hand_is_named_and_nothing_is_written(store: Store, written: str) -> None:
    run = corrected(store, bell().id, QUARTER)
    new = next(row for row in rows(store).values() if row.text == QUARTER)
    by_hand(store, QUARTER if written else f"- {QUARTER}  ^{new.id}\n", written)
    before = content(store)
    with pytest.raises(RefusedError) as caught:
        undo(store, run)
    assert str(caught.value) == (
        f"{run}: what it wrote was changed since, so nothing is undone: {new.id} in {PAGE}"
        " (an edit by hand, or a merge); say what should stand there with clsm correct or clsm edit"
    )
    assert content(store) == before
    assert newest(store).id == run


def test_a_later_run_on_the_same_records_is_to_be_undone_first(store: Store) -> None:
    first = corrected(store, bell().id, QUARTER)
    new = next(row for row in rows(store).values() if row.text == QUARTER)
    second = corrected(store, new.id, THREE, datetime.fromisoformat(LATER))
    corrected(store, home().id, YORK)
    with pytest.raises(RefusedError) as caught:
        undo(store, first)
    assert f"({second}); undo {second} first, with: clsm undo {second}" in str(caught.value)
    assert f"{new.id} in projects/graph/" in str(caught.value)
    undo(store, second)  # by newer records, as the third run wrote the same page
    assert current(store) == sorted([QUARTER, YORK])
    assert not undo(store, first).is_exact
    assert current(store) == sorted([BELL, YORK])


def test_a_hand_edit_of_what_the_run_did_not_write_is_no_reason(store: Store) -> None:
    run = pin(store, [bell().id], AT, heard).run
    assert run is not None
    by_hand(store, BELL, THREE)
    assert undo(store, run).is_exact
    assert current(store) == sorted([HOME, THREE])


def test_a_refusal_names_ten(tmp_path: Path) -> None:
    store = copied(tmp_path / "memory")
    for path in store.root.glob("*/*.md"):
        path.write_text(path.read_text().replace("  ^f-", " Really.  ^f-"))
    before = content(store)
    with pytest.raises(RefusedError, match=r"f-[0-9a-f]+ in [a-z]+/[a-z]+\.md") as caught:
        undo(store)
    assert str(caught.value).count("(an edit by hand, or a merge)") == 10
    assert re.search(r", [1-9][0-9]? more; say", str(caught.value))
    assert content(store) == before


def test_a_night_is_taken_back_by_newer_records(tmp_path: Path) -> None:
    store = copied(tmp_path / "memory")
    page = store.root / "identity" / "people.md"
    page.write_text(f"{page.read_text()}- A heron by hand.\n")
    assert nodes(store)
    done = undo(store)
    assert (done.command, done.is_exact) == ("consolidate", False)
    assert current(store) == ["A heron by hand."]
    assert not nodes(store)
    assert not edges(store)
    assert len(done.removed) > 10
    assert len(done.withdrawn) > 10
    assert page.read_text().endswith("- A heron by hand.\n")
    left = store.root / "identity" / "preferences.md"
    assert topics.parse(left.read_bytes(), left).items == ()  # gone, git could not merge it
    report = sleep(store, LATER)  # what was withdrawn is not learnt again
    assert current(store) == ["A heron by hand."]
    assert report.nodes["total"] > 10
    assert nodes(store)
