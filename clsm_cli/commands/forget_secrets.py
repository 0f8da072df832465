"""``clsm forget --secrets``: mask what an older version stored in clear."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from clsm_cli.commands.output import Printer, is_terminal
from clsm_cli.commands.render_forget import masked_lines, receipt_mapping
from clsm_cli.errors import RefusedError
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from datetime import datetime

    from clsm_cli.forgetting.masking import Masked
    from clsm_cli.store.layout import Store

_COMMAND = "clsm forget --secrets"


def run(
    printer: Printer,
    store: Store,
    now: datetime,
    *,
    yes: bool,
    purge_history: bool,
    dry_run: bool,
) -> None:
    """Show kinds, numbers and places, have it confirmed, mask.

    Raises:
        RefusedError: It was not confirmed, or nobody can be asked.
    """
    from clsm_cli.commands import engine
    from clsm_cli.forgetting import masking, past, writing
    from clsm_cli.retrieval import briefing

    tree = past.check(store) if purge_history else None
    plan = masking.plan(store, now, purge_history=purge_history)
    receipt = plan.receipt
    if receipt.files and not dry_run:
        if not yes:
            _ask(receipt)
        receipt = masking.apply(store, plan, now, engine.embedder())
        briefing.prepare(store)
    if tree is not None and not dry_run:
        told = writing.traces_of(store, plan.writes)
        receipt = receipt._replace(history=past.purge(store, tree, told))
    printer.warn_all(receipt.warnings)
    if printer.as_json:
        printer.json(receipt_mapping(receipt, dry_run=dry_run))
    else:
        printer.lines(masked_lines(receipt, is_done=not dry_run))


def _ask(receipt: Masked) -> None:
    if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
        raise RefusedError(_COMMAND, "cannot be undone and asks first", "say so with --yes")
    for line in masked_lines(receipt, is_done=False):
        typer.echo(safe(line), err=True)
    if not typer.confirm("Mask all this for good?", err=True):
        raise RefusedError(_COMMAND, "nothing was masked", "run it again if you want to")
