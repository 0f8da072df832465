"""``clsm decay``: what was not used for long steps back, and comes again when it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from clsm_cli.commands import picture
from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    YesOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.render_decay import decay_lines, decay_mapping
from clsm_cli.commands.runtime import chosen_store, current_time
from clsm_cli.forgetting import decay as use_case

EXAMPLES = examples(
    "clsm decay                        # once a month or every night, by cron",
    "clsm decay --dry-run              # what would fade, why, and since when",
    "clsm decay --dry-run --json       # all of it, as data",
    "clsm decay --dry-run --plot forgetting.html   # a picture, and nothing else",
    "clsm decay --now 2026-11-22       # the clock is right: say so once",
)


def decay(
    *,
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the forgetting curves, and how much is left of the memories, as .svg or"
            " .html.",
        ),
    ] = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Let fade what was not used for long; nothing is deleted.

    Recalls are folded into one line for each memory and day. What nobody recalled for long is
    archived: a first look passes over it, and it answers when nothing else does. Who you are, what
    is pinned and open tasks never are, and of each stream only a share. Rules that no session shows
    any more are withdrawn, and rows that were superseded long ago move to the archive. How often it
    runs makes no difference. A clock that jumped is not believed: nothing fades until you say, with
    --now, that it is right.
    """
    picture.check(plot)
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    moment = current_time(now, opened.zone)
    request = use_case.Request(moment, explicit=now is not None, dry_run=dry_run, yes=yes)
    report = use_case.decay(opened, request)
    if plot is not None:
        from clsm_cli.forgetting import plot as forgetting

        picture.write(plot, forgetting.picture(opened, moment))
    printer.warn_all(report.warnings)
    if as_json:
        printer.json(decay_mapping(report))
    else:
        printer.lines(decay_lines(report, verbose=verbose))
