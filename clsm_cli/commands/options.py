"""Make Typer commands from functions and from ``command_line``'s tables.

Every command accepts ``--store`` and ``--now``, for scripts; the help says where one has no effect.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from math import isfinite
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand

from clsm_cli.commands.command_line import (
    COMMON,
    CommandLine,
    Common,
    Option,
    UsageError,
)
from clsm_cli.text.terminal import replace_lone

_NO_EFFECT = "No effect here; every command takes it."


def command(
    *lines: str,
    group: typer.Typer | None = None,
    hidden: bool = False,
    no_effect: tuple[str, ...] = (),
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function whose parameters each have an ``option`` as default.

    The last parameter is ``common``. One with the name of a common option replaces it.

    Args:
        lines: Examples for the end of the help.
        group: The parent command; without one, ``app`` finds the function.
        no_effect: Those of ``store`` and ``now`` that it does not use, for the help.
    """

    def made(function: Callable[..., None]) -> Callable[..., None]:
        own = {n: each.default for n, each in signature(function).parameters.items()}
        del own["common"]
        found = _typer_wrapper(function, get_type_hints(function), own, lines, no_effect)
        if group is not None:
            name = function.__name__.rpartition("_")[2]  # the prefix is the group
            group.command(name, cls=Command, epilog=examples(*lines), hidden=hidden)(found)
        return found

    return made


def typer_function(
    line: CommandLine, options: Any, run: Callable[[Any], None]
) -> Callable[..., None]:
    """The function from which Typer makes the command of a table; it calls ``run`` with ``options``.

    These are a named tuple with the fields of the table, and ``common`` as the last.
    """

    def called(**values: Any) -> None:
        run(options(**values))

    called.__doc__ = line.help
    own = {
        name: each._replace(default=options._field_defaults[name])
        for name, each in line.options.items()
        if name not in COMMON
    }
    return _typer_wrapper(called, get_type_hints(options), own, line.examples)


def _typer_wrapper(
    function: Callable[..., None],
    hints: Mapping[str, Any],
    own: Mapping[str, Any],
    lines: tuple[str, ...],
    no_effect: tuple[str, ...] = (),
) -> Callable[..., None]:
    """The function that Typer calls, with the options of a function and the common ones."""
    added = {name: each for name, each in COMMON.items() if name not in own}
    parameters = [_parameter(name, hints[name], each) for name, each in own.items()]
    for name, each in added.items():
        described = each._replace(help=_NO_EFFECT) if name in no_effect else each
        parameters.append(_parameter(name, str | None if each.metavar else bool, described))
    defaults = {each.name: each.default for each in parameters}

    @wraps(function)
    def called(**options: Any) -> None:
        values = defaults | options
        common = Common(**{name: values.pop(name) for name in added})
        read = {
            n: _checked(own[n], tuple(v or ()) if get_origin(hints[n]) is tuple else v)
            for n, v in values.items()
        }
        function(**read, common=common)

    called.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(called).update(__signature__=Signature(parameters), epilog=examples(*lines))
    return called


def _parameter(name: str, kind: Any, option: Option) -> Parameter:
    """A parameter for Typer."""
    default: Any = False if kind is bool and option.default is None else option.default
    if option.choices:
        words: Any = Literal[option.choices]
        kind = words | None if type(None) in get_args(kind) else words
    elif get_origin(kind) is tuple:
        item: Any = get_args(kind)[0]
        kind, default = list[item], None if default is None else list(default)
    given: dict[str, Any] = {"help": option.help, "min": option.least, "max": option.most}
    if option.metavar:
        given["metavar"] = option.metavar
    if option.names:
        described: Any = typer.Option(*option.names.split(), **given)
    else:
        described = typer.Argument(**given)
        if default is None and not option.metavar.startswith("["):
            default = Parameter.empty
    annotation = Annotated[kind, described]
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _checked(option: Option, value: Any) -> Any:
    """Decode a value, except file names; refuse NaN, which Typer lets pass."""
    if option.names_file:
        return value
    if isinstance(value, tuple):
        return tuple(_checked(option, each) for each in value)
    if isinstance(value, float) and not isfinite(value):
        raise UsageError(option.names, f"{value} is no number")
    return replace_lone(value) if isinstance(value, str) else value


def command_group(about: str, *lines: str) -> typer.Typer:
    """A command that only has subcommands; ``lines`` are examples for the end of its help."""
    return typer.Typer(
        help=about,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode=None,
        epilog=examples(*lines) if lines else None,
    )


def examples(*lines: str) -> str:
    """The end of a help text: examples, one per line."""
    unwrapped = "\b"  # Typer's mark for a paragraph that keeps its lines
    return "\n".join([unwrapped, "Examples:", *(f"  {line}" for line in lines)])


class Command(TyperCommand):
    """A command whose usage shows required arguments as ``PATH...``, not ``{PATH...}``.

    An argument that begins with a dash and a blank, such as a list item, is text, not an option.
    """

    def make_parser(self, ctx: Any) -> Any:
        """Make the parser of its options."""
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
        """The arguments in the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def invoke(self, ctx: Any) -> Any:
        """Run the command; UsageError becomes Typer's usage error (exit code 2)."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param_hint=error.option) from None
