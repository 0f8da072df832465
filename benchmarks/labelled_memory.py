"""What a night makes of labelled notes, against their labels of concepts and sentences.

The notes are ingested and consolidated a day after the last of them, and what then stands in the files is
compared with ``labels/concepts.yaml`` and ``labels/statements.yaml``, for ``benchmarks.study``.

- *Concepts*: a label is found if the label or an alias of a node is one of its names, ignoring case,
  marks, a leading article and a plural s. A wrong merge is a node with names of several labels.
- *Statements*: a sentence is there if a current or closed statement has a word of every group of its
  label; junk likewise.
"""

from __future__ import annotations

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


def names_of(node: Node) -> frozenset[str]:
    """The names of a node, to compare."""
    return normal_names((node.label, *node.aliases))


def concept_figures(labels: Sequence[Concept], nodes: Sequence[Node]) -> dict[str, float]:
    """Shares of labels that have a node, and several; nodes that no label names, a label; kinds right; wrong merges."""
    names = [(node, names_of(node)) for node in nodes]
    found = [[node for node, mine in names if mine & each.names] for each in labels]
    named = {node.id for held in found for node in held}
    kinded = [pair for pair in zip(labels, found, strict=True) if pair[0].kind and pair[1]]
    owners = [[{e.label for e in labels if n in e.names} for n in mine] for _, mine in names]
    merged = [held for each in owners if (held := [*filter(None, each)])]
    return {
        "concepts found": sum(map(bool, found)) / len(labels),
        "unmatched a label": (len(nodes) - len(named)) / len(labels),
        "concepts split": sum(len(held) > 1 for held in found) / len(labels),
        "wrong merges": sum(not set.intersection(*held) for held in merged),
        "kinds right": sum(any(node.kind == label.kind for node in held) for label, held in kinded)
        / max(1, len(kinded)),
    }


def statement_figures(
    keep: Sequence[Wording], junk: Sequence[Wording], rows: Sequence[Statement]
) -> dict[str, float]:
    """Shares of the sentences worth keeping that are there, of these in the right stream, and of the junk."""
    held = {e: {r.stream for r in rows if contains_wording(r.text, e)} for e in (*keep, *junk)}
    present = [each for each in keep if held[each]]
    return {
        "sentences worth keeping that are there": len(present) / len(keep),
        "stream right": sum(each.stream in held[each] for each in present) / max(1, len(present)),
        "junk that is there": sum(bool(held[each]) for each in junk) / len(junk),
    }


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


def kept(store: Store) -> tuple[list[Node], list[Statement]]:
    """The nodes of a store, and its statements that are current or closed, without gists."""
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, "2000-01-01T00:00:00Z").values()
    return [record for record in records.values() if isinstance(record, Node)], [
        row
        for row in rows
        if row.superseded_at is None and not row.withdrawn and row.kind != "gist"
    ]


def figures(path: Path, *, is_plain: bool) -> Iterator[tuple[int, dict[str, float]]]:
    """Consolidate a labelled memory, all markup taken out first if it shall be plain: figures of so many labels."""
    labels, told = path / "labels", load_yaml(path / "labels" / "statements.yaml")
    named = [
        Concept(
            row["label"], normal_names((row["label"], *row.get("aliases", ()))), row.get("kind")
        )
        for row in load_yaml(labels / "concepts.yaml")
    ]
    with tempfile.TemporaryDirectory() as work:
        nodes, rows = kept(_consolidated(path, Path(work), is_plain=is_plain))
    keep, junk = _wordings(told["keep"]), _wordings(told["junk"])
    yield len(named), concept_figures(named, nodes)
    yield len(keep) + len(junk), statement_figures(keep, junk, rows)
