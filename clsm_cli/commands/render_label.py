"""The screens of ``clsm eval label``: plain text, 80 columns or what the terminal has."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from clsm_cli.commands.output import counted
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.commands.label_session import Session

NARROW, WIDE = 40, 100
"""Columns that lines are wrapped at, at least and at most."""
HIGHEST = 12
"""Lines of an item that are shown."""
KEYS = (
    "y yes   n no   space yes/no and stay   enter the rest is no   u back",
    "0 none of these: nothing should be found   s skip   e edit the query   q quit",
)
ASKS = {True: "[x] answers it", False: "[ ] does not"}


def screen(session: Session, width: int) -> list[str]:
    """What a person sees before the next key.

    Args:
        session: Where the person is.
        width: Columns of the terminal.
    """
    columns = max(NARROW, min(width, WIDE)) - 1
    number = f"{session.at + 1} of {len(session.proposals)}"
    about = session.proposal.about
    lines = [f"{number}  ({safe(about)})" if about else number, ""]
    lines += _wrapped(session.proposal.text, columns, "  ")
    lines.append("")
    if session.items:
        item = session.items[session.item]
        mark = session.marks.get(item.id)
        said = "Does this answer it?" if mark is None else ASKS[mark]
        place = f"item {session.item + 1} of {len(session.items)}"
        lines += wrap("  ".join(filter(None, (place, item.day, said))), columns)
        text = _wrapped(item.text, columns, "  | ")
        lines += text[:HIGHEST]
        if len(text) > HIGHEST:
            lines.append("  | …")
        yes = sum(session.marks.values())
        lines += ["", f"{counted(yes, 'item')} marked"]
    else:
        lines.append("Nothing was found for it by any search.")
    return [*lines, *(part for line in KEYS for part in wrap(line, columns))]


def ended(saved: int, total: int, path: Path) -> list[str]:
    """What was done.

    Args:
        saved: Queries that were labelled now.
        total: Queries in the file.
        path: The file.
    """
    said = f"{counted(saved, 'label')} saved, {counted(total, 'label')} in {path}"
    return [said, "measure with: clsm eval"] if total else [said]


def _wrapped(text: str, columns: int, before: str) -> list[str]:
    return [f"{before}{line}" for line in wrap(safe(text), columns - len(before))]
