"""``clsm forget --purge-history`` with real git: the past holds it no more, and the rest of itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from forgetting.planting import CANARY, NOW, lose, plan, planted
from ingesting import embedder, scratch
from processes import Cli
from using_git import git_says as git

from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.forgetting import clean_writing, history_purge


def objects(folder: Path) -> str:
    """Everything that the repository holds, named by something or not."""
    return git(folder, "cat-file", "--batch-all-objects", "--batch").lower()


def committed(top: Path) -> None:
    """A repository whose past has the word in a file that went, a message, a tag and the stash."""
    git(top, "init", "--quiet")
    git(top, "add", "-A")
    git(top, "commit", "--quiet", "-m", "Memory\n\nMy address is Quaggamire Lane 4 in Leeds.")
    git(top, "tag", "-a", "first", "-m", "the first")
    for path in sorted(top.rglob("identity/*.md")):
        path.write_text(path.read_text() + "\nNothing else.\n")
    git(top, "commit", "--quiet", "-am", "Nothing else")
    (top / "stray.md").write_text("stashed")
    git(top, "stash", "--quiet", "--include-untracked")


Purged = tuple[Path, history_purge.RewrittenHistory, str]


@pytest.fixture(scope="module")
def purged() -> Iterator[Purged]:
    """The store in a folder of a larger repository, and its log before."""
    with scratch() as top:
        store = planted(top)
        (top / "outside.txt").write_text(f"{CANARY} told outside of the store\n")
        (top / ".gitignore").write_text("notes\n*.jsonl\n!memory/**\n")
        committed(top)
        assert CANARY in objects(top)
        before = git(top, "log", "--format=%an %at %s")
        tree = history_purge.check_repository(store)
        (store.root / "projects" / "new.md").write_text("# New\n\n- not committed yet\n")
        planned = plan(store, person="Quaggamire", purge_history=True)
        clean_writing.apply(store, planned, NOW, embedder())
        yield top, history_purge.purge(store, tree, planned.writes), before


def test_no_object_of_the_store_holds_it(purged: Purged) -> None:
    top, done, _ = purged
    assert done.rewritten == done.commits
    left = objects(top).replace("quaggamire told outside of the store", "")
    assert [line for line in left.split("\n") if CANARY in line] == []


def test_the_rest_of_the_past_is_there(purged: Purged) -> None:
    top, _, before = purged
    assert git(top, "log", "--format=%an %at %s") == before
    assert "crane" in git(top, "log", "-p", "--all", "--", "memory/flow")
    assert git(top, "tag") == "first"
    assert "stray.md" in git(top, "show", "--name-only", "--format=", "stash^3")
    assert git(top, "fsck", "--strict") == ""


def test_a_later_forget_finds_what_was_forgotten_before(tmp_path: Path) -> None:
    """Forgotten first, purged later: the tombstones alone tell what has to go, so lines with ids."""
    store = planted(tmp_path)
    committed(store.root)
    lose(store, session=f"about-{CANARY}")
    git(store.root, "add", "-A")
    git(store.root, "commit", "--quiet", "-m", "After it")
    said = "my address is quaggamire lane 4"
    assert said in objects(store.root)
    history_purge.purge(store, history_purge.check_repository(store))
    left = [line for line in objects(store.root).split("\n") if said in line]
    without_id = [f"{said} in leeds.", f"3: - {said} in leeds."]  # message, quarantine
    assert sorted(left, reverse=True) == without_id


def test_what_would_lose_something_else_is_refused(tmp_path: Path) -> None:
    store = planted(tmp_path)
    with pytest.raises(BadInputError, match="in no git repository"):
        history_purge.check_repository(store)
    committed(store.root)
    (store.root / "stray.md").write_text("more")
    git(store.root, "stash", "--quiet", "--include-untracked")
    with pytest.raises(RefusedError, match="holds 2 stashes"):
        history_purge.check_repository(store)
    git(store.root, "stash", "drop", "--quiet")
    for name in ("MERGE_HEAD", "REVERT_HEAD"):
        (store.root / ".git" / name).write_text("0" * 40)
        with pytest.raises(RefusedError, match=f"has a {name}"):
            history_purge.check_repository(store)
        (store.root / ".git" / name).unlink()


def test_the_command_says_what_it_did_and_what_was_pushed(cli: Cli, tmp_path: Path) -> None:
    cli("init", "memory", "--git")
    said = cli("note", "The gate number is 4711, says Mara.", "--json").json["id"]
    cli("note", "Tea is in the blue tin.")
    git(tmp_path, "init", "--quiet", "--bare", "far.git")
    git(cli.store, "remote", "add", "far", str(tmp_path / "far.git"))
    git(cli.store, "add", "-A")
    git(cli.store, "commit", "--quiet", "-m", "Memory")
    git(cli.store, "push", "--quiet", "far", "HEAD")
    done = cli("forget", said, "--yes", "--purge-history")
    assert (done.code, done.err) == (0, "")
    assert "git: 1 of 1 commit written anew" in done.out
    assert f"git -C {cli.store} push --force --all far" in done.out
    assert "4711, says mara" not in objects(cli.store)
    assert "blue tin" in objects(cli.store)
    again = cli("forget", said, "--yes", "--purge-history", "--json")
    assert again.json["known"] is True
    assert again.json["history"] == {"commits": 1, "rewritten": 0}
    assert json.loads(again.out)["schema"] == "clsm.forget/1"
