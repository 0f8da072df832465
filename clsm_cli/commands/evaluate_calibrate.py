"""``clsm eval calibrate``: set the floor of confidence on your own labelled queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clsm_cli.commands.command_line import DRY_RUN
from clsm_cli.commands.options import Common, command
from clsm_cli.commands.output import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.evaluation.own.calibration import Calibration

SCHEMA = "clsm.calibrate/1"


@command(
    "clsm eval calibrate --dry-run      # the table only",
    "clsm eval calibrate                # writes recall.floor into clsm.yaml",
    "clsm undo                          # takes it back",
    dry_run=DRY_RUN,
)
def calibrate(*, dry_run: bool = False, common: Common) -> None:
    """Set the confidence below which recall says nothing, by your own labelled queries.

    The largest floor is chosen that should silence at most 1 in 50 of the queries that have an
    answer. Only recall.floor in clsm.yaml changes; "clsm undo" takes it back.
    """
    from clsm_cli.commands.evaluate_shared import make_factory, open_engine
    from clsm_cli.evaluation.own import calibration

    printer, opened, moment = common.start()
    factory = make_factory(printer, opened.derived, moment.isoformat(), fresh=False)
    found = calibration.calibrate(opened, factory, open_engine())
    if not dry_run:
        found = replace(found, run=calibration.apply(opened, found, moment))
    printer.warn_all(found.notes)
    printer.show(
        {"schema": SCHEMA, "dry_run": dry_run, **plain(found)}, _lines(found, dry_run=dry_run)
    )


def _lines(found: Calibration, *, dry_run: bool) -> Iterator[str]:
    yield f"{found.answerable} queries with an answer, {found.negative} without"
    yield f"AUROC of the confidence {found.auroc:.3f}"
    yield ""
    yield f"{'floor':>7}  {'without, refused':>18}  {'with, silenced':>18}"
    for point in found.points:
        refused = _share(point.refused, found.negative)
        silenced = _share(point.silenced, found.answerable)
        names = [("now", found.before), ("chosen", found.after)]
        said = ", ".join(name for name, floor in names if floor == point.floor)
        yield f"{point.floor:7.3f}  {refused:>18}  {silenced:>18}  {said}".rstrip()
    yield ""
    if found.after == found.before:
        yield "the floor is right as it is"
    elif dry_run:
        yield "nothing was written"
    else:
        yield f"recall.floor is {found.after:g} now; run {found.run}, clsm undo takes it back"


def _share(count: int, total: int) -> str:
    return f"{count} of {total} ({count / total:.1%})"
