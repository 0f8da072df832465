"""The environment, store and time of a command; without Typer, for commands that must start fast."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError, DiskError
from clsm_cli.store import device
from clsm_cli.store.layout import Store, discover, open_store

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo


class UsageError(Exception):
    """An option or argument cannot be used as it was given."""

    def __init__(self, option: str, reason: str) -> None:
        super().__init__(reason)
        self.option = option


def environment() -> dict[str, str]:
    """The process's environment, read here and handed down."""
    return dict(os.environ)


def chosen_format(named: str | None, *, as_json: bool) -> str:
    """The form of an answer: ``--format``, which may not contradict ``--json``, else text."""
    form = named or ("json" if as_json else "text")
    if as_json and form != "json":
        raise UsageError("--format", f"--json and --format {form} exclude each other")
    return form


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
def named_text(name: str, most: int, next_step: str) -> str:
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
    except (FileNotFoundError, IsADirectoryError) as error:
        raise BadInputError(name, error.strerror, next_step) from None
    except OSError as error:
        raise DiskError(name, error.strerror or str(error)) from error
    if len(data) > most:
        raise BadInputError(name, f"is longer than {most} bytes", next_step)
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


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


def parse_budget(text: str, window: int = 0) -> tuple[int, str]:
    """A number of tokens, or of characters; with a window also a share of its tokens.

    >>> parse_budget("800"), parse_budget("3000c"), parse_budget("30%", window=8192)
    ((800, 'tokens'), (3000, 'characters'), (2457, 'tokens'))
    """
    from re import fullmatch

    match = fullmatch(r"([0-9]{1,9})([c%]?)", text)
    if not match or (match[2] == "%" and int(match[1]) > (100 if window else -1)):
        others = ", 3000c for characters or 30% for a part of --window" if window else ""
        others = others or " or 3000c for characters"
        reason = f"{text!r} is no size; write 800 for tokens{others}"
        raise UsageError("--budget", reason)
    size = window * int(match[1]) // 100 if match[2] == "%" else int(match[1])
    return size, "characters" if match[2] == "c" else "tokens"


def current_time(named: str | None, zone: tzinfo | None = None) -> datetime:
    """``--now``, else the clock; with an offset, whole seconds."""
    from datetime import datetime

    if zone is None:
        from clsm_cli.startup.zones import system_zone, zone_of

        zone = zone_of(system_zone(environment()))
    if named is None:
        return datetime.now(zone).replace(microsecond=0)
    return parse_time(named, zone, "--now")


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
