"""Command-line options, and the store, time and environment they select.

Commands that must start fast declare their options once, for two parsers. ``fast_parser`` reads
ordinary command lines from these tables, without Typer. ``options.typer_function`` makes a Typer
command of the same table, for unusual command lines, help and usage errors.
"""

import errno
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache
from pathlib import Path
from re import fullmatch, search
from typing import Any

from clsm_cli.commands.output import Printer
from clsm_cli.errors import BadInputError, DiskError
from clsm_cli.model.clocks import day_of, end_of_day
from clsm_cli.startup.records import NamedTuple
from clsm_cli.startup.zones import system_zone, zone_of
from clsm_cli.store import device
from clsm_cli.store.layout import Store, discover, open_store
from clsm_cli.text.terminal import replace_lone


class Option(NamedTuple):
    """An option or the positional arguments of a command."""

    names: str  # as typed: "--quiet -q"; with an opposite "--touch/--no-touch"; "": positional
    metavar: str  # placeholder of the value in the help; "" for a switch
    help: str
    kind: Callable[[str], Any] = str  # converts one value; raises ValueError if it is invalid
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    is_repeated: bool = False  # values are collected in a tuple
    default: Any = None

    @property
    def names_file(self) -> bool:
        """Whether its values are file names, which may be any bytes."""
        return self.metavar.strip("[].") in ("FILE", "DIR", "PATH", "GLOB", "DATASET")

    def read(self, text: str) -> Any:
        """Convert and check a value from the command line."""
        value = self.kind(text if self.names_file else replace_lone(text))
        if self.choices and value not in self.choices:
            raise ValueError(text)
        if self.least is not None and not self.least <= value <= (self.most or value):
            raise ValueError(text)
        return value


def option(typed: str, about: str, kind: Any = str, **more: Any) -> Any:
    """An ``Option`` from its usage form, to be the default value of a parameter or field.

    Positional arguments have no dash; they are required unless in brackets.

    >>> option("--limit -n N", "Lines at most.")[:2], option("[FILE]", "Where to.")[:2]
    (('--limit -n', 'N'), ('', '[FILE]'))
    """
    words = typed.split()
    names = [word for word in words if word.startswith("-")]
    metavar = [word for word in words if not word.startswith("-")]
    return Option(" ".join(names), " ".join(metavar), about, kind, **more)


class CommandLine(NamedTuple):
    """Field → option of a command, its help and its examples."""

    options: dict[str, Option]
    help: str
    examples: tuple[str, ...]


def command_line(options: Any, *examples: str) -> CommandLine:
    """Replace the options in the fields of a named tuple by their default values.

    Its docstring is the help of the command. A switch without an opposite defaults to off.
    """
    values = options._field_defaults
    own = {name: each for name, each in values.items() if isinstance(each, Option)}
    for name, each in own.items():
        is_off = not each.metavar and "/" not in each.names
        values[name] = False if is_off else each.default
    return CommandLine({**own, **COMMON}, options.__doc__, examples)


class Common(NamedTuple):
    """Values of the options that every command has."""

    store: str | None = None
    now: str | None = None
    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def printer(self) -> Printer:
        """The printer for these options."""
        return Printer(self.as_json, self.quiet, self.verbose)

    def formatted(self, named: str | None) -> tuple[Printer, str]:
        """The printer and the output format (text, json, prompt) of a command with ``--format``."""
        form = named or ("json" if self.as_json else "text")
        if self.as_json and form != "json":
            raise UsageError("--format", f"--json and --format {form} exclude each other")
        return self._replace(as_json=form == "json").printer(), form

    def opened(self) -> Store:
        """Open the store given by ``--store``, the environment or the current folder."""
        root = chosen_root(self.store)
        device.check(root)
        return open_store(root, environment())

    def start(self) -> tuple[Printer, Store, datetime]:
        """The printer, the store, and the time."""
        opened = self.opened()
        return self.printer(), opened, self.time(opened.zone)

    def time(self, zone: tzinfo | None = None) -> datetime:
        """``--now``, else the clock, in a zone, by default the system's; in whole seconds."""
        if zone is None:
            zone = zone_of(system_zone(environment()))
        if self.now is None:
            return datetime.now(zone).replace(microsecond=0)
        now = parse_time(self.now, zone, "--now")
        if day_of(now.isoformat()) is None:
            raise UsageError("--now", f"{self.now!r} is at an end of the calendar")
        return now


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


class UsageError(Exception):
    """An option or argument is invalid (exit code 2)."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(reason)
        self.option = option


def environment() -> dict[str, str]:
    """The process's environment; read only here, then passed down."""
    return dict(os.environ)


def chosen_root(named: str | None) -> Path:
    """The folder of that store, which may be damaged."""
    folder = Path(os.sep)
    with suppress(OSError):  # a deleted current folder contains no store
        folder = Path.cwd()
    return discover(named, environment(), folder)


def program() -> list[str]:
    """The command that runs this clsm, independent of PATH."""
    import shutil

    beside = shutil.which("clsm", path=os.path.dirname(sys.executable))
    return [beside] if beside else [sys.executable, "-m", "clsm_cli"]


@cache
def named_text(name: str, most: int, next_step: str) -> str:
    """The text of a file; ``-`` is standard input, which may be closed.

    Cached, since Typer runs a command again that failed on the fast path.
    """
    try:
        if name == "-":
            name = "standard input"
            data = b"" if sys.stdin is None else sys.stdin.buffer.read(most + 1)
        else:
            with open(os.path.expanduser(name), "rb") as file:
                data = file.read(most + 1)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ESTALE):
            raise DiskError(name, error.strerror or str(error)) from error
        raise BadInputError(name, error.strerror or "cannot be read", next_step) from None
    if len(data) > most:
        raise BadInputError(name, f"is longer than {most} bytes", next_step)
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


MAX_QUERY = 1 << 20  # maximum characters of a query


def query_text(words: Iterable[str], option: str) -> str:
    """A query: not empty, at most ``MAX_QUERY`` characters."""
    text = replace_lone(" ".join(words)).strip()
    if not text:
        raise UsageError(option, "the query is empty; give it some words")
    if len(text) > MAX_QUERY:
        reason = f"the query has {len(text)} characters; ask with at most {MAX_QUERY}"
        raise UsageError(option, reason)
    return text


def parse_budget(text: str) -> tuple[int, str]:
    """A number of tokens, or of characters.

    >>> parse_budget("800"), parse_budget("3000c")
    ((800, 'tokens'), (3000, 'characters'))
    """
    match = fullmatch(r"([0-9]{1,9})(c?)", text)
    if not match:
        reason = f"{text!r} is no size; write 800 for tokens or 3000c for characters"
        raise UsageError("--budget", reason)
    return int(match[1]), "characters" if match[2] else "tokens"


def parse_time(text: str, zone: tzinfo, option: str) -> datetime:
    """Parse a time, as one in the store's zone; without an offset, it is already in that."""
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        return moment.astimezone(UTC).astimezone(zone)  # in years 1 and 9999 this may overflow
    except (ValueError, OverflowError):
        reason = f"{text!r} is not a time; write it like 2026-02-24 or 2026-02-24T08:15:00+01:00"
        raise UsageError(option, reason) from None


def parse_days(text: str, now: datetime, option: str) -> tuple[int, int]:
    """Days of a date, time expression or span up to now, as ordinals: first, and last + 1.

    >>> from datetime import date, datetime
    >>> now = datetime(2026, 3, 11, 9)
    >>> first, until = parse_days("2w", now, "--since")
    >>> str(date.fromordinal(first)), str(date.fromordinal(until)), parse_days("yesterday", now, "")[0] - first
    ('2026-02-25', '2026-03-12', 13)
    """
    if begin := _before_now(text, now):
        return begin.toordinal(), now.toordinal() + 1
    with suppress(ValueError):
        if "W" not in text:  # Python parses a week as its Monday
            day = datetime.fromisoformat(text).toordinal()
            return day, day + 1
    from clsm_cli.text.time import expressions
    from clsm_cli.text.tokens import stems

    for asked in (False, True):  # prefer future days to past ones
        found = expressions.find_expressions(text, now, is_question=asked)
        if len(found) == 1 and not stems(text[: found[0].start] + text[found[0].end :]):
            return found[0].first.toordinal(), found[0].until.toordinal()
    raise UsageError(
        option, f'{text!r} is no day; write it like 2026-02-24, yesterday or "last week"'
    )


def parse_start(text: str, now: datetime, zone: tzinfo) -> datetime:
    """A start: a time, a span up to now, or the first day of a time expression."""
    if begin := _before_now(text, now):
        return begin
    if is_time(text):
        return parse_time(text, zone, "--since")
    day = date.fromordinal(parse_days(text, now, "--since")[0])
    return parse_time(day.isoformat(), zone, "--since")


def is_time(text: str) -> bool:
    """Whether a text has a time of day.

    >>> is_time("2026-03-11T09:00"), is_time("2026-03-11"), is_time("1 OCTOBER")
    (True, False, False)
    """
    return text[:1].isdigit() and search(r"[0-9]T[0-9]|:", text) is not None


def parse_moment(
    text: str | None, now: datetime, zone: tzinfo, option: str, *, at_end: bool = False
) -> str | None:
    """A time with its offset; a day, also in words, as its date or (``at_end``) last instant.

    ``at_end`` is for ``--known-at``: records are dated in UTC.
    """
    if text is None:
        return None
    if is_time(text):
        return parse_time(text, zone, option).isoformat()
    first, until = parse_days(text, now, option)
    if until - first != 1:
        raise UsageError(option, f"{text!r} is more than one day; name one day or a time")
    day = date.fromordinal(first).isoformat()
    return end_of_day(day, zone) if at_end else day


def _before_now(text: str, now: datetime) -> datetime | None:
    """The instant that is a span ("12h", "3 days", "2 weeks") before now; else None."""
    span = fullmatch(
        r"([0-9]{1,4}) ?(h|d|w)(?:(?<=h)ours?|(?<=d)ays?|(?<=w)eeks?)?", text.strip().lower()
    )
    unit = {"h": "hours", "d": "days", "w": "weeks"}
    with suppress(OverflowError):
        return now - timedelta(**{unit[span[2]]: int(span[1])}) if span else None
    return None
