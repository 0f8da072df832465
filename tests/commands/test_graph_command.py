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

from clsm_cli.commands.graph_command import graph
from clsm_cli.commands.options import Command

SINGLE = typer.Typer(add_completion=False, rich_markup_mode=None)
SINGLE.command("graph", cls=Command)(graph)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return new_store(tmp_path / "memory", sample()).root


def run(root: Path, *words: str | Path) -> Result:
    return CliRunner().invoke(SINGLE, [*map(str, words), "--store", str(root)])


def ok(root: Path, *words: str | Path) -> str:
    done = run(root, *words)
    assert done.exit_code == 0, (done.output, done.exception)
    return done.stdout


def data(root: Path, *words: str | Path) -> Any:
    return json.loads(ok(root, "--json", *words))


def test_data_as_json(root: Path) -> None:
    found = data(root)
    assert list(found) == ["schema", "total_nodes", "statistics", "nodes", "edges"]
    assert found["schema"] == "clsm.graph/1"
    assert found["statistics"]["nodes"] == len(found["nodes"]) == found["total_nodes"] == 41
    assert found["statistics"]["edges"] == len(found["edges"]) == 91
    ids = {each["id"] for each in found["nodes"]}
    assert {each[end] for each in found["edges"] for end in ("source", "target")} <= ids
    assert json.loads(ok(root, "--format", "json")) == found


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--json", "--format", "dot"), "--format dot is another form"),
        (("--format", "png"), "'png' is not one of"),
        (("--depth", "-1"), "-1 is not in the range"),
        (("--limit", "0"), "0 is not in the range"),
    ],
)
def test_wrong_use(root: Path, words: tuple[str, ...], said: str) -> None:
    done = run(root, *words)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
