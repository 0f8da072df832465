"""A run of ``clsm eval`` on a terminal: narrow enough, quiet, and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from evaluation import report_sample

from clsm_cli.commands import evaluate_run
from clsm_cli.commands.output import Table, table_lines
from clsm_cli.evaluation.result import Result


def titled(result: Result, start: str, *, verbose: bool = False) -> list[Table]:
    return [
        e for e in evaluate_run.run_tables(result, verbose=verbose) if e.title.startswith(start)
    ]


@pytest.mark.parametrize("verbose", [False, True])
@pytest.mark.parametrize(
    "made",
    [report_sample.full, report_sample.hostile, report_sample.bare],
    ids=lambda f: f.__name__,
)
def test_it_fits_eighty_columns(made: Callable[[], Result], *, verbose: bool) -> None:
    found = evaluate_run.run_tables(made(), verbose=verbose)
    lines = "\n".join(table_lines(found)).split("\n")
    assert max(map(len, lines)) <= 80


def test_a_concept_set_has_its_measures() -> None:
    result = report_sample.full()
    parts = [t for t in titled(result, "Systems") if t.rows[0][0] == "clsm"]
    headings = [each for part in parts for each in part.headings[1:]]
    assert headings[:6] == ["P", "R", "F1", "F1 95 %", "cover", "cross"]


def test_verbose_has_all_measures() -> None:
    result = report_sample.full()
    assert not titled(result, "All measures")
    parts = titled(result, "All measures", verbose=True)
    headings = {each for part in parts for each in part.headings}
    assert {"R1", "R50", "reach", "retain", "conc."} <= headings
