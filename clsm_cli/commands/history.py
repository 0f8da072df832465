"""``clsm history``: every version of what is known about something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands import tables
from clsm_cli.commands.command_line import AS_OF, KNOWN_AT, Common, Option
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import command
from clsm_cli.commands.output import fields, local_time, location_text, shorten
from clsm_cli.commands.recall_command import view_of
from clsm_cli.commands.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import tzinfo

    from clsm_cli.inspection.fact_history import History, Version, View

LONGEST = 60
"""Characters of a value in a table."""
HEADINGS = (
    "value",
    "true from",
    "true until",
    "believed from",
    "believed until",
    "state",
    "source",
    "id",
)


@command(
    "clsm history heartbeat                       # what was held of it, and when",
    "clsm history f-3a9c12d08e41                  # one fact: what it was before and after",
    "clsm history heartbeat --as-of 2026-02-15    # what was true on that day",
    "clsm history heartbeat --known-at 2026-02-15 # what memory believed at its end",
    wanted=Option(
        "", "ID|SUBJECT...", "Ids of statements or edges; concepts by id, label or alias."
    ),
    as_of=AS_OF,
    known_at=KNOWN_AT,
)
def history(
    wanted: list[str], *, as_of: str | None = None, known_at: str | None = None, common: Common
) -> None:
    """Show every version of what is known about something.

    When it was true, when memory believed it, and where it was said.
    """
    from clsm_cli.inspection import fact_history

    printer = common.printer()
    names = [decode_words([each]) for each in wanted]
    if not all(map(str.strip, names)):
        raise UsageError("ID|SUBJECT", "is empty; name what you want to know of")
    opened = common.opened()
    view = view_of(opened, common.time(opened.zone), as_of, known_at)
    found = fact_history.history(opened, names, view)
    tables.show(printer, history_mapping(found, view), history_tables(found, opened.zone))
    for each in found:
        if not each.threads:
            is_past = view.at is not None
            printer.warn(f"{each.wanted}: nothing is held of it{' for that time' * is_past}")


def history_mapping(found: Sequence[History], view: View) -> dict[str, Any]:
    """Schema ``clsm.history/1``."""
    return {
        "schema": "clsm.history/1",
        **fields(view, "now as_of known_at"),
        "found": [fields(each, "wanted threads") for each in found],
    }


def history_tables(found: Iterable[History], zone: tzinfo) -> list[Table]:
    """A table for each thread."""
    found_tables = []
    for each in found:
        for thread in each.threads:
            rows = tuple(_row(version, zone) for version in thread.versions)
            title = " · ".join(part for part in (thread.label, thread.type) if part)
            found_tables.append(Table(title or "about nothing named", HEADINGS, rows))
    return found_tables


def _row(version: Version, zone: tzinfo) -> tuple[str, ...]:
    times = (version.valid_from, version.valid_until, version.recorded_at, version.superseded_at)
    shown = (local_time(time, zone) for time in times)
    place = location_text(version.file, version.line)
    return shorten(version.value, LONGEST), *shown, version.state, place, version.id
