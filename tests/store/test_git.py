"""Questions to real git, also about repositories that would like to run something."""

import os
from pathlib import Path

import pytest
from using_git import git_says

from clsm_cli.store import git


def committed(folder: Path, **files: str) -> str:
    """Commit some files (``__`` stands for a slash, ``_`` for a dot); the commit."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git_says(folder, "add", "-A")
    git_says(folder, "commit", "-qm", "c")
    return git_says(folder, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with one commit that it pushed, of a file in a subfolder."""
    git_says(tmp_path, "init", "-q", "--bare", "-b", "main", "origin.git")
    git_says(tmp_path, "clone", "-q", "origin.git", "clone")
    folder = tmp_path / "clone"
    committed(folder, memory__a_md="one\n", b_md="two\n")
    git_says(folder, "push", "-q", "origin", "HEAD:main")
    git_says(folder, "fetch", "-q")
    return folder


def test_no_git_is_no_repository(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(clone))
    assert git.work_tree(clone) is None


def test_a_slow_git_is_none(clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (tmp_path / "bin" / "git").chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(git, "TIMEOUT", 0.2)
    assert git.work_tree(clone) is None


def test_the_work_tree_and_a_store_below_it(clone: Path) -> None:
    tree, inner = git.work_tree(clone), git.work_tree(clone / "memory")
    assert tree == git.WorkTree(clone, clone, "")
    assert inner == git.WorkTree(clone / "memory", clone, "memory/")


def test_the_environment_of_a_hook_does_not_lead_elsewhere(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "origin.git"))
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert git.work_tree(clone / "memory") == git.WorkTree(clone / "memory", clone, "memory/")


def test_remotes_and_branches(clone: Path, tmp_path: Path) -> None:
    git_says(clone, "remote", "add", "spare", "https://example.org/a b.git")
    git_says(clone, "branch", "-q", "side")
    tree = git.work_tree(clone)
    assert tree is not None
    assert [*git.remotes(tree)] == ["origin", "spare"]
    assert git.remotes(tree)["spare"] == "https://example.org/a b.git"
    assert git.remote_branches(tree) == ("refs/remotes/origin/main",)


def test_commits_that_touch_some_files(clone: Path) -> None:
    first = git_says(clone, "rev-parse", "HEAD")
    second = committed(clone, memory__a_md="changed\n")
    other = committed(clone, b_md="changed too\n")
    git_says(clone, "reset", "-q", "--hard", first)  # the reflog has them still
    inner = git.work_tree(clone / "memory")
    assert inner is not None
    assert git.commits(inner, ["a.md"]) == (second, first)
    assert git.commits(inner, ["../b.md", "a.md"]) == (other, second, first)
    assert git.commits(inner, ["nothing.md", "*"]) == ()
    assert git.commits(inner, []) == ()


def test_a_file_as_each_remote_branch_has_it(clone: Path) -> None:
    git_says(clone, "push", "-q", "origin", "HEAD:old")
    committed(clone, memory__a_md="changed\n")
    git_says(clone, "push", "-q", "origin", "HEAD:main")
    committed(clone, memory__a_md="not pushed\n")
    tree = git.work_tree(clone / "memory")
    assert tree is not None
    refs = git.remote_branches(tree)
    found = git.blobs(tree, ["a.md", "b.md", "."], refs)
    assert [(blob.path, blob.ref) for blob in found] == [
        ("a.md", "refs/remotes/origin/main"),
        ("a.md", "refs/remotes/origin/old"),
    ]
    texts = dict(git.contents(tree, [blob.oid for blob in found]))
    assert [texts[blob.oid] for blob in found] == [b"changed\n", b"one\n"]
    assert list(git.contents(tree, ["0" * 40])) == []
