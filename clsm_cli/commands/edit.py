"""``clsm edit``: change one record in your editor."""

from __future__ import annotations

from clsm_cli.commands import editor
from clsm_cli.commands.command_line import Common, Option
from clsm_cli.commands.environment import decode_words
from clsm_cli.commands.options import command
from clsm_cli.consolidation import record_edit
from clsm_cli.model.codec import TYPE_NAMES, encode


@command(
    "clsm edit f-3a9c12d08e41          # a statement, in $EDITOR",
    "clsm edit delegation-defect       # a concept: its label, kind, aliases",
    "EDITOR='code --wait' clsm edit g-91ab",
    wanted=Option("", "ID", "A statement, concept, edge or episode, or how its id begins."),
)
def edit(wanted: str, *, common: Common) -> None:
    """Change one record in your editor.

    It opens in $VISUAL or $EDITOR as YAML, is checked when you save, and is pinned: no
    consolidation changes it from then on.
    """
    printer, opened, moment = common.start()
    draft = record_edit.draft(opened, decode_words([wanted]), moment, printer.warn)
    done = editor.edit_text(
        opened.derived / "edit",
        f"{draft.record.id}.yaml",
        draft.text,
        lambda text: record_edit.save(opened, draft, text, moment, printer.warn),
        printer,
    )
    record = done.record
    if common.as_json:
        mapping = encode(record)
        printer.json({"schema": "clsm.edit/1", "run": done.run, "record": mapping})
    elif done.run is None:
        printer.lines([f"nothing changed in {record.id}"])
    else:
        printer.lines([f"{TYPE_NAMES[type(record)]} {record.id} changed and pinned · {done.run}"])
