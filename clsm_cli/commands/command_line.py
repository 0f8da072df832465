"""The options of the commands that must start fast, each declared once for both parsers.

``fast_parser`` reads ordinary command lines by these tables, without Typer. ``options.typer_function``
makes the Typer command of the same table: it reads the unusual ones, prints the help, and explains
what is wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.environment import chosen_format, chosen_store, current_time
from clsm_cli.commands.output import Printer
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime, tzinfo

    from clsm_cli.store.layout import Store


class Option(NamedTuple):
    """An option of a command, or its words.

    Attributes:
        names: As typed, ``--quiet -q``; a switch with its opposite is ``--touch/--no-touch``. Words
            have none.
        metavar: What stands for the value in the help; a switch has none.
        kind: Reads one value; ValueError where it is none.
        is_repeated: Several values make a tuple.
    """

    names: str
    metavar: str
    help: str
    kind: Callable[[str], Any] = str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    is_repeated: bool = False
    default: Any = None

    def read(self, text: str) -> Any:
        """The value that a text of the command line means."""
        value = self.kind(text)
        if self.choices and value not in self.choices:
            raise ValueError(text)
        if self.least is not None and not self.least <= value <= (self.most or value):
            raise ValueError(text)
        return value


def option(typed: str, about: str, kind: Any = str, **more: Any) -> Any:
    """An ``Option`` as it is typed, in the place of the default value of what it sets.

    Words have no dash; a command cannot do without those that stand in no brackets.

    >>> option("--limit -n N", "Lines at most.")[:2], option("[FILE]", "Where to.")[:2]
    (('--limit -n', 'N'), ('', '[FILE]'))
    """
    words = typed.split()
    names = [word for word in words if word.startswith("-")]
    metavar = [word for word in words if not word.startswith("-")]
    return Option(" ".join(names), " ".join(metavar), about, kind, **more)


class CommandLine(NamedTuple):
    """How a command is called: its options by the field that they set."""

    options: dict[str, Option]
    help: str
    examples: tuple[str, ...]


def command_line(options: Any, *examples: str) -> CommandLine:
    """Take the options out of the fields of a named tuple, which keeps their default values.

    Its docstring is the help of the command. A switch without its opposite is off.
    """
    values = options._field_defaults
    own = {name: each for name, each in values.items() if isinstance(each, Option)}
    for name, each in own.items():
        is_off = not each.metavar and "/" not in each.names
        values[name] = False if is_off else each.default
    return CommandLine({**own, **COMMON}, options.__doc__, examples)


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

    def formatted(self, named: str | None) -> tuple[Printer, str]:
        """The same where there is ``--format`` too, and the form: text, json or prompt."""
        form = chosen_format(named, as_json=self.as_json)
        return self._replace(as_json=form == "json").printer(), form

    def opened(self) -> Store:
        """The store that is meant."""
        return chosen_store(self.store)

    def start(self) -> tuple[Printer, Store, datetime]:
        """The printer, the store and the time of a command."""
        opened = self.opened()
        return self.printer(), opened, self.time(opened.zone)

    def time(self, zone: tzinfo | None = None) -> datetime:
        """The current time."""
        return current_time(self.now, zone)


COMMON: dict[str, Option] = {
    "store": option(
        "--store DIR",
        "The memory store. Else CLSM_STORE, else the nearest parent folder with clsm.yaml, else"
        " ~/.clsm/memory.",
    ),
    "now": option("--now TIME", "Take this as the current time (ISO 8601) instead of the clock."),
    "as_json": option("--json", "Print JSON instead of text."),
    "quiet": option("--quiet -q", "Print data only: no progress, no warnings."),
    "verbose": option("--verbose -v", "Print more detail."),
}
"""The options that every command has."""
FORMAT = option(
    "--format FORMAT",
    "text, json, or prompt: a block for a language model that clsm itself will not take in again.",
    choices=("text", "json", "prompt"),
)
DRY_RUN = option("--dry-run", "Say what would happen; change nothing.")
AS_OF = option("--as-of TIME", "Only what was true at that time or day.")
KNOWN_AT = option("--known-at TIME", "Only what was known at that time, or at the end of that day.")
YES = option("--yes", "Go on even if much would be withdrawn at once.")
