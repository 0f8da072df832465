"""``clsm edit``: change one record in the user's editor; ``clsm open``: open its source there."""

import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import typer

from clsm_cli.commands.command_line import Common, environment, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, end_progress, has_person, is_terminal
from clsm_cli.config import MAX_FILE
from clsm_cli.errors import BadInputError, ClsmError
from clsm_cli.store import atomic

Taken = TypeVar("Taken")

DEFAULT_EDITOR = "vi"  # the editor that every Unix has


def edit_text(
    folder: Path, name: str, text: str, take: Callable[[str], Taken], printer: Printer
) -> Taken:
    """Edit a text in a private file in $VISUAL or $EDITOR, and pass the result to ``take``.

    At a terminal, the user may edit refused text again. The file is removed once its text is
    accepted; otherwise it is kept and the error names it.
    """
    end_progress()
    path, number = folder / name, 2
    while path.exists():  # keep what a user wrote earlier
        path, number = folder / f"{number}-{name}", number + 1
    atomic.put(path, text.encode())
    while True:
        try:
            open_in_editor(str(path))
        except BadInputError:
            if _saved(path) == text:
                atomic.remove(path)
            raise
        try:
            taken = take(_saved(path))
        except BadInputError as error:
            if has_person():
                printer.tell([f"clsm: {error}"])
                with suppress(typer.Abort):  # end of input or interrupt counts as no
                    if typer.confirm("Edit again?", default=True, err=True):
                        continue
            next_step = "it is kept there: run the command again and take from it"
            raise BadInputError(str(path), error.reason, next_step) from None
        except ClsmError:
            printer.warn(f"{path}: what you wrote is kept there")
            raise
        atomic.remove(path)
        return taken


_PLUS = ("+{line}", "{file}")
_COLON = ("{file}:{line}",)
_OPTION = ("--line", "{line}", "{file}")
LINE_ARGUMENTS = {
    **dict.fromkeys(("ex", "gvim", "mvim", "nvim", "vi", "view", "vim"), _PLUS),
    **dict.fromkeys(("emacs", "emacsclient", "gedit", "jed", "joe", "mg", "nano", "ne"), _PLUS),
    **dict.fromkeys(("kak", "less", "micro", "pico"), _PLUS),
    **dict.fromkeys(("code", "code-insiders", "codium", "cursor", "windsurf"), ("-g", *_COLON)),
    **dict.fromkeys(("helix", "hx", "subl", "zed"), _COLON),
    **dict.fromkeys(("idea", "kate", "mate", "pycharm"), _OPTION),
}
"""Editor → its arguments for a line, from the manuals; others get only the file."""


def open_in_editor(file: str, line: int = 0) -> None:
    """Open a file at a line in $VISUAL or $EDITOR, and wait for it to end."""
    values = environment()
    named = values.get("VISUAL") or values.get("EDITOR")
    if not named and not is_terminal(sys.stdin):
        raise BadInputError("$EDITOR", "is not set", "name an editor that needs no terminal")
    named = named or DEFAULT_EDITOR
    try:
        first, *more = shlex.split(named)
        form = LINE_ARGUMENTS.get(Path(first).name, ("{file}",)) if line else ("{file}",)
        words = [word.format(file=file, line=line) for word in form]
        done = subprocess.run([first, *more, *words], check=False)
    except (OSError, ValueError) as error:
        reason = f"cannot be run ({getattr(error, 'strerror', None) or error})"
        raise BadInputError(named, reason, "name your editor in $EDITOR") from None
    if done.returncode:
        raise BadInputError(named, f"ended with code {done.returncode}", "nothing was changed")


def _saved(path: Path) -> str:
    data = atomic.read(path, MAX_FILE)
    return (data or b"").decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


@command(
    "clsm edit f-3a9c12d08e41          # a statement, in $EDITOR",
    "clsm edit delegation-defect       # a concept: its label, kind, aliases",
    "EDITOR='code --wait' clsm edit g-91ab",
)
def edit(
    wanted: str = option("ID", "A statement, concept, edge or episode, or how its id begins."),
    *,
    common: Common,
) -> None:
    """Change one record in your editor.

    It opens in $VISUAL or $EDITOR as YAML, is checked when you save, and is pinned: no
    consolidation changes it from then on.
    """
    from clsm_cli.curation import record_edit
    from clsm_cli.model.codec import TYPE_NAMES, encode

    printer, opened, moment = common.start()
    draft = record_edit.draft(opened, wanted, moment, printer.warn)
    done = edit_text(
        opened.derived / "edit",
        f"{draft.record.id}.yaml",
        draft.text,
        lambda text: record_edit.save(opened, draft, text, moment, printer.warn),
        printer,
    )
    record, line = done.record, f"nothing changed in {done.record.id}"
    if done.run is not None:
        line = f"{TYPE_NAMES[type(record)]} {record.id} changed and pinned · {done.run}"
    printer.show({"schema": "clsm.edit/1", "run": done.run, "record": encode(record)}, [line])


@command(
    "clsm open f-3a9c12d08e41          # where it was said, in $VISUAL or $EDITOR",
    "clsm open 3a9c --print            # FILE:LINE alone, for a script",
    no_effect=("now",),
)
def open_command(
    wanted: str = option("ID", "An id from recall or how it begins, or a name."),
    *,
    only_print: bool = option("--print", "Print FILE:LINE instead of opening it."),
    common: Common,
) -> None:
    """Open the file in which something was said, at its line.

    The note or the transcript that was ingested, if it is still there; else the file of the memory
    that holds the words.
    """
    from clsm_cli.inspection.item_lookup import look_up
    from clsm_cli.store.index.source_locations import Location, relocate

    printer = common.printer()
    found = look_up(common.opened(), wanted)
    turn = next((each for each in found.told if each.file), None)
    if turn is None:
        next_step = f"see what is known of it: clsm show {found.id}"
        raise BadInputError(found.id, "has no source that is still there", next_step)
    place = relocate(Location(turn.file, turn.line), turn.text)
    if common.as_json:
        printer.json({"schema": "clsm.open/1", "id": found.id, **place._asdict()})
    elif only_print:
        printer.lines([f"{place.file}:{place.line}"])
    else:
        open_in_editor(*place)
