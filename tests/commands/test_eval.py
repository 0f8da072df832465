"""``clsm eval run``: what it prints, where it works, and how it refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_gvd, write_locomo, write_memory, write_notes
from ingesting import tree

if TYPE_CHECKING:
    from pathlib import Path

    from processes import Cli


@pytest.fixture
def locomo(bare: Cli) -> Path:
    return write_locomo(bare.folder / "locomo")


def test_json_holds_everything(bare: Cli, locomo: Path) -> None:
    found = bare.ok("eval", "run", "locomo", locomo, "--json").json
    assert found["schema"] == "clsm.eval-locomo/1"
    assert {"BM25", "MiniLM", "clsm"} <= {row["system"] for row in found["rows"]}
    assert len(found["questions"]) == 8
    assert found["abstention"]["answerable"] == 6


def test_text_is_aligned_and_silent_in_a_pipe(bare: Cli, locomo: Path) -> None:
    done = bare.ok("eval", "run", "locomo", locomo)
    assert done.err == ""
    lines = done.out.splitlines()
    head = next(line for line in lines if line.startswith("system ") and "R10" in line)
    row = lines[lines.index(head) + 1]
    assert row.startswith("BM25 ")
    assert row[head.index("R10") : head.index("R10") + 5].strip()
    assert "wrong person" in done.out
    assert "without 1" not in done.out
    assert "without 1" in bare.ok("eval", "run", "locomo", locomo, "--verbose").out


def test_stores_lie_in_the_cache_and_are_found_again(bare: Cli, locomo: Path) -> None:
    cache = bare.folder / "cache"
    first = bare.ok("eval", "run", "locomo", locomo, "--json", XDG_CACHE_HOME=cache)
    places = sorted((cache / "clsm" / "eval").iterdir())
    assert len(places) == 2
    before = tree(cache, derived=True)
    again = bare.ok("eval", "run", "locomo", locomo, "--json", XDG_CACHE_HOME=cache)
    assert again.out == first.out
    assert tree(cache, derived=True) == before


def test_a_work_folder_of_choice_and_stores_anew(bare: Cli, locomo: Path) -> None:
    work = bare.folder / "work"
    first = bare.ok("eval", "run", "locomo", locomo, "--work", work, "--json")
    (place, _) = sorted(work.iterdir())
    (place / "memory" / "mark").touch()
    again = bare.ok("eval", "run", "locomo", locomo, "--work", work, "--fresh", "--json")
    assert not (place / "memory" / "mark").exists()
    assert again.out == first.out


def test_no_store_of_the_user_is_touched(cli: Cli, locomo: Path) -> None:
    before = tree(cli.store, derived=True)
    cli.ok("eval", "run", "locomo", locomo)
    assert tree(cli.store, derived=True) == before


def test_gvd(bare: Cli) -> None:
    path = write_gvd(bare.folder / "gvd")
    assert "labelled lexical" in bare.ok("eval", "run", "gvd", path).out
    found = bare.ok("eval", "run", "gvd", path, "--json").json
    assert found["schema"] == "clsm.eval-gvd/1"
    assert "recall@3" in found["rows"][0]["figures"]


def test_notes(bare: Cli) -> None:
    path = write_notes(bare.folder / "lab")
    text = bare.ok("eval", "run", "notes", path, "--verbose").out
    assert "coverage" in text
    assert "q2" in text
    found = bare.ok("eval", "run", "notes", path, "--json").json
    assert found["schema"] == "clsm.eval-notes/1"
    assert {pair["against"] for pair in found["pairs"]} == {"BM25", "BM25 + MiniLM"}


def test_locomo_before_and_after_consolidation(bare: Cli, locomo: Path) -> None:
    text = bare.ok("eval", "run", "locomo", locomo, "--consolidate", "--verbose").out
    assert "significantly worse" in text
    assert next(line for line in text.splitlines() if line.startswith("temporal "))
    found = bare.ok("eval", "run", "locomo", locomo, "--consolidate", "--json").json
    assert found["schema"] == "clsm.eval-consolidated/1"
    assert found["data"]["questions"] == len(found["questions"]) == 6


def test_memory(bare: Cli) -> None:
    path = write_memory(bare.folder / "lab")
    lines = bare.ok("eval", "run", "memory", path, "--verbose").out.splitlines()
    assert next(line for line in lines if line.startswith("second run")).split()[2] == "yes"
    assert any(line.startswith("pump: ") for line in lines)
    found = bare.ok("eval", "run", "memory", path, "--json").json
    assert found["schema"] == "clsm.eval-memory/1"
    assert found["concepts"]["missing"] == ["the moon"]
    plain = bare.ok("eval", "run", "memory", path, "--plain", "--json").json
    assert plain["statements"] is None
    assert plain["concepts"]["labels"] == 2


def test_a_sheet_is_markdown(bare: Cli) -> None:
    path = write_memory(bare.folder / "lab")
    sheet = bare.ok("eval", "run", "memory", path, "--sheet", "1").out
    assert sheet.startswith("# Statements to judge\n\n## 1. `f-")
    assert "## 2." not in sheet
    assert "\n> " in sheet


def test_options_of_another_set_are_refused(bare: Cli) -> None:
    assert bare("eval", "run", "memory", "empty", "--consolidate").code == 2
    assert bare("eval", "run", "notes", "empty", "--sheet", "3").code == 2
    assert bare("eval", "run", "locomo", "empty", "--plain").code == 2


def test_what_is_no_set_is_refused(bare: Cli) -> None:
    (bare.folder / "empty").mkdir()
    done = bare("eval", "run", "locomo", "empty")
    assert done.code == 12
    assert done.err.startswith("clsm: empty: holds no .json file;")
    assert bare("eval", "run", "gvd", "nowhere").code == 12
    assert bare("eval", "run", "notes", "empty").code == 12
    assert bare("eval", "run", "memory", "empty").code == 12
    assert bare("eval", "run", "poems", "empty").code == 2
    assert bare("eval", "run", "locomo", "empty", "--now", "soon").code == 2


def test_without_the_model_there_is_nothing_to_measure(bare: Cli, locomo: Path) -> None:
    done = bare("eval", "run", "locomo", locomo, CLSM_MODEL_DIR=bare.folder / "none")
    assert done.code == 15
    assert "clsm model install" in done.err
