"""Parse fast-starting commands without Typer, whose import costs as much as a recall.

Only ordinary forms are parsed: ``--option value``, ``--option=value``, switches, and words. Anything
wrong or unusual is left to Typer, which explains errors. Both parsers share the table of options
(``command_line``), the pipeline and the messages.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clsm_cli import __version__
from clsm_cli.commands import MODULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clsm_cli.commands.command_line import Option

_FAST = ("recall", "search", "context", "ingest")


def run(arguments: Sequence[str]) -> int | None:
    """Run a command line; its exit code, or None if Typer must run it."""
    if list(arguments) == ["--version"]:
        return _print_version()
    name = arguments[0] if arguments else ""
    if name not in _FAST or (name == "ingest" and "--capture" not in arguments):
        return None  # only a hook's ingest is fast
    command = import_module(f"clsm_cli.commands.{MODULES.get(name, name)}")
    values = parse(arguments[1:], command.COMMAND_LINE.options)
    if values is None or (name == "ingest" and "capture" not in values):
        return None
    gc.disable()  # saves 4 ms; the process is short-lived
    from clsm_cli.commands import output
    from clsm_cli.commands.command_line import UsageError

    try:
        return output.guard(lambda: command.run(make_options(command.Options, values)))
    except UsageError:
        return None


def _print_version() -> int:
    line = f"clsm {__version__}"
    try:
        print(line, flush=True)
    except OSError:
        from clsm_cli.commands import output

        return output.guard(lambda: output.Printer().lines([line]))
    return 0


def make_options(options: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Build the options of a command: its own fields, and ``common``."""
    from clsm_cli.commands.command_line import Common

    common = {name: value for name, value in values.items() if name in Common._fields}
    own = {name: value for name, value in values.items() if name not in common}
    return options(**own, common=Common(**common))


def parse(arguments: Sequence[str], options: Mapping[str, Option]) -> dict[str, Any] | None:
    """Field → value; None if any argument is wrong or unusual.

    >>> from clsm_cli.commands.recall_command import COMMAND_LINE
    >>> parse(["--json", "-k", "3", "who", "is", "brian"], COMMAND_LINE.options)
    {'as_json': True, 'k': 3, 'query': ('who', 'is', 'brian')}
    >>> parse(["--help"], COMMAND_LINE.options), parse(["-k"], COMMAND_LINE.options)
    (None, None)
    """
    named, words_are = _by_name(options)
    values: dict[str, Any] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            words += rest
            break
        if not argument.startswith("-") or argument == "-":
            words.append(argument)
            continue
        name, joined, value = argument.partition("=")
        if name not in named or (joined and not name.startswith("--")):
            return None
        field, state = named[name]
        option = options[field]
        if not option.metavar:
            if joined:
                return None
            values[field] = state
            continue
        if not joined and not rest:
            return None
        try:
            read = option.read(value if joined else rest.pop(0))
        except ValueError:
            return None
        values[field] = (*values.get(field, ()), read) if option.is_repeated else read
    if words_are is None:
        return None if words else values
    return {**values, words_are: tuple(words)}


def _by_name(options: Mapping[str, Option]) -> tuple[dict[str, tuple[str, bool]], str | None]:
    named: dict[str, tuple[str, bool]] = {}
    words_are = None
    for field, option in options.items():
        on, _, off = option.names.partition("/")
        named |= dict.fromkeys(on.split(), (field, True))
        named |= dict.fromkeys(off.split(), (field, False))
        words_are = words_are if on else field
    return named, words_are


def leave(code: int) -> None:
    """Flush the standard streams and exit without cleanup, which would take libraries 10 ms.

    All files are written and closed by now.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)
