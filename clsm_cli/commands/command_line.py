"""How a command is called: its options, and the store, time and environment that they mean.

The options of the commands that must start fast are each declared once for both parsers.
``fast_parser`` reads ordinary command lines by these tables, without Typer. ``options.typer_function``
makes the Typer command of the same table: it reads the unusual ones, prints the help, and explains
what is wrong.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import Printer
from clsm_cli.errors import BadInputError, DiskError
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import device
from clsm_cli.store.layout import Store, discover, open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime, tzinfo


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
        return Printer(self.as_json, self.quiet, self.verbose)

    def formatted(self, named: str | None) -> tuple[Printer, str]:
        """The same where there is ``--format`` too, and the form: text, json or prompt."""
        form = named or ("json" if self.as_json else "text")
        if self.as_json and form != "json":
            raise UsageError("--format", f"--json and --format {form} exclude each other")
        return self._replace(as_json=form == "json").printer(), form

    def opened(self) -> Store:
        """The store that is meant."""
        return chosen_store(self.store)

    def start(self) -> tuple[Printer, Store, datetime]:
        """The printer, the store and the time of a command."""
        opened = self.opened()
        return self.printer(), opened, self.time(opened.zone)

    def time(self, zone: tzinfo | None = None) -> datetime:
        """``--now``, else the clock; with an offset, whole seconds."""
        from datetime import datetime

        if zone is None:
            from clsm_cli.startup.zones import system_zone, zone_of

            zone = zone_of(system_zone(environment()))
        if self.now is None:
            return datetime.now(zone).replace(microsecond=0)
        return parse_time(self.now, zone, "--now")


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
    """An option or argument cannot be used as it was given."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(reason)
        self.option = option


def environment() -> dict[str, str]:
    """The process's environment, read here and handed down."""
    return dict(os.environ)


def chosen_store(named: str | None) -> Store:
    """Open the store that ``--store``, the environment or the folder names."""
    root = chosen_root(named)
    device.check(root)
    return open_store(root, environment())


def chosen_root(named: str | None) -> Path:
    """The folder of that store, which may be damaged."""
    folder = Path(os.sep)
    with suppress(OSError):  # one that was deleted meanwhile contains no store and is no error
        folder = Path.cwd()
    return discover(named, environment(), folder)


def program() -> list[str]:
    """What runs this clsm without a search along PATH."""
    import shutil

    beside = shutil.which("clsm", path=os.path.dirname(sys.executable))
    return [beside] if beside else [sys.executable, "-m", "clsm_cli"]


def decode_words(words: Iterable[str]) -> str:
    """Words of the command line as one text; bytes that are not UTF-8 become replacement marks."""
    return " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


@cache
def named_text(name: str, most: int, next_step: str, errors: str = "replace") -> str:
    """The text of a file; ``-`` is standard input, which may be closed.

    It is read once: what the fast path could not use is run again, to be told why.
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
    try:
        return data.decode("utf-8", errors).removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise BadInputError(name, "is not UTF-8", next_step) from None


MAX_QUERY = 1 << 20
"""Characters of a question."""


def query_text(words: Iterable[str], option: str) -> str:
    """A question: at least a word, at most ``MAX_QUERY`` characters."""
    text = decode_words(words).strip()
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
    from re import fullmatch

    match = fullmatch(r"([0-9]{1,9})(c?)", text)
    if not match:
        reason = f"{text!r} is no size; write 800 for tokens or 3000c for characters"
        raise UsageError("--budget", reason)
    return int(match[1]), "characters" if match[2] else "tokens"


def parse_time(text: str, zone: tzinfo, option: str) -> datetime:
    """A time from the command line; without an offset it is in the store's zone."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        moment.astimezone(UTC)  # year 1 or 9999 may lie outside what can be computed with
    except (ValueError, OverflowError):
        reason = f"{text!r} is not a time; write it like 2026-02-24 or 2026-02-24T08:15:00+01:00"
        raise UsageError(option, reason) from None
    return moment


def parse_days(text: str, now: datetime, option: str) -> tuple[int, int]:
    """The days that a date, words or a span up to now mean, as ordinals: first, and the one after the last.

    >>> from datetime import date, datetime
    >>> now = datetime(2026, 3, 11, 9)
    >>> first, until = parse_days("2w", now, "--since")
    >>> str(date.fromordinal(first)), str(date.fromordinal(until)), parse_days("yesterday", now, "")[0] - first
    ('2026-02-25', '2026-03-12', 13)
    """
    from datetime import datetime

    if begin := _before(text, now):
        return begin.toordinal(), now.toordinal() + 1
    with suppress(ValueError):
        if "W" not in text:  # Python takes a week for its Monday
            day = datetime.fromisoformat(text).toordinal()
            return day, day + 1
    from clsm_cli.text.time import expressions
    from clsm_cli.text.tokens import stems

    for asked in (False, True):  # a day to come before one behind
        found = expressions.find_expressions(text, now, asked=asked)
        if len(found) == 1 and not stems(text[: found[0].start] + text[found[0].end :]):
            return found[0].first.toordinal(), found[0].until.toordinal()
    raise UsageError(
        option, f'{text!r} is no day; write it like 2026-02-24, yesterday or "last week"'
    )


def parse_start(text: str, now: datetime, zone: tzinfo, option: str) -> datetime:
    """When something begins: a time, a span up to now, or the first of the days that words mean."""
    from datetime import date, datetime

    if begin := _before(text, now):
        return begin
    if is_time(text):
        return parse_time(text, zone, option)
    day = date.fromordinal(parse_days(text, now, option)[0])
    return datetime(day.year, day.month, day.day, tzinfo=zone)


def is_time(text: str) -> bool:
    """Whether a text gives more than a day.

    >>> is_time("2026-03-11T09:00"), is_time("2026-03-11"), is_time("Tuesday")
    (True, False, False)
    """
    return text[:1].isdigit() and ("T" in text or ":" in text)


def parse_moment(
    text: str | None, now: datetime, zone: tzinfo, option: str, *, at_end: bool = False
) -> str | None:
    """A time with its offset, a day as its date, whatever words name it, or as its last instant.

    What was known on a day is asked at its end: records are dated in UTC.
    """
    if text is None:
        return None
    if is_time(text):
        return parse_time(text, zone, option).isoformat()
    first, until = parse_days(text, now, option)
    if until - first != 1:
        raise UsageError(option, f"{text!r} is more than one day; name one day or a time")
    from datetime import date

    from clsm_cli.model.clocks import end_of_day

    day = date.fromordinal(first).isoformat()
    return end_of_day(day, zone) if at_end else day


def _before(text: str, now: datetime) -> datetime | None:
    """The instant a span before now, as "12h", "3 days" or "2 weeks"; None for anything else."""
    from datetime import timedelta
    from re import fullmatch

    span = fullmatch(
        r"([0-9]{1,4}) ?(h|d|w)(?:(?<=h)ours?|(?<=d)ays?|(?<=w)eeks?)?", text.strip().lower()
    )
    unit = {"h": "hours", "d": "days", "w": "weeks"}
    return now - timedelta(**{unit[span[2]]: int(span[1])}) if span else None
