"""Options that every command has, and what they mean: store, time, how to print.

A script may pass ``--store`` and ``--now`` to every command; where one has no effect, its help says
so, and a value that is no time is still refused.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from clsm_cli.store.layout import Store, discover, open_store, system_zone

if TYPE_CHECKING:
    from datetime import tzinfo


def _checked_time(text: str | None) -> str | None:
    if text is not None:
        parse_time(text, UTC, "--now")
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
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")
]


def examples(*lines: str) -> str:
    """The end of a help text: examples, each on a line of its own."""
    unwrapped = "\b"  # Typer's mark for a paragraph that keeps its lines
    return "\n".join([unwrapped, "Examples:", *(f"  {line}" for line in lines)])


def environment() -> dict[str, str]:
    """The process's environment, read here and handed down."""
    return dict(os.environ)


def chosen_store(named: str | None) -> Store:
    """Open the store that ``--store``, the environment or the folder names.

    Raises:
        StoreNotFoundError: There is none.
    """
    values = environment()
    return open_store(discover(named, values, _working_folder()), values)


def _working_folder() -> Path:
    """The current folder; one that was deleted under us holds no store, and is no reason to fail."""
    try:
        return Path.cwd()
    except OSError:
        return Path(os.sep)


def given(words: list[str]) -> str:
    """Words of the command line as one text; bytes that are not UTF-8 become replacement marks."""
    return " ".join(words).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def current_time(named: str | None, zone: tzinfo | None = None) -> datetime:
    """``--now``, else the clock; with an offset, whole seconds.

    Raises:
        typer.BadParameter: It is not a time.
    """
    zone = zone or ZoneInfo(system_zone(environment()))
    if named is None:
        return datetime.now(zone).replace(microsecond=0)
    return parse_time(named, zone, "--now")


def parse_time(text: str, zone: tzinfo, option: str) -> datetime:
    """A time from the command line; without an offset it is in the store's zone.

    Raises:
        typer.BadParameter: It is not a time.
    """
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        moment.astimezone(UTC)  # year 1 or 9999 may lie outside what can be computed with
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a time; write it like 2026-02-24 or 2026-02-24T08:15:00+01:00",
            param_hint=option,
        ) from None
    return moment
