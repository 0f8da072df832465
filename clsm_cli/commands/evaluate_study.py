"""``clsm eval study``: one part of the program, measured by itself."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands import tables
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import (
    JsonOption,
    NoStoreOption,
    QuietOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.workshop import (
    EvalNowOption,
    FreshOption,
    SeedOption,
    WorkOption,
    opened_engine,
    workshop,
)

if TYPE_CHECKING:
    from clsm_cli.commands.tables import Table
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.labelled import MemoryReport

    Shown = tuple[dict[str, Any], list[Table]]

EXAMPLES = examples(
    "clsm eval study memory fixtures/sample",
    "clsm eval study memory fixtures/sample --sheet 50 > sheet.md",
    "clsm eval study times fixtures/time",
)


class Study(StrEnum):
    """What can be studied."""

    memory = "memory"
    times = "times"


def study(
    name: Annotated[
        Study,
        typer.Argument(
            metavar="STUDY",
            help="memory (what consolidation makes of labelled notes), times (time expressions).",
        ),
    ],
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Where its set lies; see docs/evaluation.md.")
    ],
    *,
    without_markup: Annotated[
        bool,
        typer.Option("--plain", help="memory: take all markup out of the notes; concepts only."),
    ] = False,
    sheet: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="memory: print N statements for a judge, as Markdown."
        ),
    ] = 0,
    work: WorkOption = None,
    fresh: FreshOption = False,
    seed: SeedOption = 0,
    _store: NoStoreOption = None,
    now: EvalNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Measure one part of the program by itself.

    No store of yours is touched; stores are made in the work folder and found again.
    """
    if (without_markup or sheet) and name is not Study.memory:
        raise typer.BadParameter("go with memory alone", param_hint="--plain, --sheet")
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    judged: list[str] = []
    try:
        shop = workshop(printer, work, now, fresh=fresh)
        if name is Study.memory:
            report = _memory(path, shop, seed, is_plain=without_markup, sheet=sheet)
            shown = _of_memory(report, verbose=verbose)
            judged = _sheet(report) if sheet and not as_json else []
        else:
            shown = _times(path, shop, verbose=verbose)
    finally:
        printer.end_progress()
    if judged:
        printer.lines(judged)
    else:
        tables.show(printer, *shown)


def register(app: typer.Typer) -> None:
    """Add it to the group."""
    app.command("study", cls=Command, epilog=EXAMPLES)(study)


def _memory(path: Path, shop: Workshop, seed: int, *, is_plain: bool, sheet: int) -> MemoryReport:
    from clsm_cli.evaluation.studies import distillation

    opened_engine()  # ingest does without a model; what is then consolidated is no measure
    return distillation.run_memory(path, shop, seed, is_plain=is_plain, sheet=sheet)


def _of_memory(report: MemoryReport, *, verbose: bool) -> Shown:
    from clsm_cli.commands import render_memory

    return render_memory.mapping(report), render_memory.tables(report, verbose=verbose)


def _sheet(report: MemoryReport) -> list[str]:
    from clsm_cli.commands import render_memory

    return render_memory.sheet(report.sheet)


def _times(path: Path, shop: Workshop, *, verbose: bool) -> Shown:
    from clsm_cli.commands import render_times
    from clsm_cli.evaluation.studies import times

    report = times.run_times(path, shop)
    return render_times.mapping(report), render_times.tables(report, verbose=verbose)
