"""The commands that must start fast, parsed without Typer, whose import costs as much as a recall.

Only the ordinary forms are read here: ``--option value``, ``--option=value``, flags, and words.
Whatever is anything else, wrong or unusual, is left to Typer, which also explains what is wrong; so
there are two parsers, but one pipeline and one set of messages.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    Table: TypeAlias = dict[str, tuple[str, Callable[[str], Any] | bool]]
    """Option → the field it sets, and the type of its value or, for a flag, the value.

    ``tests/commands/test_fast_parser.py`` compares them with the Typer commands.
    """


def _format(name: str) -> str:
    """A format that ``clsm ingest`` reads."""
    from clsm_cli.commands.run_ingest import FORMATS

    if name not in FORMATS:
        raise ValueError(name)
    return name


def _another(value: str) -> tuple[str]:
    """One value of an option that may be given often."""
    return (value,)


_COMMON: Table = {
    "--store": ("store", str),
    "--now": ("now", str),
    "--json": ("as_json", True),
    "--quiet": ("quiet", True),
    "-q": ("quiet", True),
    "--verbose": ("verbose", True),
    "-v": ("verbose", True),
}
RECALL_OPTIONS: Table = {
    "-k": ("k", int),
    "--budget": ("budget", str),
    "--kind": ("kind", str),
    "--stream": ("stream", str),
    "--project": ("project", str),
    "--session": ("session", str),
    "--since": ("since", str),
    "--until": ("until", str),
    "--as-of": ("as_of", str),
    "--known-at": ("known_at", str),
    "--min-score": ("min_score", float),
    "--context": ("context", str),
    "--gate": ("gate", True),
    "--explore": ("explore", True),
    "--batch": ("batch", str),
    "--explain": ("explain", True),
    "--exit-code": ("exit_code", True),
    "--touch": ("touch", True),
    "--no-touch": ("touch", False),
    "--format": ("output", str),
    **_COMMON,
}
CONTEXT_OPTIONS: Table = {
    "--query": ("query", str),
    "--session": ("session", str),
    "--budget": ("budget", str),
    "--window": ("window", int),
    "--format": ("output", str),
    **_COMMON,
}
INGEST_OPTIONS: Table = {
    "--openclaw": ("openclaw", True),
    "--format": ("format_", _format),
    "--session": ("session", str),
    "--capture": ("capture", True),
    "--since": ("since", str),
    "--exclude": ("exclude", _another),
    "--day-first": ("day_first", True),
    "--month-first": ("day_first", False),
    "--strict": ("strict", True),
    "--dry-run": ("dry_run", True),
    **_COMMON,
}
_COMMANDS: dict[str, tuple[str, Table, str | None]] = {
    "recall": ("recall", RECALL_OPTIONS, "query"),
    "search": ("recall", RECALL_OPTIONS, "query"),
    "context": ("context", CONTEXT_OPTIONS, None),
    "ingest": ("ingest", INGEST_OPTIONS, "paths"),  # with --capture, for hooks; else it takes long
}
"""Command → the end of its module's name, its options, and the field that its words are."""
_RANGES = {"k": (1, 1000), "min_score": (0.0, 1.0), "window": (1, 1_000_000_000)}


def run(arguments: Sequence[str]) -> int | None:
    """Run a command line if it is one of those that are parsed here.

    Returns:
        The exit code; None if Typer has to do it.
    """
    if list(arguments) == ["--version"]:
        from clsm_cli import __version__

        print(f"clsm {__version__}")
        return 0
    name, table, words_are = _COMMANDS.get(arguments[0] if arguments else "", ("", {}, None))
    values = parse(arguments[1:], table, words_are) if name else None
    if values is None or (name == "ingest" and "capture" not in values):
        return None
    gc.disable()  # the process ends before there is garbage worth 4 ms of looking for it
    from clsm_cli.commands import error_boundary
    from clsm_cli.commands.environment import UsageError

    command = import_module(f"clsm_cli.commands.run_{name}")
    try:
        return error_boundary.guard(lambda: command.run(command.Options(**values)))
    except UsageError:
        return None


def parse(
    arguments: Sequence[str], table: Table = RECALL_OPTIONS, words_are: str | None = "query"
) -> dict[str, Any] | None:
    """Read the arguments of a command; None if there is anything that is not plain.

    Args:
        arguments: What stands after its name.
        table: Its options.
        words_are: The field that its words are; None: it takes none.

    >>> parse(["--json", "-k", "3", "who", "is", "brian"])
    {'as_json': True, 'k': 3, 'query': ('who', 'is', 'brian')}
    >>> parse(["--help"]), parse(["-k", "many", "cats"]), parse(["-k"])
    (None, None, None)
    """
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
        option = _option(argument, rest, table)
        if option is None:
            return None
        for field, value in option.items():
            values[field] = values.get(field, ()) + value if isinstance(value, tuple) else value
    if words_are is None:
        return None if words else values
    return {**values, words_are: tuple(words)}


def _option(argument: str, rest: list[str], table: Table) -> dict[str, Any] | None:
    """The field that an option sets; its value may be the next of ``rest``. None: not plain."""
    name, joined, value = argument.partition("=")
    if name not in table or (joined and not name.startswith("--")):
        return None
    field, kind = table[name]
    if isinstance(kind, bool):
        return None if joined else {field: kind}
    if not joined and not rest:
        return None
    try:
        read = kind(value if joined else rest.pop(0))
    except ValueError:
        return None
    low, high = _RANGES.get(field, (read, read))
    return {field: read} if low <= read <= high else None


def leave(code: int) -> None:
    """End the process at once: its libraries would take 10 ms to tidy up what the kernel frees.

    Everything is closed and written by now; what is buffered is flushed here.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or 1
    os._exit(code)
