"""``clsm schedule run``: what the nightly job does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import run_night, schedule_wake
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import (
    JsonOption,
    NowOption,
    QuietOption,
    StoreOption,
    VerboseOption,
    examples,
)
from clsm_cli.commands.output import Printer
from clsm_cli.commands.runtime import UsageError, chosen_store, current_time
from clsm_cli.errors import ClsmError, LockedError
from clsm_cli.ingestion.report import utc
from clsm_cli.integrations import schedule as plan
from clsm_cli.store import nights

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from clsm_cli.store.layout import Store

CatchUpOption = Annotated[
    bool, typer.Option("--catch-up", help="Take in the transcripts of OpenClaw first.")
]
CommitOption = Annotated[
    bool, typer.Option("--commit", help="Commit the memory to git at the end.")
]
PushOption = Annotated[bool, typer.Option("--push", help="Push it too.")]
WakeOption = Annotated[
    str | None,
    typer.Option("--wake", metavar="URL", help="Tell OpenClaw's wake hook of a night that failed."),
]
WakeTokenOption = Annotated[
    str | None,
    typer.Option(
        "--wake-token",
        metavar="FILE",
        help="Holds the token of that hook; nobody else may be able to read it.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the command to ``clsm schedule``."""
    app.command("run", cls=Command, epilog=examples("clsm schedule run --commit"))(run)


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
    wake: WakeOption = None,
    wake_token: WakeTokenOption = None,
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
    wanted = schedule_wake.wake_of(wake, wake_token)
    moment = current_time(now)
    minute = None if due is None else plan.minute_of(due)
    if due is not None and minute is None:
        raise UsageError("--due", f"{due!r} is no time of the day; write it like 03:30")
    try:
        opened = chosen_store(store)
    except ClsmError as error:
        if wanted is not None:
            schedule_wake.tell(wanted, None, moment, minute, str(error))
        raise
    steps: list[run_night.Step] = []
    is_due = minute is None or run_night.is_due(opened, moment, minute)
    woken = None
    if is_due and minute is not None and plan.disturbs_at(moment):
        steps.append(run_night.Step("run", LockedError.exit_code, "OpenClaw dreams now; later"))
        _tell(printer, steps[0])
    elif is_due:
        options = [] if now is None else ["--now", now]
        for step in _night(opened, options, moment, catch_up=catch_up, commit=commit, push=push):
            steps.append(step)
            _tell(printer, step)
        if wanted is not None:
            woken = schedule_wake.ended(wanted, opened, moment, minute, _reason(opened, steps))
    if as_json:
        told = [step._asdict() for step in steps]
        printer.json({"schema": "clsm.schedule-run/1", "steps": told, "woken": woken})
    code = next((step.code for step in steps if step.code), 0)
    if code:
        raise typer.Exit(code)


def _night(
    store: Store,
    options: list[str],
    now: datetime,
    *,
    catch_up: bool,
    commit: bool,
    push: bool,
) -> Iterator[run_night.Step]:
    """The steps; one that failed without writing that down is written down."""
    message = f"clsm: night of {now:%Y-%m-%d}"
    known = nights.read(store).failed
    for step in run_night.steps(
        store, options, catch_up=catch_up, commit=commit, push=push, message=message
    ):
        if step.code and nights.read(store).failed == known:
            nights.failed(store, utc(now), f"{step.name}: {step.told}")
        known = nights.read(store).failed
        yield step


def _reason(store: Store, steps: list[run_night.Step]) -> str | None:
    """Why a night failed; None for a good one, which leaves no failure written down."""
    failed = [f"{step.name}: {step.told}" for step in steps if step.code]
    last = nights.read(store)
    # A consolidation that did what it could without a model ends well, and is no good one.
    return "; ".join(failed) or (f"consolidate: {last.reason}" if last.failed else None)


def _tell(printer: Printer, step: run_night.Step) -> None:
    if step.code:
        Printer().warn(f"{step.name} failed ({step.code}): {step.told}")
    elif not (printer.as_json or printer.quiet):
        printer.lines([f"{step.name}: {step.told.splitlines()[0] if step.told else 'done'}"])
