"""``clsm graph``: forms, files, neighbourhoods, and what cannot be used."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
import typer
from inspection.test_graph_view import edge, new_store, node, sample
from typer.testing import CliRunner, Result

from clsm_cli.commands.graph import EXAMPLES, graph
from clsm_cli.commands.options import Command
from clsm_cli.errors import BadInputError, DiskError

SINGLE = typer.Typer(add_completion=False, rich_markup_mode=None)
SINGLE.command("graph", cls=Command, epilog=EXAMPLES)(graph)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_store(tmp_path / "memory", sample()).root


def run(root: Path, *words: str | Path) -> Result:
    return CliRunner().invoke(SINGLE, [*map(str, words), "--store", str(root)])


def ok(root: Path, *words: str | Path) -> str:
    done = run(root, *words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def rows(text: str) -> list[str]:
    """Lines, however their columns are aligned."""
    return [" ".join(line.split()) for line in text.splitlines()]


def data(root: Path, *words: str | Path) -> Any:
    return json.loads(ok(root, "--json", *words))


def test_figures_as_text(root: Path) -> None:
    found = rows(ok(root))
    assert found[:2] == ["graph", "measure value"]
    for row in (
        "nodes 41",
        "edges 91",
        "co_occurs 69 75.8",
        "Jonas 11",
        "Jonas -project-> Lantern Rebuild 0.83 3",
    ):
        assert row in found


def test_data_as_json(root: Path) -> None:
    found = data(root)
    assert list(found) == ["schema", "total_nodes", "statistics", "nodes", "edges"]
    assert found["schema"] == "clsm.graph/1"
    assert found["statistics"]["nodes"] == len(found["nodes"]) == found["total_nodes"] == 41
    assert found["statistics"]["edges"] == len(found["edges"]) == 91
    ids = {each["id"] for each in found["nodes"]}
    assert {each[end] for each in found["edges"] for end in ("source", "target")} <= ids
    assert json.loads(ok(root, "--format", "json")) == found


def test_around_a_node(root: Path) -> None:
    near = data(root, "Sunniva", "--depth", "1")
    assert [each["id"] for each in near["nodes"]] == ["bergen", "sunniva"]
    assert near["total_nodes"] == 41
    both = data(root, "sunniva", "old pell", "--depth", "0")
    assert [each["id"] for each in both["nodes"]] == ["old-pell", "sunniva"]
    assert "nodes 2 of 41" in rows(ok(root, "Sunniva"))


def test_a_limit(root: Path) -> None:
    assert len(data(root, "--limit", "5")["nodes"]) == 5
    ids = [each["id"] for each in data(root, "mara", "--limit", "1")["nodes"]]
    assert ids == ["mara-hart"]


def test_a_picture_shows_150_nodes_unless_told(tmp_path: Path) -> None:
    many = [node(f"n{place}") for place in range(170)]
    many_edges = [edge(f"n{place}", "n0") for place in range(1, 170)]
    root = new_store(tmp_path / "memory", [*many, *many_edges]).root
    out = tmp_path / "graph.html"
    said = ok(root, "--format", "html", "--out", out)
    assert said == f"{out} written: 150 nodes, 149 edges\n"
    assert len(data(root)["nodes"]) == 170
    assert '"total":170' in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("form", "begins"),
    [
        ("dot", "digraph clsm {\n"),
        ("graphml", '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns='),
        ("html", "<!doctype html>\n"),
        ("json", '{"schema": "clsm.graph/1"'),
        ("text", "graph\n"),
    ],
)
def test_a_file_holds_what_is_printed(root: Path, tmp_path: Path, form: str, begins: str) -> None:
    out = tmp_path / "new" / f"graph.{form}"
    assert ok(root, "--format", form, "--out", out, "--quiet") == ""
    written = out.read_text(encoding="utf-8")
    assert written.startswith(begins)
    assert written == ok(root, "--format", form)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_link_stays_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "real.dot").write_text("old")
    (tmp_path / "link.dot").symlink_to(tmp_path / "real.dot")
    ok(root, "--format", "dot", "--out", tmp_path / "link.dot")
    assert (tmp_path / "link.dot").is_symlink()
    assert (tmp_path / "real.dot").read_text(encoding="utf-8").startswith("digraph")


def test_nothing_but_a_file_is_overwritten(root: Path, tmp_path: Path) -> None:
    for place in (tmp_path, Path("/dev/null")):
        error = run(root, "--out", place).exception
        assert isinstance(error, BadInputError)
        assert "is not a regular file" in str(error)
    (tmp_path / "file").write_text("")
    assert isinstance(run(root, "--out", tmp_path / "file" / "x.dot").exception, DiskError)


def test_looking_changes_nothing(root: Path, tmp_path: Path) -> None:
    def held() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}

    before = held()
    for form in ("text", "json", "dot", "graphml", "html"):
        ok(root, "--format", form)
    assert held() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json", "--format", "dot"), "--format dot is another form"),
        (("--format", "png"), "'png' is not one of"),
        (("--depth", "-1"), "-1 is not in the range"),
        (("--limit", "0"), "0 is not in the range"),
        (("--now", "soon"), "'soon' is not a time"),
    ],
)
def test_wrong_use(root: Path, words: tuple[str, ...], said: str) -> None:
    done = run(root, *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


def test_an_unknown_node(root: Path) -> None:
    error = run(root, "Jonah").exception
    assert isinstance(error, BadInputError)
    assert str(error) == "Jonah: no node of the graph is called so; near it are: Jonas"


def test_edges_to_nowhere_are_told(tmp_path: Path) -> None:
    root = new_store(tmp_path / "memory", [node("a"), edge("a", "b")]).root
    done = run(root, "--json")
    assert json.loads(done.stdout)["edges"] == []
    assert done.stderr == ("clsm: 1 edge left out, as the store does not hold both nodes\n")
    assert run(root, "--json", "--quiet").stderr == ""


def test_an_empty_store(tmp_path: Path) -> None:
    root = new_store(tmp_path / "memory", []).root
    assert "nodes 0" in rows(ok(root))
    for form in ("json", "dot", "graphml", "html"):
        assert ok(root, "--format", form)
