"""A simulated year as JSON and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.reporting.names import share
from clsm_cli.evaluation.studies.year_report import GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.studies.year_report import Kept, Month, YearReport


def mapping(report: YearReport) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    found = plain(report)
    for target, row in zip(report.targets, found["targets"], strict=True):
        row["is_met"] = target.is_met
    return {"schema": "clsm.study-year/1", **found}


def tables(report: YearReport, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also recall of each query.
    """
    return list(_tables(report, verbose=verbose))


def _tables(report: YearReport, *, verbose: bool) -> Iterator[Table]:
    months, last = report.months, report.months[-1]
    yield Table("year", ("data", "count"), tuple((k, f"{n:,}") for k, n in report.data.items()))
    yield Table(
        "recall@10 by month (%; of the same quotes on the first day)",
        ("month", *GROUPS),
        tuple((str(m.month), *(_recall(m.kept.get(group)) for group in GROUPS)) for m in months),
    )
    yield Table(
        f"recall@10 after {last.month} months",
        ("group", "queries", "quotes", "first day %", "now %", "difference", "95 %"),
        tuple(_row(group, last.kept[group]) for group in GROUPS if group in last.kept),
    )
    yield Table(
        "what a query considers",
        ("month", "passages", "saved %", "closely", "second passes"),
        tuple(_considered(month, months[0]) for month in months),
    )
    yield Table(
        "archived items (tokens), in % of all that a stream ever held",
        ("month", *last.archived),
        tuple(_archived(month) for month in months if month.archived),
    )
    yield Table(
        "targets",
        ("what", "limit", "measured", ""),
        tuple(
            (
                target.name,
                f"{'at most' if target.is_most else 'at least'} {share(target.limit)}",
                share(target.measured),
                "met" if target.is_met else "missed",
            )
            for target in report.targets
        ),
    )
    if verbose:
        yield Table(
            "recall@10 by query (%)",
            ("query", "category", "asked", *(f"month {month.month}" for month in months)),
            tuple(
                (q.id, q.category, str(q.asked), *(share(value) for value in q.recall.values()))
                for q in report.queries
            ),
        )


def _recall(kept: Kept | None) -> str:
    return "-" if kept is None else f"{share(kept.now)} ({share(kept.before)})"


def _row(group: str, kept: Kept) -> tuple[str, ...]:
    low, high = (100 * end for end in kept.interval)
    return (
        group,
        str(kept.queries),
        str(kept.quotes),
        share(kept.before),
        share(kept.now),
        f"{-100 * kept.lost:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
    )


def _considered(month: Month, first: Month) -> tuple[str, ...]:
    return (
        str(month.month),
        f"{month.considered:.0f}",
        share(1 - month.considered / first.considered),
        f"{month.closely:.0f}",
        str(month.second),
    )


def _archived(month: Month) -> tuple[str, ...]:
    shares = [
        (each.archived / max(1, each.items), each.archived_tokens / max(1, each.tokens))
        for each in month.archived.values()
    ]
    return str(month.month), *(f"{share(items)} ({share(size)})" for items, size in shares)
