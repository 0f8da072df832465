"""The Typer application: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from clsm_cli import version
from clsm_cli.commands import ingest, init, model, note, recall, show, status
from clsm_cli.commands.help import Command
from clsm_cli.commands.options import examples
from clsm_cli.commands.output import abandon_stdout
from clsm_cli.errors import ClsmError
from clsm_cli.text.terminal import safe


class Boundary(TyperGroup):
    """Runs a command; an expected error is one sentence on stderr and the code its class owns.

    Usage errors (2) and Ctrl-C (130) are Typer's; anything else is a bug: a traceback and 1.
    """

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


app.command("init", cls=Command, epilog=init.EXAMPLES)(init.init)
app.command("note", cls=Command, epilog=note.EXAMPLES)(note.note)
app.command("ingest", cls=Command, epilog=ingest.EXAMPLES)(ingest.ingest)
app.command("recall", cls=Command, epilog=recall.EXAMPLES)(recall.recall)
app.command("search", cls=Command, hidden=True, epilog=recall.EXAMPLES)(recall.recall)
app.command("show", cls=Command, epilog=show.EXAMPLES)(show.show)
app.command("status", cls=Command, epilog=status.EXAMPLES)(status.status)
app.add_typer(model.app, name="model")
