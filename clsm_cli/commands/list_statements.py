"""``clsm list``: what is known to be true now, newest first."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from clsm_cli.commands import completion, log
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import AsOfOption, Common, KnownAtOption, examples, takes_common
from clsm_cli.commands.recall_options import view_of
from clsm_cli.model.graph import StatementKind
from clsm_cli.model.streams import STREAMS

EXAMPLES = examples(
    "clsm list                         # all statements that hold, newest first",
    "clsm list --stream tasks          # of one stream",
    "clsm list --kind preference       # of one kind",
    "clsm list --about Mara -n 10      # about somebody or something",
    "clsm list --as-of 2026-02-15      # what was true on that day",
)
KINDS: tuple[str, ...] = get_args(StatementKind)


@takes_common()
def list_statements(
    *,
    stream: Annotated[
        str | None, typer.Option(metavar="STREAM", help=f"Only one stream: {', '.join(STREAMS)}.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help=f"Only one kind: {', '.join(KINDS)}.")
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Only about this, by any of its names.",
            autocompletion=completion.ids,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, metavar="N", help="Lines at most.")
    ] = log.SHOWN,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    common: Common,
) -> None:
    """List what is known to be true now, or was at another time, newest first."""
    from clsm_cli.inspection import morning_report

    printer = common.printer()
    for option, value, known in (("--stream", stream, STREAMS), ("--kind", kind, KINDS)):
        if value is not None and value not in known:
            raise UsageError(option, f"{value!r} is none; there are {', '.join(known)}")
    if about is not None and not decode_words([about]).strip():
        raise UsageError("--about", "is empty; name somebody or something")
    opened = common.opened()
    choice = morning_report.ListFilter(
        stream, kind, decode_words([about]) if about is not None else None
    )
    view = view_of(opened, common.time(opened.zone), as_of, known_at)
    found = morning_report.held_statements(opened, choice, view)
    if common.as_json:
        printer.json(log.held_mapping(found))
    else:
        printer.lines(log.held_lines(found, opened.zone, limit))
    if not found:
        printer.warn("nothing of that is held")
