"""``clsm schedule``: install, remove, show and run the nightly job."""

from __future__ import annotations

import typer

from clsm_cli.commands import schedule_jobs
from clsm_cli.commands.command_line import DRY_RUN, Common, option
from clsm_cli.commands.environment import UsageError, environment, program
from clsm_cli.commands.options import command, command_group
from clsm_cli.commands.output import Printer, fields
from clsm_cli.commands.schedule_jobs import Step
from clsm_cli.config import MachineSettings, defaults, variable_of
from clsm_cli.errors import ClsmError, LockedError
from clsm_cli.integrations import schedulers
from clsm_cli.integrations.schedulers import OPENCLAW
from clsm_cli.store import runs

CATCH_UP = option("--catch-up", "Take in the transcripts of OpenClaw first.")
COMMIT = option("--commit", "Commit the memory to git at the end.")
PUSH = option("--push", "Push it too.")
WAKE = option("--wake URL", "Tell OpenClaw's wake hook when a run fails.")
WAKE_TOKEN = option("--wake-token FILE", "File with the token of that hook, readable only by you.")


_KEPT = (
    *("CLSM_MODEL_DIR", "CLSM_DEVICE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "OPENCLAW_STATE_DIR"),
    *map(variable_of, defaults(MachineSettings())),
)
"""Of the environment: a job is started with hardly any."""

app = command_group("Consolidate and decay every night.")
BY = option(
    "--by",
    "Who starts it; default: systemd where it runs, else the crontab.",
    choices=("systemd", "crontab", OPENCLAW),
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
)
def install(
    *,
    at: str = option("--at HH:MM", "When, local time.", default="03:30"),
    by: str | None = BY,
    catch_up: bool = CATCH_UP,
    commit: bool = COMMIT,
    push: bool = PUSH,
    adviser: bool = option(
        "--adviser",
        "Have OpenClaw's agent answer a packet an hour before, in a session of its own.",
    ),
    wake: str | None = WAKE,
    wake_token: str | None = WAKE_TOKEN,
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Consolidate every night; installing again replaces the earlier job.

    It runs at low priority, waits for a busy memory, and does nothing if a run has succeeded since
    that hour. Missed runs are caught up. clsm status says how the last one went.
    """
    opened = common.opened()
    minute = _minute_of(at, "--at")
    if schedulers.is_dreaming_time(minute):
        reason = "OpenClaw rewrites its notes at 03:00; take a time before 02:45 or from 03:30 on"
        raise UsageError("--at", reason)
    if adviser and by != OPENCLAW:
        raise UsageError("--adviser", "needs --by openclaw, whose agent is asked")
    given = _wanted(catch_up=catch_up, commit=commit, push=push)
    wanted = schedule_jobs.parse_wake(wake, wake_token)
    if wanted is not None:
        schedule_jobs.check_wake(wanted, opened)
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
        schedule_jobs.put(scheduler, job, opened)
    lines = scheduler.plan(job)
    told = {"schema": "clsm.schedule/1", "by": scheduler.name, "at": at, "name": job.name}
    common.printer().show(
        {**told, "command": job.command, "lines": lines, "dry_run": dry_run},
        lines if dry_run else [f"every night at {at}, by {scheduler.name}"],
    )


@command("clsm schedule remove", group=app, no_effect=("now",))
def remove(*, by: str | None = BY, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Stop the nightly consolidation; the memory stays as it is."""
    opened = common.opened()
    name = schedule_jobs.name_of(opened)
    found = []
    is_asked = schedule_jobs.is_in_openclaw(opened)
    for scheduler in schedule_jobs.known_schedulers(by, asks_openclaw=is_asked):
        if scheduler.command(name) is not None:
            found.append(scheduler.name)
            if not dry_run:
                scheduler.remove(name)
        if scheduler.name == OPENCLAW and not dry_run:
            schedule_jobs.remember_openclaw(opened, has=False)
    common.printer().show(
        {"schema": "clsm.schedule-remove/1", "removed_from": found, "dry_run": dry_run},
        [f"removed from {', '.join(found)}" if found else "not installed"],
    )


@command("clsm schedule status", group=app)
def status(*, by: str | None = BY, common: Common) -> None:
    """Say who runs what, when next, and when a run last succeeded."""
    printer = common.printer()
    opened = common.opened()
    found = schedule_jobs.find_jobs(opened, by, common.time())
    printer.warn_all(found.silent)
    last = runs.read_nights(opened)
    lines = []
    for name, words in found.jobs.items():
        lines += [f"{name}: {' '.join(words)}", f"next run: {found.starts[name] or 'not known'}"]
    if not found.jobs and not found.silent:
        lines.append("not installed; install it with: clsm schedule install")
    lines.append(f"last good run: {last.good or 'none known'}")
    if last.failed:
        lines.append(f"failed since then: {last.failed}, the last one: {last.reason}")
    told = {"schema": "clsm.schedule-status/1", "jobs": found.jobs, "next": found.starts}
    printer.show({**told, "last": last.good, **fields(last, "failed reason")}, lines)


@command("clsm schedule run --commit", group=app)
def run(
    *,
    due: str | None = option("--due HH:MM", "Only if no run has succeeded since that hour."),
    catch_up: bool = CATCH_UP,
    commit: bool = COMMIT,
    push: bool = PUSH,
    wake: str | None = WAKE,
    wake_token: str | None = WAKE_TOKEN,
    common: Common,
) -> None:
    """Do now what the nightly job does.

    With --quiet only what failed is printed, on standard error. Ends with the exit code of the first
    step that failed.
    """
    printer = common.printer()
    wanted = schedule_jobs.parse_wake(wake, wake_token)
    moment = common.time()
    minute = None if due is None else _minute_of(due, "--due")
    try:
        opened = common.opened()
    except ClsmError as error:
        if wanted is not None:
            schedule_jobs.report_failure(wanted, None, moment, minute, str(error))
        raise
    steps: list[Step] = []
    woken = None
    if minute is None or schedule_jobs.is_due(opened, moment, minute):
        options = [] if common.now is None else ["--now", common.now]
        more = _wanted(catch_up=catch_up, commit=commit, push=push)
        night = schedule_jobs.run_night(opened, options, moment, more)
        is_early = schedulers.is_dreaming_time(60 * moment.hour + moment.minute)
        if minute is not None and is_early:
            night = iter([Step("run", LockedError.exit_code, "OpenClaw dreams now; later")])
            wanted = None
        for step in night:
            steps.append(step)
            _tell(printer, step)
        if wanted is not None:
            failed = [f"{step.name}: {step.told}" for step in steps if step.code]
            last = runs.read_nights(opened)
            # A consolidation that did what it could without a model ends well, and is no good one.
            reason = "; ".join(failed) or (f"consolidate: {last.reason}" if last.failed else "")
            if reason:
                woken = schedule_jobs.report_failure(wanted, opened, moment, minute, reason)
            else:
                schedule_jobs.report_changes(wanted, opened, moment)
    if common.as_json:
        told = [step._asdict() for step in steps]
        printer.json({"schema": "clsm.schedule-run/1", "steps": told, "woken": woken})
    if code := next((step.code for step in steps if step.code), 0):
        raise typer.Exit(code)


def _wanted(**steps: bool) -> list[str]:
    return [f"--{name.replace('_', '-')}" for name, is_wanted in steps.items() if is_wanted]


def _minute_of(text: str, option: str) -> int:
    minute = schedulers.minute_of(text)
    if minute is None:
        raise UsageError(option, f"{text!r} is no time of the day; write it like 03:30")
    return minute


def _tell(printer: Printer, step: Step) -> None:
    if step.code:
        Printer().warn(f"{step.name} failed ({step.code}): {step.told}")
    elif not (printer.as_json or printer.quiet):
        printer.lines([f"{step.name}: {step.told.splitlines()[0] if step.told else 'done'}"])
