"""Options that every command has, and what they mean: store, time, how to print."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from zoneinfo import ZoneInfo

import typer

from clsm_cli.store.layout import Store, discover, open_store, system_zone

if TYPE_CHECKING:
    from datetime import tzinfo

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
DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")
]


def environment() -> dict[str, str]:
    """The process's environment, read here and handed down."""
    return dict(os.environ)


def chosen_store(named: str | None) -> Store:
    """Open the store that ``--store``, the environment or the folder names.

    Raises:
        StoreNotFoundError: There is none.
    """
    values = environment()
    return open_store(discover(named, values, Path.cwd()), values)


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
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a time; write it like 2026-02-24 or 2026-02-24T08:15:00+01:00",
            param_hint=option,
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
