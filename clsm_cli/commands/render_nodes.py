"""The result of the node benchmark as JSON and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.render_eval import Table, share
from clsm_cli.evaluation.nodes.report import EVERYTHING, HEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.nodes.report import NodeReport

HEADINGS = {
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "coverage": "coverage",
    "answer": "answer R10",
    "hubs": "hubs",
}
"""Measures that are shares, and their headings."""


def mapping(report: NodeReport) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    return {"schema": "clsm.eval-nodes/1", **plain(report)}


def tables(report: NodeReport, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also all measures of every group, and all weights.
    """
    return list(_tables(report, verbose=verbose))


def _tables(report: NodeReport, *, verbose: bool) -> Iterator[Table]:
    yield Table("nodes", ("data", "count"), tuple((k, str(n)) for k, n in report.data.items()))
    groups = [name for name in report.systems[0].figures if name != EVERYTHING]
    yield _systems(report, EVERYTHING)
    if verbose:
        yield from (_systems(report, name) for name in groups)
    yield Table(
        "F1 by category and conversation (%)",
        ("system", *groups),
        tuple(
            (each.system, *(share(each.figures[name][HEADLINE]) for name in groups))
            for each in report.systems
        ),
    )
    shown = report.weights if verbose else {"shipped": report.weights["shipped"]}
    yield Table(
        "weights",
        ("evidence", *shown),
        tuple(
            (name, *(f"{weights[name]:.2f}" for weights in shown.values()))
            for name in report.weights["shipped"]
        ),
    )


def _systems(report: NodeReport, group: str) -> Table:
    is_whole = group == EVERYTHING
    rows: list[tuple[str, ...]] = []
    for each in report.systems:
        found = each.figures[group]
        cells = (
            each.system,
            *(share(found[name]) for name in HEADINGS),
            f"{found['returned']:.1f}",
        )
        interval = "-".join(map(share, each.interval))
        rows.append((*cells, interval) if is_whole else cells)
    headings = ("system", *HEADINGS.values(), "returned")
    return Table(
        "nodes that a question activates (%)" if is_whole else f"{group} (%)",
        (*headings, "F1 95 %") if is_whole else headings,
        tuple(rows),
    )
