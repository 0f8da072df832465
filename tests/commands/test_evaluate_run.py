"""A run of ``clsm eval`` as tables: nothing is left out."""

from __future__ import annotations

from evaluation import report_sample

from clsm_cli.commands import evaluate_run, tables
from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.result import Result


def text(result: Result, *, verbose: bool = False) -> str:
    return "\n".join(tables.table_lines(evaluate_run.run_tables(result, verbose=verbose)))


def titled(result: Result, start: str, *, verbose: bool = False) -> list[Table]:
    return [
        e for e in evaluate_run.run_tables(result, verbose=verbose) if e.title.startswith(start)
    ]


def test_a_concept_set_has_its_measures_and_the_paper_beside() -> None:
    result = report_sample.full()
    systems = titled(result, "Systems")[0]
    assert systems.headings[1:4] == ("P", "R", "F1")
    (paper,) = titled(result, "Beside the CLS-M paper")
    assert paper.rows[0][1:] == ("35.0", "64.0", "44.0", "98.0", "55.0", "96.5")
    assert [row[0] for row in paper.rows[1:]] == ["clsm", "cls-m"]
    assert "queries and its graph are not" in text(result)


def test_the_standing_is_said_as_it_is() -> None:
    said = " ".join(text(report_sample.full()).split())
    assert "It is 17.0 points ahead of smriti (44.0 %), the best of the others" in said
    assert "behind clsm" not in said


def test_verbose_has_all_measures_and_groups() -> None:
    result = report_sample.full()
    assert not titled(result, "All measures")
    whole = titled(result, "All measures", verbose=True)[0]
    assert {"R1", "R50", "hit10", "reach", "retain", "conc."} <= {*whole.headings}
    assert titled(result, "R10 by case", verbose=True)
