"""One command in this process, where a process of its own is not the point: errors are raised as they are."""

import json
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.testing import CliRunner, Result

from clsm_cli.commands import MODULES
from clsm_cli.commands.options import Command
from clsm_cli.store.layout import Store


@cache
def _alone(name: str) -> typer.Typer:
    """A command without the others, and without the boundary that turns errors into exit codes."""
    module = import_module(f"clsm_cli.commands.{MODULES.get(name, name)}")
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name, cls=Command)(getattr(module, name))
    return app


@dataclass(frozen=True)
class InProcess:
    """Runs a command on a store at a time."""

    command: str
    now: str

    def run(self, store: Store, *words: str | Path, **given: Any) -> Result:
        """However it ends; it is given an ``input`` or an ``env``."""
        where = ["--store", str(store.root), "--now", self.now]
        return CliRunner().invoke(_alone(self.command), [*where, *map(str, words)], **given)

    def ok(self, store: Store, *words: str | Path) -> str:
        """What it prints; it must succeed."""
        done = self.run(store, *words)
        assert done.exit_code == 0, (done.output, done.exception)
        return done.stdout

    def data(self, store: Store, *words: str | Path) -> Any:
        return json.loads(self.ok(store, "--json", *words))
