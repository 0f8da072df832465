"""The comparison of presets as JSON and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.render_eval import Table, heading, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.presets_report import PresetRow, PresetsReport


def mapping(report: PresetsReport) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    return {"schema": "clsm.eval-presets/1", **plain(report)}


def tables(report: PresetsReport, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also F1 of each query.
    """
    return list(_tables(report, verbose=verbose))


def _tables(report: PresetsReport, *, verbose: bool) -> Iterator[Table]:
    yield Table("presets", ("data", "count"), tuple((k, str(n)) for k, n in report.data.items()))
    yield Table(
        "first ten concepts",
        ("retrieval", "P", "R", "F1", "covered", "concepts", "default ÷ F1"),
        tuple(_concepts(row) for row in report.rows),
    )
    groups = [group for group in report.rows[0].figures if group != "all"]
    for measure in ("recall", "f1"):
        yield Table(
            f"{heading(measure)} of concepts by category (%)",
            ("retrieval", *groups),
            tuple(
                (row.name, *(share(row.figures[group][measure]) for group in groups))
                for row in report.rows
            ),
        )
    yield Table(
        "what is returned to read",
        ("retrieval", "quotes %", "tokens"),
        tuple(
            (row.name, share(found["quotes"]), f"{found['tokens']:.0f}")
            for row in report.rows
            for found in [row.figures["all"]]
        ),
    )
    yield Table(
        "default minus preset, query by query",
        ("preset", "measure", "difference", "95 %", "p"),
        tuple(
            (
                pair.against,
                heading(pair.measure),
                f"{100 * pair.difference:+.1f}",
                "{:+.1f} to {:+.1f}".format(*(100 * end for end in pair.interval)),
                f"{pair.p:.3f}",
            )
            for pair in report.pairs
        ),
    )
    if verbose:
        names = [row.name for row in report.rows]
        yield Table(
            "F1 by query (%)",
            ("query", "category", *names),
            tuple(
                (query.id, query.category, *(share(query.f1[name]) for name in names))
                for query in report.queries
            ),
        )


def _concepts(row: PresetRow) -> tuple[str, ...]:
    found = row.figures["all"]
    return (
        row.name,
        *(share(found[measure]) for measure in ("precision", "recall", "f1")),
        f"{row.covered}",
        f"{found['concepts']:.1f}",
        "-" if row.ratio is None else f"{row.ratio:.2f}",
    )
