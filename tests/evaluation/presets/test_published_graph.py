"""The preset cls-m on graphs drawn by hand, in a real store with the real model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from evaluation.presets.published_store import DAY, activations, ask, chain, draw, edge, node
from ingesting import new_store

from clsm_cli.evaluation.presets import preset as presets
from clsm_cli.evaluation.presets.preset import Preset
from clsm_cli.store import atomic
from clsm_cli.store.layout import Store

LABELS = ("Quartz", "Ferry", "Violin", "Tax", "Moss")
"""Things that are far from each other in meaning."""


@pytest.fixture
def store(tmp_path: Path, model_folder: Path) -> Store:
    return new_store(tmp_path / "memory")


def one_seed(**changes: Any) -> Preset:
    """The preset with the nearest seed alone, so that all else is spread."""
    preset = presets.load("cls-m")
    assert preset.seeds is not None
    assert preset.spreading is not None
    return preset._replace(
        seeds=preset.seeds._replace(most=1), spreading=preset.spreading._replace(**changes)
    )


def test_the_way_is_told(store: Store) -> None:
    draw(store, *chain(LABELS))
    concepts = ask(store, one_seed(damping=0.0), "Quartz").concepts
    assert [concept.path for concept in concepts] == [
        ("quartz",),
        ("quartz", "ferry"),
        ("quartz", "ferry", "violin"),
    ]
    assert [concept.seed for concept in concepts] == ["exact", None, None]


def test_only_edges_that_hold_conduct(store: Store) -> None:
    draw(
        store,
        *map(node, LABELS),
        edge("Quartz", "Ferry", valid_until="2026-02-01"),
        edge("Quartz", "Violin", superseded_at="2026-02-01T00:00:00Z"),
        edge("Quartz", "Tax", valid_from="2026-03-01"),
        edge("Moss", "Quartz"),
        edge("Quartz", "Nobody"),
    )
    assert list(activations(ask(store, one_seed(), "Quartz").concepts)) == ["Quartz", "Moss"]


def test_a_node_that_was_used_is_awake(store: Store) -> None:
    draw(store, node("Quartz"), node("Ferry", last="2020-01-01"), edge("Quartz", "Ferry", 0.5))
    alert = one_seed(damping=0.0, threshold=0.4)
    assert list(activations(ask(store, alert, "Quartz").concepts)) == ["Quartz"]
    used = json.dumps({"id": "ferry", "day": DAY, "n": 1})
    atomic.put(store.flow / "uses.jsonl", f"{used}\n".encode())
    assert list(activations(ask(store, alert, "Quartz").concepts)) == ["Quartz", "Ferry"]
