"""``clsm correct``: say what is true now."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clsm_cli.commands import completion
from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import UsageError, chosen_store, current_time, given, parse_time
from clsm_cli.consolidation import correct as use_case
from clsm_cli.ingestion import times
from clsm_cli.model.graph import Statement

EXAMPLES = examples(
    'clsm correct f-3a9c12d08e41 "The archive uses SQLite."',
    "clsm correct bell '15 minutes' --since 2026-03-01",
    'clsm correct Mara "Mara lives in York." --never   # she never lived elsewhere',
)


def correct(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID|SUBJECT",
            help="A statement's id, or what it is about.",
            autocompletion=completion.ids,
        ),
    ],
    said: Annotated[
        list[str],
        typer.Argument(
            metavar="VALUE...", help="The whole sentence that is true now, or its value alone."
        ),
    ],
    *,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Since when; default: what the sentence says, else now."),
    ] = None,
    never: Annotated[
        bool, typer.Option("--never", help="What memory holds was never true.")
    ] = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Say what is true now.

    What memory held until then is closed, not deleted, unless it was never true. No consolidation
    undoes a correction.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    start = None
    if since is not None and never:
        raise UsageError("--since", "means nothing with --never")
    if since is not None:
        moment = parse_time(since, opened.zone, "--since")
        start = times.normalise(since, opened.zone) or times.normalise(
            moment.isoformat(), opened.zone
        )
    done = use_case.correct(
        opened,
        given([wanted]),
        given(said),
        current_time(now, opened.zone),
        printer.warn,
        since=start,
        never=never,
        dry_run=dry_run,
    )
    if as_json:
        printer.json(_mapping(done, dry_run=dry_run))
    else:
        printer.lines(_lines(done, dry_run=dry_run))


def _lines(done: use_case.Correction, *, dry_run: bool) -> list[str]:
    if not done.is_new:
        return [f"known  {done.now.id}  {done.now.text}"]
    ended = "never" if done.until is None else "was"
    lines = [
        f"{ended:5}  {row.id}  {row.text}{_span(row.valid_from, done.until)}"
        for row in (done.was, *done.also)
    ]
    lines.append(f"is     {done.now.id}  {done.now.text}{_span(done.now.valid_from, None)}")
    lines += [f"still  {row.id}  {row.text}  (correct it too if it ended)" for row in done.beside]
    return [*lines, "nothing was written"] if dry_run else lines


def _span(start: str | None, end: str | None) -> str:
    words = [f"from {start}"] if start else []
    words += [f"until {end}"] if end else []
    return f"  ({' '.join(words)})" if words else ""


def _mapping(done: use_case.Correction, *, dry_run: bool) -> dict[str, Any]:
    return {
        "schema": "clsm.correct/1",
        "dry_run": dry_run,
        "run": done.run,
        "is_new": done.is_new,
        "was": _row(done.was) | {"valid_until": done.until},
        "also": [_row(row) | {"valid_until": done.until} for row in done.also],
        "is": _row(done.now),
        "beside": [_row(row) for row in done.beside],
    }


def _row(row: Statement) -> dict[str, Any]:
    names = ("id", "text", "kind", "stream", "topic", "subject", "slot", "value", "valid_from")
    return {name: getattr(row, name) for name in names}
