"""``clsm unpin``: let consolidation change again what was pinned."""

from __future__ import annotations

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
from clsm_cli.commands.pin import WantedArgument, run

EXAMPLES = examples(
    "clsm unpin f-3a9c12d08e41", "clsm unpin bell delegation-defect   # all of them, or none"
)


def unpin(
    wanted: WantedArgument,
    *,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    now: NowOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Let some records change again.

    From then on a consolidation may close or change them, and decay may archive them. Either
    everything named is unpinned, or nothing.
    """
    printer = Printer(as_json=as_json, quiet=quiet, verbose=verbose)
    run(printer, wanted, store, now, is_pinned=False, dry_run=dry_run)
