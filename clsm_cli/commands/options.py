"""Options that every command has (``--store``, ``--now``, ``--json`` …), and the class of all commands.

A script may pass ``--store`` and ``--now`` to every command; where one has no effect, its help says
so, and a value that is no time is still refused.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Annotated, Any, NamedTuple, get_type_hints

import typer
from typer.core import TyperCommand

from clsm_cli.commands.environment import UsageError, chosen_store, current_time, parse_time
from clsm_cli.commands.output import Printer
from clsm_cli.store.layout import Store


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
AsOfOption = Annotated[
    str | None,
    typer.Option("--as-of", metavar="TIME", help="Only what was true at that time or day."),
]
KnownAtOption = Annotated[
    str | None,
    typer.Option(
        "--known-at",
        metavar="TIME",
        help="Only what was known at that time, or at the end of that day.",
    ),
]
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Go on even if much would be withdrawn at once.")
]


class Common(NamedTuple):
    """The options that every command has, as they were given."""

    store: str | None = None
    now: str | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def printer(self) -> Printer:
        """What prints as these options want it."""
        return Printer(as_json=self.as_json, quiet=self.quiet, verbose=self.verbose)

    def opened(self) -> Store:
        """The store that is meant.

        Raises:
            ClsmError: There is none, or it cannot be read.
        """
        return chosen_store(self.store)

    def time(self, zone: tzinfo | None = None) -> datetime:
        """The current time.

        Raises:
            UsageError: ``--now`` is not a time.
        """
        return current_time(self.now, zone)


def takes_common(
    *, store: bool = True, now: bool = True
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of ``Common``; it takes them as one argument, ``common``.

    An option that the command declares itself, with a help of its own, stays with the command.

    Args:
        store: ``--store`` has an effect; else its help says that it has none.
        now: The same of ``--now``.
    """
    return partial(_with_common, store=store, now=now)


def _with_common(function: Callable[..., None], *, store: bool, now: bool) -> Callable[..., None]:
    added = {
        "store": (StoreOption if store else NoStoreOption, None),
        "now": (NowOption if now else NoNowOption, None),
        "as_json": (JsonOption, False),
        "quiet": (QuietOption, False),
        "verbose": (VerboseOption, False),
    }

    for name in added.keys() & signature(function).parameters.keys():
        del added[name]

    @wraps(function)
    def command(*arguments: Any, **options: Any) -> None:
        common = Common(**{name: options.pop(name) for name in added})
        function(*arguments, common=common, **options)

    hints = get_type_hints(function, include_extras=True)
    own = [each for each in signature(function).parameters.values() if each.name != "common"]
    parameters = [each.replace(annotation=hints[each.name]) for each in own]
    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in added.items()
    ]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(command)["__signature__"] = signature(function).replace(parameters=parameters)
    return command


def examples(*lines: str) -> str:
    """The end of a help text: examples, each on a line of its own."""
    unwrapped = "\b"  # Typer's mark for a paragraph that keeps its lines
    return "\n".join([unwrapped, "Examples:", *(f"  {line}" for line in lines)])


class Command(TyperCommand):
    """A command whose required arguments stand plain: ``PATH...``, where Typer writes ``{PATH...}``.

    What begins with a dash and a blank is text, such as a list item that is noted: no option does.
    """

    def make_parser(self, ctx: Any) -> Any:
        """The parser of its options."""
        parser = super().make_parser(ctx)
        read_option = parser._process_opts  # noqa: SLF001

        def read(argument: str, state: Any) -> None:
            if argument[:2] == "- ":
                state.largs.append(argument)
            else:
                read_option(argument, state)

        vars(parser)["_process_opts"] = read
        return parser

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The words behind the command's name in its usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what cannot be used as it was given is a usage error (exit code 2)."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param_hint=error.option) from None
