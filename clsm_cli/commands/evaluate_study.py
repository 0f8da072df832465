"""``clsm eval study``: measure one part of the program by itself."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import tables
from clsm_cli.commands.evaluate_shared import (
    EvalNowOption,
    FreshOption,
    SeedOption,
    WorkOption,
    make_factory,
    open_engine,
)
from clsm_cli.commands.options import (
    Command,
    Common,
    examples,
    takes_common,
)
from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.studies import memory, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clsm_cli.evaluation.studies import Section

EXAMPLES = examples(
    "clsm eval study memory fixtures/sample",
    "clsm eval study memory fixtures/sample --sheet 50 > sheet.md",
    "clsm eval study times fixtures/time",
)


class Study(StrEnum):
    """The studies there are."""

    memory = "memory"
    times = "times"


@takes_common(store=False)
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
    now: EvalNowOption = None,
    common: Common,
) -> None:
    """Measure one part of the program by itself.

    No store of yours is touched; stores are made in the work folder and found again.
    """
    if (without_markup or sheet) and name is not Study.memory:
        raise typer.BadParameter("go with memory alone", param_hint="--plain, --sheet")
    printer = common.printer()
    if sheet and common.as_json:
        raise typer.BadParameter("is Markdown, and goes without --json", param_hint="--sheet")
    found: dict[str, Section] = {}
    judged: list[str] = []
    try:
        factory = make_factory(printer, work, now, fresh=fresh)
        if name is Study.times:
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


def register(app: typer.Typer) -> None:
    """Add the command to ``clsm eval``."""
    app.command("study", cls=Command, epilog=EXAMPLES)(study)


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
