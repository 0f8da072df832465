"""What is said of a repository in trouble, each brought about by real git, and what to do about it."""

from faults.stores.worn import AROUND
from using_git import commit, git

from clsm_cli.health import diagnosis, surroundings
from clsm_cli.health.findings import Finding
from clsm_cli.store import git_setup
from clsm_cli.store.layout import Store


def told(store: Store) -> dict[str, Finding]:
    """Findings by code."""
    found = diagnosis.diagnose(store, AROUND, {"git": surroundings.check_git})
    return {finding.code: finding for finding in found}


def test_nothing_is_said_without_git_and_of_a_repository_in_order(store: Store) -> None:
    assert told(store) == {}
    git_setup.set_up(store.root)
    assert told(store) == {}


def test_a_clone_that_was_not_set_up_is_told(store: Store) -> None:
    (store.root / ".gitattributes").unlink()
    (store.root / ".gitignore").write_text(".clsm/\n")
    git(store.root, "init", "-q")
    found = told(store)
    assert found.keys() == {"git-setup"}
    assert found["git-setup"].next_step == "run: clsm init --git"
    git_setup.set_up(store.root)
    assert told(store) == {}


def test_deleted_on_one_side_and_changed_on_the_other(store: Store) -> None:
    git(store.root, "init", "-q", "-b", "main")
    git_setup.set_up(store.root)
    path = "flow/pi/inbox/main.jsonl"
    (store.root / path).parent.mkdir(parents=True)
    (store.root / path).write_text("{}\n")
    commit(store.root)
    git(store.root, "checkout", "-q", "-b", "theirs")
    (store.root / path).write_text("{}\n\n{}\n")
    commit(store.root)
    git(store.root, "checkout", "-q", "main")
    (store.root / path).unlink()
    commit(store.root)
    assert git(store.root, "merge", "-q", "--no-edit", "theirs").returncode != 0
    found = told(store)
    assert "deleted on the other" in found["git-unmerged"].reason
    assert found["git-unmerged"].path == path
    assert git(store.root, "add", path).returncode == 0  # what the finding says to do
    assert git(store.root, "commit", "-qm", "kept").returncode == 0
    assert told(store) == {}
