"""The result of reading time expressions as JSON and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.studies.times import Answer, Reading, TimesReport


def mapping(report: TimesReport) -> dict[str, Any]:
    """The JSON object: every expression."""
    return {"schema": "clsm.study-times/1", **plain(report)}


def tables(report: TimesReport, *, verbose: bool) -> list[Table]:
    """What a person reads.

    Args:
        report: The result.
        verbose: Also the expressions that were read right.
    """
    kinds = list(dict.fromkeys(each.kind for each in report.readings))
    rows = [_counts(kind, [e for e in report.readings if e.kind == kind]) for kind in kinds]
    shown = [each for each in report.readings if verbose or not (each.is_right and each.is_firm)]
    found = [
        Table(
            f"times, over a store of {report.sessions} conversations",
            ("expressions", "count", "right", "hard or soft right too"),
            (*rows, _counts("all", report.readings)),
        )
    ]
    if shown:
        found.append(
            Table(
                "expressions" if verbose else "read otherwise",
                ("expression", "expected", "found", "hard or soft"),
                tuple(
                    (
                        f"{each.id} {each.query}",
                        _said(each.expected),
                        "right" if each.is_right else _said(each.found),
                        "right" if each.is_firm else "wrong",
                    )
                    for each in shown
                ),
            )
        )
    return found


def _counts(name: str, readings: Sequence[Reading]) -> tuple[str, ...]:
    right = [each for each in readings if each.is_right]
    firm = sum(each.is_firm for each in right)
    return name, str(len(readings)), str(len(right)), str(firm)


def _said(answer: Answer) -> str:
    return " ".join(each or "open" for each in answer) or "nothing"
