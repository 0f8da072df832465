"""``clsm consolidate``: turn episodes into statements and a graph, alone or with an adviser."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clsm_cli.commands import log_command, machine_settings
from clsm_cli.commands.command_line import (
    DRY_RUN,
    YES,
    Common,
    UsageError,
    environment,
    named_text,
    option,
    parse_time,
)
from clsm_cli.commands.engine import embedder, offer_install
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, count_noun, dotted, fields, first
from clsm_cli.config import MAX_FILE, LlmSettings
from clsm_cli.consolidation import (
    adviser_packet,
    adviser_proposals,
    adviser_request,
    consolidation_run,
)
from clsm_cli.consolidation.adviser_request import Packet
from clsm_cli.consolidation.consolidation_report import Answer, FileChange, Report, Request
from clsm_cli.embedding import weights
from clsm_cli.errors import BadInputError, ClsmError, ModelMissingError
from clsm_cli.model.clocks import utc_text
from clsm_cli.store import atomic, night_log
from clsm_cli.store.layout import Store

_SHARD = ".yaml"
_MAX_REFUSED = 20  # refused proposals that are listed; more have a common cause
_MAX_DIFF = 200  # lines of a file's diff that a plan shows


@command(
    "clsm consolidate                  # every night, by cron",
    "clsm consolidate --dry-run        # read the plan first",
    "clsm consolidate --if-idle 30 --limit 20   # from a heartbeat",
    "clsm consolidate --rebuild        # the graph anew, from the episodes",
    "clsm consolidate --ask packet.txt          # for a language model, or yourself, to answer",
    "clsm consolidate --answer answer.json      # what it wrote, checked and taken in",
)
def consolidate(
    file: str | None = option("[FILE]", "With --ask: where to; else standard output."),
    *,
    limit: int | None = option(
        "--limit N", "Take at most N episodes, the most salient first.", least=1
    ),
    since: str | None = option(
        "--since TIME", "Leave out episodes before this time, and undated ones."
    ),
    if_idle: float | None = option(
        "--if-idle MINUTES", "Do nothing if somebody spoke in that time.", least=0
    ),
    rebuild: bool = option("--rebuild", "Compute nodes and edges again, from all episodes."),
    ask: bool = option(
        "--ask", "Write what waits as a packet for an adviser to answer; change nothing."
    ),
    answer: str | None = option(
        "--answer FILE",
        "Consolidate the episodes of an adviser's answer, and take the proposals that their"
        " turns support; - is standard input.",
    ),
    budget: int | None = option(
        "--budget N", f"Tokens of the packet at most; default {adviser_packet.BUDGET}.", least=1
    ),
    yes: bool = YES,
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Distil what was said into statements, rules and a graph.

    Episodes are kept: every statement names the turns it rests on, and what is no longer true is
    closed, not deleted. An interrupted run continues where it stopped; running again over the same
    episodes changes nothing.

    An adviser, any language model or a person, gets a packet and answers it. Each proposal is
    checked; refused ones are reported. What clsm itself would keep stays unless the answer names it.
    """
    from clsm_cli.retrieval import briefing

    _check_options(file, budget, answer, ask=ask, whole=rebuild or limit is not None or bool(since))
    printer, opened, moment = common.start()
    warnings = machine_settings.ignored_warnings(opened)
    llm = LlmSettings()
    try:
        llm = machine_settings.load_settings(opened.root, environment()).llm
    except BadInputError as error:  # a bad setting must not fail the nightly run
        warnings.append(f"{error}; no language model is asked")
    request = Request(
        now=moment,
        limit=limit,
        since=None if since is None else parse_time(since, opened.zone, "--since"),
        if_idle=if_idle,
        rebuild=rebuild,
        allow_loss=yes,
        llm=llm,
        llm_key=environment().get(llm.api_key_env),
        answer=None if answer is None else _read_answer(answer),
        dry_run=dry_run,
    )
    offer_install(printer)
    if ask:
        _write_packet(opened, request, file, budget, printer)
        return
    try:
        report = consolidation_run.consolidate(opened, request, embedder(), printer.progress)
        if not dry_run:
            briefing.prepare(opened)  # so that clsm context only reads one file
    except ClsmError as error:
        if not dry_run:
            night_log.note_failure(opened, utc_text(request.now), str(error))
        raise
    report.warnings += warnings
    if not (dry_run or report.is_busy or answer is not None):  # only a whole run counts
        _record_outcome(opened, utc_text(request.now), report)
    printer.warn_all(report.warnings)
    mapping, lines = report_output(report, verbose=common.verbose)
    if report.run is not None and not common.as_json:
        lines += log_command.brief_lines(opened, utc_text(request.now), request.now)
    printer.show(mapping, lines)
    if report.bad_model is not None:
        raise report.bad_model


def _record_outcome(store: Store, at: str, report: Report) -> None:
    """Record the outcome for ``clsm status --check``; a missing model or unread text is a failure."""
    failure = "; ".join(f"{path}: {how}" for path, how in report.unread.items())
    if report.bad_model is not None:
        failure = str(report.bad_model)
    elif report.lacks_model:
        failure = str(ModelMissingError(weights.default_folder()))
    if failure:
        night_log.note_failure(store, at, failure)
    else:
        night_log.note_success(store, at, report.held)


def _lines(report: Report, *, verbose: bool) -> Iterator[str]:
    """One line for the log, or the plan as a diff."""
    if report.is_busy:
        yield "not idle: nothing done"
        return
    if report.dry_run:
        for change in report.files:
            yield from _diff(change, whole=verbose)
        if not report.files:
            yield "nothing would change"
            return
    yield _summary(report)
    yield from _advice(report)
    if verbose:
        for name in ("statements", "nodes", "edges"):
            counts = [f"{n} {word}" for word, n in sorted(getattr(report, name).items())]
            yield f"{name}: {', '.join(counts) or 'none'}"
    if report.review:
        yield f"{count_noun(report.review, 'question')} for you: clsm review"


def _advice(report: Report) -> Iterator[str]:
    counts = {
        "taken": report.advised,
        "refused": len(report.refused),
        "of clsm's own replaced or dropped": report.dropped,
        "known already": report.known,
    }
    if report.is_answered or any(counts.values()):
        parts = [f"{n} {what}" for what, n in counts.items() if n or what in ("taken", "refused")]
        yield f"adviser: {', '.join(parts)}"
    if report.stale and not report.known:
        episodes = count_noun(report.stale, "episode")
        yield f"{episodes} of the answer had been consolidated before: what was made of it stays beside what is new"
    for each in report.refused[:_MAX_REFUSED]:
        yield f"  refused: {each.part or 'no part'}: {each.proposal}: {each.reason}"
    if more := len(report.refused[_MAX_REFUSED:]):
        yield f"  and {more} more"


def report_output(report: Report, *, verbose: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Schema ``clsm.consolidate/1``, and the report as text."""
    mapping = {
        "schema": "clsm.consolidate/1",
        **fields(report, "dry_run run is_busy"),
        "episodes": fields(report, "pending consolidated"),
        **fields(report, "unread open_turns"),
        "statements": dict(sorted(report.statements.items())),
        "nodes": dict(sorted(report.nodes.items())),
        "edges": dict(sorted(report.edges.items())),
        **fields(report, "gists review files usage"),
        "adviser": {
            "taken": report.advised,
            "dropped": report.dropped,
            "known": report.known,
            "refused": [each._asdict() for each in report.refused[:_MAX_REFUSED]],
            "refused_more": len(report.refused[_MAX_REFUSED:]),
            "stale": report.stale,
        },
        "warnings": report.warnings,
    }
    return mapping, list(_lines(report, verbose=verbose))


def _summary(report: Report) -> str:
    verb = "would consolidate" if report.dry_run else "consolidated"
    found = report.statements
    left = report.pending - report.consolidated
    return dotted(
        f"{verb} {count_noun(report.consolidated, 'episode')}",
        f"statements: {found['new']} new, {found['predicted']} known, {found['corrected']} corrected",
        count_noun(found["tasks"], "new task") if found["tasks"] else "",
        f"{count_noun(report.nodes['total'], 'node')}, {count_noun(report.edges['current'], 'edge')}",
        f"{left} left" if left > 0 else "",
        report.run,
    )


def _diff(change: FileChange, *, whole: bool) -> Iterator[str]:
    """The diff of a file; of a shard only line counts, unless ``whole``."""
    mark = " (new)" if change.is_new else ""
    if change.path.endswith(_SHARD) and not whole:
        yield f"{change.path}{mark}: +{len(change.added)} -{len(change.removed)}"
        return
    yield f"{change.path}{mark}"
    lines = [f"  - {line}" for line in change.removed] + [f"  + {line}" for line in change.added]
    yield from first(lines, _MAX_DIFF, whole=whole)


def _check_options(
    file: str | None, budget: int | None, answer: str | None, *, ask: bool, whole: bool
) -> None:
    if ask and answer is not None:
        raise UsageError("--ask", "does not go with --answer; an answer comes after its packet")
    if file is not None and not ask:
        raise UsageError("FILE", "goes with --ask; an answer is named by --answer FILE")
    if budget is not None and not ask:
        raise UsageError("--budget", "goes with --ask")
    if answer is not None and whole:
        reason = "names its episodes itself; leave out --limit, --since and --rebuild"
        raise UsageError("--answer", reason)


def _read_answer(name: str) -> Answer:
    text = named_text(name, MAX_FILE, "name a file with the answer to one packet")
    return adviser_proposals.parse_answer(text, "standard input" if name == "-" else name)


def _write_packet(
    store: Store, request: Request, file: str | None, budget: int | None, printer: Printer
) -> None:
    path = Path(os.path.realpath(os.path.expanduser(file))) if file not in (None, "-") else None
    if path is not None and path.is_relative_to(store.root.resolve()):
        raise UsageError("FILE", "lies in the memory; write the packet somewhere else")
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        what = "is a folder" if path.is_dir() else "lies in no folder that is there"
        raise UsageError("FILE", f"{path} {what}; name a file in a folder that exists")
    tokens = budget or adviser_packet.BUDGET
    found = adviser_request.build_packet(store, request, tokens, embedder(), printer.progress)
    mapping, lines = packet_mapping(found), [found.text.rstrip("\n")] if found.text else []
    if path is not None:
        atomic.put(path, found.text.encode())
        mapping |= {"packet": None, "file": str(path)}
        lines = [packet_summary(found)]
    printer.show(mapping, lines)
    if not lines:
        printer.warn(packet_summary(found))


def packet_summary(found: Packet) -> str:
    """A packet in one line."""
    if not found.text:
        return "nothing waits to be consolidated: there is nothing to ask"
    of = count_noun(len(found.episodes), "episode")
    return f"{count_noun(found.parts, 'part')} of {of}, {found.tokens} tokens; {found.waiting} wait"


def packet_mapping(found: Packet) -> dict[str, Any]:
    """Schema ``clsm.packet/1``."""
    mapping = {"schema": "clsm.packet/1", "packet": found.text}
    return mapping | fields(found, "tokens episodes parts waiting")
