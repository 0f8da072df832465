"""``clsm ingest``: take in notes and conversations."""

import os
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any, get_args

from clsm_cli.commands import fence_key
from clsm_cli.commands.command_line import (
    DRY_RUN,
    Common,
    UsageError,
    command_line,
    environment,
    option,
    parse_time,
)
from clsm_cli.commands.output import Printer, count_noun, fields
from clsm_cli.errors import BadInputError, file_line
from clsm_cli.ingestion import ingest_run
from clsm_cli.ingestion.detection import Format
from clsm_cli.ingestion.folders import Exclusion
from clsm_cli.ingestion.ingest_report import IngestReport, Tally
from clsm_cli.ingestion.sources import Missing
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store.layout import CONFIG_NAME, Store

FORMATS: tuple[Format, ...] = get_args(Format)


class Options(NamedTuple):
    """Take in notes, an agent's workspace, or conversations.

    Markdown files are living documents: ingest them again after every change. Conversations
    (OpenClaw, Claude Code, Smriti, JSON lines, exports of ChatGPT, Claude, WhatsApp, Telegram and
    Signal) only ever grow; known turns are recognised. What --capture stored is cut into episodes
    by the next ingest.
    """

    paths: tuple[str, ...] = option(
        "[PATH...]",
        "Files or folders; - is standard input. Without any: finish what was captured.",
        default=(),
    )
    openclaw: bool = option(
        "--openclaw",
        "Catch up with OpenClaw: read what is new in its conversations, and in the notes of its"
        " workspaces that were taken in before. PATH is its state folder;"
        " else OPENCLAW_STATE_DIR, else ~/.openclaw.",
    )
    form: Format | None = option(
        "--format NAME", f"{', '.join(FORMATS)}; default: detected.", choices=FORMATS
    )
    session: str | None = option("--session NAME", "Conversation of messages that name none.")
    capture: bool = option(
        "--capture", "Only store what is new, for hooks: no model, milliseconds."
    )
    since: str | None = option("--since TIME", "Leave out messages before this time.")
    exclude: tuple[str, ...] = option(
        "--exclude GLOB",
        "Leave out what matches, by the rules of gitignore; repeatable. Also: ingest.exclude in"
        " clsm.yaml, and .clsmignore files.",
        is_repeated=True,
        default=(),
    )
    day_first: bool | None = option(
        "--day-first/--month-first", "The order of day and month in a chat that leaves it open."
    )
    me: tuple[str, ...] = option(
        "--me NAME",
        "Your name in a chat of a messenger, as the chat writes it; repeatable. Also: ingest.me in"
        " clsm.yaml.",
        is_repeated=True,
        default=(),
    )
    strict: bool = option("--strict", "Fail (12) if anything could not be read.")
    dry_run: bool = DRY_RUN
    common: Common = Common()


COMMAND_LINE = command_line(
    Options,
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


def run(options: Options) -> None:
    """Ingest and print the report."""
    printer, opened, moment = options.common.start()
    report = _ingest(opened, options, moment, printer)
    has_failed = options.strict and report.problems
    failed = report.fatal or (report.problems[0] if has_failed else None)
    for each in report.problems:
        if each is not failed:
            where = file_line(each.path, each.line)
            printer.warn(f"{where}: {each.reason}; all else is read, mend it and ingest again")
    printer.warn_all(report.warnings)
    printer.show(ingest_mapping(report), ingest_lines(report, verbose=options.common.verbose))
    if report.bad_model is not None:
        raise report.bad_model
    if failed is not None:
        next_step = "check the path" if isinstance(failed, Missing) else "mend it"
        raise BadInputError(
            failed.path, failed.reason, f"{next_step} and ingest again", line=failed.line
        )


def _exclusion(store: Store, options: Options) -> Exclusion:
    try:
        return Exclusion((*store.settings.ingest.exclude, *options.exclude))
    except ValueError as error:
        pattern = str(error)
        if pattern in options.exclude:
            raise UsageError("--exclude", f"{pattern!r} is no pattern of gitignore") from None
        reason = f"has {pattern!r} in ingest.exclude, which is no pattern of gitignore"
        where = str(store.root / CONFIG_NAME)
        raise BadInputError(where, reason, "mend it and ingest again") from None


def _ingest(store: Store, options: Options, now: datetime, printer: Printer) -> IngestReport:
    since, paths = options.since, options.paths
    if options.openclaw:
        for name in ("format", "session", "exclude", "me"):
            if getattr(options, "form" if name == "format" else name):
                reason = "transcripts of OpenClaw tell that themselves; leave it out"
                raise UsageError(f"--{name}", reason)
        home = environment().get("OPENCLAW_STATE_DIR") or "~/.openclaw"  # as OpenClaw itself
        paths = paths or (os.path.expanduser(home),)
    request = ingest_run.IngestRequest(
        paths=paths,
        openclaw=options.openclaw,
        now=now,
        format=options.form,
        session=options.session,
        capture_only=options.capture,
        since=None if since is None else parse_time(since, store.zone, "--since"),
        dry_run=options.dry_run,
        stdin=None if sys.stdin is None else sys.stdin.buffer,
        fence_key=fence_key.key_reader(printer.warn),
        exclusion=_exclusion(store, options),
        day_first=options.day_first,
        me=options.me,
    )
    embedder = None
    if not options.capture and not options.dry_run:
        from clsm_cli.commands import engine

        embedder = engine.embedder()
        engine.offer_install(printer)
    report = ingest_run.ingest(store, request, embedder, printer.progress)
    if embedder is not None:
        from clsm_cli.retrieval import briefing

        briefing.prepare(store)  # so that clsm context only reads one file
    return report


def ingest_mapping(report: IngestReport) -> dict[str, Any]:
    """Schema ``clsm.ingest/1``."""
    files = [
        {
            **fields(tally, "path format added changed closed known"),
            "dropped": dict(sorted(tally.dropped.items())),
            "masked": dict(sorted(tally.masked.items())),
            "encoding": tally.encoding or "UTF-8",
            "by_words": tally.by_words,
        }
        for tally in report.sources
    ]
    return {
        "schema": "clsm.ingest/1",
        "dry_run": report.dry_run,
        "files": files,
        "skipped": [fields(skipped, "path reason") for skipped in report.skipped],
        "excluded": report.excluded,
        "problems": [fields(problem, "path line reason") for problem in report.problems],
        "masked": dict(sorted(report.masked.items())),
        **fields(report, "up_to_date episodes open_turns warnings"),
    }


def ingest_lines(report: IngestReport, *, verbose: bool) -> Iterator[str]:
    """A line per changed file (with ``verbose``, per file), skipped files, and totals."""
    for tally in report.sources:
        if verbose or tally.added or tally.changed or tally.closed or tally.moved_from:
            yield f"{tally.path}: {_tally_text(tally)}"
    if verbose:
        yield from (f"{each.path}: skipped, {each.reason}" for each in report.skipped)
    if report.sources or not report.problems:
        yield _totals(report)


_COUNTS = {"added": "added", "changed": "changed", "closed": "closed", "known": "unchanged"}


def _tally_text(tally: Tally) -> str:
    counts = ((getattr(tally, name), word) for name, word in _COUNTS.items())
    said = ", ".join(f"{count} {word}" for count, word in counts if count) or "nothing new"
    if tally.moved_from:
        said = f"moved from {tally.moved_from}, {said}"
    for word, found in (("left out", tally.dropped), ("masked", tally.masked)):
        kinds = [f"{count} {kind}" if count > 1 else kind for kind, count in sorted(found.items())]
        if kinds:
            said += f"; {word}: {', '.join(kinds)}"
    if tally.encoding:
        said += f"; decoded from {tally.encoding}"
    if tally.by_words:
        size = f"{round(tally.by_words, -3):,}"
        if tally.by_words >= 1_000_000:
            size = f"{tally.by_words / 1e6:.1f} million"
        said += f"; {size} characters of dumps found by their words alone"
    return said


def _totals(report: IngestReport) -> str:
    added, *others = (sum(getattr(each, name) for each in report.sources) for name in _COUNTS)
    text = f"{count_noun(len(report.sources), 'file')}: {added}"
    text += " turn or block" if added == 1 else " turns and blocks"
    text += " would be added, " if report.dry_run else " added, "
    counts = zip(others, list(_COUNTS.values())[1:], strict=True)
    text += ", ".join(f"{count} {word}" for count, word in counts)
    skipped = len(report.skipped) - report.excluded
    parts = (
        (report.up_to_date, f"{count_noun(report.up_to_date, 'transcript')} without anything new"),
        (report.episodes, f"{count_noun(report.episodes, 'episode')} made of conversations"),
        (report.open_turns, f"{count_noun(report.open_turns, 'turn')} in open episodes"),
        (report.forgotten, f"{report.forgotten} left out as forgotten"),
        (report.excluded, f"{report.excluded} excluded"),
        (skipped, f"{skipped} skipped"),
        (len(report.problems), count_noun(len(report.problems), "problem")),
    )
    return "; ".join([text, *(said for count, said in parts if count)])
