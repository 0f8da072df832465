"""``clsm show``: one thing by its id."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands import completion
from clsm_cli.commands.options import (
    JsonOption,
    NoNowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer, plain
from clsm_cli.commands.runtime import chosen_store, given

if TYPE_CHECKING:
    from clsm_cli.inspection.lookup import Found

EXAMPLES = examples(
    "clsm show e-3a9c12d08e41          # an episode",
    "clsm show 3a9c                    # how an id begins is enough",
    "clsm show delegation-defect --json",
)


def show(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID", help="An id from recall, or how it begins.", autocompletion=completion.ids
        ),
    ],
    *,
    store: StoreOption = None,
    _now: NoNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show one thing by its id.

    A turn, a block, an episode, a statement, a concept or an edge.
    """
    from clsm_cli.inspection.lookup import look_up

    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    found = look_up(chosen_store(store), given([wanted]))
    if as_json:
        printer.json(found_mapping(found))
    else:
        printer.lines(found_lines(found))


def found_mapping(found: Found) -> dict[str, Any]:
    """Schema ``clsm.show/1``."""
    return {"schema": "clsm.show/1", **plain(found)}


def found_lines(found: Found) -> list[str]:
    """What it is, a line a fact, then its text."""
    lines = [f"{found.kind} {found.id}"]
    for name, value in found.facts.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{name}: {shown}")
    return [*lines, "", *found.text.split("\n")] if found.text else lines
