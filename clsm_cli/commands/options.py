"""Options that every command has, and what they mean: store, time, how to print.

A script may pass ``--store`` and ``--now`` to every command; where one has no effect, its help says
so, and a value that is no time is still refused.

How a command's usage reads, and what it says when it is used wrongly.
"""

from __future__ import annotations

from datetime import UTC
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from clsm_cli.commands.environment import UsageError, parse_time


def _checked_time(text: str | None) -> str | None:
    if text is not None:
        try:
            parse_time(text, UTC, "--now")
        except UsageError as error:
            raise typer.BadParameter(str(error)) from None
    return text


StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="DIR",
        help="The memory store. Else CLSM_STORE, else the nearest parent folder with clsm.yaml,"
        " else ~/.clsm/memory.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
NoStoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="DIR", help="No effect here; every command takes it."),
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print data only: no progress, no warnings.")
]
VerboseOption = Annotated[bool, typer.Option("--verbose", "-v", help="Print more detail.")]
NowOption = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="Take this as the current time (ISO 8601) instead of the clock.",
    ),
]
NoNowOption = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        callback=_checked_time,
        help="No effect here; every command takes it.",
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Go on even if much would be withdrawn at once.")
]


def examples(*lines: str) -> str:
    """The end of a help text: examples, each on a line of its own."""
    unwrapped = "\b"  # Typer's mark for a paragraph that keeps its lines
    return "\n".join([unwrapped, "Examples:", *(f"  {line}" for line in lines)])


class Command(TyperCommand):
    """A command whose required arguments stand plain: ``PATH...``, where Typer writes ``{PATH...}``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words behind the command's name in its usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what cannot be used as it was given is a usage error (exit code 2)."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param_hint=error.option) from None
