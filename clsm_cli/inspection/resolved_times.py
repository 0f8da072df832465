"""The days that the words of a text mean, to stand beside them; the words stay as they were said."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from clsm_cli.model import clocks
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.time import expressions

if TYPE_CHECKING:
    from datetime import tzinfo

    from clsm_cli.model.graph import Statement


class ResolvedTime(NamedTuple):
    """Words of a text that say when, and the first and last day that they mean, as ISO dates."""

    text: str
    first: str
    last: str


def resolved_times(text: str, said: str | None, zone: tzinfo) -> tuple[ResolvedTime, ...]:
    """The times of a text that it and the day on which it was said make certain, in its order.

    >>> from datetime import UTC
    >>> resolved_times("We met last Friday, in some May.", "2026-03-09T08:00:00Z", UTC)
    (ResolvedTime(text='last Friday', first='2026-03-06', last='2026-03-06'),)
    """
    at = clocks.day_of(said, zone)
    found = expressions.find_expressions(text, at) if at else []
    return tuple(
        ResolvedTime(
            each.text.strip(), each.first.isoformat(), (each.until - timedelta(1)).isoformat()
        )
        for each in found
        if each.certain
    )


def times_of(row: Statement, text: str, zone: tzinfo) -> tuple[ResolvedTime, ...]:
    """Those of a statement: what rests on no turn was said when it was written down."""
    return resolved_times(text, row.valid_from if row.sources else row.recorded_at, zone)
