"""``clsm status``: what the store holds and how it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.commands.options import (
    JsonOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    chosen_store,
)
from clsm_cli.commands.output import Printer, plain
from clsm_cli.embedding import weights
from clsm_cli.inspection.overview import overview

if TYPE_CHECKING:
    from clsm_cli.inspection.overview import Overview

EXAMPLES = """\
Examples: clsm status; clsm status --json
"""


def status(
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Say what the store holds, what could not be read, and the latest runs."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    found = overview(chosen_store(store))
    model = weights.status(weights.default_folder())
    if as_json:
        printer.json({"schema": "clsm.status/1", **plain(found), "model": plain(model)})
        return
    state = "installed" if model.installed else "missing; install it with: clsm model install"
    printer.lines([*_lines(found), f"model {model.engine}: {state}"])


def _lines(found: Overview) -> list[str]:
    counts = found.counts
    lines = [
        f"store {found.root} (id {found.store_id}, device {found.device}, {found.time_zone})",
        f"{counts['turns']} turns of {counts['sessions']} sessions,"
        f" {counts['blocks']} blocks of {counts['documents']} documents,"
        f" {counts['statements']} statements",
        f"{counts['episodes']} episodes, {counts['waiting']} turns in open ones,"
        f" {counts['concepts']} concepts mentioned",
    ]
    if found.unembedded:
        lines.append(f"{found.unembedded} passages wait for a vector; make them with: clsm ingest")
    for problem in found.problems:
        where = problem.path if problem.line is None else f"{problem.path}, line {problem.line}"
        lines.append(f"{where}: {problem.reason}")
    lines += [f"{at}  {command}  {run}" for run, command, at in found.runs]
    return lines
