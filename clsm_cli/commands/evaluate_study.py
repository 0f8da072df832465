"""``clsm eval study``: measure one part of the program by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clsm_cli.commands import tables
from clsm_cli.commands.command_line import Option
from clsm_cli.commands.evaluate_shared import EVAL_NOW, FRESH, SEED, WORK, make_factory, open_engine
from clsm_cli.commands.options import Common, command
from clsm_cli.commands.output import plain
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.studies.labelled import SheetRow
    from clsm_cli.evaluation.studies.times import TimesReport


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

    No store of yours is touched; stores are made in the work folder and found again. --verbose lists
    what was missed, wrong or changed.
    """
    from clsm_cli.evaluation.studies import distillation, times

    if (without_markup or sheet) and name != MEMORY:
        raise typer.BadParameter("go with memory alone", param_hint="--plain, --sheet")
    printer = common.printer()
    drawn: Sequence[SheetRow] = ()
    try:
        factory = make_factory(printer, work, now, fresh=fresh)
        if name == MEMORY:
            open_engine()  # ingest does without a model; what is then consolidated is no measure
            report = distillation.run_memory(
                path, factory, seed, is_plain=without_markup, sheet=sheet
            )
            found, drawn = plain(report), report.sheet
        else:
            found = times_mapping(times.run_times(path, factory))
    finally:
        printer.end_progress()
    if common.as_json:
        printer.json({"schema": f"clsm.study-{name}/1", **found})
    elif drawn:
        printer.lines(_sheet(drawn))
    else:
        printer.lines(tables.outline(found, verbose=common.verbose))


def times_mapping(report: TimesReport) -> dict[str, Any]:
    """How many expressions of each kind were read right, and every reading."""
    kinds = dict.fromkeys(each.kind for each in report.readings)
    return {
        "right": {
            kind: f"{sum(e.is_right for e in of)} of {len(of)},"
            f" {sum(e.is_right and e.is_firm for e in of)} hard or soft too"
            for kind in kinds
            for of in ([e for e in report.readings if e.kind == kind],)
        },
        **plain(report),
    }


def _sheet(drawn: Sequence[SheetRow]) -> list[str]:
    """The drawn statements as Markdown, with boxes for a judge to mark."""
    lines = ["# Statements to judge", ""]
    for number, row in enumerate(drawn, 1):
        dates = f"{row.valid_from or '?'} – {row.valid_until or 'still'}"
        lines += [
            f"## {number}. `{row.id}`",
            f"\n{row.kind} · {row.stream} · {dates}\n\n**{safe(row.text)}**\n",
            *(f"> {safe(text)}\n" for text in row.sources),
            "- [ ] true and of use  - [ ] junk  - [ ] wrong\n",
        ]
    return lines
