"""Stores to ask with presets: small graphs written by hand, and one way to ask."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Any

from ingesting import embedder
from sample_store import NOW, query_engine

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.evaluation.presets.preset import Preset, load
from clsm_cli.evaluation.presets.retrieve import retrieve
from clsm_cli.model.graph import Edge, Node
from clsm_cli.retrieval.answer import Concept, Memory
from clsm_cli.retrieval.query import Query
from clsm_cli.startup.records import NamedTuple
from clsm_cli.store import atomic, shards
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

DAY = datetime.fromisoformat(NOW).date().isoformat()


class Found(NamedTuple):
    """What a preset returned."""

    concepts: tuple[Concept, ...]
    memories: list[Memory]


def ask(store: Store, preset: Preset | str, text: str, **query: Any) -> Found:
    """What a preset returns, by its name or changed."""
    with open_index(store, embedder()) as opened:
        return ask_index(opened.index, preset, text, **query)


def ask_index(index: Index, preset: Preset | str, text: str, **query: Any) -> Found:
    """The same over an index that is open: what presets read of a store is read once."""
    asked = Query(text, NOW, 10, 2000)._replace(**query)
    how = load(preset) if isinstance(preset, str) else preset
    return Found(*retrieve(index, asked, engine(), how))


@cache
def engine() -> QueryEngine:
    """One engine, with the vectors of what was asked before."""
    opened = query_engine()
    opened.open()
    return opened


def node(label: str, *, last: str = DAY, summary: str = "") -> Node:
    return Node(id=label.lower(), rev=(1, "pi"), label=label, n=3, last=last, summary=summary)


def edge(source: str, target: str, weight: float = 1.0, **times: Any) -> Edge:
    a, b = source.lower(), target.lower()
    times |= {"rev": (1, "pi"), "type": "semantic", "weight": weight}
    return Edge(id=f"g-{a}-{b}", source=a, target=b, **times)


def draw(store: Store, *records: Node | Edge) -> None:
    """Write a graph as consolidation would."""
    folder = store.graph("projects")
    atomic.make_folder(folder)
    by_name: dict[str, list[Node | Edge]] = {}
    for record in records:
        by_name.setdefault(shards.shard_name(record.id, 1), []).append(record)
    for name, found in by_name.items():
        (folder / name).write_bytes(shards.render(found))


def chain(labels: Iterable[str]) -> list[Node | Edge]:
    """Nodes in a row, each edge of full strength."""
    listed = list(labels)
    pairs = pairwise(listed)
    return [*map(node, listed), *(edge(*pair) for pair in pairs)]


def activations(concepts: Iterable[Concept]) -> dict[str, float]:
    return {concept.label: concept.activation for concept in concepts}
