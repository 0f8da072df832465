"""``clsm undo``: revert a run."""

from clsm_cli.commands.command_line import DRY_RUN, Common, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import count_noun, first
from clsm_cli.forgetting import run_reversal

MAX_FILES = 10  # files that are listed without --verbose


@command(
    "clsm undo                    # the newest run that still stands",
    "clsm undo run-3a9c12d08e41   # this one; clsm status lists them",
    "clsm undo --redo             # it was right after all",
)
def undo(
    run: str | None = option("[RUN]", "Id of a run, or how it begins; default: the newest."),
    *,
    redo: bool = option("--redo", "Take an undo back: the newest, or that of RUN."),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Take a run of this machine back.

    Files become what they were, byte for byte, if nobody changed them since and no remote branch
    of git has them. Otherwise the old values are written as newer records. If somebody changed what
    the run wrote, nothing is undone and the message says what. A forget cannot be undone.
    """
    printer, opened, moment = common.start()
    done = run_reversal.undo(opened, run, moment, printer.warn, redo=redo, dry_run=dry_run)
    lines = _lines(done, dry_run=dry_run, verbose=common.verbose)
    printer.show({"schema": "clsm.undo/1", "dry_run": dry_run, **done._asdict()}, lines)


def _lines(done: run_reversal.UndoReport, *, dry_run: bool, verbose: bool) -> list[str]:
    lines = [f"{'redone' if done.is_redo else 'undone'}  {done.of}  {done.command}  {done.at}"]
    files = [f"{each.what:8}  {each.path}" for each in done.files]
    lines += first(files, MAX_FILES, whole=verbose)
    if done.is_exact:
        lines.append(f"{count_noun(len(done.files), 'file')} as before, byte for byte")
    else:
        lines.append(
            f"by newer records, as {done.reason}:"
            f" {count_noun(len(done.changed), 'record')} with the value from before,"
            f" {count_noun(len(done.withdrawn), 'statement')} withdrawn,"
            f" {count_noun(len(done.removed), 'derived record')} removed"
        )
    if done.is_completed:
        lines.append("this undo had been cut short, and is complete now")
    return [*lines, *["nothing was written"] * dry_run]
