"""Helpers that the commands of ``clsm eval`` share: the factory of stores, the opened engine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.commands.command_line import Option
from clsm_cli.commands.environment import environment, parse_time

if TYPE_CHECKING:
    from clsm_cli.commands.engine import QueryEngine
    from clsm_cli.commands.output import Printer
    from clsm_cli.evaluation.stores import StoreFactory

WORK = Option(
    "--work",
    "DIR",
    "Folder for the stores it makes and finds again; default: clsm/eval in the user's cache.",
)
FRESH = Option("--fresh", "", "Make stores and figures anew.")
SEED = Option("--seed", "N", "Of intervals and samples.", least=0)
EVAL_NOW = Option(
    "--now",
    "TIME",
    "Take this as the time of ingest and recall; default: a day after the last turn.",
)


def make_factory(
    printer: Printer, work: Path | None, now: str | None, *, fresh: bool
) -> StoreFactory:
    """Where stores of an evaluation are made; a missing model is offered at a terminal."""
    from zoneinfo import ZoneInfo

    from clsm_cli.commands import engine
    from clsm_cli.evaluation import stores

    at = None if now is None else parse_time(now, ZoneInfo(stores.ZONE), "--now")
    engine.offer_install(printer)
    return stores.StoreFactory(
        folder=(work or _cache()).expanduser().absolute(),
        embedder=engine.embedder(),
        now=at,
        fresh=fresh,
        progress=printer.progress,
    )


def open_engine() -> QueryEngine:
    """The engine of queries, opened."""
    from clsm_cli.commands import engine

    queries = engine.QueryEngine()
    queries.open()
    return queries


def _cache() -> Path:
    values = environment()
    home = values.get("XDG_CACHE_HOME") or os.path.join(values.get("HOME", "~"), ".cache")
    return Path(home) / "clsm" / "eval"
