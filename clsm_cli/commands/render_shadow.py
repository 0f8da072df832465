"""Shadow mode as text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted, plain
from clsm_cli.commands.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.shadow.log import Mode, Row, Side
    from clsm_cli.evaluation.shadow.shadow import Report


def started(mode: Mode, device: str, *, is_new: bool) -> Iterator[str]:
    """What is logged from now on, and how to end it."""
    state = "is on" if is_new else "was on already"
    yield f"shadow mode {state} for this machine ({device}), since {mode.since}"
    beside = ", ".join(mode.static) or "no files: name those your agent loads with --static"
    yield f"beside: {beside}"
    yield (
        "logged for each session that is ingested, before `clsm consolidate` and by the report: counts"
        " of tokens, and hashes of memories; no text, in .clsm/shadow of the store, never in git"
    )
    yield "see it: clsm eval shadow report; end it: clsm eval shadow stop (--delete: the log too)"


def mapping(report: Report) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    return {"schema": "clsm.eval-shadow/1", **plain(report)}


def tables(report: Report, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also each session.
    """
    return list(_tables(report, verbose=verbose))


def _tables(report: Report, *, verbose: bool) -> Iterator[Table]:
    if report.clsm is None:
        return
    sides = [("clsm", report.clsm), ("files", report.static)]
    yield Table(
        f"{counted(len(report.rows), 'session')} in shadow mode",
        ("", "tokens at a prompt", "in a session", "used %", "replies %"),
        tuple(
            (
                name,
                f"{side.prompt:,.0f}",
                f"{side.tokens:,.0f}",
                _share(side.relevance),
                _share(side.retention),
            )
            for name, side in sides
            if side is not None
        ),
    )
    yield Table(
        "clsm beside the files",
        ("what", "value"),
        (
            ("context saved at a prompt %", _share(report.efficiency)),
            ("used of the files and loaded by clsm too %", _share(report.overlap)),
            ("used of clsm's and in no file %", _share(report.beyond)),
            ("tokens in a session, an item as often as it came", f"{report.again:,.0f}"),
        ),
    )
    if verbose:
        headings = ("session", "prompts", "clsm", "used", "files", "used", "both", "beyond")
        yield Table("by session, in tokens", headings, tuple(map(_row, report.rows)))


def _row(row: Row) -> tuple[str, ...]:
    return (
        row.at,
        str(row.prompts) if row.asked == row.prompts else f"{row.asked} of {row.prompts}",
        *_side(row.clsm),
        *(("-", "-") if row.static is None else _side(row.static)),
        f"{row.both:,}",
        f"{row.beyond:,}",
    )


def _side(side: Side) -> tuple[str, str]:
    return f"{side.tokens:,}", f"{side.used:,}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
