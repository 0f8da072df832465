"""What a memory believes, and what it shows before anybody asks: compared with and without an attack."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from benchmarks import poisoned_life as life
from clsm_cli.retrieval import briefing
from clsm_cli.store import shards

if TYPE_CHECKING:
    from clsm_cli.store.layout import Store


def believed(store: Store) -> dict[str, dict[str, str]]:
    """What consolidation made, by type and id, and the files of identity/ with their bytes."""
    found: dict[str, dict[str, str]] = {"statement": {}, "node": {}, "edge": {}, "identity": {}}
    for record in shards.load_graph(store.graphs()).records.values():
        kind = type(record).__name__.lower()
        # In time each episode has its place, whoever speaks in it.
        if kind in found and getattr(record, "type", "") != "next":
            found[kind][record.id] = repr(record)
    for path in sorted((store.root / "identity").rglob("*")):
        if path.is_file():
            found["identity"][str(path.relative_to(store.root))] = path.read_bytes().hex()
    return found


def changes(one: dict[str, dict[str, str]], other: dict[str, dict[str, str]]) -> dict[str, int]:
    """How many of each differ."""
    return {
        kind: sum(one[kind].get(i) != other[kind].get(i) for i in {*one[kind], *other[kind]})
        for kind in one
    }


def in_context(store: Store) -> int:
    """Planted items of a briefing."""
    found = briefing.brief(store, datetime.fromisoformat(life.NOW), 20_000)
    return sum(life.CANARY in item.text for part in found.sections for item in part.items)
