"""``clsm schedule``: install, remove, show and run the nightly job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from clsm_cli.commands import schedule_jobs
from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import UsageError, environment, program
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer
from clsm_cli.config import MachineSettings, defaults, variable_of
from clsm_cli.errors import ClsmError, LockedError
from clsm_cli.ingestion.ingest_report import utc_text
from clsm_cli.integrations import schedulers
from clsm_cli.store import runs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from clsm_cli.integrations.schedulers import Scheduler
    from clsm_cli.store.layout import Store

CATCH_UP = Option("--catch-up", "", "Take in the transcripts of OpenClaw first.")
COMMIT = Option("--commit", "", "Commit the memory to git at the end.")
PUSH = Option("--push", "", "Push it too.")
WAKE = Option("--wake", "URL", "Tell OpenClaw's wake hook when a run fails.")
WAKE_TOKEN = Option(
    "--wake-token", "FILE", "File with the token of that hook, readable only by you."
)


_KEPT = (
    *("CLSM_MODEL_DIR", "CLSM_DEVICE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "OPENCLAW_STATE_DIR"),
    *map(variable_of, defaults(MachineSettings())),
)
"""Of the environment: a job is started with hardly any."""

app = command_group("Consolidate and decay every night.")
_OPENCLAW = "openclaw"
BY = Option(
    "--by",
    "",
    "Who starts it; default: systemd where it runs, else the crontab.",
    choices=("systemd", "crontab", _OPENCLAW),
)


@command(
    "clsm schedule install --dry-run   # what would be written, and where",
    "clsm schedule install",
    "clsm schedule install --at 04:15 --commit --push",
    "clsm schedule install --by openclaw --catch-up",
    "clsm schedule install --by openclaw --adviser   # the agent itself reads what waits",
    "clsm schedule install --wake http://127.0.0.1:18789/hooks/wake --wake-token ~/.clsm/hook",
    group=app,
    no_effect=("now",),
    at=Option("--at", "HH:MM", "When, local time."),
    by=BY,
    catch_up=CATCH_UP,
    commit=COMMIT,
    push=PUSH,
    adviser=Option(
        "--adviser",
        "",
        "Have OpenClaw's agent answer a packet an hour before, in a session of its own.",
    ),
    wake=WAKE,
    wake_token=WAKE_TOKEN,
    dry_run=DRY_RUN,
)
def install(
    *,
    at: str = "03:30",
    by: str | None = None,
    catch_up: bool = False,
    commit: bool = False,
    push: bool = False,
    adviser: bool = False,
    wake: str | None = None,
    wake_token: str | None = None,
    dry_run: bool = False,
    common: Common,
) -> None:
    """Consolidate every night; installing again replaces the earlier job.

    It runs at low priority, waits for a busy memory, and does nothing if a run has succeeded since
    that hour. Missed runs are caught up. clsm status says how the last one went.
    """
    printer = common.printer()
    opened = common.opened()
    minute = schedulers.minute_of(at)
    if minute is None:
        raise UsageError("--at", f"{at!r} is no time of the day; write it like 03:30")
    if schedulers.is_dreaming_time(minute):
        reason = "OpenClaw rewrites its notes at 03:00; take a time before 02:45 or from 03:30 on"
        raise UsageError("--at", reason)
    if adviser and by != _OPENCLAW:
        raise UsageError("--adviser", "needs --by openclaw, whose agent is asked")
    steps = {"--catch-up": catch_up, "--commit": commit, "--push": push}
    given = [name for name, is_wanted in steps.items() if is_wanted]
    wanted = schedule_jobs.parse_wake(wake, wake_token)
    if wanted is not None:
        schedule_jobs.check_scheduler(wanted, opened)
        given += ["--wake", wanted.url, "--wake-token", wanted.token_file]
    words = ["schedule", "run", "--due", at, *given, "--quiet", "--store", str(opened.root)]
    kept = {name: value for name in _KEPT if (value := environment().get(name))}
    name = schedule_jobs.name_of(opened)
    advice = schedule_jobs.advice(opened, program()) if adviser else ""
    job = schedulers.Job(name, str(opened.root), minute, (*program(), *words), kept, advice)
    if any("\n" in word for word in (*job.command, *kept.values())):
        raise UsageError("--store", "a path with a line break cannot stand in a schedule")
    scheduler = schedule_jobs.known_schedulers(by)[0]
    if not dry_run:
        _put(scheduler, job, opened)
    lines = scheduler.plan(job)
    if common.as_json:
        told = {"schema": "clsm.schedule/1", "by": scheduler.name, "at": at, "name": job.name}
        printer.json({**told, "command": list(job.command), "lines": lines, "dry_run": dry_run})
    elif dry_run:
        printer.lines(lines)
    else:
        printer.lines([f"every night at {at}, by {scheduler.name}"])


@command("clsm schedule remove", group=app, no_effect=("now",), by=BY, dry_run=DRY_RUN)
def remove(*, by: str | None = None, dry_run: bool = False, common: Common) -> None:
    """Stop the nightly consolidation; the memory stays as it is."""
    printer = common.printer()
    opened = common.opened()
    name = schedule_jobs.name_of(opened)
    found = []
    for scheduler in schedule_jobs.known_schedulers(
        by, asks_openclaw=schedule_jobs.is_in_openclaw(opened)
    ):
        if scheduler.command(name) is not None:
            found.append(scheduler.name)
            if not dry_run:
                scheduler.remove(name)
        if scheduler.name == _OPENCLAW and not dry_run:
            schedule_jobs.remember_openclaw(opened, has=False)
    if common.as_json:
        told = {"schema": "clsm.schedule-remove/1", "removed_from": found}
        printer.json({**told, "dry_run": dry_run})
    else:
        printer.lines([f"removed from {', '.join(found)}" if found else "not installed"])


@command("clsm schedule status", group=app, by=BY)
def status(*, by: str | None = None, common: Common) -> None:
    """Say who runs what, when next, and when a run last succeeded."""
    printer = common.printer()
    opened = common.opened()
    found = schedule_jobs.find_jobs(opened, by, common.time())
    printer.warn_all(found.silent)
    last = runs.read_nights(opened)
    if common.as_json:
        told = {"schema": "clsm.schedule-status/1", "jobs": found.jobs, "next": found.starts}
        printer.json({**told, "last": last.good, "failed": last.failed, "reason": last.reason})
        return
    for name, words in found.jobs.items():
        start = found.starts[name] or "not known"
        printer.lines([f"{name}: {' '.join(words)}", f"next run: {start}"])
    if not found.jobs and not found.silent:
        printer.lines(["not installed; install it with: clsm schedule install"])
    printer.lines([f"last good run: {last.good or 'none known'}"])
    if last.failed:
        printer.lines([f"failed since then: {last.failed}, the last one: {last.reason}"])


@command(
    "clsm schedule run --commit",
    group=app,
    due=Option("--due", "HH:MM", "Only if no run has succeeded since that hour."),
    catch_up=CATCH_UP,
    commit=COMMIT,
    push=PUSH,
    wake=WAKE,
    wake_token=WAKE_TOKEN,
)
def run(
    *,
    due: str | None = None,
    catch_up: bool = False,
    commit: bool = False,
    push: bool = False,
    wake: str | None = None,
    wake_token: str | None = None,
    common: Common,
) -> None:
    """Do now what the nightly job does.

    With --quiet only what failed is printed, on standard error. Ends with the exit code of the first
    step that failed.
    """
    printer = common.printer()
    wanted = schedule_jobs.parse_wake(wake, wake_token)
    moment = common.time()
    minute = None if due is None else schedulers.minute_of(due)
    if due is not None and minute is None:
        raise UsageError("--due", f"{due!r} is no time of the day; write it like 03:30")
    try:
        opened = common.opened()
    except ClsmError as error:
        if wanted is not None:
            schedule_jobs.wake_openclaw(wanted, None, moment, minute, str(error))
        raise
    steps: list[schedule_jobs.Step] = []
    is_due = minute is None or schedule_jobs.is_due(opened, moment, minute)
    woken = None
    if (
        is_due
        and minute is not None
        and schedulers.is_dreaming_time(60 * moment.hour + moment.minute)
    ):
        steps.append(schedule_jobs.Step("run", LockedError.exit_code, "OpenClaw dreams now; later"))
        _tell(printer, steps[0])
    elif is_due:
        options = [] if common.now is None else ["--now", common.now]
        for step in _night(opened, options, moment, catch_up=catch_up, commit=commit, push=push):
            steps.append(step)
            _tell(printer, step)
        if wanted is not None:
            woken = schedule_jobs.report_night(
                wanted, opened, moment, minute, _reason(opened, steps)
            )
    if common.as_json:
        told = [step._asdict() for step in steps]
        printer.json({"schema": "clsm.schedule-run/1", "steps": told, "woken": woken})
    code = next((step.code for step in steps if step.code), 0)
    if code:
        raise typer.Exit(code)


def _night(
    store: Store, options: list[str], now: datetime, *, catch_up: bool, commit: bool, push: bool
) -> Iterator[schedule_jobs.Step]:
    """The steps; one that failed without writing that down is written down."""
    message = f"clsm: night of {now:%Y-%m-%d}"
    known = runs.read_nights(store).failed
    for step in schedule_jobs.run_steps(
        store, options, catch_up=catch_up, commit=commit, push=push, message=message
    ):
        if step.code and runs.read_nights(store).failed == known:
            runs.note_failure(store, utc_text(now), f"{step.name}: {step.told}")
        known = runs.read_nights(store).failed
        yield step


def _reason(store: Store, steps: list[schedule_jobs.Step]) -> str | None:
    """Why a run failed; None if it succeeded and no failure is recorded."""
    failed = [f"{step.name}: {step.told}" for step in steps if step.code]
    last = runs.read_nights(store)
    # A consolidation that did what it could without a model ends well, and is no good one.
    return "; ".join(failed) or (f"consolidate: {last.reason}" if last.failed else None)


def _tell(printer: Printer, step: schedule_jobs.Step) -> None:
    if step.code:
        Printer().warn(f"{step.name} failed ({step.code}): {step.told}")
    elif not (printer.as_json or printer.quiet):
        printer.lines([f"{step.name}: {step.told.splitlines()[0] if step.told else 'done'}"])


def _put(scheduler: Scheduler, job: schedulers.Job, store: Store) -> None:
    """Into one schedule, and out of all others."""
    is_openclaw = scheduler.name == _OPENCLAW
    others = schedule_jobs.other_schedulers(scheduler, store)
    if is_openclaw:
        schedule_jobs.remember_openclaw(store, has=True)
    scheduler.install(job)
    for other in others:
        if other.command(job.name) is not None:
            other.remove(job.name)
        if other.name == _OPENCLAW:
            schedule_jobs.remember_openclaw(store, has=False)
