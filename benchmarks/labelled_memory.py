"""What a night makes of labelled notes, against their labels of concepts and sentences.

One command: ``python -m benchmarks.labelled_memory fixtures/sample``; ``--plain`` takes all markup out of
the notes first. The notes are ingested and consolidated a day after the last of them, and what then
stands in the files is compared with ``labels/concepts.yaml`` and ``labels/statements.yaml``.

- *Concepts*: a label is found if the label or an alias of a node is one of its names, ignoring case,
  marks, a leading article and a plural s. A wrong merge is a node with names of several labels.
- *Statements*: a sentence is there if a current or closed statement has a word of every group of its
  label; junk likewise.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from clsm_cli.commands import engine
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.dataset import Case, Folders, label_key, load_yaml
from clsm_cli.evaluation.loaders.own_memory import FOLDERS
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.model.graph import Node, Statement
from clsm_cli.store import logs, record_files, shards

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clsm_cli.store.layout import Store

_FENCED = re.compile(r"^(?:```|~~~)[^\n]*\n", re.MULTILINE)
_LINKED = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")
_TAGGED = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]*)", re.MULTILINE)
_MARKS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")
_ARTICLE = re.compile(r"\A(?:the|an?)\s+(?=\S)", re.IGNORECASE)


class Concept(NamedTuple):
    """A thing that the memory should know; its names as ``normal_names`` has them."""

    label: str
    names: frozenset[str]
    kind: str | None


class Wording(NamedTuple):
    """A sentence that should stand in memory, or must not; of each group a word must occur."""

    text: str
    stream: str
    groups: tuple[tuple[str, ...], ...]


def normal_names(names: Iterable[str]) -> frozenset[str]:
    """Names to compare: without case, marks, blanks, a leading article and a plural s.

    >>> sorted(normal_names(["The Steward's Problems", "a heron", "compass", "..."]))
    ['compass', 'heron', 'stewardsproblem']
    """
    keys = [label_key(_ARTICLE.sub("", name.strip(), count=1)) for name in names]
    return frozenset(re.sub(r"(?<=..[^s])s\Z", "", key) for key in keys) - {""}


def without_markup(text: str) -> str:
    """Notes as somebody writes who knows no Markdown: no links, emphasis, code marks or tags.

    >>> without_markup("**Ask** [[mara|Mara]] about `a_b` and _Dune_. #work")
    'Ask Mara about a_b and Dune. work'
    """
    return _MARKS.sub("", _TAGGED.sub(r"\1", _LINKED.sub(r"\1", _FENCED.sub("", text))))


def concept_lines(labels: Sequence[Concept], nodes: Sequence[Node]) -> Iterator[str]:
    """Which labels have a node, and which nodes mix several of them."""
    names = {node.id: normal_names((node.label, *node.aliases)) for node in nodes}
    kinds = {node.id: node.kind for node in nodes}
    found = {each.label: [i for i in names if names[i] & each.names] for each in labels}
    yield _counted("concepts found", sum(map(bool, found.values())), len(labels))
    unnamed = len(names) - len({node for held in found.values() for node in held})
    yield f"nodes that no label names, for each label: {unnamed / len(labels):.2f}"
    kinded = [each for each in labels if each.kind and found[each.label]]
    right = sum(any(kinds[i] == each.kind for i in found[each.label]) for each in kinded)
    yield _counted("kinds right", right, len(kinded))
    for node, mine in sorted(names.items()):
        owners = [{e.label for e in labels if name in e.names} for name in sorted(mine)]
        held = [each for each in owners if each]
        if held and not set.intersection(*held):
            yield f"wrong merge: {node}: {', '.join(sorted(set.union(*held)))}"
    for label, mine_ids in found.items():
        if len(mine_ids) != 1:
            yield f"{label}: {', '.join(sorted(mine_ids)) or 'no node'}"


def statement_lines(
    keep: Sequence[Wording], junk: Sequence[Wording], rows: Sequence[Statement]
) -> Iterator[str]:
    """Which sentences worth keeping were kept, and where; which fragments were kept as well."""
    found = {each: [row for row in rows if contains_wording(row.text, each)] for each in keep}
    present = [each for each in keep if found[each]]
    placed = [each for each in present if each.stream in {row.stream for row in found[each]}]
    promoted = [e for e in junk if any(contains_wording(row.text, e) for row in rows)]
    yield _counted("sentences worth keeping that are there", len(present), len(keep))
    yield _counted("stream right", len(placed), len(present))
    yield _counted("junk that is there", len(promoted), len(junk))
    yield from (f"not kept: {each.text}" for each in keep if not found[each])
    yield from (f"another stream: {each.text}" for each in present if each not in placed)
    yield from (f"junk: {each.text}" for each in promoted)


def contains_wording(text: str, wording: Wording) -> bool:
    """Whether a text has a word or phrase of every group; a part of a decimal number is none.

    >>> often = Wording("", "", (("ten", "10"), ("often",)))
    >>> contains_wording("Often it is Ten.", often), contains_wording("It is often 0.10.", often)
    (True, False)
    """
    return all(
        any(
            re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(phrase)}(?!\w)", text, re.IGNORECASE)
            for phrase in group
        )
        for group in wording.groups
    )


def _counted(what: str, count: int, total: int) -> str:
    return f"{what}: {100 * count / max(1, total):.1f} % ({count} of {total})"


def _wordings(rows: Iterable[dict[str, Any]]) -> list[Wording]:
    return [
        Wording(
            row["text"],
            row.get("stream", ""),
            tuple(tuple(map(str, group)) for group in row["must_contain"]),
        )
        for row in rows
    ]


def _consolidated(root: Path, work: Path, *, is_plain: bool) -> Store:
    copy = work / "notes"
    for name in FOLDERS:
        shutil.copytree(root / name, copy / name)
    for file in copy.rglob("*.md") if is_plain else ():
        file.write_text(without_markup(file.read_text("utf-8")), "utf-8")
    factory = StoreFactory(work, engine.embedder(), lambda *_: None)
    made = stores.make_store(Case("notes", Folders(copy, FOLDERS), ()), factory)
    stores.run_consolidation(factory, made.store, made.now)
    return made.store


def main() -> None:
    """Make the store, and print how it compares with the labels."""
    parser = argparse.ArgumentParser(description="What a night makes of labelled notes.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--plain", action="store_true", help="take all markup out first")
    given = parser.parse_args()
    labels = given.path / "labels"
    named = [
        Concept(
            row["label"], normal_names((row["label"], *row.get("aliases", ()))), row.get("kind")
        )
        for row in load_yaml(labels / "concepts.yaml")
    ]
    wordings = load_yaml(labels / "statements.yaml")
    with tempfile.TemporaryDirectory() as work:
        store = _consolidated(given.path, Path(work), is_plain=given.plain)
        records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
        statements = record_files.load_statements(store, records, "2000-01-01T00:00:00Z")
    rows = [
        row
        for row in statements.values()
        if row.superseded_at is None and not row.withdrawn and row.kind != "gist"
    ]
    nodes = [record for record in records.values() if isinstance(record, Node)]
    keep, junk = _wordings(wordings["keep"]), _wordings(wordings["junk"])
    print(*concept_lines(named, nodes), *statement_lines(keep, junk, rows), sep="\n")


if __name__ == "__main__":
    main()
