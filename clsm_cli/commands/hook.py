"""``clsm hook``: install clsm into the agents on this machine, or remove it."""

from __future__ import annotations

from clsm_cli.commands import hook_claude_code, hook_openclaw
from clsm_cli.commands.options import command_group

app = command_group("Put clsm into an agent, and take it out again.")
app.add_typer(hook_openclaw.app, name="openclaw")
app.add_typer(hook_claude_code.app, name="claude-code")
