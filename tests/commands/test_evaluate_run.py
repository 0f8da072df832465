"""``clsm eval`` and ``clsm eval run``: what they print and write, and refuse."""

import shlex
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from evaluation.small_sets import write_locomo, write_notes
from ingesting import unchanged
from processes import Cli
from tables import table

from benchmarks import evaluation
from clsm_cli.commands import evaluate
from clsm_cli.commands.output import table_lines


@pytest.fixture(scope="module")
def locomo(shared: Cli) -> Path:
    return write_locomo(shared.folder / "locomo")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A work folder, so that what one test made the next one finds."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def found(shared: Cli, locomo: Path, work: Path) -> Any:
    """What a run tells."""
    words = ("--preset", "cls-m", "--ablate", "echo", "--json", "--work", work)
    return shared.ok("eval", "run", locomo, *words).json


def test_a_run_compares_clsm_with_plain_searches(found: Any) -> None:
    assert found["schema"] == "clsm.eval/2"
    (tried,) = found["sets"]
    names = [system["name"] for system in tried["systems"]]
    assert names[0] == "clsm"
    assert {"grep", "BM25", "MiniLM", "RRF", "static", "cls-m"} <= {*names}
    assert [row["mechanism"] for row in tried["ablation"]] == ["echo"]
    assert len(tried["queries"]) == tried["sizes"]["queries"] == 6
    assert {row["negative"] for row in tried["abstention"]} == {
        "wrong person",
        "off topic",
        "nameless",
    }
    assert found["command"] == "clsm eval run locomo --preset cls-m --ablate echo"


def test_no_store_of_the_user_is_touched(cli: Cli) -> None:
    notes = write_notes(cli.folder / "notes")
    with unchanged(cli.store, derived=True):
        cli.ok("eval", "run", notes, "--work", cli.folder / "work")


def test_alone_it_wants_a_set(bare: Cli) -> None:
    missing = bare("eval", "run")
    assert missing.code == 2
    assert "name a labelled set" in missing.err


@pytest.mark.parametrize(("code", "options", "said"), table(__file__, "cannot be"))
def test_what_cannot_be_is_refused_before_any_work(
    bare: Cli, locomo: Path, code: str, options: str, said: str
) -> None:
    refused = bare("eval", "run", locomo, *shlex.split(options), "--work", bare.folder / "work")
    assert refused.code == int(code)
    assert said in refused.err
    assert refused.out == ""
    assert not (bare.folder / "work").exists()


def test_a_system_without_figures_is_told_too() -> None:
    result = deepcopy(evaluation.load()["memory"])
    (found,) = result["sets"]
    lines = table_lines(evaluate.run_tables(result, verbose=True))
    assert {"Systems (%)", "All measures (%)"} <= {*lines}
    found["systems"] = [{"name": "clsm", "figures": {}, "intervals": {}, "groups": {}}]
    found["pairs"], found["ablation"], found["abstention"] = [], [], []
    assert "Systems (%)" in table_lines(evaluate.run_tables(result, verbose=True))
