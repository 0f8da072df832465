"""The preset cls-m on graphs drawn by hand, in a real store with the real model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from evaluation.presets.published_store import DAY, activations, ask, chain, draw, edge, node
from ingesting import new_store

from clsm_cli.evaluation.presets import preset as presets
from clsm_cli.store import atomic

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.presets.preset import Preset
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


def test_each_hop_halves_what_the_seed_has(store: Store) -> None:
    draw(store, *chain(LABELS))
    found = activations(ask(store, one_seed(damping=0.0, threshold=0.0), "Quartz").concepts)
    assert list(found) == ["Quartz", "Ferry", "Violin", "Tax"]
    assert found["Quartz"] == 1.0  # 1.2 · cosine, at most 1
    assert list(found.values()) == [1.0, 0.5, 0.25, 0.125]


def test_threshold_15_ends_at_the_second_hop(store: Store) -> None:
    draw(store, *chain(LABELS))
    assert list(activations(ask(store, one_seed(damping=0.0), "Quartz").concepts)) == [
        "Quartz",
        "Ferry",
        "Violin",
    ]


def test_the_way_is_told(store: Store) -> None:
    draw(store, *chain(LABELS))
    concepts = ask(store, one_seed(damping=0.0), "Quartz").concepts
    assert [concept.path for concept in concepts] == [
        ("quartz",),
        ("quartz", "ferry"),
        ("quartz", "ferry", "violin"),
    ]
    assert [concept.seed for concept in concepts] == ["exact", None, None]


def test_a_hub_receives_less(store: Store) -> None:
    leaves = [f"leaf-{i}" for i in range(56)]
    draw(
        store,
        *map(node, ("Quartz", "Ferry", "Violin", *leaves)),
        edge("Quartz", "Ferry"),
        edge("Quartz", "Violin"),
        *(edge("Ferry", leaf) for leaf in leaves),
    )
    found = activations(ask(store, one_seed(), "Quartz").concepts)
    assert found["Ferry"] == pytest.approx(0.5 * 57**-0.2, abs=1e-4)  # 45 % of what a leaf gets
    assert found["Violin"] == 0.5


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


def test_a_dormant_node_needs_more_unless_it_is_named(store: Store) -> None:
    draw(
        store,
        *map(node, ("Quartz", "Violin")),
        node("Ferry", last="2020-01-01"),
        edge("Quartz", "Ferry", 0.5),
        edge("Quartz", "Violin", 0.5),
        edge("Violin", "Moss", 1.0),
    )
    undamped = one_seed(damping=0.0, threshold=0.2)
    assert list(activations(ask(store, undamped, "Quartz").concepts)) == ["Quartz", "Violin"]
    assert "Ferry" in activations(ask(store, undamped, "Ferry").concepts)


def test_a_node_that_was_used_is_awake(store: Store) -> None:
    draw(store, node("Quartz"), node("Ferry", last="2020-01-01"), edge("Quartz", "Ferry", 0.5))
    alert = one_seed(damping=0.0, threshold=0.4)
    assert list(activations(ask(store, alert, "Quartz").concepts)) == ["Quartz"]
    used = json.dumps({"id": "ferry", "day": DAY, "n": 1})
    atomic.put(store.flow / "uses.jsonl", f"{used}\n".encode())
    assert list(activations(ask(store, alert, "Quartz").concepts)) == ["Quartz", "Ferry"]


def test_an_exact_match_has_a_fifth_more_than_its_cosine(store: Store) -> None:
    draw(store, node("Quartz"), node("Ferry", summary="It crosses the harbour twice an hour."))
    asked = "when does the ferry leave"
    preset = presets.load("cls-m")
    assert preset.seeds is not None
    plain = preset._replace(seeds=preset.seeds._replace(named=False))
    exact, near = ask(store, preset, asked).concepts[0], ask(store, plain, asked).concepts[0]
    assert (exact.seed, near.seed) == ("exact", "cosine")
    assert exact.activation == pytest.approx(1.2 * near.activation, abs=2e-4)


def test_without_seeds_nothing_is_found(store: Store) -> None:
    draw(store, *chain(LABELS))
    answer = ask(store, "cls-m", "photosynthesis of algae")
    assert (answer.concepts, answer.memories) == ((), [])
