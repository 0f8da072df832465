"""``clsm doctor``: check a store and repair it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

import typer

from clsm_cli.commands import machine_settings, schedule_jobs
from clsm_cli.commands.command_line import DRY_RUN, Common, option
from clsm_cli.commands.environment import chosen_root, environment
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun
from clsm_cli.errors import RefusedError
from clsm_cli.health.diagnosis import CheckContext, Report
from clsm_cli.health.findings import Finding

SHOWN = 5
"""Findings of one code that are listed without --verbose."""
_TITLES = {"damage": "damaged", "warning": "warnings", "note": "notes"}
_MARKS = {"damage": "x", "warning": "!", "note": "·"}


@command(
    "clsm doctor",
    "clsm doctor --fix --dry-run    # what would be mended",
    "clsm doctor --fix",
    "clsm doctor --rebuild          # the index anew, from the files alone",
)
def doctor(
    *,
    fix: bool = option("--fix", "Mend what is safe; nothing is deleted, undo takes it back."),
    rebuild: bool = option("--rebuild", "Make the index anew."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Look for damage in the store, and mend what is safe.

    Files, records, references, digests, modes, the lock, the index, the model, settings, git, the
    nightly job.
    Without --fix and --rebuild nothing is written. With --fix, what cannot be read is moved to
    quarantine/ as it is, never deleted. Ends with 0 when nothing is damaged (there may be
    warnings), with 13 when damage remains, with 15 when only the model is damaged.
    """
    from clsm_cli.health import diagnosis

    printer = common.printer()
    values = environment()
    opened, broken = diagnosis.open_any_store(chosen_root(common.store), values)
    around = CheckContext(
        common.time(opened.zone),
        values,
        jobs=schedule_jobs.job_commands(opened),
        fault=machine_settings.settings_fault(opened.root, values),
    )
    is_to_write = (fix or rebuild) and not dry_run
    if broken and is_to_write:
        step = "mend it by hand or restore it from git, then run the same command again"
        raise RefusedError(str(opened.root / broken[0].path), broken[0].reason, step)
    if is_to_write:
        from clsm_cli.commands.engine import embedder

        progress = partial(printer.progress, "embedding")
        report = diagnosis.fix(
            opened, around, embedder(), progress, rebuild=rebuild, only_index=not fix
        )
    else:
        report = diagnosis.examine(opened, around, broken)
    counts = {name: sum(e.severity == name for e in report.findings) for name in _TITLES}
    found = [(report.mended, True), (report.findings, False)]
    rows = [each._asdict() | {"mended": is_mended} for of, is_mended in found for each in of]
    told = {"schema": "clsm.doctor/1", "store": report.root, "dry_run": dry_run, "run": report.run}
    told |= {"counts": counts, "findings": rows, "done": report.done, "exit_code": report.exit_code}
    printer.show(told, _lines(report, counts, dry_run=dry_run, verbose=common.verbose))
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _lines(
    report: Report, counts: dict[str, int], *, dry_run: bool, verbose: bool
) -> Iterator[str]:
    yield f"store {report.root}"
    yield from (f"  mended  {sentence}" for sentence in report.done)
    for severity, title in _TITLES.items():
        if counts[severity]:
            yield from ("", f"{title}:")
            yield from _group([e for e in report.findings if e.severity == severity], verbose)
    if report.findings or report.done:
        yield ""
    yield _summary(report, counts, dry_run=dry_run)


def _group(findings: Sequence[Finding], verbose: bool) -> Iterator[str]:
    shown: Counter[str] = Counter()
    for each in findings:
        shown[each.code] += 1
        if verbose or shown[each.code] <= SHOWN:
            where = each.path if each.line is None else f"{each.path}, line {each.line}"
            place = f"{where}: " if where else ""
            step = "" if each.next_step == "nothing" else f"; {each.next_step}"
            yield f"  {_MARKS[each.severity]} {each.code:18} {place}{each.reason}{step}"
    for code, count in shown.items():
        if count > SHOWN and not verbose:
            yield f"    and {count - SHOWN} more of {code}; --verbose lists all"


def _summary(report: Report, counts: dict[str, int], *, dry_run: bool) -> str:
    damaged, warnings, notes = counts["damage"], counts["warning"], counts["note"]
    told = [f"{damaged} damaged"] * bool(damaged)
    told += [count_noun(warnings, "warning")] * bool(warnings)
    text = ", ".join(told + [count_noun(notes, "note")] * bool(notes))
    mends = sum(each.mends for each in report.findings)
    if report.is_fix:
        done = f"mended {len(report.mended)}"
        done += f" ({report.run}, clsm undo takes it back)" if report.run else ""
        return f"{done}; {text} left" if text else f"{done}; all is well"
    if not damaged and not warnings:
        return f"all is well ({text})" if text else "all is well"
    if dry_run:
        return f"{text}; clsm doctor --fix would mend {mends}, nothing was written"
    return f"{text}; clsm doctor --fix mends {mends}" if mends else text
