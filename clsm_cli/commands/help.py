"""How a command's usage reads, and what it says when it is used wrongly."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from clsm_cli.commands.runtime import UsageError


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
