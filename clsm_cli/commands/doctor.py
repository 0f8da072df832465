"""``clsm doctor``: what is wrong with a store, and the mending of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import machine_settings, schedule_jobs
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
from clsm_cli.commands.render_doctor import doctor_lines, doctor_mapping
from clsm_cli.commands.runtime import chosen_root, current_time, environment
from clsm_cli.errors import RefusedError

if TYPE_CHECKING:
    from clsm_cli.health.check import Around
    from clsm_cli.health.doctor import Report
    from clsm_cli.store.layout import Store

EXAMPLES = examples(
    "clsm doctor",
    "clsm doctor --fix --dry-run    # what would be mended",
    "clsm doctor --fix",
    "clsm doctor --rebuild          # the index anew, from the files alone",
)


def doctor(
    *,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Mend what is safe; nothing is deleted, undo takes it back."),
    ] = False,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the index anew.")] = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Look for damage in the store, and mend what is safe.

    Files, records, references, digests, modes, the lock, the index, the model, settings, git, the
    nightly job.
    Without --fix and --rebuild nothing is written. With --fix, what cannot be read is moved to
    quarantine/ as it is, never deleted. Ends with 0 when nothing is damaged (there may be
    warnings), with 13 when damage remains, with 15 when only the model is damaged.
    """
    from clsm_cli.health import doctor as use_case
    from clsm_cli.health.check import Around

    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    values = environment()
    opened, broken = use_case.opened(chosen_root(store), values)
    around = Around(
        current_time(now, opened.zone),
        values,
        jobs=schedule_jobs.jobs(opened),
        fault=machine_settings.fault(opened.root, values),
    )
    is_to_write = (fix or rebuild) and not dry_run
    if broken and is_to_write:
        step = "mend it by hand or restore it from git, then run the same command again"
        raise RefusedError(str(opened.root / broken[0].path), broken[0].reason, step)
    if is_to_write:
        report = _fixed(opened, around, printer, fix=fix, rebuild=rebuild)
    else:
        report = use_case.examine(opened, around, broken)
    if as_json:
        printer.json(doctor_mapping(report, dry_run=dry_run))
    else:
        printer.lines(doctor_lines(report, dry_run=dry_run, verbose=verbose))
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _fixed(store: Store, around: Around, printer: Printer, *, fix: bool, rebuild: bool) -> Report:
    from clsm_cli.commands.engine import embedder
    from clsm_cli.health import doctor as use_case

    def progress(done: int, total: int) -> None:
        printer.progress("embedding", done, total)

    try:
        return use_case.fix(
            store, around, embedder(), progress, rebuild=rebuild, only_index=not fix
        )
    finally:
        printer.end_progress()
