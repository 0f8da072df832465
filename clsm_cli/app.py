"""The Typer application and its commands."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from clsm_cli import __version__
from clsm_cli.commands import MODULES, output
from clsm_cli.commands.command_line import CommandLine
from clsm_cli.commands.options import Command, examples, typer_function
from clsm_cli.text.terminal import safe

GROUPS = {
    "Remember": ("init", "note", "ingest", "consolidate", "decay"),
    "Recall": ("recall", "search", "context", "feedback"),
    "Look inside": ("log", "list", "show", "open", "history", "graph", "status"),
    "Put right": ("correct", "review", "edit", "pin", "unpin", "undo", "forget"),
    "Keep safe": ("doctor", "backup", "restore"),
    "Connect": ("hook", "schedule", "mcp", "model", "merge-driver"),
    "Measure": ("eval",),
}
"""The commands under the headings of the help; ``search`` is ``recall``."""
HIDDEN = ("search", "merge-driver")
"""Commands that the help does not list."""
COMMANDS = tuple(name for group in GROUPS.values() for name in group)


@cache
def _build(name: str) -> Any:
    """Build one command by name; building all would take half of a hook's time limit."""
    place = MODULES.get(name, name)
    module = import_module(f"clsm_cli.commands.{place}")
    single = getattr(module, "app", None)
    if single is None:
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        line: CommandLine | None = getattr(module, "COMMAND_LINE", None)
        if line is not None:
            function: Any = typer_function(line, module.Options, module.run)
        else:
            named = name.replace("-", "_")
            function = getattr(module, named, None) or vars(module)[f"{named}_command"]
        is_hidden = name in HIDDEN
        single.command(name, cls=Command, epilog=function.epilog, hidden=is_hidden)(function)
    command = typer.main.get_command(single)
    command.name = name
    return command


def _mask_private(message: str, args: Iterable[str]) -> str:
    """Mask private arguments in the message of a usage error.

    An argument of several words, or one that looks like a password, becomes "…" or the kinds of
    its secrets; the message is clear without it.
    """
    from clsm_cli.text import secrets
    from clsm_cli.text.secrets.secret_values import is_password

    pieces = {piece for given in args for piece in (given, *given.split("=", 1))}
    if not all(map(str.isprintable, pieces)):  # Typer wrote their line ends as "\x0a" or "\n"
        message = re.sub(r"\\x0[9ad]|\\[ntr]", "\n", message)
        pieces = {re.sub(r"[\t\n\r]", "\n", piece) for piece in pieces}
    for piece in sorted(pieces, key=len, reverse=True):
        word = piece.lstrip("-")
        if len(piece.split()) > 1 or (word and is_password(word)):
            kinds = secrets.mask(piece).counts
            message = message.replace(piece, " ".join(f"[masked:{kind}]" for kind in kinds) or "…")
    return secrets.mask_name(message).text


@contextmanager
def _safe_errors(args: Iterable[str]) -> Iterator[None]:
    """Make the message of a usage error safe to print, without secrets.

    Some versions of Typer vendor Click, others import it; in both, errors have ``message``.
    """
    try:
        yield
    except Exception as error:
        message = vars(error).get("message")
        if isinstance(message, str):
            vars(error)["message"] = safe(_mask_private(message, args))
        raise


class Boundary(TyperGroup):
    """Runs a command inside ``output.guard``; usage errors (2) are Typer's."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # names, for suggestions

    def list_commands(self, _ctx: Any) -> list[str]:
        """Command names, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, _ctx: Any, name: str) -> Any:
        """The command of that name, imported on first use; None for an unknown name."""
        return _build(name) if name in COMMANDS else None

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the global options."""
        ctx.meta[__name__] = tuple(args)
        with _safe_errors(ctx.meta[__name__]):
            return super().parse_args(ctx, args)

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the commands under the headings of ``GROUPS``, with aligned columns."""
        shown = {name: each for name in COMMANDS if not (each := _build(name)).hidden}
        room = formatter.width - 6 - max(map(len, shown))
        for title, names in GROUPS.items():
            rows = [(name, shown[name].get_short_help_str(room)) for name in names if name in shown]
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(max(map(len, shown))), text) for name, text in rows]
                )

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a non-zero exit code becomes ``typer.Exit``."""
        with _safe_errors(ctx.meta[__name__]):
            code = output.guard(lambda: super(Boundary, self).invoke(ctx))
        if code:
            raise typer.Exit(code)


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
        print(f"clsm {__version__}")
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
