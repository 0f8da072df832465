"""Options as Typer takes them: those that every command has, and those of ``command_line``'s tables.

A script may pass ``--store`` and ``--now`` to every command; where one has no effect, its help says
so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from clsm_cli.commands.command_line import (
    AS_OF,
    COMMON,
    DRY_RUN,
    KNOWN_AT,
    YES,
    CommandLine,
    Common,
    Option,
)
from clsm_cli.commands.environment import UsageError


def _described(option: Option) -> Any:
    given: dict[str, Any] = {"help": option.help, "min": option.least, "max": option.most}
    if option.metavar:
        given["metavar"] = option.metavar
    return typer.Option(*option.names.split(), **given) if option.names else typer.Argument(**given)


DryRun = Annotated[bool, DRY_RUN]
AsOf = Annotated[str | None, AS_OF]
KnownAt = Annotated[str | None, KNOWN_AT]
Yes = Annotated[bool, YES]
_NO_EFFECT = "No effect here; every command takes it."


def typer_function(
    line: CommandLine, options: Callable[..., Any], run: Callable[[Any], None]
) -> Callable[..., None]:
    """The function of which Typer makes the command of a table.

    Args:
        line: The table; its fields are those of ``options``.
        options: Makes the values of the fields one argument, a named tuple with defaults, whose last
            is ``common``.
        run: Takes it.
    """

    def called(*, common: Common, **values: Any) -> None:
        read = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
        run(options(**read, common=common))

    own = {name: option for name, option in line.options.items() if name not in COMMON}
    parameters = []
    for name, option in own.items():
        default = vars(options)["_field_defaults"][name]
        kind: Any = option.kind if option.metavar else bool
        kind = kind | None if default is None else kind
        if isinstance(default, tuple):
            default, kind = list(default), list[option.kind]  # type: ignore[name-defined]
        parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    called.__doc__ = line.help
    _sign(called, parameters)
    found = _with_common(called, no_effect=(), options=own)
    vars(found)["epilog"] = examples(*line.examples)
    return found


def _sign(function: Callable[..., None], parameters: Sequence[Parameter]) -> None:
    function.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(function)["__signature__"] = Signature(parameters)


def command(
    *lines: str,
    group: typer.Typer | None = None,
    hidden: bool = False,
    no_effect: tuple[str, ...] = (),
    **options: Option,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function that takes the options of ``Common`` as one argument, ``common``.

    Args:
        lines: Examples, for the end of its help.
        group: The command below which it is one; none: it stands for itself, and ``app`` finds it.
        no_effect: Of ``store`` and ``now`` those that it does not use; its help says so.
        options: Those of its other parameters. One that has the name of a common option takes its
            place.
    """

    def made(function: Callable[..., None]) -> Callable[..., None]:
        found = _with_common(function, no_effect=no_effect, options=options)
        vars(found)["epilog"] = examples(*lines)
        if group is not None:
            name = function.__name__.rpartition("_")[2]  # what is before names its group
            group.command(name, cls=Command, epilog=examples(*lines), hidden=hidden)(found)
        return found

    return made


def _with_common(
    function: Callable[..., None], *, no_effect: tuple[str, ...], options: dict[str, Option]
) -> Callable[..., None]:
    own = [each for each in signature(function).parameters.values() if each.name != "common"]
    added = {name: each for name, each in COMMON.items() if name not in {p.name for p in own}}

    @wraps(function)
    def called(*arguments: Any, **options: Any) -> None:
        common = Common(**{name: options.pop(name) for name in added})
        function(*arguments, common=common, **options)

    hints = get_type_hints(function, include_extras=True)
    for name in [each.name for each in own]:
        kind = hints[name]
        if get_origin(kind) is Annotated:  # one that several commands have
            kind, option = get_args(kind)
        elif name in options:
            option = options[name]
        else:
            continue
        if option.choices:
            words: Any = Literal[option.choices]
            kind = words | None if type(None) in get_args(kind) else words
        hints[name] = Annotated[kind, _described(option)]
    parameters = [each.replace(annotation=hints[each.name]) for each in own]
    for name, option in added.items():
        told = option._replace(help=_NO_EFFECT) if name in no_effect else option
        hints[name] = Annotated[str | None if option.metavar else bool, _described(told)]
        own_default = None if option.metavar else False
        each = Parameter(name, Parameter.KEYWORD_ONLY, default=own_default)
        parameters.append(each.replace(annotation=hints[name]))
    _sign(called, parameters)
    return called


def command_group(about: str) -> typer.Typer:
    """A command that only has commands below it."""
    return typer.Typer(
        help=about, no_args_is_help=True, add_completion=False, rich_markup_mode=None
    )


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
