"""``clsm hook``: install clsm into the agents on this machine, or remove it."""

from __future__ import annotations

import typer

from clsm_cli.commands import hook_claude_code, hook_openclaw

app = typer.Typer(
    help="Put clsm into an agent, and take it out again.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
app.add_typer(hook_openclaw.app, name="openclaw")
app.add_typer(hook_claude_code.app, name="claude-code")
