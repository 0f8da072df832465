"""``clsm open``: where something was said, in your editor."""

from __future__ import annotations

from clsm_cli.commands import editor
from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.environment import decode_words
from clsm_cli.commands.options import command
from clsm_cli.errors import BadInputError


@command(
    "clsm open f-3a9c12d08e41          # where it was said, in $VISUAL or $EDITOR",
    "clsm open 3a9c --print            # FILE:LINE alone, for a script",
    no_effect=("now",),
    wanted=Option("", "ID", "An id from recall or how it begins, or a name."),
    only_print=Option("--print", "", "Print FILE:LINE instead of opening it."),
)
def open_source(wanted: str, *, only_print: bool = False, common: Common) -> None:
    """Open the file in which something was said, at its line.

    The note or the transcript that was ingested, if it is still there; else the file of the memory
    that holds the words.
    """
    from clsm_cli.inspection.item_lookup import look_up
    from clsm_cli.store.index.source_locations import Location, relocate

    printer = common.printer()
    found = look_up(common.opened(), decode_words([wanted]))
    told = next((each for each in found.told if each.file), None)
    if told is None:
        next_step = f"see what is known of it: clsm show {found.id}"
        raise BadInputError(found.id, "has no source that is still there", next_step)
    place = relocate(Location(told.file, told.line), told.text)
    if common.as_json:
        printer.json({"schema": "clsm.open/1", "id": found.id, **place._asdict()})
    elif only_print:
        printer.lines([f"{place.file}:{place.line}"])
    else:
        editor.open_in_editor(*place)
