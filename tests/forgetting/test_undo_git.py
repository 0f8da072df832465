"""Undo in a store that is synchronised by real git, between two clones."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from consolidation.test_correction import BELL, HOME, QUARTER, bell, hold, home, statement
from forgetting.test_run_reversal import PAGE, THREE, YORK, corrected
from forgetting.undoing import content, newest, undo
from ingesting import new_store
from sleeping import current, rows
from using_git import git_says as git

from clsm_cli.errors import RefusedError
from clsm_cli.store import layout

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.store.layout import Store

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


GATE, BLUE = "The gate is green.", "The gate is blue."
BETWEEN = [
    statement(f"Shed {number} is locked.", valid_from=day)
    for number, day in enumerate(["2026-02-21"] * 3 + ["2026-02-23"] * 3)
]
"""Lines that keep the others apart: git joins what lies side by side."""


@pytest.fixture
def pi(tmp_path: Path) -> Store:
    """A clone whose two statements are pushed."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin.git")
    store = new_store(tmp_path / "pi")
    hold(store, statement(GATE, topic="gates"))
    hold(store, bell(), home(stream="projects", topic="facts", valid_from="2026-02-22"), *BETWEEN)
    git(store.root, "init", "-q", "-b", "main")
    git(store.root, "remote", "add", "origin", str(tmp_path / "origin.git"))
    synchronised(store)
    return store


@pytest.fixture
def desk(pi: Store) -> Store:
    """Another clone of it, on another machine."""
    git(pi.root.parent, "clone", "-q", "origin.git", "desk")
    return layout.open_store(pi.root.parent / "desk", {"CLSM_DEVICE": "desk"})


def committed(store: Store) -> None:
    git(store.root, "add", "-A")
    git(store.root, "commit", "-qm", "memory")


def pushed(store: Store) -> None:
    git(store.root, "push", "-q", "-u", "origin", "HEAD:main")


def pulled(store: Store) -> None:
    git(store.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")


def synchronised(store: Store) -> None:
    committed(store)
    pushed(store)


def told(store: Store) -> list[str]:
    """What the store believes of bell, home and gate."""
    return [t for t in current(store) if not t.startswith("Shed") and t != GATE]


def changed(store: Store) -> list[str]:
    """What ``git status`` says."""
    return [line.split()[-1] for line in git(store.root, "status", "--porcelain").splitlines()]


def test_what_was_only_committed_comes_back_byte_for_byte(pi: Store) -> None:
    before = content(pi)
    corrected(pi, bell().id, QUARTER)
    after = content(pi)
    committed(pi)
    assert undo(pi).is_exact
    assert content(pi) == before
    assert undo(pi, redo=True).is_exact  # what a remote has of the bytes from before is no reason
    assert content(pi) == after
    assert undo(pi).is_exact
    assert content(pi) == before


def test_git_status_is_clean_after_it_but_for_the_ledger(pi: Store) -> None:
    corrected(pi, bell().id, QUARTER)
    assert len(changed(pi)) > 3
    undo(pi)
    assert changed(pi) == ["flow/pi/runs.jsonl"]


def test_what_was_pushed_is_taken_back_everywhere(pi: Store, desk: Store) -> None:
    corrected(pi, bell().id, QUARTER)
    synchronised(pi)
    pulled(desk)
    assert told(desk) == sorted([QUARTER, HOME])
    corrected(desk, statement(GATE).id, BLUE)
    committed(desk)
    done = undo(pi)
    assert (done.is_exact, done.reason) == (False, "refs/remotes/origin/main has what it wrote")
    assert told(pi) == sorted([BELL, HOME])
    synchronised(pi)
    pulled(desk)
    assert told(desk) == sorted([BELL, BLUE, HOME])
    pushed(desk)
    pulled(pi)
    assert told(pi) == told(desk)
    assert not undo(pi, redo=True).is_exact
    synchronised(pi)
    pulled(desk)
    assert told(pi) == told(desk) == sorted([QUARTER, BLUE, HOME])


def test_a_redo_of_what_was_pushed_is_pushed_too(pi: Store, desk: Store) -> None:
    corrected(pi, bell().id, QUARTER)
    synchronised(pi)
    undo(pi)
    synchronised(pi)
    done = undo(pi, redo=True)
    assert (done.is_exact, done.reason) == (False, "refs/remotes/origin/main has what it wrote")
    synchronised(pi)
    pulled(desk)
    assert told(desk) == told(pi) == sorted([QUARTER, HOME])


def test_after_a_merge_of_other_records(pi: Store, desk: Store) -> None:
    corrected(desk, home().id, YORK)
    synchronised(desk)
    corrected(pi, bell().id, QUARTER)
    committed(pi)
    pulled(pi)
    assert told(pi) == sorted([QUARTER, YORK])
    done = undo(pi)
    assert not done.is_exact
    assert PAGE in done.reason
    assert told(pi) == sorted([BELL, YORK])
    synchronised(pi)
    pulled(desk)
    assert told(desk) == sorted([BELL, YORK])


def test_after_a_merge_of_the_same_record(pi: Store, desk: Store) -> None:
    corrected(desk, bell().id, THREE)
    synchronised(desk)
    run = corrected(pi, bell().id, QUARTER)
    committed(pi)
    pulled(pi)
    before = content(pi)
    with pytest.raises(RefusedError, match=rf"{bell().id} in projects/graph/.+ or a merge"):
        undo(pi, run)
    assert content(pi) == before


def test_a_run_of_another_clone_is_undone_there(pi: Store, desk: Store) -> None:
    run = corrected(desk, bell().id, QUARTER)
    synchronised(desk)
    pulled(pi)
    with pytest.raises(RefusedError, match=f"{run}: was made on desk; undo it there"):
        undo(pi, run)
    assert {row.text for row in rows(pi).values()} >= {BELL, QUARTER}
    assert newest(pi).command == "test"
