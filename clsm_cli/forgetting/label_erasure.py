"""Remove forgotten content from a person's own evaluation labels (``store.labels``).

A label names what answers a query, by id, by name or in its very words; the query itself may be a
question that was asked in what is forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.forgetting import clean_writing
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
        self.texts = tuple(told[key] for key in sorted(told) if key in gone)
        self._kept = "\n".join(_even(told[key]) for key in sorted(told) if key not in gone)
        self._gone = "\n".join(map(_even, self.texts))
        self._parts = {
            part
            for text in self.texts
            for line in text.split("\n")
            if len(part := _even(line)) >= clean_writing.LEAST and part not in self._kept
        }
        names = {name for i in gone for name in _names(contents.records.get(i))}
        names -= {_even(name) for record in after.values() for name in _names(record)}
        self._names = names_pattern(names) if names else None

    def has_id(self, name: str) -> bool:
        """Whether an id is forgotten."""
        return whole_id(name) in self.ids

    def has_concept(self, name: str) -> bool:
        """Whether a name stands for a concept that goes."""
        return node_id(name) in self.ids or self.is_told(name)

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


def _even(text: str) -> str:
    return " ".join(text.split()).casefold()


def _names(record: Record | None) -> tuple[str, ...]:
    if not isinstance(record, Node):
        return ()
    return tuple(filter(None, map(_even, (record.label or record.id, *record.aliases))))


def read_labels(store: Store) -> bytes | None:
    """The file of labels; None without one."""
    path = labels.path_of(store.root)
    if not path.is_file() or path.is_symlink():
        return None
    return atomic.read(path, clean_writing.LARGEST)


def clean_labels(store: Store, data: bytes | None, lost: ForgottenTerms) -> list[RemovedItem]:
    """Take out of the labels what tells of it; a query goes with the last thing that answers it.

    A file that cannot be read as labels loses the lines that tell of it.
    """
    if data is None:
        return []
    try:
        text = labels.decode(data, labels.NAME)
        rows = labels.parse(text, labels.NAME).rows
    except BadInputError:
        lines = data.decode("utf-8", "replace").split("\n")
        _put(store, data, "\n".join(line for line in lines if not _line_tells(line, lost)))
        return []
    lines = text.split("\n")
    ends = [*(row.line - 1 for row in rows[1:]), len(lines)]
    change: dict[str, Label | None] = {}
    for row, end in zip(rows, ends, strict=False):
        left = _left(row, lost)
        if left != row or any(_line_tells(line, lost) for line in lines[row.line - 1 : end]):
            change[row.id] = left  # written anew, without the comments in it
    made = labels.edit(text, change) if change else text
    _put(store, data, "\n".join(line for line in made.split("\n") if not _comment(line, lost)))
    return [
        RemovedItem(row.id, "label", row.text) for row in rows if change.get(row.id, row) is None
    ]


def _left(row: Label, lost: ForgottenTerms) -> Label | None:
    """What stays of a label; None: nothing."""
    tags = (row.id, row.category, row.difficulty)
    if lost.is_told(row.text) or any(lost.is_told(tag, clean_writing.LEAST) for tag in tags):
        return None
    left = row._replace(
        evidence=tuple(each for each in row.evidence if not lost.is_told(each)),
        memories=tuple(each for each in row.memories if not lost.has_id(each)),
        concepts=tuple(each for each in row.concepts if not lost.has_concept(each)),
    )
    return None if row.has_gold and not left.has_gold else left


def _line_tells(line: str, lost: ForgottenTerms) -> bool:
    words = line.strip().lstrip("-# ").strip("\"'")
    return clean_writing.has_trace(line.encode(), lost.ids, ()) or lost.is_told(
        words, clean_writing.LEAST
    )


def _comment(line: str, lost: ForgottenTerms) -> bool:
    return line.lstrip().startswith("#") and _line_tells(line, lost)


def _put(store: Store, old: bytes, text: str) -> None:
    if text.encode() != old.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf"):
        atomic.put(labels.path_of(store.root), text.encode())
