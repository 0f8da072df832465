"""Consolidate in this process with the real model, and compare what stores believe afterwards."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from ingesting import embedder, take, tree

from clsm_cli.consolidation import consolidation_run
from clsm_cli.consolidation.consolidation_report import Report, Request
from clsm_cli.model.codec import Record
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.store import record_files, shards
from clsm_cli.store.layout import Store

NOW = "2026-03-01T12:00:00+01:00"
R = TypeVar("R", bound=Record)


def sleep(store: Store, now: str = NOW, **options: Any) -> Report:
    """``clsm consolidate``, all texts read; ``model=False`` for a machine without the model."""
    engine = embedder() if options.pop("model", True) else None
    request = Request(now=datetime.fromisoformat(now), **options)
    report = consolidation_run.consolidate(store, request, engine, lambda *_: None)
    assert not report.unread
    return report


def chat(folder: Path, name: str, turns: Iterable[tuple[str, str, str]]) -> Path:
    """A conversation that ended: speaker (a role or a name), time and text of each turn."""
    rows: list[dict[str, Any]] = []
    for speaker, time, text in turns:
        role = speaker if speaker in ("user", "assistant", "tool", "system") else "user"
        rows.append({"session": name, "role": role, "speaker": speaker, "time": time, "text": text})
    rows.append({"session": name, "end": True, "time": rows[-1]["time"]})
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def told(store: Store, folder: Path, name: str, *turns: tuple[str, str, str]) -> None:
    take(store, chat(folder, name, turns))


def talked(store: Store, folder: Path, name: str, day: str, *lines: str) -> None:
    """Ingest a conversation of lines like "Mara: It rains.", a minute apart from nine in the morning on."""
    said = [line.split(": ", 1) for line in lines]
    turns = [(who, f"{day}T09:{n:02}:00+01:00", text) for n, (who, text) in enumerate(said)]
    told(store, folder, name, *turns)


def heard(
    store: Store, folder: Path, name: str, day: str, text: str, speaker: str = "Mara"
) -> None:
    """Ingest a conversation of one turn, at ten in the morning."""
    told(store, folder, name, (speaker, f"{day}T10:00:00+01:00", text))


def rows(store: Store) -> dict[str, Statement]:
    """All statements with their texts, by id."""
    graph = shards.load_graph(store.graphs())
    return record_files.load_statements(store, graph.records, "")


def current(store: Store, *words: str) -> list[str]:
    """Texts of current statements that hold all words, gists left out."""
    return sorted(
        row.text
        for row in rows(store).values()
        if row.is_current
        and row.kind != "gist"
        and all(word.casefold() in row.text.casefold() for word in words)
    )


def records_of(store: Store, kind: type[R]) -> dict[str, R]:
    records = shards.load_graph(store.graphs()).records
    return {i: r for i, r in records.items() if isinstance(r, kind)}


def nodes(store: Store) -> dict[str, Node]:
    return records_of(store, Node)


def edges(store: Store) -> dict[str, Edge]:
    return records_of(store, Edge)


def bytes_of(store: Store) -> dict[str, bytes]:
    """Every file of the store but the derived ones and the ledger."""
    return {n: data for n, data in tree(store.root).items() if not n.endswith("/runs.jsonl")}


def believed(store: Store) -> dict[str, Node | Edge | Statement]:
    """Nodes, edges and current statements without what differs by when they were written."""
    found: dict[str, Node | Edge | Statement] = {}
    for i, node in nodes(store).items():
        found[i] = replace(node, rev=(0, ""))
    for i, edge in edges(store).items():
        found[i] = replace(edge, rev=(0, ""), recorded_at=None, superseded_at=None)
    for i, row in rows(store).items():
        if row.is_current:
            found[i] = replace(row, rev=(0, ""), recorded_at=None, superseded_at=None)
    return found
