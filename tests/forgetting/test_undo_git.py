"""Undo in a store that is synchronised by real git, between two clones."""

import shutil
from pathlib import Path

import pytest
from curation.test_correction import BELL, HOME, QUARTER, bell, hold, home, statement
from forgetting.test_run_reversal import corrected
from forgetting.undoing import content, undo
from ingesting import new_store, opened
from sleeping import current
from using_git import commit
from using_git import git_says as git

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
    git(pi.root.parent, "clone", "-q", "origin.git", "desk")
    return opened(pi.root.parent / "desk", "desk")


def pushed(store: Store) -> None:
    git(store.root, "push", "-q", "-u", "origin", "HEAD:main")


def pulled(store: Store) -> None:
    git(store.root, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")


def synchronised(store: Store) -> None:
    commit(store.root)
    pushed(store)


def told(store: Store) -> list[str]:
    """What the store believes of bell, home and gate."""
    return [t for t in current(store) if not t.startswith("Shed") and t != GATE]


def test_what_was_only_committed_comes_back_byte_for_byte(pi: Store) -> None:
    before = content(pi)
    corrected(pi, bell().id, QUARTER)
    after = content(pi)
    commit(pi.root)
    assert undo(pi).is_exact
    assert content(pi) == before
    assert undo(pi, redo=True).is_exact  # what a remote has of the bytes from before is no reason
    assert content(pi) == after
    assert undo(pi).is_exact
    assert content(pi) == before


def test_what_was_pushed_is_taken_back_everywhere(pi: Store, desk: Store) -> None:
    corrected(pi, bell().id, QUARTER)
    synchronised(pi)
    pulled(desk)
    assert told(desk) == sorted([QUARTER, HOME])
    corrected(desk, statement(GATE).id, BLUE)
    commit(desk.root)
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
