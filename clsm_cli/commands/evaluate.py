"""``clsm eval``: measure recall against labelled sets."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands.context import environment, parse_time
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import (
    JsonOption,
    NoStoreOption,
    QuietOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer

if TYPE_CHECKING:
    from clsm_cli.evaluation.report import ChatReport, NotesReport
    from clsm_cli.evaluation.stores import Workshop

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


@app.callback()
def _group() -> None:
    """How good recall is, measured."""


@app.command(
    "run",
    cls=Command,
    epilog=examples(
        "clsm eval run locomo ~/data/locomo10.json",
        "clsm eval run gvd ~/data/memorybank --json > gvd.json",
        "clsm eval run notes fixtures/sample",
    ),
)
def run(
    dataset: Annotated[
        Dataset, typer.Argument(metavar="SET", help="locomo, gvd, or notes (your own labels).")
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
    from clsm_cli.commands import render_eval

    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    try:
        report = _evaluated(dataset, path, _workshop(printer, work, now, fresh=fresh), seed)
    finally:
        printer.end_progress()
    if as_json:
        printer.json(render_eval.mapping(report))
        return
    tables = render_eval.tables(report, verbose=verbose)
    if printer.is_terminal:
        printer.rich(render_eval.renderables(tables))
    else:
        printer.lines(render_eval.lines(tables))


def _evaluated(dataset: Dataset, path: Path, shop: Workshop, seed: int) -> ChatReport | NotesReport:
    from clsm_cli.commands import engine
    from clsm_cli.evaluation import chat, workspace

    queries = engine.QueryEngine()
    queries.open()
    if dataset is Dataset.locomo:
        return chat.run_locomo(path, shop, queries, seed)
    if dataset is Dataset.gvd:
        return chat.run_gvd(path, shop, queries, seed)
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
