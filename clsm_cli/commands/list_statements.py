"""``clsm list``: what is known to be true now, newest first."""

from __future__ import annotations

from typing import get_args

from clsm_cli.commands import log_command
from clsm_cli.commands.command_line import AS_OF, KNOWN_AT, Common, Option
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import command
from clsm_cli.commands.recall_command import view_of
from clsm_cli.model.graph import StatementKind
from clsm_cli.model.streams import STREAMS

KINDS: tuple[str, ...] = get_args(StatementKind)


@command(
    "clsm list                         # all statements that hold, newest first",
    "clsm list --stream tasks          # of one stream",
    "clsm list --kind preference       # of one kind",
    "clsm list --about Mara -n 10      # about somebody or something",
    "clsm list --as-of 2026-02-15      # what was true on that day",
    stream=Option("--stream", "STREAM", f"Only one stream: {', '.join(STREAMS)}."),
    kind=Option("--kind", "KIND", f"Only one kind: {', '.join(KINDS)}."),
    about=Option("--about", "NAME", "Only about this, by any of its names."),
    limit=Option("--limit -n", "N", "Lines at most.", least=1),
    as_of=AS_OF,
    known_at=KNOWN_AT,
)
def list_statements(
    *,
    stream: str | None = None,
    kind: str | None = None,
    about: str | None = None,
    limit: int = log_command.SHOWN,
    as_of: str | None = None,
    known_at: str | None = None,
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
    printer.show(log_command.held_mapping(found), log_command.held_lines(found, opened.zone, limit))
    if not found:
        printer.warn("nothing of that is held")
