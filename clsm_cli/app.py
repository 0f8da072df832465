"""The Typer application: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from clsm_cli import version
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import examples
from clsm_cli.commands.output import abandon_stdout
from clsm_cli.errors import ClsmError
from clsm_cli.text.terminal import safe

COMMANDS = ("init", "note", "ingest", "recall", "search", "show", "status", "model")
"""Their names, in the order in which the help lists them; ``search`` is ``recall``."""


class Commands(Mapping[str, Any]):
    """The commands by name, each imported and built when it is first asked for.

    Building all of them would take half of the time that a hook may take to write down a turn.
    """

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The command of that name.

        Raises:
            KeyError: There is none.
        """
        if name not in self._built:
            self._built[name] = _build(name)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        """The names, in order."""
        return iter(COMMANDS)

    def __len__(self) -> int:
        """How many there are."""
        return len(COMMANDS)


def _build(name: str) -> Any:
    if name not in COMMANDS:
        raise KeyError(name)
    module = import_module(f"clsm_cli.commands.{'recall' if name == 'search' else name}")
    single = getattr(module, "app", None)
    if single is None:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        function = module.recall if name == "search" else getattr(module, name)
        register = single.command(
            name, cls=Command, epilog=module.EXAMPLES, hidden=name == "search"
        )
        register(function)
    command = typer.main.get_command(single)
    command.name = name
    return command


class Boundary(TyperGroup):
    """Runs a command; an expected error is one sentence on stderr and the code its class owns.

    Usage errors (2) and Ctrl-C (130) are Typer's; anything else is a bug: a traceback and 1.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = Commands()  # type: ignore[assignment]  # it is only read

    def invoke(self, ctx: Any) -> Any:
        """Invoke the command that was named."""
        try:
            return super().invoke(ctx)
        except ClsmError as error:
            if sys.stderr is not None:
                print(f"clsm: {safe(str(error))}", file=sys.stderr)
            raise typer.Exit(error.exit_code) from error
        except BrokenPipeError:
            # The reader of our output went away (``clsm recall x | head -1``): not an error.
            abandon_stdout()
            raise typer.Exit(0) from None


app = typer.Typer(
    cls=Boundary,
    name="clsm",
    help="A memory for a persistent agent: what was said and written, found again.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "clsm init", "clsm ingest ~/.openclaw/workspace", "clsm recall delegation defect"
    ),
)


def _print_version(asked: bool) -> None:
    if asked:
        print(f"clsm {version()}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """A memory for a persistent agent: what was said and written, found again."""
