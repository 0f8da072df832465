"""``clsm pin`` and ``clsm unpin``: protect records from change by consolidation, or no longer."""

from collections.abc import Sequence
from functools import partial

from clsm_cli.commands import disambiguation
from clsm_cli.commands.command_line import DRY_RUN, Common, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import fields
from clsm_cli.curation import record_edit
from clsm_cli.curation.correction import NotCertainError
from clsm_cli.model.codec import TYPE_NAMES, Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement

WANTED = option(
    "ID|WORDS...",
    "A statement, concept, edge, episode or turn: its id, how it begins, its name, or words of it.",
)


@command(
    "clsm pin f-3a9c12d08e41           # a statement",
    "clsm pin bell delegation-defect   # by what it is about, or a concept",
    'clsm pin "call the plumber"       # looked up; you are asked if several fit',
    "clsm pin 0f3a9c12d08e             # the episode that a turn is in",
)
def pin(wanted: tuple[str, ...] = WANTED, *, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Keep some records as they are.

    What is pinned keeps its values through every consolidation, and decay never archives it. For a
    turn, its episode is pinned. Either everything named is pinned, or nothing.
    """
    _set(wanted, common, is_pinned=True, dry_run=dry_run)


@command("clsm unpin f-3a9c12d08e41", "clsm unpin bell delegation-defect   # all of them, or none")
def unpin(wanted: tuple[str, ...] = WANTED, *, dry_run: bool = DRY_RUN, common: Common) -> None:
    """Let some records change again.

    From then on a consolidation may close or change them, and decay may archive them. Either
    everything named is unpinned, or nothing.
    """
    _set(wanted, common, is_pinned=False, dry_run=dry_run)


def _set(wanted: Sequence[str], common: Common, *, is_pinned: bool, dry_run: bool) -> None:
    printer, opened, moment = common.start()
    pin_all = partial(record_edit.pin, opened, now=moment, warn=printer.warn)
    pin_all = partial(pin_all, is_pinned=is_pinned, dry_run=dry_run)
    try:
        done = pin_all(wanted)
    except NotCertainError as error:
        words, command = error.what, "clsm pin" if is_pinned else "clsm unpin"
        if disambiguation.looks_like_id(words) or not any(map(str.isalnum, words)):
            raise
        fits = disambiguation.matches_of_ids(opened, error.ids)
        if not fits.found:
            fits = disambiguation.find_matches(printer, opened, words, moment, share=1.0)
        chosen = disambiguation.choose(printer, command, words, fits, yes=True, dry_run=dry_run)
        if not chosen:
            return
        meant = [fit.thing.id for fit in chosen]
        wanted = [i for each in wanted for i in (meant if each == words else [each])]
        done = pin_all(wanted)
    rows = [
        {"id": each.record.id, "record": TYPE_NAMES[type(each.record)]}
        | {"text": _text(each.record), **fields(each, "turn is_new")}
        for each in done.found
    ]
    word = "pinned" if is_pinned else "unpinned"
    lines = [
        f"{word if row['is_new'] else 'known':8}  {row['record']} {row['id']}  {row['text']}"
        + (f"  (turn {row['turn']} is in it)" if row["turn"] else "")
        for row in rows
    ]
    mapping = {"schema": "clsm.pin/1", "dry_run": dry_run, "run": done.run, "pinned": is_pinned}
    printer.show({**mapping, "records": rows}, [*lines, *["nothing was written"] * dry_run])


def _text(record: Record) -> str:
    match record:
        case Statement():
            return record.text
        case Node():
            return record.label or record.id
        case Edge():
            return f"{record.source} {record.type} {record.target}"
        case EpisodeRecord():
            return record.title
    return record.id
