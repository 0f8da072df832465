"""``clsm unpin``: let consolidation change pinned records again."""

from __future__ import annotations

from clsm_cli.commands.options import Common, DryRunOption, examples, takes_common
from clsm_cli.commands.pin import WantedArgument, run

EXAMPLES = examples(
    "clsm unpin f-3a9c12d08e41", "clsm unpin bell delegation-defect   # all of them, or none"
)


@takes_common()
def unpin(wanted: WantedArgument, *, dry_run: DryRunOption = False, common: Common) -> None:
    """Let some records change again.

    From then on a consolidation may close or change them, and decay may archive them. Either
    everything named is unpinned, or nothing.
    """
    printer = common.printer()
    run(printer, wanted, common.store, common.now, is_pinned=False, dry_run=dry_run)
