"""Receipts of ``clsm forget`` as text and as JSON."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clsm_cli.forgetting.masking import Masked
    from clsm_cli.forgetting.past import Rewritten
    from clsm_cli.forgetting.receipt import Gone, Receipt, Run
    from clsm_cli.forgetting.refers import Refers

WIDTH = 72
"""Characters of a text that a line shows."""
FEW = 20
"""Things of a kind that are listed without --verbose."""


def receipt_lines(receipt: Receipt, *, is_done: bool, verbose: bool) -> list[str]:
    """What went, or would go, what stays and why, and what is out of reach."""
    verb = "forgotten" if is_done else "would be forgotten"
    files = counted(len(receipt.files), "file")
    lines = [f"{counted(receipt.turns, 'turn')} of {receipt.all_turns} {verb}, {files} changed"]
    lines += _gone(receipt.gone, verbose=verbose)
    if receipt.remade:
        lines.append(f"{counted(len(receipt.remade), 'episode')} made anew without them")
    if receipt.stays:
        lines.append("stays")
        shown = receipt.stays if verbose else receipt.stays[:FEW]
        lines += [f"  {each.id}  {_short(each.text)}  ({each.why})" for each in shown]
        lines += _more(len(receipt.stays) - len(shown))
    lines += refers_lines(receipt.refers, is_done=is_done)
    return [*lines, *end_lines(receipt, is_done=is_done)]


def masked_lines(masked: Masked, *, is_done: bool) -> list[str]:
    """What was masked, or would be: kinds, numbers and places, never a secret."""
    if not masked.files:
        return ["no secret lies here in clear"]
    verb = "masked" if is_done else "would be masked"
    kinds = ", ".join(f"{count} {kind}" for kind, count in masked.found.items())
    held = f"{counted(masked.turns, 'turn')} and {counted(masked.statements, 'statement')}"
    lines = [f"{kinds} {verb} in {held}; {counted(masked.files, 'file')} changed"]
    for place in masked.places:
        found = ", ".join(f"{count} {kind}" for kind, count in place.found.items())
        lines.append(f"  {place.path}  {found}")
    return [*lines, *end_lines(masked, is_done=is_done)]


def end_lines(receipt: Receipt | Masked, *, is_done: bool) -> list[str]:
    """What is out of reach, and what can no longer be undone."""
    lines: list[str] = []
    if receipt.beyond:
        lines.append("out of reach")
        for each in receipt.beyond:
            lines.append(f"  {each.what}: {each.why}")
            lines += [f"    {command}" for command in each.commands]
    lines += history_lines(receipt.history)
    if is_done:
        return [*lines, f"run {receipt.run}; it cannot be undone{_nor_can(receipt.undoable)}"]
    return [*lines, f"this cannot be undone{_nor_can(receipt.undoable)}", "nothing was written"]


def _nor_can(undoable: Sequence[Run]) -> str:
    """Which earlier runs cannot either."""
    if not undoable:
        return ""
    commands = Counter(run.command for run in undoable)
    named = ", ".join(f"{count} {command}" for command, count in sorted(commands.items()))
    runs = counted(len(undoable), "earlier run")
    first = undoable[0].at[:16].replace("T", " ")
    return f", nor can {runs} since {first} UTC ({named}): what undo keeps goes too"


def refers_lines(refers: Sequence[Refers], *, is_done: bool) -> list[str]:
    """What seems to be about the person and stays, and how to remove it."""
    if not refers:
        return []
    lines = ["seems to be about them, and stays" if is_done else "seems to be about them"]
    lines += [f"  {each.id}  {refer_line(each)}" for each in refers]
    return [*lines, f"  to remove it too: {removal(refers)}"] if is_done else lines


def refer_line(each: Refers) -> str:
    """One of them, with its place and why."""
    when = f"{each.time[:16].replace('T', ' ')}  " if each.time else ""
    return f"{each.place}  {when}{_short(each.text)}  ({each.why})"


def removal(refers: Sequence[Refers]) -> str:
    """The command that removes them."""
    return f"clsm forget {' '.join(each.id for each in refers)}"


def history_lines(history: Rewritten | None) -> list[str]:
    """What became of git's past."""
    if history is None:
        return []
    return [f"git: {history.rewritten} of {counted(history.commits, 'commit')} written anew"]


def _gone(gone: Sequence[Gone], *, verbose: bool) -> Iterator[str]:
    for kind, group in groupby(gone, key=lambda each: each.kind):
        found = list(group)
        yield counted(len(found), kind)
        shown = found if verbose else found[:FEW]
        for each in shown:
            when = f"{each.time[:16].replace('T', ' ')}  " if each.time else ""
            yield f"  {each.id}  {when}{_short(each.text)}".rstrip()
        yield from _more(len(found) - len(shown))


def _more(count: int) -> list[str]:
    return [f"  and {count} more (--verbose lists them)"] if count > 0 else []


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 1].rstrip()}…"


def receipt_mapping(receipt: Receipt | Masked, *, dry_run: bool) -> dict[str, Any]:
    """The receipt as data, with every id."""
    return {"schema": "clsm.forget/1", "dry_run": dry_run, **plain(receipt)}
