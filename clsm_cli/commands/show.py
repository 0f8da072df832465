"""``clsm show``: one thing by its id."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from clsm_cli.commands.options import (
    JsonOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    chosen_store,
)
from clsm_cli.commands.output import Printer
from clsm_cli.inspection.lookup import look_up

EXAMPLES = """\
Examples: clsm show e-3a9c12d08e41; clsm show 3a9c; clsm show delegation-defect --json
"""


def show(
    wanted: Annotated[
        str, typer.Argument(metavar="ID", help="An id from recall, or how it begins.")
    ],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show a turn, a block, an episode, a statement, a concept or an edge by its id."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    found = look_up(chosen_store(store), wanted)
    if as_json:
        printer.json(found)
        return
    lines = [f"{found.kind} {found.id}"]
    for name, value in found.facts.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {shown}")
    printer.lines([*lines, "", *found.text.split("\n")] if found.text else lines)
