"""The interactive session of ``clsm eval label``: reading keys, what each key does, and the screens."""

from __future__ import annotations

import os
import sys
from textwrap import wrap
from typing import TYPE_CHECKING

from clsm_cli.commands.output import count_noun, is_terminal
from clsm_cli.evaluation.own.sheet import category_of
from clsm_cli.store import labels
from clsm_cli.store.labels import Label
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clsm_cli.evaluation.own.query_proposals import Proposal
    from clsm_cli.evaluation.own.sheet import PoolItem

END = "\x04"
"""What the end of input reads as: Ctrl-D."""
ENTER = "\n"
_WAIT = 0.05
"""Seconds in which the rest of an escape sequence arrives, over a slow line too."""


class Session:
    """Where the person is, and what was said; every answer is saved at once."""

    def __init__(
        self,
        proposals: Sequence[Proposal],
        pool: Callable[[Proposal], list[PoolItem]],
        save: Callable[[Sequence[Label], Sequence[str]], None],
    ) -> None:
        self.proposals = list(proposals)
        self.at = 0
        self.item = 0
        self.is_over = False
        self._pool = pool
        self._save = save
        self._items: dict[int, list[PoolItem]] = {}
        self._marks: dict[int, dict[str, bool]] = {}
        self._ids: dict[int, str] = {}

    @property
    def saved(self) -> int:
        """How many queries were labelled, and still are."""
        return len(self._ids)

    @property
    def proposal(self) -> Proposal:
        """The proposed query that is shown."""
        return self.proposals[self.at]

    @property
    def items(self) -> list[PoolItem]:
        """Its items; looked for when they are first needed."""
        if self.at not in self._items:
            self._items[self.at] = self._pool(self.proposal)
        return self._items[self.at]

    @property
    def marks(self) -> dict[str, bool]:
        """The marks of the query's items, by id."""
        return self._marks.setdefault(self.at, {})

    def press(self, key: str) -> None:
        """Do what a key means; one that means nothing is passed over."""
        if key in ("q", END):
            self.is_over = True
        elif key == "s":
            self._take_out()
            self._next_query()
        elif key == "0":
            self.marks.update((each.id, False) for each in self.items)
            self._write()
            self._next_query()
        elif key == "u":
            self._back()
        elif key == ENTER:
            if any(self.marks.values()):
                self._next_query()
        elif self.items and key in ("y", "n", " "):
            self._mark(key)

    def edit(self, text: str) -> None:
        """Take another query in place of this one; what was marked counts where it is found again."""
        self._take_out()
        self.proposals[self.at] = self.proposal._replace(text=" ".join(text.split()))
        self._items.pop(self.at, None)
        found = {each.id for each in self.items}
        self._marks[self.at] = {i: mark for i, mark in self.marks.items() if i in found}
        self.item = 0
        if any(self.marks.values()):
            self._write()

    def _mark(self, key: str) -> None:
        shown = self.items[self.item].id
        self.marks[shown] = not self.marks.get(shown, False) if key == " " else key == "y"
        is_last = self.item + 1 == len(self.items)
        ends = is_last and key != " "
        if any(self.marks.values()) or ends:
            self._write()
        else:
            self._take_out()
        if ends:
            self._next_query()
        elif key != " ":
            self.item += 1

    def _back(self) -> None:
        if self.item > 0:
            self.item -= 1
        elif self.at > 0:
            self.at -= 1

    def _next_query(self) -> None:
        self.at += 1
        self.item = 0
        if self.at == len(self.proposals):
            self.at -= 1
            self.is_over = True

    def _write(self) -> None:
        row = Label(
            labels.id_of(self.proposal.text),
            self.proposal.text,
            memories=tuple(each.id for each in self.items if self.marks.get(each.id)),
            category=category_of(self.proposal.kind),
        )
        self._save([row], [])
        self._ids[self.at] = row.id

    def _take_out(self) -> None:
        known = self._ids.pop(self.at, None)
        if known is not None:
            self._save([], [known])


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
    """What a person sees before the next key."""
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
        lines += ["", f"{count_noun(yes, 'item')} marked"]
    else:
        lines.append("Nothing was found for it by any search.")
    return [*lines, *(part for line in KEYS for part in wrap(line, columns))]


def closing_lines(saved: int, total: int, path: Path) -> list[str]:
    """What was done."""
    said = f"{count_noun(saved, 'label')} saved, {count_noun(total, 'label')} in {path}"
    return [said, "measure with: clsm eval"] if total else [said]


def _wrapped(text: str, columns: int, before: str) -> list[str]:
    return [f"{before}{line}" for line in wrap(safe(text), columns - len(before))]


class Keyboard:
    """Reads keys; ``line`` reads a whole line, with the terminal's own editing."""

    def __init__(self) -> None:
        self._is_terminal = is_terminal(sys.stdin)
        self._waiting = ""

    def key(self) -> str:
        """The next key: a character, or ``END``; Ctrl-C still interrupts.

        Of a pipe each character of a line is a key, an empty line is Enter.
        """
        while not self._waiting:
            self._waiting = self._typed() if self._is_terminal else self._piped()
        key, self._waiting = self._waiting[0], self._waiting[1:]
        return key

    def _typed(self) -> str:
        """A key that is not shown; nothing for an arrow and the like. What was typed ahead stays."""
        import select
        import termios
        import tty

        handle = sys.stdin.fileno()
        before = termios.tcgetattr(handle)
        try:
            tty.setcbreak(handle, termios.TCSADRAIN)
            data = os.read(handle, 1)
            if data == b"\x1b" and select.select([handle], [], [], _WAIT)[0]:
                os.read(handle, 8)
        finally:
            termios.tcsetattr(handle, termios.TCSADRAIN, before)
        key = data.decode("utf-8", "replace").replace("\r", ENTER)
        return "" if key == "\x1b" else key or END

    def _piped(self) -> str:
        line = sys.stdin.readline() if sys.stdin is not None else ""
        return line.rstrip("\r\n") or ENTER if line else END

    def line(self) -> str:
        """A line of text without its end; empty at the end of input."""
        self._waiting = ""
        return sys.stdin.readline().strip() if sys.stdin is not None else ""
