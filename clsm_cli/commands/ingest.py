"""``clsm ingest``: take in notes and conversations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands import engine
from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    chosen_store,
    current_time,
    parse_time,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.render_ingest import ingest_lines, ingest_mapping
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion import ingest as use_case

if TYPE_CHECKING:
    from clsm_cli.ingestion.sources import Format

EXAMPLES = """\
Examples: clsm ingest ~/.openclaw/workspace; clsm ingest chat.jsonl --dry-run;
tail -n 2 chat.jsonl | clsm ingest - --capture --session main
"""
FORMATS = ("markdown", "openclaw", "jsonl")


def ingest(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files or folders; - is standard input.")
    ],
    *,
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="|".join(FORMATS), help="Format; default: detected."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Conversation of messages that name none.")
    ] = None,
    capture: Annotated[
        bool, typer.Option("--capture", help="Only write down, for hooks: no model, milliseconds.")
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Leave out messages before this time.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (12) if anything could not be read.")
    ] = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Take in notes, an agent's workspace, or conversations.

    Markdown files are living documents: ingest them again after every change. Conversations
    (OpenClaw transcripts, JSON lines) only ever grow; what is known is recognised.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    request = use_case.Request(
        paths=tuple(paths),
        now=current_time(now, opened.zone),
        format=_format(format_),
        session=session,
        capture_only=capture,
        since=None if since is None else parse_time(since, opened.zone, "--since"),
        dry_run=dry_run,
        stdin=sys.stdin.buffer,
    )
    embedder = None if capture or dry_run else engine.embedder()
    try:
        report = use_case.ingest(opened, request, embedder, printer.progress)
    finally:
        printer.end_progress()
    for warning in report.warnings:
        printer.warn(warning)
    if as_json:
        printer.json(ingest_mapping(report))
    else:
        printer.lines(ingest_lines(report, verbose=verbose))
    if strict and report.problems:
        first = report.problems[0]
        raise BadInputError(first.path, first.reason, "mend it and run again", line=first.line)


def _format(name: str | None) -> Format | None:
    allowed: dict[str | None, Any] = dict.fromkeys(FORMATS) | {None: None}
    if name not in allowed:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(FORMATS)}", param_hint="--format")
    return name  # type: ignore[return-value]  # checked above
