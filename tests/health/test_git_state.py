"""What is said of a repository in trouble, each brought about by real git, and what to do about it."""

from pathlib import Path

import pytest
from faults.stores.worn import AROUND
from ingesting import new_store
from using_git import commit, git

from clsm_cli.health import diagnosis, surroundings
from clsm_cli.health.findings import Finding
from clsm_cli.store import git_setup
from clsm_cli.store.layout import Store


def told(store: Store) -> dict[str, Finding]:
    """Findings by code."""
    found = diagnosis.diagnose(store, AROUND, {"git": surroundings.check_git})
    return {finding.code: finding for finding in found}


@pytest.fixture
def bare(tmp_path: Path) -> Store:
    """A store outside of any repository."""
    return new_store(tmp_path / "memory")


@pytest.fixture
def store(bare: Store) -> Store:
    """A store in a repository of its own, with one commit on main."""
    git(bare.root, "init", "-q", "-b", "main")
    git_setup.set_up(bare.root)
    commit(bare.root)
    return bare


def diverged(store: Store, ours: str | None, theirs: str | None, name: str) -> None:
    """Two branches that change a file (None: delete it); theirs is merged into ours."""
    for branch, text in (("theirs", theirs), ("main", ours)):
        git(store.root, "checkout", "-q", *(["-b"] if branch == "theirs" else []), branch)
        path = store.root / name
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
        commit(store.root)
    assert git(store.root, "merge", "-q", "--no-edit", "theirs").returncode != 0


def test_nothing_is_said_without_git_and_of_a_repository_in_order(bare: Store) -> None:
    assert told(bare) == {}
    git_setup.set_up(bare.root)
    assert told(bare) == {}


def test_a_clone_that_was_not_set_up_is_told(bare: Store) -> None:
    (bare.root / ".gitattributes").unlink()
    (bare.root / ".gitignore").write_text(".clsm/\n")
    git(bare.root, "init", "-q")
    found = told(bare)
    assert found.keys() == {"git-setup"}
    assert found["git-setup"].next_step == "run: clsm init --git"
    git_setup.set_up(bare.root)
    assert told(bare) == {}


def test_deleted_on_one_side_and_changed_on_the_other(store: Store) -> None:
    path = "flow/pi/inbox/main.jsonl"
    (store.root / path).parent.mkdir(parents=True)
    (store.root / path).write_text("{}\n")
    commit(store.root)
    diverged(store, None, "{}\n\n{}\n", path)
    found = told(store)
    assert "deleted on the other" in found["git-unmerged"].reason
    assert found["git-unmerged"].path == path
    assert git(store.root, "add", path).returncode == 0  # what the finding says to do
    assert git(store.root, "commit", "-qm", "kept").returncode == 0
    assert told(store) == {}
