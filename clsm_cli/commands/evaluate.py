"""``clsm eval``: measure recall against labelled sets."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import picture
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import (
    JsonOption,
    NoStoreOption,
    QuietOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import environment, parse_time

if TYPE_CHECKING:
    from clsm_cli.evaluation.nodes.report import NodeReport
    from clsm_cli.evaluation.presets_report import PresetsReport
    from clsm_cli.evaluation.report import ChatReport, NotesReport
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.intervals import ProbesReport
    from clsm_cli.evaluation.studies.memory_report import GainReport, MemoryReport
    from clsm_cli.evaluation.studies.times import TimesReport
    from clsm_cli.evaluation.studies.year_report import YearReport

    Report = (
        ChatReport
        | NotesReport
        | MemoryReport
        | GainReport
        | NodeReport
        | PresetsReport
        | TimesReport
        | ProbesReport
        | YearReport
    )

app = typer.Typer(
    help="How good recall is, measured.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class Dataset(StrEnum):
    """The sets that clsm can read."""

    locomo = "locomo"
    gvd = "gvd"
    notes = "notes"
    memory = "memory"
    nodes = "nodes"
    presets = "presets"
    times = "times"
    probes = "probes"
    year = "year"


@app.callback()
def _group() -> None:
    """How good recall is, measured."""


@app.command(
    "run",
    cls=Command,
    epilog=examples(
        "clsm eval run locomo ~/data/locomo10.json",
        "clsm eval run gvd ~/data/memorybank --json > gvd.json",
        "clsm eval run locomo ~/data/locomo10.json --consolidate",
        "clsm eval run notes fixtures/sample",
        "clsm eval run memory fixtures/sample",
        "clsm eval run memory fixtures/sample --sheet 50 > sheet.md",
        "clsm eval run nodes ~/data/locomo10.json",
        "clsm eval run presets fixtures/sample",
        "clsm eval run times fixtures/time",
        "clsm eval run probes fixtures/sample",
        "clsm eval run year fixtures/sample --plot year.html",
    ),
)
def run(
    dataset: Annotated[
        Dataset,
        typer.Argument(
            metavar="SET",
            help="locomo, gvd, notes (your own labels), memory (what consolidation makes of such"
            " notes), presets (published retrievals on them), probes (what they held on a day),"
            " year (what a year of use and decay costs and saves), nodes (concepts of LoCoMo's"
            " questions), or times (time expressions).",
        ),
    ],
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Where the set lies; see docs/evaluation.md.")
    ],
    *,
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the stores it makes and finds again; default: clsm/eval in the"
            " user's cache.",
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Make the stores anew.")] = False,
    consolidate: Annotated[
        bool,
        typer.Option(
            "--consolidate", help="locomo: compare recall before and after consolidation, only."
        ),
    ] = False,
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
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="year: draw it too, as .svg or .html."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Of intervals and samples.")] = 0,
    _store: NoStoreOption = None,
    now: Annotated[
        str | None,
        typer.Option(
            "--now",
            metavar="TIME",
            help="Take this as the time of ingest and recall; default: a day after the last turn.",
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Ingest a labelled set and measure what recall finds in it.

    Beside clsm stand BM25, MiniLM and their fusion; --verbose shows every group and weight. No
    store of yours is touched.
    """
    _check(dataset, consolidate=consolidate, of_memory=without_markup or sheet > 0, plot=plot)
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    try:
        shop = _workshop(printer, work, now, fresh=fresh)
        report: Report
        if dataset is Dataset.memory:
            from clsm_cli.evaluation.studies import memory

            report = memory.run_memory(path, shop, seed, is_plain=without_markup, sheet=sheet)
        elif dataset is Dataset.times:
            from clsm_cli.evaluation.studies import times

            report = times.run_times(path, shop)
        elif dataset is Dataset.year:
            report = _year(path, shop, seed, plot)
        else:
            report = _evaluated(dataset, path, shop, seed, consolidate=consolidate)
    finally:
        printer.end_progress()
    _print(printer, report, as_json=as_json, verbose=verbose)


def _check(dataset: Dataset, *, consolidate: bool, of_memory: bool, plot: Path | None) -> None:
    """Refuse options of another set."""
    if plot is not None and dataset is not Dataset.year:
        raise typer.BadParameter("goes with year alone", param_hint="--plot")
    picture.check(plot)
    if consolidate and dataset is not Dataset.locomo:
        raise typer.BadParameter("goes with locomo alone", param_hint="--consolidate")
    if of_memory and dataset is not Dataset.memory:
        raise typer.BadParameter("go with memory alone", param_hint="--plain, --sheet")


def _year(path: Path, shop: Workshop, seed: int, plot: Path | None) -> YearReport:
    from clsm_cli.commands import engine
    from clsm_cli.evaluation.studies import year, year_plot

    queries = engine.QueryEngine()
    queries.open()
    report = year.run_year(path, shop, queries, seed)
    if plot is not None:
        picture.write(plot, year_plot.picture(report))
    return report


def _print(
    printer: Printer,
    report: Report,
    *,
    as_json: bool,
    verbose: bool,
) -> None:
    from clsm_cli.commands import (
        render_eval,
        render_memory,
        render_nodes,
        render_presets,
        render_probes,
        render_times,
        render_year,
    )
    from clsm_cli.evaluation.nodes.report import NodeReport
    from clsm_cli.evaluation.presets_report import PresetsReport
    from clsm_cli.evaluation.report import ChatReport, NotesReport
    from clsm_cli.evaluation.studies.intervals import ProbesReport
    from clsm_cli.evaluation.studies.memory_report import MemoryReport
    from clsm_cli.evaluation.studies.times import TimesReport
    from clsm_cli.evaluation.studies.year_report import YearReport

    if isinstance(report, (ChatReport, NotesReport)):
        mapping = render_eval.mapping(report)
        tables = render_eval.tables(report, verbose=verbose)
    elif isinstance(report, NodeReport):
        mapping = render_nodes.mapping(report)
        tables = render_nodes.tables(report, verbose=verbose)
    elif isinstance(report, TimesReport):
        mapping = render_times.mapping(report)
        tables = render_times.tables(report, verbose=verbose)
    elif isinstance(report, ProbesReport):
        mapping = render_probes.mapping(report)
        tables = render_probes.tables(report, verbose=verbose)
    elif isinstance(report, YearReport):
        mapping = render_year.mapping(report)
        tables = render_year.tables(report, verbose=verbose)
    elif isinstance(report, PresetsReport):
        mapping = render_presets.mapping(report)
        tables = render_presets.tables(report, verbose=verbose)
    else:
        mapping = render_memory.mapping(report)
        tables = render_memory.tables(report, verbose=verbose)
    if as_json:
        printer.json(mapping)
    elif isinstance(report, MemoryReport) and report.sheet:
        printer.lines(render_memory.sheet(report.sheet))
    elif printer.is_terminal:
        printer.rich(render_eval.renderables(tables))
    else:
        printer.lines(render_eval.lines(tables))


def _evaluated(
    dataset: Dataset, path: Path, shop: Workshop, seed: int, *, consolidate: bool
) -> ChatReport | NotesReport | GainReport | NodeReport | PresetsReport | ProbesReport:
    from clsm_cli.commands import engine
    from clsm_cli.evaluation import before_after, chat, presets, workspace
    from clsm_cli.evaluation.nodes import benchmark as nodes
    from clsm_cli.evaluation.studies import intervals

    queries = engine.QueryEngine()
    queries.open()
    if consolidate:
        return before_after.run_consolidated(path, shop, queries, seed)
    if dataset in (Dataset.locomo, Dataset.gvd):
        run_chat = chat.run_locomo if dataset is Dataset.locomo else chat.run_gvd
        return run_chat(path, shop, queries, seed)
    if dataset is Dataset.nodes:
        return nodes.run_nodes(path, shop, queries, seed)
    if dataset is Dataset.presets:
        return presets.run_presets(path, shop, queries, seed)
    if dataset is Dataset.probes:
        return intervals.run_probes(path, shop, queries)
    return workspace.run_notes(path, shop, queries, seed)


def _workshop(printer: Printer, work: Path | None, now: str | None, *, fresh: bool) -> Workshop:
    from zoneinfo import ZoneInfo

    from clsm_cli.commands import engine
    from clsm_cli.evaluation import stores

    engine.offer(printer)
    return stores.Workshop(
        folder=(work or _cache()).expanduser().absolute(),
        embedder=engine.embedder(),
        now=None if now is None else parse_time(now, ZoneInfo(stores.ZONE), "--now"),
        fresh=fresh,
        progress=printer.progress,
    )


def _cache() -> Path:
    values = environment()
    home = values.get("XDG_CACHE_HOME") or os.path.join(values.get("HOME", "~"), ".cache")
    return Path(home) / "clsm" / "eval"
