"""``clsm note``: remember one thing."""

from typing import Any, Literal

from clsm_cli.commands import fence_key
from clsm_cli.commands.command_line import DRY_RUN, Common, named_text, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import plain
from clsm_cli.config import MAX_MESSAGE
from clsm_cli.ingestion.capture import NoteResult, write_note

_LONGER = "take it in with: clsm ingest FILE"


@command(
    'clsm note "Brian takes his coffee black"',
    "clsm note - < letter.txt",
    'clsm note --by agent "The backup is restored in two steps"',
    "clsm note -- -5 degrees in the barn tonight",
)
def note(
    text: tuple[str, ...] = option("TEXT...", "The note; - reads standard input."),
    *,
    by: Literal["user", "agent"] = option(
        "--by", "Whose words they are; for an agent's own: agent.", default="user"
    ),
    dry_run: bool = DRY_RUN,
    common: Common,
) -> None:
    """Remember one thing, in your own words.

    It is found by the next recall.
    """
    printer, opened, moment = common.start()
    words = named_text("-", MAX_MESSAGE, _LONGER) if text == ("-",) else " ".join(text)
    noted = write_note(
        opened, words, moment, by=by, dry_run=dry_run, fence_key=fence_key.key_reader(printer.warn)
    )
    for kind, count in sorted(noted.masked.items()):
        printer.warn(f"{count} masked ({kind})")
    printer.show(*note_output(noted, dry_run=dry_run))


def note_output(noted: NoteResult, *, dry_run: bool = False) -> tuple[dict[str, Any], list[str]]:
    """Schema ``clsm.note/1``, and id and state as text."""
    state = "known as" if not noted.is_new else "would be noted as" if dry_run else "noted as"
    mapping = {"schema": "clsm.note/1", **plain(noted), "dry_run": dry_run}
    return mapping, [f"{state} {noted.id}"]
