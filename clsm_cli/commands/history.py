"""``clsm history``: every version of what is known about something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from clsm_cli.commands import completion, render_history
from clsm_cli.commands.environment import UsageError, decode_words, parse_time
from clsm_cli.commands.options import Common, examples, takes_common
from clsm_cli.ingestion import timestamps
from clsm_cli.model.clocks import end_of_day

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from clsm_cli.inspection.fact_history import View

EXAMPLES = examples(
    "clsm history heartbeat                       # what was held of it, and when",
    "clsm history f-3a9c12d08e41                  # one fact: what it was before and after",
    "clsm history heartbeat --as-of 2026-02-15    # what was true on that day",
    "clsm history heartbeat --known-at 2026-02-15 # what memory believed at its end",
)


@takes_common()
def history(
    wanted: Annotated[
        list[str],
        typer.Argument(
            metavar="ID|SUBJECT...",
            help="Ids of statements or edges; concepts by id, label or alias; topics.",
            autocompletion=completion.ids,
        ),
    ],
    *,
    as_of: Annotated[
        str | None, typer.Option(metavar="TIME", help="Only what was true at that time or day.")
    ] = None,
    known_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Only what was believed at that time, or at the end of that day."
        ),
    ] = None,
    common: Common,
) -> None:
    """Show every version of what is known about something.

    When it was true, when memory believed it, and where it was said. For a topic, the subjects with
    statements in it are listed.
    """
    from clsm_cli.inspection import fact_history

    printer = common.printer()
    names = [decode_words([each]) for each in wanted]
    if not all(map(str.strip, names)):
        raise UsageError("ID|SUBJECT", "is empty; name what you want to know of")
    opened = common.opened()
    moment = common.time(opened.zone)
    view = view_of(moment, opened.zone, as_of, known_at)
    found = fact_history.history(opened, names, view)
    if common.as_json:
        printer.json(render_history.mapping(found, view))
    elif printer.is_terminal:
        printer.rich(render_history.renderables(found, moment))
    else:
        printer.lines(render_history.lines(found, opened.zone))
    for each in found:
        if not each.threads and not each.subjects:
            is_limited = view.as_of is not None or view.known_at is not None
            printer.warn(f"{each.wanted}: nothing is held of it{' for that time' * is_limited}")


def view_of(now: datetime, zone: tzinfo, as_of: str | None, known_at: str | None) -> View:
    """The times that a history is seen from.

    Raises:
        UsageError: One is not a time.
    """
    from clsm_cli.inspection.fact_history import View

    return View(
        now.isoformat(),
        _time(as_of, zone, "--as-of"),
        _known(_time(known_at, zone, "--known-at"), zone),
    )


def _time(text: str | None, zone: tzinfo, option: str) -> str | None:
    """A time as a store writes it: a bare date stays one."""
    if text is None:
        return None
    moment = parse_time(text, zone, option)
    return timestamps.normalise(text, zone) or timestamps.normalise(moment.isoformat(), zone)


def _known(text: str | None, zone: tzinfo) -> str | None:
    """A day counts as its end: what was learnt on it was known then."""
    return end_of_day(text, zone) if text is not None and "T" not in text else text
