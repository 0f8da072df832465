"""What ``clsm ingest`` does once its options are read, by Typer or by the fast path."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, get_args

from clsm_cli.commands import fence_key
from clsm_cli.commands.output import Printer
from clsm_cli.commands.render_ingest import ingest_lines, ingest_mapping, problem_line
from clsm_cli.commands.runtime import (
    UsageError,
    chosen_store,
    current_time,
    environment,
    given,
    parse_time,
)
from clsm_cli.errors import BadInputError
from clsm_cli.ingestion import ingest as use_case
from clsm_cli.ingestion.detection import Format
from clsm_cli.ingestion.exclusion import Exclusion
from clsm_cli.ingestion.sources import Missing
from clsm_cli.records import NamedTuple
from clsm_cli.store.layout import CONFIG_NAME

if TYPE_CHECKING:
    from clsm_cli.ingestion.report import Report
    from clsm_cli.store.layout import Store

FORMATS: tuple[Format, ...] = get_args(Format)


class Options(NamedTuple):
    """The options of ``clsm ingest``, as they were given; see its help."""

    paths: tuple[str, ...] = ()
    openclaw: bool = False
    format_: Format | None = None
    session: str | None = None
    capture: bool = False
    since: str | None = None
    exclude: tuple[str, ...] = ()
    day_first: bool | None = None
    strict: bool = False
    dry_run: bool = False
    store: str | None = None
    now: str | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False


def run(options: Options) -> None:
    """Take in, and print.

    Raises:
        UsageError: An option cannot be used as it was given; nothing was read.
        ClsmError: As the input, the store or the disk will have it.
    """
    printer = Printer(as_json=options.as_json, quiet=options.quiet, verbose=options.verbose)
    opened = chosen_store(options.store)
    report = _ingested(opened, options, printer)
    has_failed = options.strict and report.problems
    failed = report.fatal or (report.problems[0] if has_failed else None)
    printer.warn_all(problem_line(p) for p in report.problems if p is not failed)
    printer.warn_all(report.warnings)
    if options.as_json:
        printer.json(ingest_mapping(report))
    else:
        printer.lines(ingest_lines(report, verbose=options.verbose))
    if report.bad_model is not None:
        raise report.bad_model
    if failed is not None:
        next_step = "check the path" if isinstance(failed, Missing) else "mend it"
        raise BadInputError(
            failed.path, failed.reason, f"{next_step} and ingest again", line=failed.line
        )


def _state_folders(options: Options) -> tuple[str, ...]:
    """Where OpenClaw keeps its state: as given, else as OpenClaw itself looks for it.

    Raises:
        UsageError: Another option says what the transcripts themselves say.
    """
    told = (
        ("--format", options.format_),
        ("--session", options.session),
        ("--exclude", options.exclude or None),
    )
    for option, value in told:
        if value is not None:
            raise UsageError(option, "transcripts of OpenClaw tell that themselves; leave it out")
    if options.paths:
        return options.paths
    variables = environment()
    named = variables.get("OPENCLAW_STATE_DIR") or "~/.openclaw"
    return (os.path.expanduser(named),)


def _exclusion(store: Store, options: Options) -> Exclusion:
    """What the store's settings and the command leave out.

    Raises:
        UsageError: A pattern of the command is none.
        BadInputError: One of the settings is none.
    """
    kept = store.settings.ingest.exclude
    try:
        return Exclusion((*kept, *options.exclude))
    except ValueError as error:
        pattern = str(error)
        if pattern in options.exclude:
            raise UsageError("--exclude", f"{pattern!r} is no pattern of gitignore") from None
        raise BadInputError(
            str(store.root / CONFIG_NAME),
            f"has {pattern!r} in ingest.exclude, which is no pattern of gitignore",
            "mend it and ingest again",
        ) from None


def _ingested(store: Store, options: Options, printer: Printer) -> Report:
    since = options.since
    request = use_case.Request(
        paths=_state_folders(options) if options.openclaw else options.paths,
        openclaw=options.openclaw,
        now=current_time(options.now, store.zone),
        format=options.format_,
        session=None if options.session is None else given([options.session]),
        capture_only=options.capture,
        since=None if since is None else parse_time(since, store.zone, "--since"),
        dry_run=options.dry_run,
        stdin=None if sys.stdin is None else sys.stdin.buffer,
        fence_key=fence_key.reader(printer.warn),
        exclusion=_exclusion(store, options),
        day_first=options.day_first,
    )
    embedder = None
    if not options.capture and not options.dry_run:
        from clsm_cli.commands import engine

        embedder = engine.embedder()
        engine.offer(printer)
    try:
        report = use_case.ingest(store, request, embedder, printer.progress)
    finally:
        printer.end_progress()
    if embedder is not None:
        from clsm_cli.retrieval import briefing

        briefing.prepare(store)  # the next session starts with one file read
    return report
