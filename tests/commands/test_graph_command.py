"""``clsm graph``: forms, files, neighbourhoods, and what cannot be used."""

import json
import stat
from pathlib import Path

import pytest
from in_process import InProcess
from inspection.test_graph_view import edge, new_store, node, sample
from tables import table

from clsm_cli.errors import RefusedError
from clsm_cli.store.layout import Store

_COMMAND = InProcess("graph", "2026-11-26T09:00:00+01:00")
ok, data = _COMMAND.ok, _COMMAND.data


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return new_store(tmp_path / "memory", sample())


def test_data_as_json(store: Store) -> None:
    found = data(store)
    assert list(found) == ["schema", "total_nodes", "statistics", "nodes", "edges"]
    assert found["schema"] == "clsm.graph/1"
    assert found["statistics"]["nodes"] == len(found["nodes"]) == found["total_nodes"] == 41
    assert found["statistics"]["edges"] == len(found["edges"]) == 91
    ids = {each["id"] for each in found["nodes"]}
    assert {each[end] for each in found["edges"] for end in ("source", "target")} <= ids
    assert json.loads(ok(store, "--format", "json")) == found


def test_a_picture_shows_150_nodes_unless_told(tmp_path: Path) -> None:
    many = [node(f"n{place}") for place in range(170)]
    many_edges = [edge(f"n{place}", "n0") for place in range(1, 170)]
    store = new_store(tmp_path / "memory", [*many, *many_edges])
    out = tmp_path / "graph.html"
    said = ok(store, "--format", "html", "--out", out)
    assert said == f"{out} written: 150 nodes, 149 edges\n"
    assert len(data(store)["nodes"]) == 170
    assert '"total":170' in out.read_text(encoding="utf-8")


def test_of_a_node_its_own_edges_come_first(tmp_path: Path) -> None:
    edges = [edge("n0", "n1", weight=0.1), *(edge(f"n{at}", f"n{at + 1}") for at in range(1, 14))]
    store = new_store(tmp_path / "memory", [*(node(f"n{at}") for at in range(15)), *edges])
    head, _, first, *_ = ok(store, "n0", "--depth", "9").split("\n")
    assert head == "strongest edges"
    assert set(first.split()) >= {"n0", "n1"}


def test_a_typed_edge_comes_with_the_sentence_that_states_it(slept: Store) -> None:
    typed = [each for each in data(slept)["edges"] if each["type"] == "semantic"]
    assert typed
    assert all(each["sentence"] for each in typed)
    assert "Yusuf: skipper of the barge Albertine" in ok(slept, "Yusuf", "--depth", "1")


@pytest.mark.parametrize(("form", "begins"), table(__file__, "first lines of a file"))
def test_a_file_holds_what_is_printed(store: Store, tmp_path: Path, form: str, begins: str) -> None:
    out = tmp_path / "new" / f"graph.{form}"
    assert ok(store, "--format", form, "--out", out, "--quiet") == ""
    written = out.read_text(encoding="utf-8")
    assert written.startswith(begins)
    assert written == ok(store, "--format", form)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600


def test_no_file_of_the_store_is_overwritten(store: Store) -> None:
    config = store.root / "clsm.yaml"
    before = config.read_bytes()
    done = _COMMAND.run(store, "--out", config)
    assert isinstance(done.exception, RefusedError)
    assert config.read_bytes() == before


@pytest.mark.parametrize(("words", "said"), table(__file__, "wrong use"))
def test_wrong_use(store: Store, words: str, said: str) -> None:
    done = _COMMAND.run(store, *words.split())
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
