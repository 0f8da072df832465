"""Study of consolidation: statements and nodes of labelled notes against their labels."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from dataclasses import fields, replace
from datetime import datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

from clsm_cli.errors import RefusedError
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.loaders.own_memory import FOLDERS
from clsm_cli.evaluation.studies import matching
from clsm_cli.evaluation.studies.labelled import (
    Contents,
    Difference,
    MemoryReport,
    Repeated,
    SheetRow,
    load,
    read_contents,
)
from clsm_cli.model.graph import Edge, Node, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from clsm_cli.evaluation.stores import MadeStore, StoreFactory
    from clsm_cli.store.layout import Store

    Compared = Mapping[str, Node] | Mapping[str, Edge] | Mapping[str, Statement]

_FENCED = re.compile(r"^(?:```|~~~)[^\n]*\n", re.MULTILINE)
_LINKED = re.compile(r"\[\[(?:[^\[\]|\n]{1,200}\|)?([^\[\]|\n]{1,200})\]\]")
_TAGGED = re.compile(r"(?:(?<=\s)|^)#([^\W\d_][\w/-]*)", re.MULTILINE)
_MARKS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def run_memory(
    path: Path, factory: StoreFactory, seed: int, *, is_plain: bool = False, sheet: int = 0
) -> MemoryReport:
    """Consolidate a labelled memory and compare what is then in its files with the labels.

    Args:
        path: Folder with ``workspace``, ``sessions`` and ``labels``.
        factory: Where the store is made.
        seed: Of the draw of statements.
        is_plain: Take the markup out of the notes first, and look at concepts alone.
        sheet: Statements to draw for a judge; with any, nothing is repeated.

    Raises:
        BadInputError: Labels or notes cannot be read.
        RefusedError: A run would withdraw much at once.
    """
    labels = load(path)
    if is_plain:
        path = stores.rewritten_folders(factory, path, FOLDERS, without_markup)
    made = stores.folder_store(factory, path, FOLDERS)
    store = stores.consolidated_copy(factory, made)
    contents = read_contents(store)
    concepts = matching.match_concepts(labels.concepts, contents)
    if is_plain:
        return MemoryReport(_sizes(contents), concepts)
    return MemoryReport(
        data=_sizes(contents),
        concepts=concepts,
        statements=matching.match_statements(labels, contents),
        facts=tuple(matching.match_fact(label, contents) for label in labels.facts),
        repeated=None if sheet else measure(path, factory, made, store),
        sheet=_drawn(contents, sheet, seed),
        heads=held_out_figures(),
    )


def held_out_figures() -> dict[str, dict[str, float]]:
    """What the shipped heads are worth on memories left out of their fit, as their weights say.

    Returns:
        Head, and of which texts → figure → value; ``scripts/fit_heads.py`` and ``fit_names.py``
        measured them, one workspace or conversation left out at a time.
    """

    def of(head: str) -> dict[str, Any]:
        text = (resources.files("clsm_cli.heads") / "weights" / f"{head}.json").read_text("utf-8")
        found: dict[str, Any] = json.loads(text)
        return found

    units = of("unit")["figures"]["hidden"]
    return {
        "documents": of("document")["figures"]["hidden"],
        "sentences of notes": units["notes"],
        "sentences of chats": units["chat"],
        "names": of("name")["left out"],
    }


def without_markup(text: str) -> str:
    """Notes as somebody writes who knows no Markdown: no links, emphasis, code marks or tags.

    >>> without_markup("**Ask** [[mara|Mara]] about `a_b` and _Dune_. #work")
    'Ask Mara about a_b and Dune. work'
    """
    return _MARKS.sub("", _TAGGED.sub(r"\1", _LINKED.sub(r"\1", _FENCED.sub("", text))))


def _sizes(contents: Contents) -> dict[str, int]:
    edges = Counter(edge.type for edge in contents.edges.values())
    co_occurrences = edges.pop("co_occurs", 0)
    return {
        "turns": len(contents.turns),
        "episodes consolidated": contents.consolidated,
        "statements": len(contents.statements),
        "current statements": sum(row.is_current for row in contents.statements),
        "gists": sum(row.kind == "gist" for row in contents.rows.values()),
        "nodes": len(contents.nodes),
        "co-occurrence edges": co_occurrences,
        **{f"edges {name}": count for name, count in sorted(edges.items())},
        "review items": contents.review,
    }


def _drawn(contents: Contents, count: int, seed: int) -> tuple[SheetRow, ...]:
    """Some statements with their sources, for a judge; of the same store the same ones."""
    rows = sorted(contents.statements, key=lambda row: row.id)
    drawn = random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311  # no secret
    return tuple(
        SheetRow(
            row.id,
            row.kind,
            row.stream,
            row.valid_from,
            row.valid_until,
            row.text,
            tuple(contents.source_texts(row)),
        )
        for row in drawn
    )


EXAMPLES = 5
"""Differences of one kind that are shown."""


BEDTIME = "T23:30:00+00:00"
"""When a night's run begins."""


_DATED = re.compile(r"\d{4}-\d\d-\d\d")


def measure(path: Path, factory: StoreFactory, made: MadeStore, store: Store) -> Repeated:
    """Consolidate again, rebuild, and live through the days one by one.

    Args:
        path: The labelled memory.
        factory: Where stores are made.
        made: The store before consolidation.
        store: The same consolidated once; this changes it.
    """
    once = read_contents(store)
    before = _bytes(store.root)
    stores.run_consolidation(factory, store, made.now)
    after = _bytes(store.root)
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    stores.run_consolidation(factory, store, made.now, rebuild=True)
    rebuilt = read_contents(store)
    nightly, nights, refused = _live(path, factory, made)
    return Repeated(
        changed_files=tuple(changed),
        rebuilt=_differences(once, rebuilt, with_statements=False),
        nights=nights,
        refused=refused,
        nightly=_differences(once, read_contents(nightly), with_statements=True),
    )


def files_by_day(path: Path) -> dict[str, list[str]]:
    """The files of a labelled memory by the day on which they are there, in order of time.

    A note is there on the day in its name, a transcript on the day of its last turn, and what has
    no date, as it is now, on the last day.
    """
    dated: dict[str, list[str]] = {}
    undated: list[str] = []
    for file in stores.files_in(path, FOLDERS):
        day = _day_of(file)
        if day is None:
            undated.append(str(file))
        else:
            dated.setdefault(day, []).append(str(file))
    found = dict(sorted(dated.items()))
    last = max(found, default="2000-01-01")
    return {**found, last: found.get(last, []) + undated}


def _day_of(file: Path) -> str | None:
    named = _DATED.match(file.name)
    if named is not None or file.suffix != ".jsonl":
        return named.group() if named else None
    rows = (json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip())
    times = [str(row["timestamp"])[:10] for row in rows if "timestamp" in row]
    return max(times, default=None)


def _live(path: Path, factory: StoreFactory, made: MadeStore) -> tuple[Store, int, int]:
    """A store that takes in each day's files and sleeps every night; nights, and those refused.

    The last run is at the time of the one that it is compared with.
    """
    store = stores.empty_store(made.store, "nights")
    found = files_by_day(path)
    refused = 0
    for day, files in found.items():
        now = datetime.fromisoformat(f"{day}{BEDTIME}")
        stores.ingest_files(factory, store, files, now)
        refused += _slept_only_with_permission(factory, store, now)
    refused += _slept_only_with_permission(factory, store, made.now)
    return store, len(found), refused


def _slept_only_with_permission(factory: StoreFactory, store: Store, now: datetime) -> bool:
    try:
        stores.run_consolidation(factory, store, now)
    except RefusedError:
        stores.run_consolidation(factory, store, now, allow_loss=True)
        return True
    return False


def _bytes(root: Path) -> dict[str, bytes]:
    """Every file of a store that is no part of the index."""
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in sorted(root.rglob("*"))
        if file.is_file() and file.relative_to(root).parts[0] != ".clsm"
    }


def _differences(
    one: Contents, other: Contents, *, with_statements: bool
) -> tuple[Difference, ...]:
    found = _compared("nodes", one.nodes, other.nodes) + _compared("edges", one.edges, other.edges)
    if with_statements:
        found += _compared(
            "statements", *({r.id: r for r in c.statements if r.is_current} for c in (one, other))
        )
    return tuple(found)


def _compared(what: str, one: Compared, other: Compared) -> list[Difference]:
    """Records of one type in two stores, the first being what is expected."""
    both: dict[str, Node | Edge | Statement] = {**other, **one}
    shown = {i: _shown(record) for i, record in both.items()}
    cases: dict[str, list[str]] = {
        f"{what}: missing": [shown[i] for i in sorted(one.keys() - other.keys())],
        f"{what}: more": [shown[i] for i in sorted(other.keys() - one.keys())],
    }
    for i in sorted(one.keys() & other.keys()):
        before, after = _bare(one[i]), _bare(other[i])
        for each in fields(before):
            old, new = getattr(before, each.name), getattr(after, each.name)
            if old != new:
                line = f"{shown[i]}: {_clipped(old)} -> {_clipped(new)}"
                cases.setdefault(f"{what}: {each.name}", []).append(line)
    return [
        Difference(name, len(lines), tuple(lines[:EXAMPLES]))
        for name, lines in cases.items()
        if lines
    ]


def _bare(record: Node | Edge | Statement) -> Node | Edge | Statement:
    if isinstance(record, Node):
        return replace(record, rev=(0, ""))
    return replace(record, rev=(0, ""), recorded_at=None, superseded_at=None)


def _shown(record: Node | Edge | Statement) -> str:
    if isinstance(record, Node):
        return f"{record.label} ({record.kind})"
    if isinstance(record, Edge):
        return f"{record.source} {record.type} {record.target}"
    return record.text


def _clipped(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= 90 else f"{text[:90]}…"
