"""Changes of a file of labels: queries added, written anew or taken out, the rest to the byte."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.model.ids import tombstone_hash
from clsm_cli.store import labels
from clsm_cli.store.jsonlines import dump

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.store.labels import Label, Labels

_ID = re.compile(rb"(?<![\w-])(?:[a-z]-)?[0-9a-f]{12}(?!\w)")
"""The id of a memory or a turn; a part of a long turn has a number behind it."""
_OTHER_ENDS = frozenset("\r\x85\u2028\u2029")
"""Where YAML ends a line besides."""
HEADER = "# Queries of this memory and what answers them; see docs/evaluation.md.\n"


def edited(
    text: str, change: Mapping[str, Label | None] | None = None, fresh: Sequence[Label] = ()
) -> str:
    r"""A file with some queries written anew, taken out (None) or added at its end.

    Comments between queries stay; those inside a query that is written anew go, as does all of one
    that is taken out. Where the list is not in block style the whole list is written anew.

    Args:
        text: The file; empty: there is none yet.
        change: By the id of the query.
        fresh: In order.

    Raises:
        BadInputError: The file is not what it must be.

    >>> print(edited("queries:\n- query: a\n  evidence: []\n# end\n",
    ...     fresh=[labels.Label("q2", "b", memories=("m1",))]), end="")
    queries:
    - query: a
      evidence: []
    - id: "q2"
      query: "b"
      memories: ["m1"]
    # end
    """
    found = labels.parse(text, labels.NAME)
    changed = change or {}
    rows = [changed.get(row.id, row) for row in found.rows]
    wanted = [*(row for row in rows if row is not None), *fresh]
    made = _in_place(text, found, changed, fresh)
    if made is None or _bare(labels.parse(made, labels.NAME).rows) != _bare(wanted):
        made = _whole(text, found.store, wanted)
    return made


def without_forgotten(data: bytes, forgotten: frozenset[str]) -> bytes:
    """A file without ids that have a tombstone, as a merge may bring them back.

    A query goes with the last thing that answers it. What cannot be read stays: a person has to
    mend it.

    Args:
        data: The file.
        forgotten: Hashes of ids with a tombstone.
    """
    words = {word.decode() for word in _ID.findall(data)}
    if not any(tombstone_hash(word) in forgotten for word in words):
        return data
    try:
        text = labels.decoded(data, labels.NAME)
        rows = labels.parse(text, labels.NAME).rows
    except BadInputError:
        return data
    change: dict[str, Label | None] = {}
    for row in rows:
        kept = tuple(each for each in row.memories if not _is_forgotten(each, forgotten))
        if kept != row.memories:
            left = row._replace(memories=kept)
            change[row.id] = left if left.has_gold else None
    return edited(text, change).encode() if change else data


def _is_forgotten(name: str, forgotten: frozenset[str]) -> bool:
    found = _ID.match(name.encode())
    return found is not None and tombstone_hash(found.group().decode()) in forgotten


def rendered(label: Label, column: int = 0) -> str:
    """The lines of a query, each text as JSON, which any YAML reader reads."""
    parts = [f"id: {dump(label.id)}", f"query: {dump(label.text)}"]
    for name, values in (("evidence", label.evidence), ("memories", label.memories)):
        if values:
            parts.append(f"{name}: {dump(list(values))}")
    if label.concepts:
        parts.append(f"concepts: {dump(list(label.concepts))}")
    if label.is_labelled and not label.has_gold:
        parts.append("evidence: []")
    if label.category:
        parts.append(f"category: {dump(label.category)}")
    if label.difficulty:
        parts.append(f"difficulty: {dump(label.difficulty)}")
    blanks = " " * column
    return "".join(f"{blanks}{'- ' if n == 0 else '  '}{part}\n" for n, part in enumerate(parts))


def _bare(rows: Sequence[Label]) -> list[Label]:
    """Rows without what differs by how they are written."""
    return [row._replace(line=0, last=0, has_empty_category=False) for row in rows]


def _in_place(
    text: str, found: Labels, change: Mapping[str, Label | None], fresh: Sequence[Label]
) -> str | None:
    """None where the list has no lines of its own."""
    if not found.key_line or _OTHER_ENDS.intersection(text):
        return None
    lines = [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
    column = found.column
    if column is None:
        if found.rows:
            return None
        key = lines[found.key_line - 1]
        lines[found.key_line - 1] = key.replace("[]", "", 1).replace(": \n", ":\n")
        at, column = found.key_line, 0
    else:
        at = found.rows[-1].last
    lines[at:at] = [rendered(each, column) for each in fresh]
    for row in reversed(found.rows):
        if row.id in change:
            new = change[row.id]
            first = _dash(lines, row.line - 1)
            lines[first : row.last] = [] if new is None else [rendered(new, column)]
    return "".join(lines)


def _dash(lines: Sequence[str], line: int) -> int:
    """The line, from 0, of the dash before a query that begins in a line."""
    while line > 0 and not lines[line].lstrip().startswith("-"):
        line -= 1
    return line


def _whole(text: str, store: str, rows: Sequence[Label]) -> str:
    """A file written anew, under the comments that the old one begins with."""
    head = ""
    for line in text.split("\n"):
        if not line.startswith("#"):
            break
        head += f"{line}\n"
    named = f"store: {dump(store)}\n" if store else ""
    return f"{head or HEADER}{named}queries:\n{''.join(map(rendered, rows))}"
