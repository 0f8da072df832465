"""A run of ``clsm eval`` on a terminal: narrow enough, quiet, and nothing is left out."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from evaluation import report_sample

from clsm_cli.commands import evaluate_run
from clsm_cli.commands.output import table_lines
from clsm_cli.evaluation.result import Result


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
