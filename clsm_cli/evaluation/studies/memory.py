"""Consolidation of a labelled memory, in reading order: ingest, consolidate, compare, repeat."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import TYPE_CHECKING

from clsm_cli.evaluation import stores
from clsm_cli.evaluation.loaders.memory import FOLDERS
from clsm_cli.evaluation.studies import memory_contents, memory_labels, memory_match, memory_repeat
from clsm_cli.evaluation.studies.memory_report import MemoryReport, SheetRow

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.memory_contents import Contents

_FENCED = re.compile(r"^(?:```|~~~)[^\n]*\n", re.MULTILINE)
_LINKED = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")
_TAGGED = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]*)", re.MULTILINE)
_MARKS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def run_memory(
    path: Path, shop: Workshop, seed: int, *, is_plain: bool = False, sheet: int = 0
) -> MemoryReport:
    """Consolidate a labelled memory and compare what is then in its files with the labels.

    Args:
        path: Folder with ``workspace``, ``sessions`` and ``labels``.
        shop: Where the store is made.
        seed: Of the draw of statements.
        is_plain: Take the markup out of the notes first, and look at concepts alone.
        sheet: Statements to draw for a judge; with any, nothing is repeated.

    Raises:
        BadInputError: Labels or notes cannot be read.
        RefusedError: A run would withdraw much at once.
    """
    labels = memory_labels.load(path)
    if is_plain:
        path = stores.rewritten(shop, path, FOLDERS, without_markup)
    made = stores.of_folders(shop, path, FOLDERS)
    store = stores.consolidated(shop, made)
    held = memory_contents.read(store)
    concepts = memory_match.concepts(labels.concepts, held)
    if is_plain:
        return MemoryReport(_sizes(held), concepts)
    return MemoryReport(
        data=_sizes(held),
        concepts=concepts,
        statements=memory_match.statements(labels, held),
        facts=tuple(memory_match.fact(label, held) for label in labels.facts),
        repeated=None if sheet else memory_repeat.measure(path, shop, made, store),
        sheet=_drawn(held, sheet, seed),
    )


def without_markup(text: str) -> str:
    """Notes as somebody writes who knows no Markdown: no links, emphasis, code marks or tags.

    >>> without_markup("**Ask** [[mara|Mara]] about `a_b` and _Dune_. #work")
    'Ask Mara about a_b and Dune. work'
    """
    return _MARKS.sub("", _TAGGED.sub(r"\1", _LINKED.sub(r"\1", _FENCED.sub("", text))))


def _sizes(held: Contents) -> dict[str, int]:
    edges = Counter(edge.type for edge in held.edges.values())
    co_occurrences = edges.pop("co_occurs", 0)
    return {
        "turns": len(held.turns),
        "episodes consolidated": held.consolidated,
        "statements": len(held.held),
        "current statements": sum(row.is_current for row in held.held),
        "gists": sum(row.kind == "gist" for row in held.rows.values()),
        "nodes": len(held.nodes),
        "co-occurrence edges": co_occurrences,
        **{f"edges {name}": count for name, count in sorted(edges.items())},
        "review items": held.review,
    }


def _drawn(held: Contents, count: int, seed: int) -> tuple[SheetRow, ...]:
    """Some statements with their sources, for a judge; of the same store the same ones."""
    rows = sorted(held.held, key=lambda row: row.id)
    drawn = random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311  # no secret
    return tuple(
        SheetRow(
            row.id,
            row.kind,
            row.stream,
            row.valid_from,
            row.valid_until,
            row.text,
            tuple(held.told(row)),
        )
        for row in drawn
    )
