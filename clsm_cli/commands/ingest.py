"""``clsm ingest``: take in notes and conversations."""

from __future__ import annotations

from typing import Annotated

import typer

from clsm_cli.commands import run_ingest
from clsm_cli.commands.options import (
    Common,
    DryRunOption,
    examples,
    takes_common,
)
from clsm_cli.ingestion.detection import Format

EXAMPLES = examples(
    "clsm ingest ~/.openclaw/workspace",
    "clsm ingest --openclaw            # conversations with OpenClaw since the last time",
    "clsm ingest ~/.claude/projects    # transcripts of Claude Code",
    "clsm ingest chatgpt-export.zip    # conversations with ChatGPT or Claude",
    "clsm ingest 'WhatsApp Chat with Mara.txt'",
    "clsm ingest chat.jsonl --dry-run",
    "clsm ingest ~/notes --exclude drafts/ --exclude '*.log.md'",
    "tail -n 2 chat.jsonl | clsm ingest - --capture --session main",
    "clsm ingest                       # finish what was captured",
)


@takes_common()
def ingest(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PATH...]",
            help="Files or folders; - is standard input. Without any: finish what was captured.",
        ),
    ] = None,
    *,
    openclaw: Annotated[
        bool,
        typer.Option(
            "--openclaw",
            help="Catch up with OpenClaw: read what is new in its conversations."
            " PATH is its state folder; else OPENCLAW_STATE_DIR, else ~/.openclaw.",
        ),
    ] = False,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format", metavar="NAME", help=f"{', '.join(run_ingest.FORMATS)}; default: detected."
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Conversation of messages that name none."),
    ] = None,
    capture: Annotated[
        bool,
        typer.Option(
            "--capture", help="Only store what is new, for hooks: no model, milliseconds."
        ),
    ] = False,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Leave out messages before this time.")
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            "--exclude",
            metavar="GLOB",
            help="Leave out what matches, by the rules of gitignore; repeatable. Also:"
            " ingest.exclude in clsm.yaml, and .clsmignore files.",
        ),
    ] = None,
    day_first: Annotated[
        bool | None,
        typer.Option(
            "--day-first/--month-first",
            help="The order of day and month in a chat that leaves it open.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail (12) if anything could not be read.")
    ] = False,
    dry_run: DryRunOption = False,
    common: Common,
) -> None:
    """Take in notes, an agent's workspace, or conversations.

    Markdown files are living documents: ingest them again after every change. Conversations
    (OpenClaw, Claude Code, Smriti, JSON lines, exports of ChatGPT, Claude, WhatsApp, Telegram and
    Signal) only ever grow; known turns are recognised. What --capture stored is cut into episodes
    by the next ingest.
    """
    run_ingest.run(
        run_ingest.Options(
            paths=tuple(paths or ()),
            openclaw=openclaw,
            format_=format_,
            session=session,
            capture=capture,
            since=since,
            exclude=tuple(exclude or ()),
            day_first=day_first,
            strict=strict,
            dry_run=dry_run,
            store=common.store,
            now=common.now,
            as_json=common.as_json,
            quiet=common.quiet,
            verbose=common.verbose,
        )
    )
