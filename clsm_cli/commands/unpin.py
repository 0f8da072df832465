"""``clsm unpin``: let consolidation change pinned records again."""

from __future__ import annotations

from clsm_cli.commands.command_line import DRY_RUN
from clsm_cli.commands.options import Common, command
from clsm_cli.commands.pin import WANTED, run


@command(
    "clsm unpin f-3a9c12d08e41",
    "clsm unpin bell delegation-defect   # all of them, or none",
    wanted=WANTED,
    dry_run=DRY_RUN,
)
def unpin(wanted: list[str], *, dry_run: bool = False, common: Common) -> None:
    """Let some records change again.

    From then on a consolidation may close or change them, and decay may archive them. Either
    everything named is unpinned, or nothing.
    """
    printer = common.printer()
    run(printer, wanted, common.store, common.now, is_pinned=False, dry_run=dry_run)
