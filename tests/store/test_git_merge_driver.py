"""The merge driver: real git calls it, every file is tidy afterwards, and nothing is lost without it."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from processes import ran
from strategies import examples, few_ids, records
from using_git import commit, git

from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Node
from clsm_cli.store import git_setup, joining, layout, shards, topics
from clsm_cli.store.joining import merge

HEAD = "---\ntitle: People\n---\n\n# People\n\n"


def three(folder: Path, name: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
    """What git makes of a file of a store that both sides changed."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    for branch, data in (("main", base), ("theirs", theirs), ("main", ours)):
        git(folder, "checkout", "-q", "-B" if branch == "theirs" else "-q", branch)
        path.write_bytes(data)
        commit(folder)
    done = git(folder, "merge", "-q", "--no-edit", "theirs")
    assert done.returncode == 0, done
    assert git(folder, "status", "--porcelain").stdout == ""
    return path.read_bytes()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    root = tmp_path / "memory"
    layout.create(root, "UTC")
    git(root, "init", "-q", "-b", "main")
    git_setup.set_up(root)
    commit(root)
    return root


def node(name: str, rev: int, device: str = "pi", **fields: object) -> Node:
    return replace(Node(id=name, rev=(rev, device)), **fields)  # type: ignore[arg-type]


def test_items_come_once_and_what_one_side_changed_stays_changed(clone: Path) -> None:
    base = f"{HEAD}- Old.  ^f-1\n- Gone.  ^f-2\n- Both.  ^f-3\n".encode()
    ours = f"{HEAD}- Both: mine.  ^f-3\n- Old.  ^f-1\n- Same.\n".encode()
    theirs = f"{HEAD}- New.  ^f-1\n- Gone.  ^f-2\n- Both: theirs.  ^f-3\n- Same.\n".encode()
    data = three(clone, "identity/people.md", base, ours, theirs)
    items = [(item.id, item.text) for item in topics.parse(data, clone).items]
    assert sorted(items, key=str) == [
        ("f-1", "New."), ("f-3", "Both: mine."), ("f-3", "Both: theirs."), (None, "Same."),
    ]  # fmt: skip
    assert data.decode().startswith(HEAD)


def test_what_cannot_be_read_is_left_to_git_which_keeps_all_lines(clone: Path) -> None:
    ours, theirs = (shards.render([node(name, 1)]) for name in ("a", "b"))
    data = three(clone, "projects/graph/3.yaml", b"", ours + b"- {torn\n", theirs)
    assert {b"- {torn", *ours.split(b"\n"), *theirs.split(b"\n")} <= {*data.split(b"\n")}


def test_a_driver_that_is_gone_is_no_conflict(clone: Path) -> None:
    git(clone, "config", git_setup.DRIVER, git_setup.settings_of_clone()[git_setup.DRIVER].replace(
        sys.executable, "/nowhere/python"))  # fmt: skip
    ours, theirs = (shards.render([node(name, 1)]) for name in ("a", "b"))
    data = three(clone, "projects/graph/3.yaml", b"", ours, theirs)
    assert {*ours.split(b"\n"), *theirs.split(b"\n")} <= {*data.split(b"\n")}


def test_nothing_is_written_where_a_version_cannot_be_read(tmp_path: Path) -> None:
    base, ours, theirs = files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for path, data in zip(files, (b"", shards.render([node("a", 1)]), b"- {torn\n"), strict=True):
        path.write_bytes(data)
    before = ours.read_bytes()
    assert not merge(base, ours, theirs, Path("projects/graph/3.yaml"))
    assert not merge(base, ours, theirs, Path("clsm.yaml"))
    assert ours.read_bytes() == before
    words = ("merge-driver", *map(str, files), "tasks/graph/0.yaml")
    done = ran(sys.executable, "-m", "clsm_cli", *words, env={"PYTHONPATH": ".", **os.environ})
    assert (done.returncode, done.stdout, ours.read_bytes()) == (1, "", before)


def test_modules_in_the_memory_folder_are_not_imported(clone: Path) -> None:
    mark = clone.parent / "was-run"
    for name in ("clsm_cli", "json", "typer"):
        (clone / f"{name}.py").write_text(f"open({str(mark)!r}, 'w')\n")
    ours, theirs = (shards.render([node(name, 1)]) for name in ("a", "b"))
    data = three(clone, "projects/graph/3.yaml", b"", ours, theirs)
    assert data == shards.render([node("a", 1), node("b", 1)])
    assert not mark.exists()


@pytest.mark.parametrize("name", ["my memory", "a'b\"c", "[x]*?", "größer"])
def test_a_store_below_the_top_of_a_repository(tmp_path: Path, name: str) -> None:
    root = tmp_path / "repo" / name
    layout.create(root, "UTC")
    git(tmp_path / "repo", "init", "-q", "-b", "main")
    assert git_setup.set_up(root).attributes
    assert not any(git_setup.find_missing(root))
    done = git(root, "check-attr", "merge", "projects/graph/3.yaml", "tasks/tasks.md", "clsm.yaml")
    said = [line.rpartition(": ")[2] for line in done.stdout.splitlines()]
    assert said == ["clsm", "clsm", "unset"]


def test_set_up_adds_what_is_missing_and_changes_nothing_the_second_time(tmp_path: Path) -> None:
    root = tmp_path / "memory"
    layout.create(root, "UTC")
    (root / ".gitattributes").write_text("*.png binary\n*.yaml merge=union")
    (root / ".gitignore").unlink()
    first = git_setup.set_up(root)
    assert sorted(first.lines) == [".gitattributes", ".gitignore"]
    assert (root / ".gitattributes").read_text().startswith("*.png binary\n*.yaml merge=union\n")
    names = [".gitattributes", ".gitignore", ".git/config", ".git/info/attributes"]
    before = [(root / name).read_bytes() for name in names]
    assert not any(git_setup.set_up(root))
    assert [(root / name).read_bytes() for name in names] == before
    assert git(root, "config", "--local", "core.fsync").stdout == "all\n"


sides = st.lists(records(few_ids), max_size=6)


@examples(100)
@given(sides, sides, sides)
def test_a_merge_holds_what_a_union_of_lines_holds(
    base: list[Record], ours: list[Record], theirs: list[Record]
) -> None:
    """Read back, records of both sides are there but those that one side alone took out."""
    old, one, two = (shards.render(each) for each in (base, ours, theirs))
    path = Path("3.yaml")
    merged = joining.merge_shards(old, one, two, path)
    swapped = joining.merge_shards(old, two, one, path)
    assert merged is not None
    assert swapped is not None
    graph = shards.fold([shards.parse(merged, path)])
    assert shards.fold([shards.parse(swapped, path)]) == graph
    both = shards.fold([shards.parse(one, path), shards.parse(two, path)])
    gone = both.records.keys() - graph.records.keys()
    assert graph.records == {i: r for i, r in both.records.items() if i not in gone}
    assert graph.lost == tuple(each for each in both.lost if each.id not in gone)
    known = {record.id for record in base}
    sides_of = [{record.id for record in side} for side in (ours, theirs)]
    assert all(i in known and not all(i in side for side in sides_of) for i in gone)
    assert joining.merge_shards(old, merged, merged, path) == merged
