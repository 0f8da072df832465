"""Shell completion: ids, runs, recalls, open questions, topics.

Nothing that goes wrong here may disturb a command line: then nothing is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import typer

from clsm_cli.commands.environment import chosen_store, current_time
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store

LISTED = 50
"""Choices that are offered at most."""
Choices = list[tuple[str, str]]
"""Words with what the shell says beside them."""


def ids(context: typer.Context, incomplete: str) -> Choices:
    """Ids of turns, episodes, statements and concepts that begin so; first what was just recalled."""
    return _from_store(_ids, context, incomplete)


def runs(context: typer.Context, incomplete: str) -> Choices:
    """Runs of this machine, the newest first."""
    return _from_store(_runs, context, incomplete)


def recalls(context: typer.Context, incomplete: str) -> Choices:
    """Recalls of this machine, the newest first."""
    return _from_store(_recalls, context, incomplete)


def questions(context: typer.Context, incomplete: str) -> Choices:
    """What waits for a decision, the most important first."""
    return _from_store(_questions, context, incomplete)


def topics(context: typer.Context, incomplete: str) -> Choices:
    """Topics of projects."""
    return _from_store(_topics, context, incomplete)


def presets(_context: typer.Context, incomplete: str) -> Choices:
    """The published systems that clsm is compared with."""
    from clsm_cli.evaluation.presets.preset import PRESETS

    return [(name, "") for name in PRESETS if name.startswith(incomplete)]


def _from_store(
    list_all: Callable[[Store, str], Iterable[tuple[str, str]]],
    context: typer.Context,
    incomplete: str,
) -> Choices:
    try:
        store = chosen_store(context.params.get("store"))
        found = [(name, safe(told)) for name, told in list_all(store, incomplete)]
    except Exception:  # noqa: BLE001  # a traceback would land in the middle of a command line
        return []
    fitting = {
        name: told for name, told in found if name.startswith(incomplete) and safe(name) == name
    }
    return list(fitting.items())[:LISTED]


def _ids(store: Store, incomplete: str) -> Iterable[tuple[str, str]]:
    from clsm_cli.inspection.lookup import ids_with_prefix

    found = [name for row in _recalled(store) for name in row["ids"]]
    return [(str(name), "") for name in [*found, *ids_with_prefix(store, incomplete, LISTED)]]


def _runs(store: Store, _: str) -> Iterable[tuple[str, str]]:
    from clsm_cli.store import ledger

    return [(run.id, f"{run.command} {run.at}") for run in reversed(ledger.entries(store.flow))]


def _recalls(store: Store, _: str) -> Iterable[tuple[str, str]]:
    return [(str(row["recall"]), str(row["at"])) for row in _recalled(store)]


def _recalled(store: Store) -> list[dict[str, Any]]:
    """Lines of the log of recalls, the newest first."""
    from clsm_cli.store import logs

    return [row for name in logs.ACTIVATIONS for _, row in logs.rows(store.flow / name)[0]][::-1]


def _questions(store: Store, _: str) -> Iterable[tuple[str, str]]:
    from clsm_cli.consolidation import review_queue

    return [
        (item.id, item.reason)
        for item in review_queue.list_items(store, current_time(None, store.zone))
    ]


def _topics(store: Store, _: str) -> Iterable[tuple[str, str]]:
    return [(path.stem, "") for path in sorted((store.root / "projects").glob("*.md"))]
