"""``clsm eval study``: what it prints, where it works, and how it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation.small_sets import write_memory
from ingesting import tree
from processes import Cli

TIMES = Path(__file__).parents[2] / "fixtures" / "time"


@pytest.fixture
def lab(bare: Cli) -> Path:
    return write_memory(bare.folder / "lab")


def test_memory(bare: Cli, lab: Path) -> None:
    lines = [" ".join(x.split()) for x in bare.ok("eval", "study", "memory", lab).out.splitlines()]
    assert "kept 50.0 1 of 2" in lines
    found = bare.ok("eval", "study", "memory", lab, "--plain", "--json").json
    assert found["schema"] == "clsm.study-memory/2"
    assert found["sections"]["concepts"]["lists"]["labels without a node"] == ["Brian", "the moon"]
    assert "statements" not in found["sections"]


def test_a_sheet_is_markdown(bare: Cli, lab: Path) -> None:
    sheet = bare.ok("eval", "study", "memory", lab, "--sheet", "1").out
    assert sheet.startswith("# Statements to judge\n\n## 1. `f-")
    assert "## 2." not in sheet
    assert "\n> " in sheet


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


def test_options_of_another_study_are_refused(bare: Cli) -> None:
    for words in (("--plain",), ("--sheet", "3")):
        done = bare("eval", "study", "times", "empty", *words)
        assert done.code == 2, done.err
        assert done.err.count("\n") <= 4
