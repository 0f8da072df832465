"""``clsm eval study``: measure one part of the program by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from clsm_cli.commands import tables
from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.evaluate_shared import EVAL_NOW, FRESH, SEED, WORK, make_factory, open_engine
from clsm_cli.commands.options import command
from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.studies import memory, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clsm_cli.evaluation.studies import Section

MEMORY = "memory"
STUDIES = (MEMORY, "times")


@command(
    "clsm eval study memory fixtures/sample",
    "clsm eval study memory fixtures/sample --sheet 50 > sheet.md",
    "clsm eval study times fixtures/time",
    no_effect=("store",),
    name=Option(
        "",
        "STUDY",
        "memory (what consolidation makes of labelled notes), times (time expressions).",
        choices=STUDIES,
    ),
    path=Option("", "PATH", "Where its set lies; see docs/evaluation.md."),
    without_markup=Option(
        "--plain", "", "memory: take all markup out of the notes; concepts only."
    ),
    sheet=Option("--sheet", "N", "memory: print N statements for a judge, as Markdown.", least=0),
    work=WORK,
    fresh=FRESH,
    seed=SEED,
    now=EVAL_NOW,
)
def study(
    name: str,
    path: Path,
    *,
    without_markup: bool = False,
    sheet: int = 0,
    work: Path | None = None,
    fresh: bool = False,
    seed: int = 0,
    now: str | None = None,
    common: Common,
) -> None:
    """Measure one part of the program by itself.

    No store of yours is touched; stores are made in the work folder and found again.
    """
    if (without_markup or sheet) and name != MEMORY:
        raise typer.BadParameter("go with memory alone", param_hint="--plain, --sheet")
    printer = common.printer()
    if sheet and common.as_json:
        raise typer.BadParameter("is Markdown, and goes without --json", param_hint="--sheet")
    found: dict[str, Section] = {}
    judged: list[str] = []
    try:
        factory = make_factory(printer, work, now, fresh=fresh)
        if name != MEMORY:
            found = times.run_times(path, factory)
        else:
            open_engine()  # ingest does without a model; what is then consolidated is no measure
            if sheet:
                judged = memory.draw_sheet(path, factory, seed, sheet)
            else:
                found = memory.run_memory(path, factory, is_plain=without_markup)
    finally:
        printer.end_progress()
    if judged:
        printer.lines(judged)
        return
    mapping = {"schema": f"clsm.study-{name}/2", "sections": plain(found)}
    tables.show(printer, mapping, study_tables(found))


def study_tables(found: Mapping[str, Section]) -> Iterator[Table]:
    """What a person reads: a table for each section and its lists; shares in per cent."""
    for title, section in found.items():
        rows = tuple(
            (name, f"{100 * count / total:.1f}", f"{count} of {total}")
            if total
            else (name, "", str(count))
            for name, (count, total) in section.counts.items()
        )
        yield Table(title, ("figure", "%", ""), rows)
        for name, lines in section.lists.items():
            if lines:
                yield Table(name, (f"({len(lines)} lines)",), tuple((line,) for line in lines))
