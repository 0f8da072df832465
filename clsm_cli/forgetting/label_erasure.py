"""Remove forgotten content from a person's own evaluation labels (``store.labels``).

A label names what answers a query, by id, by name or in its very words; the query itself may be a
question that was asked in what is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.forgetting.clean_writing import LARGEST, LEAST, has_trace
from clsm_cli.forgetting.receipt import RemovedItem
from clsm_cli.forgetting.selection import names_pattern
from clsm_cli.model.graph import Node
from clsm_cli.model.ids import whole_id
from clsm_cli.store import atomic, labels
from clsm_cli.text.node_ids import node_id

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet

    from clsm_cli.forgetting.store_contents import StoreContents
    from clsm_cli.model.codec import Record
    from clsm_cli.store.labels import Label
    from clsm_cli.store.layout import Store


class ForgottenTerms:
    """What is forgotten, to recognise it in the words of a label."""

    def __init__(
        self, contents: StoreContents, after: Mapping[str, Record], gone: AbstractSet[str]
    ) -> None:
        lost = (contents.turns[key].turn.foreign_id for key in sorted(gone & contents.turns.keys()))
        self.ids = gone | {each for each in lost if each}
        told = {key: each.turn.text for key, each in contents.turns.items()}
        told |= {key: row.text for key, row in contents.statements.items()}
        texts = [told[key] for key in sorted(told) if key in gone]
        self._kept = "\n".join(_even(told[key]) for key in sorted(told) if key not in gone)
        self._gone = "\n".join(map(_even, texts))
        lines = {_even(line) for text in texts for line in text.split("\n")}
        self._parts = {line for line in lines if len(line) >= LEAST and line not in self._kept}
        names = {name for i in gone for name in _names(contents.records.get(i))}
        names -= {_even(name) for record in after.values() for name in _names(record)}
        self._names = names_pattern(names) if names else None

    def is_told(self, text: str, least: int = 1) -> bool:
        """Whether a text comes from what is forgotten.

        It stands there and in nothing that stays, holds a line of it, or names a concept that goes.

        Args:
            least: Characters from which a text tells where it comes from; a shorter one only names.
        """
        even = _even(text)
        if self._names is not None and self._names.search(even):
            return True
        if len(even) >= least and even in self._gone and even not in self._kept:
            return True
        return any(part in even for part in self._parts)

    def is_told_by(self, line: str) -> bool:
        """Whether a line of the file tells of it, as a comment may."""
        words = line.strip().lstrip("-# ").strip("\"'")
        return has_trace(line.encode(), self.ids, ()) or self.is_told(words, LEAST)


def _even(text: str) -> str:
    return " ".join(text.split()).casefold()


def _names(record: Record | None) -> tuple[str, ...]:
    if not isinstance(record, Node):
        return ()
    return tuple(filter(None, map(_even, (record.label or record.id, *record.aliases))))


def read_labels(store: Store) -> bytes | None:
    """The file of labels; None without one."""
    path = labels.path_of(store.root)
    return atomic.read(path, LARGEST) if path.is_file() and not path.is_symlink() else None


def clean_labels(store: Store, data: bytes | None, lost: ForgottenTerms) -> list[RemovedItem]:
    """Take out of the labels what tells of it; a query goes with the last thing that answers it.

    A file that cannot be read as labels loses the lines that tell of it.
    """
    if data is None:
        return []
    change: dict[str, Label | None] = {}
    try:
        text = labels.decode(data, labels.NAME)
        rows = labels.parse(text, labels.NAME).rows
    except BadInputError:
        text, rows = data.decode("utf-8", "replace"), ()
    lines = text.split("\n")
    ends = [*(row.line - 1 for row in rows[1:]), len(lines)]
    for row, end in zip(rows, ends, strict=False):
        left = _left(row, lost)
        if left != row or any(map(lost.is_told_by, lines[row.line - 1 : end])):
            change[row.id] = left  # written anew, without the comments in it
    made = labels.edit(text, change) if change else text
    kept = [
        line
        for line in made.split("\n")
        if not (lost.is_told_by(line) and (not rows or line.lstrip().startswith("#")))
    ]
    if "\n".join(kept).encode() != data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf"):
        atomic.put(labels.path_of(store.root), "\n".join(kept).encode())
    gone = [row for row in rows if change.get(row.id, row) is None]
    return [RemovedItem(row.id, "label", row.text) for row in gone]


def _left(row: Label, lost: ForgottenTerms) -> Label | None:
    """What stays of a label; None: nothing."""
    tags = (row.id, row.category, row.difficulty)
    if lost.is_told(row.text) or any(lost.is_told(tag, LEAST) for tag in tags):
        return None
    left = row._replace(
        evidence=tuple(each for each in row.evidence if not lost.is_told(each)),
        memories=tuple(each for each in row.memories if whole_id(each) not in lost.ids),
        concepts=tuple(
            each for each in row.concepts if not (node_id(each) in lost.ids or lost.is_told(each))
        ),
    )
    return None if row.has_gold and not left.has_gold else left
