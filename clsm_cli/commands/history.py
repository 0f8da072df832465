"""``clsm history``: every version of what is known about something."""

from __future__ import annotations

from typing import Annotated

import typer

from clsm_cli.commands import completion, render_history
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import AsOfOption, Common, KnownAtOption, examples, takes_common
from clsm_cli.commands.recall_options import view_of

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
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
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
    view = view_of(opened, moment, as_of, known_at)
    found = fact_history.history(opened, names, view)
    if common.as_json:
        printer.json(render_history.mapping(found, view))
    elif printer.is_terminal:
        printer.rich(render_history.renderables(found, moment))
    else:
        printer.lines(render_history.lines(found, opened.zone))
    for each in found:
        if not each.threads and not each.subjects:
            is_past = view.at is not None
            printer.warn(f"{each.wanted}: nothing is held of it{' for that time' * is_past}")
