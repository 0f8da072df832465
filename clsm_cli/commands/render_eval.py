"""The result of an evaluation as JSON, as aligned text for a pipe, and as tables for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted, plain
from clsm_cli.evaluation.report import ChatReport, NotesReport
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from clsm_cli.evaluation.report import Abstention, Figures, Row

SHORT = {
    "hit@10": "hit10",
    "all@10": "all10",
    "ndcg@10": "nDCG10",
    "mrr": "MRR",
    "reduced": "-96.5%",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
}
"""Measures whose heading is not made by rule."""
WIDE = 7
"""Measures side by side in 80 columns."""


@dataclass(frozen=True, slots=True)
class Table:
    """A title, headings, and rows of text; the first column is to the left, the others right."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def mapping(report: ChatReport | NotesReport) -> dict[str, Any]:
    """The JSON object: everything, shares as 0 … 1 with all their digits."""
    name = report.dataset if isinstance(report, ChatReport) else "notes"
    return {"schema": f"clsm.eval-{name}/1", **plain(report)}


def tables(report: ChatReport | NotesReport, *, verbose: bool) -> list[Table]:
    """What a person reads; shares in per cent.

    Args:
        report: The result.
        verbose: Also the groups of every system, and the fitted weights.
    """
    if isinstance(report, NotesReport):
        return list(_notes(report, verbose=verbose))
    return list(_chat(report, verbose=verbose))


def lines(found: Iterable[Table]) -> list[str]:
    """Tables as aligned text, a blank line between two."""
    text: list[str] = []
    for table in found:
        grid = [table.headings, *table.rows]
        widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
        text += ["", table.title] if text else [table.title]
        text += [_line(row, widths) for row in grid]
    return text


def renderables(found: Iterable[Table]) -> list[RenderableType]:
    """The same for a terminal."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    shown: list[RenderableType] = []
    for table in found:
        rich = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for place, heading in enumerate(table.headings):
            rich.add_column(safe(heading), justify="right" if place else "left")
        for row in table.rows:
            rich.add_row(*map(safe, row))
        shown += [Text(safe(table.title), style="bold"), rich]
    return shown


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
    return "  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip()


def _chat(report: ChatReport, *, verbose: bool) -> Iterator[Table]:
    yield _data(report.dataset, report.data)
    yield from _systems(report.rows, report.headline)
    if verbose:
        for row in report.rows:
            for kind, groups in row.groups.items():
                yield _figures(f"{row.system}, by {kind}", kind, groups)
    else:
        for kind in report.rows[0].groups:
            yield _across(report.rows, kind, report.headline)
    fixed = {each.signal: each.fixed for each in report.ablation}
    yield _figures("without a signal", "signal", fixed)
    if any(each.refit for each in report.ablation):
        refit = {each.signal: each.refit for each in report.ablation}
        yield _figures("without a signal, the others fitted anew", "signal", refit)
    shown = report.weights if verbose else {"shipped": report.weights["shipped"]}
    yield Table(
        "weights",
        ("signal", *shown),
        tuple(
            (signal, *(f"{weights[signal]:.2f}" for weights in shown.values()))
            for signal in report.weights["shipped"]
        ),
    )
    if report.abstention is not None:
        yield _abstention(report.abstention)


def _notes(report: NotesReport, *, verbose: bool) -> Iterator[Table]:
    yield _data("notes", report.data)
    yield from _systems(report.rows, report.headline)
    for kind in report.rows[0].groups:
        yield _across(report.rows, kind, report.headline)
    yield Table(
        "clsm against a baseline, query by query",
        ("against", "measure", "difference", "95 %", "p"),
        tuple(
            (
                pair.against,
                heading(pair.measure),
                f"{100 * pair.difference:+.1f}",
                f"{100 * pair.interval[0]:+.1f} to {100 * pair.interval[1]:+.1f}",
                f"{pair.p:.3f}",
            )
            for pair in report.pairs
        ),
    )
    yield _figures("concepts, the first ten", "queries", report.concepts)
    against = (("near topic", report.near_topic), ("off topic", report.off_topic))
    rows = tuple((name, f"{value:.3f}") for name, value in against if value is not None)
    if rows:
        yield Table("AUROC of confidence", ("against answerable", "AUROC"), rows)
    if verbose:
        names = [row.system for row in report.rows]
        yield Table(
            f"{heading(report.headline)} by query",
            ("query", "category", "difficulty", *names),
            tuple(
                (each.id, each.category, each.difficulty, *(share(each.recall[n]) for n in names))
                for each in report.queries
            ),
        )


def _data(name: str, data: Mapping[str, int | list[str]]) -> Table:
    rows = tuple(
        (
            key.replace("_", " "),
            str(value) if isinstance(value, int) else counted(len(value), "question"),
            "" if isinstance(value, int) else ", ".join(value),
        )
        for key, value in data.items()
    )
    return Table(name, ("data", "count", ""), rows)


def _systems(rows: Sequence[Row], headline: str) -> Iterator[Table]:
    measures = list(rows[0].figures)
    intervals = tuple(f"{share(row.interval[0])}-{share(row.interval[1])}" for row in rows)
    for start in range(0, len(measures), WIDE):
        shown = measures[start : start + WIDE]
        found = _figures("systems", "system", {row.system: row.figures for row in rows}, shown)
        if headline in shown:
            headings = (*found.headings, f"{heading(headline)} 95 %")
            cells = zip(found.rows, intervals, strict=True)
            found = Table(found.title, headings, tuple((*row, each) for row, each in cells))
        yield found


def _across(rows: Sequence[Row], kind: str, measure: str) -> Table:
    names = list(rows[0].groups[kind])
    return Table(
        f"{heading(measure)} by {kind} (%)",
        ("system", *names),
        tuple(
            (row.system, *(share(row.groups[kind][name][measure]) for name in names))
            for row in rows
        ),
    )


def _figures(
    title: str,
    what: str,
    figures: Mapping[str, Figures],
    measures: Sequence[str] = (),
) -> Table:
    """Figures by name; all measures unless some are named."""
    measures = measures or list(next(iter(figures.values())))
    return Table(
        f"{title} (%)",
        (what, *map(heading, measures)),
        tuple(
            (name, *(share(values[measure]) for measure in measures))
            for name, values in figures.items()
        ),
    )


def _abstention(found: Abstention) -> Table:
    def auroc(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    return Table(
        f"confidence, and what the floor of {found.floor:.2f} silences"
        f" (recall@10 lost: {100 * found.recall_lost:.1f})",
        ("questions", "count", "AUROC", "silenced %"),
        (
            ("answerable", str(found.answerable), "", share(found.silenced)),
            (
                "wrong person",
                str(found.adversarial),
                auroc(found.wrong_person),
                share(found.refused_adversarial),
            ),
            (
                "off topic",
                str(found.strangers),
                auroc(found.off_topic),
                share(found.refused_off_topic),
            ),
        ),
    )


def heading(measure: str) -> str:
    """A measure in few letters.

    >>> heading("recall@10"), heading("tokens@1000"), heading("mrr")
    ('R10', 'T1000', 'MRR')
    """
    short = measure.replace("recall@", "R").replace("tokens@", "T")
    return SHORT.get(measure, short)


def share(value: float) -> str:
    """A share in per cent."""
    return f"{100 * value:.1f}"
