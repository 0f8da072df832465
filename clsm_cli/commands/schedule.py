"""``clsm schedule``: consolidate and decay every night, by whoever starts jobs on this machine."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import run_night
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import (
    DryRunOption,
    JsonOption,
    NoNowOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import (
    UsageError,
    chosen_store,
    current_time,
    environment,
    program,
)
from clsm_cli.errors import BadInputError, LockedError
from clsm_cli.ingestion.report import utc
from clsm_cli.integrations import schedule as plan
from clsm_cli.integrations.schedulers import Crontab, OpenClawCron, Systemd
from clsm_cli.store import atomic, nights

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.integrations.schedulers import Scheduler
    from clsm_cli.store.layout import Store

_KEPT = ("CLSM_MODEL_DIR", "CLSM_DEVICE", "XDG_DATA_HOME", "OPENCLAW_STATE_DIR")
"""Of the environment: a job is started with hardly any."""

app = typer.Typer(
    help="Consolidate and decay every night.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class By(StrEnum):
    """Who starts the job."""

    systemd = "systemd"
    crontab = "crontab"
    openclaw = "openclaw"


ByOption = Annotated[
    By | None,
    typer.Option("--by", help="Who starts it; default: systemd where it runs, else the crontab."),
]
CatchUpOption = Annotated[
    bool, typer.Option("--catch-up", help="Take in the transcripts of OpenClaw first.")
]
CommitOption = Annotated[
    bool, typer.Option("--commit", help="Commit the memory to git at the end.")
]
PushOption = Annotated[bool, typer.Option("--push", help="Push it too.")]


@app.command(
    "install",
    cls=Command,
    epilog=examples(
        "clsm schedule install --dry-run   # what would be written, and where",
        "clsm schedule install",
        "clsm schedule install --at 04:15 --commit --push",
        "clsm schedule install --by openclaw --catch-up",
    ),
)
def install(
    *,
    at: Annotated[str, typer.Option("--at", metavar="HH:MM", help="When, local time.")] = "03:30",
    by: ByOption = None,
    catch_up: CatchUpOption = False,
    commit: CommitOption = False,
    push: PushOption = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    _now: NoNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Have the memory consolidated every night; a second time replaces the first.

    It runs at low priority, waits for a memory that is busy, and does nothing where a run has
    succeeded since that hour. A night that was missed is caught up. How it went: clsm status.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    minute = plan.minute_of(at)
    if minute is None:
        raise UsageError("--at", f"{at!r} is no time of the day; write it like 03:30")
    if plan.disturbs(minute):
        reason = "OpenClaw rewrites its notes at 03:00; take a time before 02:45 or from 03:30 on"
        raise UsageError("--at", reason)
    steps = {"--catch-up": catch_up, "--commit": commit, "--push": push}
    given = [name for name, is_wanted in steps.items() if is_wanted]
    words = ["schedule", "run", "--due", at, *given, "--quiet", "--store", str(opened.root)]
    kept = {name: value for name in _KEPT if (value := environment().get(name))}
    job = plan.Job(_name(opened), str(opened.root), minute, (*program(), *words), kept)
    if any("\n" in word for word in (*job.command, *kept.values())):
        raise UsageError("--store", "a path with a line break cannot stand in a schedule")
    scheduler = _all(by)[0]
    if not dry_run:
        scheduler.install(job)
        for other in _others(scheduler):
            if other.command(job.name) is not None:
                other.remove(job.name)
    lines = scheduler.plan(job)
    if as_json:
        told = {"schema": "clsm.schedule/1", "by": scheduler.name, "at": at, "name": job.name}
        printer.json({**told, "command": list(job.command), "lines": lines, "dry_run": dry_run})
    elif dry_run:
        printer.lines(lines)
    else:
        printer.lines([f"every night at {at}, by {scheduler.name}"])


@app.command("remove", cls=Command, epilog=examples("clsm schedule remove"))
def remove(
    *,
    by: ByOption = None,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    _now: NoNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Have the memory consolidated no more; it stays as it is."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    name = _name(chosen_store(store))
    there = [scheduler for scheduler in _all(by) if scheduler.command(name) is not None]
    for scheduler in there:
        if not dry_run:
            scheduler.remove(name)
    found = [scheduler.name for scheduler in there]
    if as_json:
        told = {"schema": "clsm.schedule-remove/1", "removed_from": found}
        printer.json({**told, "dry_run": dry_run})
    else:
        printer.lines([f"removed from {', '.join(found)}" if found else "not installed"])


@app.command("status", cls=Command, epilog=examples("clsm schedule status"))
def status(
    *,
    by: ByOption = None,
    store: StoreOption = None,
    _now: NoNowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Say who runs what, and when a run last succeeded."""
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    found = _jobs(opened, _all(by))
    last = nights.read(opened)
    if as_json:
        told = {"schema": "clsm.schedule-status/1", "jobs": found, "last": last.good}
        printer.json({**told, "failed": last.failed, "reason": last.reason})
        return
    lines = [f"{name}: {' '.join(command)}" for name, command in found.items()]
    printer.lines(lines or ["not installed; install it with: clsm schedule install"])
    printer.lines([f"last good run: {last.good or 'none known'}"])
    if last.failed:
        printer.lines([f"failed since then: {last.failed}, the last one: {last.reason}"])


@app.command("run", cls=Command, epilog=examples("clsm schedule run --commit"))
def run(
    *,
    due: Annotated[
        str | None,
        typer.Option(
            "--due", metavar="HH:MM", help="Only if no run has succeeded since that hour."
        ),
    ] = None,
    catch_up: CatchUpOption = False,
    commit: CommitOption = False,
    push: PushOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Do now what the nightly job does.

    With --quiet only what failed is printed, on standard error. Ends with the exit code of the first
    step that failed.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    opened = chosen_store(store)
    moment = current_time(now)
    minute = None if due is None else plan.minute_of(due)
    if due is not None and minute is None:
        raise UsageError("--due", f"{due!r} is no time of the day; write it like 03:30")
    steps: list[run_night.Step] = []
    is_due = minute is None or run_night.is_due(opened, moment, minute)
    if is_due and minute is not None and plan.disturbs(moment.hour * 60 + moment.minute):
        steps.append(run_night.Step("run", LockedError.exit_code, "OpenClaw dreams now; later"))
        _tell(printer, steps[0])
    elif is_due:
        options = [] if now is None else ["--now", now]
        message = f"clsm: night of {moment:%Y-%m-%d}"
        for step in run_night.steps(
            opened, options, catch_up=catch_up, commit=commit, push=push, message=message
        ):
            steps.append(step)
            _tell(printer, step)
            if step.code and step.name != "consolidate":  # which says so itself
                nights.failed(opened, utc(moment), f"{step.name}: {step.told}")
    if as_json:
        printer.json({"schema": "clsm.schedule-run/1", "steps": [s._asdict() for s in steps]})
    code = next((step.code for step in steps if step.code), 0)
    if code:
        raise typer.Exit(code)


def jobs(store: Store) -> dict[str, list[str]]:
    """The command line of the store's job by who starts it; nothing where nobody can be asked."""
    try:
        return _jobs(store, _all())
    except (BadInputError, OSError):
        return {}


def _jobs(store: Store, schedulers: list[Scheduler]) -> dict[str, list[str]]:
    name = _name(store)
    return {s.name: command for s in schedulers if (command := s.command(name)) is not None}


def _tell(printer: Printer, step: run_night.Step) -> None:
    if step.code:
        Printer().warn(f"{step.name} failed ({step.code}): {step.told}")
    elif not (printer.as_json or printer.quiet):
        printer.lines([f"{step.name}: {step.told.splitlines()[0] if step.told else 'done'}"])


def _name(store: Store) -> str:
    """The name of the store's job: another store on the same machine has another."""
    return f"clsm-{hashlib.sha256(str(store.root).encode()).hexdigest()[:8]}"


def _all(by: By | None = None) -> list[Scheduler]:
    """Those that are here, or the one that the user names.

    OpenClaw only where it is named: it answers when its gateway runs, and takes seconds.

    Raises:
        BadInputError: None is here.
    """
    here = environment()
    known: tuple[Systemd | Crontab | OpenClawCron, ...] = (Systemd(here, _write), Crontab(here))
    if by is By.openclaw:
        known = (OpenClawCron(here),)
    found = [s for s in known if (by is None or s.name == by) and s.is_there()]
    if not found:
        what = "systemd and crontab" if by is None else by.value
        raise BadInputError(
            what, "cannot be used here", "let what you have run, once a night: clsm schedule run"
        )
    return list(found)


def _others(scheduler: Scheduler) -> list[Scheduler]:
    """Those that are here besides; not OpenClaw, see ``_all``."""
    try:
        return [other for other in _all() if other.name != scheduler.name]
    except BadInputError:
        return []


def _write(path: Path, data: bytes) -> None:
    atomic.make_folder(path.parent)
    atomic.put(path, data)
