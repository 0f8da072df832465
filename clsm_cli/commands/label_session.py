"""A person goes through proposed queries and says what answers them: what each key does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.commands.keyboard import BACK, END, ENTER, ON
from clsm_cli.evaluation.own.sheet import category_of
from clsm_cli.store import labels
from clsm_cli.store.labels import Label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clsm_cli.evaluation.own.proposals import Proposal
    from clsm_cli.evaluation.own.sheet import Found


class Session:
    """Where the person is, and what was said; every answer is saved at once.

    Args:
        proposals: The queries, at least one.
        pool: The items of a query.
        save: Writes labels, and takes those with some ids out.

    Attributes:
        at: Place of the query from 0.
        item: Place of its item from 0.
        saved: Queries that are labelled.
    """

    def __init__(
        self,
        proposals: Sequence[Proposal],
        pool: Callable[[Proposal], list[Found]],
        save: Callable[[Sequence[Label], Sequence[str]], None],
    ) -> None:
        self.proposals = list(proposals)
        self.at = 0
        self.item = 0
        self.is_over = False
        self._pool = pool
        self._save = save
        self._items: dict[int, list[Found]] = {}
        self._marks: dict[int, dict[str, bool]] = {}
        self._ids: dict[int, str] = {}

    @property
    def saved(self) -> int:
        """Queries that were labelled and still are."""
        return len(self._ids)

    @property
    def proposal(self) -> Proposal:
        """The query."""
        return self.proposals[self.at]

    @property
    def items(self) -> list[Found]:
        """Its items; looked for when they are first needed."""
        if self.at not in self._items:
            self._items[self.at] = self._pool(self.proposal)
        return self._items[self.at]

    @property
    def marks(self) -> dict[str, bool]:
        """What was said of its items, by id."""
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
        elif key in ("u", BACK):
            self._back()
        elif key == ENTER:
            if any(self.marks.values()):
                self._next_query()
        elif self.items and key in ("y", "n", " "):
            self._mark(key)
        elif self.items and key == ON:
            self.item = min(self.item + 1, len(self.items) - 1)

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
