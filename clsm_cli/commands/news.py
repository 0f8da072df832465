"""``clsm log``: what became of memory since the last night."""

from __future__ import annotations

from typing import Annotated

import typer

from clsm_cli.commands import render_news
from clsm_cli.commands.options import (
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import chosen_store, current_time, parse_time
from clsm_cli.ingestion.report import utc

EXAMPLES = examples(
    "clsm log                          # since the last night began",
    "clsm log --since 2026-02-20       # since that day",
    "clsm log --json                   # as data, for a report in the morning",
)


def news(
    *,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Since then; without it since the last night began."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, metavar="N", help="Lines of each part at most.")
    ] = render_news.SHOWN,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Say what memory learnt, changed and gave up, with sources.

    And what it would rather ask you. "Since" means when memory wrote it down, not when it was true.
    """
    from clsm_cli.consolidation import review
    from clsm_cli.inspection import news as use_case

    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    moment = current_time(now, opened.zone)
    if since is not None:
        start = utc(parse_time(since, opened.zone, "--since"))
    else:
        start = use_case.last_night(opened) or ""
    found = use_case.news(opened, start, moment.isoformat())
    asked = [item for item in review.listed(opened, moment) if item.at >= start]
    if as_json:
        printer.json(render_news.mapping(found, asked))
    else:
        printer.lines(render_news.lines(found, asked, opened.zone, limit))
