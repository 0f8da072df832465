"""``clsm note``: remember one thing."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from clsm_cli.commands.options import (
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    chosen_store,
    current_time,
)
from clsm_cli.commands.output import Printer
from clsm_cli.ingestion.note import write_note

EXAMPLES = """\
Examples: clsm note "Brian takes his coffee black"; pbpaste | clsm note -
"""


def note(
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT|-", help="The note; - reads standard input.")
    ],
    *,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Remember one thing, in your own words. It is found by the next recall."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    given = sys.stdin.buffer.read().decode("utf-8", "replace") if text == ["-"] else " ".join(text)
    noted = write_note(opened, given, current_time(now, opened.zone))
    for kind, count in sorted(noted.masked.items()):
        printer.warn(f"{count} secret masked ({kind})")
    if as_json:
        printer.json(noted)
    else:
        printer.lines([f"noted as {noted.id}" if noted.is_new else f"known as {noted.id}"])
