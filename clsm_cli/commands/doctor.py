"""``clsm doctor``: check a store and repair it."""

from collections.abc import Iterator
from functools import partial

import typer

from clsm_cli.commands import machine_settings, schedule
from clsm_cli.commands.command_line import DRY_RUN, Common, chosen_root, environment, option
from clsm_cli.commands.engine import embedder
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, fields, first
from clsm_cli.errors import BadInputError, RefusedError, file_line
from clsm_cli.health import diagnosis
from clsm_cli.health.diagnosis import Diagnosis
from clsm_cli.health.findings import Finding
from clsm_cli.health.store_snapshot import CheckContext
from clsm_cli.model.grouping import grouped

MAX_FINDINGS = 5  # findings of one code that are listed without --verbose
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

    Files, records, references, digests, modes, the index, the model, settings, git, the nightly
    job.
    Without --fix and --rebuild nothing is written. With --fix, what cannot be read is moved to
    quarantine/ as it is, never deleted. Ends with 0 when nothing is damaged (there may be
    warnings), with 13 when damage remains, with 15 when only the model is damaged.
    """
    printer = common.printer()
    values = environment()
    opened, broken = diagnosis.open_any_store(chosen_root(common.store), values)
    fault = ""
    try:
        machine_settings.load_settings(opened.root, values)
    except BadInputError as error:
        fault = str(error)
    context = CheckContext(
        common.time(opened.zone),
        values,
        jobs=schedule.job_commands(opened),
        fault=fault,
    )
    is_to_write = (fix or rebuild) and not dry_run
    if broken and is_to_write:
        step = "mend it by hand or restore it from git, then run the same command again"
        raise RefusedError(str(opened.root / broken[0].path), broken[0].reason, step)
    if is_to_write:
        progress = partial(printer.progress, "embedding")
        report = diagnosis.fix(
            opened, context, embedder(), progress, rebuild=rebuild, only_index=not fix
        )
    else:
        report = diagnosis.examine(opened, context, broken)
    counts = {name: sum(e.severity == name for e in report.findings) for name in _TITLES}
    rows = [each._asdict() | {"mended": True} for each in report.mended]
    rows += [each._asdict() | {"mended": False} for each in report.findings]
    mapping = {"schema": "clsm.doctor/1", "store": report.root, "dry_run": dry_run}
    mapping |= {"run": report.run, "counts": counts, "findings": rows}
    mapping |= fields(report, "done exit_code")
    printer.show(mapping, _lines(report, counts, dry_run=dry_run, verbose=common.verbose))
    if report.exit_code:
        raise typer.Exit(report.exit_code)


def _lines(
    report: Diagnosis, counts: dict[str, int], *, dry_run: bool, verbose: bool
) -> Iterator[str]:
    yield f"store {report.root}"
    yield from (f"  mended  {sentence}" for sentence in report.done)
    for severity, title in _TITLES.items():
        found = (each for each in report.findings if each.severity == severity)
        groups = grouped((each.code, _line(each)) for each in found)
        if groups:
            yield from ("", f"{title}:")
        for lines in groups.values():
            yield from first(lines, MAX_FINDINGS, whole=verbose)
    if report.findings or report.done:
        yield ""
    yield _summary(report, counts, dry_run=dry_run)


def _line(found: Finding) -> str:
    place = f"{file_line(found.path, found.line)}: " if found.path else ""
    step = "" if found.next_step == "nothing" else f"; {found.next_step}"
    return f"  {_MARKS[found.severity]} {found.code:18} {place}{found.reason}{step}"


def _summary(report: Diagnosis, counts: dict[str, int], *, dry_run: bool) -> str:
    damaged, warnings, notes = counts["damage"], counts["warning"], counts["note"]
    numbers = (f"{damaged} damaged", count_noun(warnings, "warning"), count_noun(notes, "note"))
    text = ", ".join(each for each in numbers if not each.startswith("0 "))
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
