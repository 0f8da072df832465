"""``clsm doctor``: check a store and repair it. First the command, then the rendering of findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from clsm_cli.commands import machine_settings, schedule_jobs
from clsm_cli.commands.command_line import DRY_RUN, Common, Option
from clsm_cli.commands.environment import chosen_root, environment
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, count_noun
from clsm_cli.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.health.diagnosis import CheckContext, Report
    from clsm_cli.health.findings import Finding
    from clsm_cli.store.layout import Store

SHOWN = 5
"""Findings of one code that are listed without --verbose."""
_TITLES = {"damage": "damaged", "warning": "warnings", "note": "notes"}
_MARKS = {"damage": "x", "warning": "!", "note": "·"}


@command(
    "clsm doctor",
    "clsm doctor --fix --dry-run    # what would be mended",
    "clsm doctor --fix",
    "clsm doctor --rebuild          # the index anew, from the files alone",
    fix=Option("--fix", "", "Mend what is safe; nothing is deleted, undo takes it back."),
    rebuild=Option("--rebuild", "", "Make the index anew."),
    dry_run=DRY_RUN,
)
def doctor(
    *, fix: bool = False, rebuild: bool = False, dry_run: bool = False, common: Common
) -> None:
    """Look for damage in the store, and mend what is safe.

    Files, records, references, digests, modes, the lock, the index, the model, settings, git, the
    nightly job.
    Without --fix and --rebuild nothing is written. With --fix, what cannot be read is moved to
    quarantine/ as it is, never deleted. Ends with 0 when nothing is damaged (there may be
    warnings), with 13 when damage remains, with 15 when only the model is damaged.
    """
    from clsm_cli.health import diagnosis
    from clsm_cli.health.diagnosis import CheckContext

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
        report = _fixed(opened, around, printer, fix=fix, rebuild=rebuild)
    else:
        report = diagnosis.examine(opened, around, broken)
    printer.show(
        _doctor_mapping(report, dry_run=dry_run),
        _doctor_lines(report, dry_run=dry_run, verbose=common.verbose),
    )
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _fixed(
    store: Store, around: CheckContext, printer: Printer, *, fix: bool, rebuild: bool
) -> Report:
    from clsm_cli.commands.engine import embedder
    from clsm_cli.health import diagnosis

    def progress(done: int, total: int) -> None:
        printer.progress("embedding", done, total)

    return diagnosis.fix(store, around, embedder(), progress, rebuild=rebuild, only_index=not fix)


def _doctor_lines(report: Report, *, dry_run: bool, verbose: bool) -> Iterator[str]:
    yield f"store {report.root}"
    for sentence in report.done:
        yield f"  mended  {sentence}"
    for severity, title in _TITLES.items():
        group = [each for each in report.findings if each.severity == severity]
        if group:
            yield ""
            yield f"{title}:"
            yield from _group(group, verbose=verbose)
    if report.findings or report.done:
        yield ""
    yield _summary(report, dry_run=dry_run)


def _group(findings: Sequence[Finding], *, verbose: bool) -> Iterator[str]:
    shown: dict[str, int] = {}
    for each in findings:
        shown[each.code] = shown.get(each.code, 0) + 1
        if verbose or shown[each.code] <= SHOWN:
            where = each.path if each.line is None else f"{each.path}, line {each.line}"
            place = f"{where}: " if where else ""
            step = "" if each.next_step == "nothing" else f"; {each.next_step}"
            yield f"  {_MARKS[each.severity]} {each.code:18} {place}{each.reason}{step}"
    for code, count in shown.items():
        if count > SHOWN and not verbose:
            yield f"    and {count - SHOWN} more of {code}; --verbose lists all"


def _summary(report: Report, *, dry_run: bool) -> str:
    counts = {name: _count(report.findings, name) for name in _TITLES}
    told = [
        f"{counts['damage']} damaged" if counts["damage"] else "",
        count_noun(counts["warning"], "warning") if counts["warning"] else "",
        count_noun(counts["note"], "note") if counts["note"] else "",
    ]
    text = ", ".join(filter(None, told))
    mends = sum(each.mends for each in report.findings)
    if report.is_fix:
        done = f"mended {len(report.mended)}"
        done += f" ({report.run}, clsm undo takes it back)" if report.run else ""
        return f"{done}; {text} left" if text else f"{done}; all is well"
    if not counts["damage"] and not counts["warning"]:
        return f"all is well ({text})" if text else "all is well"
    if dry_run:
        return f"{text}; clsm doctor --fix would mend {mends}, nothing was written"
    return f"{text}; clsm doctor --fix mends {mends}" if mends else text


def _count(findings: Iterable[Finding], severity: str) -> int:
    return sum(each.severity == severity for each in findings)


def _doctor_mapping(report: Report, *, dry_run: bool) -> dict[str, Any]:
    rows = [each._asdict() | {"mended": True} for each in report.mended]
    rows += [each._asdict() | {"mended": False} for each in report.findings]
    return {
        "schema": "clsm.doctor/1",
        "store": report.root,
        "dry_run": dry_run,
        "run": report.run,
        "counts": {name: _count(report.findings, name) for name in _TITLES},
        "findings": rows,
        "done": report.done,
        "exit_code": report.exit_code,
    }
