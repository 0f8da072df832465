"""``clsm status``: what the store holds and whether all is well."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, plain
from clsm_cli.errors import ClsmError, StaleError

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.inspection.overview import Automation, ListedRun, Overview
    from clsm_cli.store.layout import Store

RECENT_RUNS = 5
"""Runs that are listed without --verbose."""


@command(
    "clsm status",
    "clsm status --store notes/memory --json",
    "clsm status --check --quiet > /dev/null   # from cron, some hours after consolidate: mails why",
    check=Option(
        "--check",
        "",
        "Fail (exit code 18) when the last good consolidation is too old (status.max_age).",
    ),
)
def status(*, check: bool = False, common: Common) -> None:
    """Say what the store holds and whether all is well.

    Counts, files that could not be read, the latest runs (--verbose: all), when a consolidation
    last succeeded and why none did since, and whether the model is installed. A consolidation that
    found nothing to do has succeeded.
    """
    from clsm_cli.embedding import weights
    from clsm_cli.inspection.overview import automation_state, overview

    printer = common.printer()
    opened = common.opened()
    found = overview(opened)
    moment = common.time(opened.zone)
    night = automation_state(opened, moment)
    shadow = _shadow(opened)
    if not common.verbose:
        found = replace(found, runs=found.runs[:RECENT_RUNS])
    model = weights.status(weights.default_folder())
    if common.as_json:
        told = {"automation": night, "shadow": shadow, "model": model}
        printer.json({"schema": "clsm.status/1", **plain(found), **told})
    else:
        state = "installed" if model.installed else "missing; install it with: clsm model install"
        mode = [] if shadow is None else [f"{shadow}; see: clsm eval shadow report"]
        tail = [*mode, f"model {model.engine}: {state}"]
        printer.lines([*_lines(found, night), *_last_night(opened, moment), *tail])
    if check and night.is_stale:
        raise StaleError(night.sentence)


def _last_night(store: Store, now: datetime) -> list[str]:
    from clsm_cli.commands import log_command
    from clsm_cli.inspection import morning_report

    since = morning_report.last_night(store)
    lines = log_command.brief_lines(store, since, now) if since is not None else []
    return ["since the last night", *(f"  {line}" for line in lines)] if lines else []


def _shadow(store: Store) -> str | None:
    from clsm_cli.evaluation.shadow import shadow_mode

    try:
        mode = shadow_mode.current_mode(store)
        logged = len(shadow_mode.logged_rows(store)[0])
    except ClsmError as error:
        return f"shadow mode is damaged: {error}"
    if mode is None:
        return None
    return f"shadow mode is on since {mode.since}, {count_noun(logged, 'session')} logged"


def _lines(found: Overview, night: Automation) -> list[str]:
    counts = found.counts
    taken = (
        count_noun(counts["turns"], "turn"),
        count_noun(counts["sessions"], "conversation"),
        count_noun(counts["blocks"], "block"),
        count_noun(counts["documents"], "document"),
        count_noun(counts["statements"], "statement"),
    )
    known = (
        count_noun(counts["episodes"], "episode"),
        count_noun(counts["waiting"], "turn"),
        count_noun(counts["concepts"], "concept"),
    )
    lines = [
        f"store {found.root} (id {found.store_id}, device {found.device}, {found.time_zone})",
        "{} of {}, {} of {}, {}".format(*taken),
        "{}, {} in open ones, {} mentioned".format(*known),
        night.sentence,
    ]
    if found.unembedded:
        waiting = count_noun(found.unembedded, "passage")
        lines.append(f"{waiting} without a vector, found by words; the next ingest makes them")
    for problem in found.problems:
        where = problem.path if problem.line is None else f"{problem.path}, line {problem.line}"
        lines.append(f"{where}: {problem.reason}; mend it by hand or restore the file from git")
    return lines + [_run_line(run) for run in found.runs]


def _run_line(run: ListedRun) -> str:
    state = run.state
    line = f"{state.at}  {run.command}  {run.id}  {count_noun(state.files, 'file')}"
    if state.undo_of is not None:
        line += f"  undo of {state.undo_of}"
    if state.undone_by is not None:
        return f"{line}  undone by {state.undone_by}"
    return line if state.is_kept else f"{line}  cannot be undone"
