"""When what a statement rests on was told; asked for by questions that name a time alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.records import NamedTuple
from clsm_cli.store.index.search import batches

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable


class Told(NamedTuple):
    """When something was told.

    Attributes:
        day: Proleptic ordinal of the day.
        periods: JSON: [[first, until], …], days that it speaks of; None for none.
    """

    day: int | None
    periods: str | None


def sources(connection: sqlite3.Connection, rows: Iterable[int]) -> dict[int, list[Told]]:
    """When the turns were told that statements rest on, by row of the statement."""
    found: dict[int, list[Told]] = {}
    for batch in batches(rows):
        marks = ",".join("?" * len(batch))
        for row, _, *told in connection.execute(
            "SELECT DISTINCT r.passage, t.key, t.day, t.periods FROM rests r"
            f" JOIN passages t ON t.key = r.turn AND t.part = 0 WHERE r.passage IN ({marks})"
            " ORDER BY r.passage, t.key, t.day, t.periods",
            batch,
        ):
            found.setdefault(row, []).append(Told(*told))
    return found
