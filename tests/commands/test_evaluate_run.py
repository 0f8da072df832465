"""The report of ``clsm eval``: narrow enough for a terminal, nothing left out, and read again."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest

from benchmarks import evaluation
from clsm_cli.commands import evaluate_run
from clsm_cli.commands.output import table_lines
from clsm_cli.errors import BadInputError
from clsm_cli.evaluation.result import Result, load

HOSTILE = "<script>alert(1)</script> | **b** [x](http://e.example) \x1b[31m \u202e `c` é 漢字 🙂"


def full() -> Result:
    """A set with concepts, one with evidence alone, and probes."""
    kept = evaluation.load()
    result = deepcopy(kept["memory"])
    result["sets"] = [*result["sets"], *kept["locomo"]["sets"]]
    result["probes"] = kept["probes"]["probes"]
    return result


def hostile() -> Result:
    """Names that try to be something else, and systems with long names."""
    result = full()
    for found in result["sets"]:
        found["name"] = found["kind"] = HOSTILE
        found["notes"] = [HOSTILE, "x" * 300]
        found["systems"][1]["name"] = HOSTILE
        found["systems"][2]["name"] = "a system with a very long name"
        found["systems"][0]["groups"]["category"][HOSTILE] = found["systems"][0]["figures"]
        found["pairs"][0]["against"] = HOSTILE
    result["probes"][0]["name"] = result["probes"][0]["criterion"] = HOSTILE
    return result


def bare() -> Result:
    """A set of one system that has no figures at all."""
    result = full()
    found = result["sets"][0]
    found["systems"] = [{"name": "clsm", "figures": {}, "intervals": {}, "groups": {}}]
    found["pairs"], found["ablation"], found["abstention"] = [], [], []
    result["sets"], result["probes"] = [found], []
    return result


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize("made", [full, hostile, bare], ids=lambda f: f.__name__)
def test_it_fits_eighty_columns(made: Callable[[], Result], *, verbose: bool) -> None:
    found = evaluate_run.run_tables(made(), verbose=verbose)
    lines = "\n".join(table_lines(found)).split("\n")
    assert max(map(len, lines)) <= 80


SCHEMA = '{"schema": "clsm.eval/2"'
ONE_SET = f'{SCHEMA}, "sets": [{{"kind": "k", "name": "n", "headline": "f1"'


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "\udcff",
        "[]",
        '{"schema": "clsm.eval/9"}',
        f"{SCHEMA}}}",
        f"{ONE_SET}}}]}}",
        f'{ONE_SET}, "digest": "d", "queries": [{{"id": "q"}}]}}]}}',
    ],
    ids=["JSON", "UTF-8", "a list", "schema", "no sets", "no digest", "a query"],
)
def test_what_is_no_report_is_refused_in_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInputError, match="is no report of schema") as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert "\n" not in str(caught.value)
