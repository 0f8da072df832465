"""``clsm ingest``: take in notes and conversations."""

from __future__ import annotations

import sys
from typing import Annotated, get_args

import typer

from clsm_cli.commands import fence_key
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
from clsm_cli.commands.render_ingest import ingest_lines, ingest_mapping, problem_line
from clsm_cli.commands.runtime import chosen_store, current_time, given, parse_time
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion import ingest as use_case
from clsm_cli.ingestion.sources import Format, Missing

EXAMPLES = examples(
    "clsm ingest ~/.openclaw/workspace ~/.openclaw/agents/main/sessions",
    "clsm ingest chat.jsonl --dry-run",
    "tail -n 2 chat.jsonl | clsm ingest - --capture --session main",
    "clsm ingest                       # finish what was captured",
)


FORMATS: tuple[str, ...] = get_args(Format)


def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Files or folders; - is standard input. Without any: finish what was captured.",
        ),
    ] = None,
    *,
    format_: Annotated[
        Format | None,
        typer.Option("--format", metavar="NAME", help=f"{', '.join(FORMATS)}; default: detected."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Conversation of messages that name none."),
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
    (OpenClaw transcripts, JSON lines) only ever grow; what is known is recognised. What --capture
    wrote down is cut into episodes by the next ingest.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    request = use_case.Request(
        paths=tuple(paths or ()),
        now=current_time(now, opened.zone),
        format=format_,
        session=None if session is None else given([session]),
        capture_only=capture,
        since=None if since is None else parse_time(since, opened.zone, "--since"),
        dry_run=dry_run,
        stdin=None if sys.stdin is None else sys.stdin.buffer,
        fence_key=fence_key.reader(printer.warn),
    )
    embedder = None
    if not capture and not dry_run:
        from clsm_cli.commands import engine

        embedder = engine.embedder()
        engine.offer(printer)
    try:
        report = use_case.ingest(opened, request, embedder, printer.progress)
    finally:
        printer.end_progress()
    if embedder is not None:
        from clsm_cli.retrieval import briefing

        briefing.prepare(opened)  # the next session starts with one file read
    failed = report.fatal or (report.problems[0] if strict and report.problems else None)
    printer.warn_all(problem_line(p) for p in report.problems if p is not failed)
    printer.warn_all(report.warnings)
    if as_json:
        printer.json(ingest_mapping(report))
    else:
        printer.lines(ingest_lines(report, verbose=verbose))
    if report.bad_model is not None:
        raise report.bad_model
    if failed is not None:
        next_step = "check the path" if isinstance(failed, Missing) else "mend it"
        raise BadInputError(
            failed.path, failed.reason, f"{next_step} and ingest again", line=failed.line
        )
