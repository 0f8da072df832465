"""``clsm eval study``: what it prints, where it works, and how it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_memory
from ingesting import tree

if TYPE_CHECKING:
    from processes import Cli

PROBES = """
- id: p1
  kind: unanswerable
  query: "How much does the pump weigh?"
  as_of: "2026-03-03"
  answer: null
  evidence: []
"""
TIMES = Path(__file__).parents[2] / "fixtures" / "time"


@pytest.fixture
def lab(bare: Cli) -> Path:
    return write_memory(bare.folder / "lab")


def test_memory(bare: Cli, lab: Path) -> None:
    lines = bare.ok("eval", "study", "memory", lab, "--verbose").out.splitlines()
    assert next(line for line in lines if line.startswith("second run")).split()[2] == "yes"
    assert any(line.startswith("pump: ") for line in lines)
    found = bare.ok("eval", "study", "memory", lab, "--json").json
    assert found["schema"] == "clsm.study-memory/1"
    assert found["concepts"]["missing"] == ["the moon"]
    plain = bare.ok("eval", "study", "memory", lab, "--plain", "--json").json
    assert plain["statements"] is None
    assert plain["concepts"]["labels"] == 2


def test_a_sheet_is_markdown(bare: Cli, lab: Path) -> None:
    sheet = bare.ok("eval", "study", "memory", lab, "--sheet", "1").out
    assert sheet.startswith("# Statements to judge\n\n## 1. `f-")
    assert "## 2." not in sheet
    assert "\n> " in sheet


def test_times(bare: Cli) -> None:
    found = bare.ok("eval", "study", "times", TIMES, "--json").json
    assert found["schema"] == "clsm.study-times/1"
    assert len(found["readings"]) == 60


def test_stores_lie_in_the_cache_or_in_a_folder_of_choice(bare: Cli) -> None:
    cache = bare.folder / "cache"
    first = bare.ok("eval", "study", "times", TIMES, "--json", XDG_CACHE_HOME=cache)
    (place,) = (cache / "clsm" / "eval").iterdir()
    before = tree(cache, derived=True)
    again = bare.ok("eval", "study", "times", TIMES, "--json", XDG_CACHE_HOME=cache)
    assert again.out == first.out
    assert tree(cache, derived=True) == before
    (place / "memory" / "mark").touch()
    words = ("eval", "study", "times", TIMES, "--json", "--work", place.parent)
    assert bare.ok(*words).out == first.out
    assert (place / "memory" / "mark").exists()
    assert bare.ok(*words, "--fresh").out == first.out
    assert not (place / "memory" / "mark").exists()


def test_no_store_of_the_user_is_touched(cli: Cli) -> None:
    lab = write_memory(cli.folder / "lab")
    before = tree(cli.store, derived=True), tree(lab, derived=True)
    cli.ok("eval", "study", "memory", lab)
    assert (tree(cli.store, derived=True), tree(lab, derived=True)) == before


def test_options_of_another_study_are_refused(bare: Cli) -> None:
    for words in (("--plain",), ("--sheet", "3")):
        done = bare("eval", "study", "times", "empty", *words)
        assert done.code == 2, done.err
        assert done.err.count("\n") <= 4


def test_what_is_no_set_is_refused(bare: Cli) -> None:
    (bare.folder / "empty").mkdir()
    for study in ("memory", "times"):
        for path in ("empty", "nowhere"):
            done = bare("eval", "study", study, path)
            assert done.code == 12
            assert done.err.startswith(f"clsm: {path}")
    assert bare("eval", "study", "poems", "empty").code == 2
    assert bare("eval", "study", "times", "empty", "--now", "soon").code == 2


def test_without_the_model_there_is_nothing_to_measure(bare: Cli, lab: Path) -> None:
    done = bare("eval", "study", "memory", lab, CLSM_MODEL_DIR=bare.folder / "none")
    assert done.code == 15
    assert "clsm model install" in done.err
