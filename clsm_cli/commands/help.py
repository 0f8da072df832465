"""How a command's usage line reads."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class Command(TyperCommand):
    """A command whose required arguments stand plain: ``PATH...``, where Typer writes ``{PATH...}``."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words behind the command's name in its usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]
