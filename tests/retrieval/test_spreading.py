"""Activation over the index of a store: what conducts, how much, and what does not."""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, Any

import pytest

from clsm_cli.config import Settings, with_changes
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import edge_id
from clsm_cli.retrieval import spreading
from clsm_cli.retrieval.spreading import ASSOCIATION, WIDEST
from clsm_cli.store import graph as writer
from clsm_cli.store import layout, runs
from clsm_cli.store.index.graph import number_of
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from clsm_cli.retrieval.spreading import Route

NOW = "2026-03-01T12:00:00+01:00"
YESTERDAY, TOMORROW = "2026-02-28", "2026-03-02"
REV = (1, "pi")


def node(name: str, last: str = NOW, **fields: Any) -> Node:
    return Node(id=name, rev=REV, label=name, n=1, first=last, last=last, **fields)


def edge(
    source: str, target: str, weight: float = 1.0, kind: str = "caused", **fields: Any
) -> Edge:
    record = edge_id(source, kind, target, fields.get("valid_from"))
    return Edge(
        id=record, rev=REV, source=source, target=target, type=kind, weight=weight, **fields
    )


@pytest.fixture
def spread(tmp_path: Path) -> Callable[..., dict[str, Route]]:
    """Put records into a new store and let activation start from some nodes of it."""

    def run(
        records: Iterable[Node | Edge],
        *seeds: str,
        known_at: str | None = None,
        curve: str = "power",
    ) -> dict[str, Route]:
        layout.create(tmp_path / "memory", "Europe/Amsterdam")
        store = layout.open_store(tmp_path / "memory", {"CLSM_DEVICE": "pi"})
        store = store._replace(settings=with_changes(store.settings, {"graph.retention": curve}))
        runs.apply(store, "test", NOW, writer.plan(store, "projects", records))
        with open_index(store, None) as opened:
            start = {number_of(seed): 1.0 for seed in seeds}
            routes, known = spreading.spread(opened.index, start, 3, NOW, known_at)
            return {known[number].id: route for number, route in routes.items()}

    return run


def test_a_statement_conducts_its_weight_and_an_association_half(
    spread: Callable[..., dict[str, Route]],
) -> None:
    found = spread(
        [
            *(node(name) for name in "abcd"),
            edge("a", "b", 0.5),
            edge("a", "c", 0.16, "co_occurs"),
            edge("d", "a", 0.08, "co_occurs"),
        ],
        "a",
    )
    assert found["b"].activation == pytest.approx(0.5 * 0.5)
    assert found["c"].activation == pytest.approx(ASSOCIATION * 0.5)
    assert found["d"].activation == pytest.approx(ASSOCIATION * 0.5 * 0.5)
    assert found["d"].path == (number_of("a"), number_of("d"))
    assert found["d"].steps == (("co_occurs", 0.08),)


def test_a_path_tells_every_edge(spread: Callable[..., dict[str, Route]]) -> None:
    found = spread(
        [*(node(name) for name in "abc"), edge("a", "b"), edge("c", "b", 0.75, "part_of")], "a"
    )
    assert found["c"].path == tuple(map(number_of, "abc"))
    assert found["c"].steps == (("caused", 1.0), ("part_of", 0.75))
    assert found["c"].activation < found["b"].activation
    assert "a" not in found


@pytest.mark.parametrize(
    "clock",
    [
        {"valid_until": YESTERDAY},
        {"valid_from": TOMORROW},
        {"superseded_at": "2026-02-01T00:00:00Z"},
    ],
)
def test_what_does_not_hold_does_not_conduct(
    spread: Callable[..., dict[str, Route]], clock: dict[str, Any]
) -> None:
    assert spread([node("a"), node("b"), edge("a", "b", **clock)], "a") == {}


def test_what_holds_on_the_day_conducts(spread: Callable[..., dict[str, Route]]) -> None:
    clocks: dict[str, Any] = {"valid_from": YESTERDAY, "valid_until": TOMORROW}
    assert set(spread([node("a"), node("b"), edge("a", "b", **clocks)], "a")) == {"b"}


def test_what_was_known_then_conducts_as_it_did(spread: Callable[..., dict[str, Route]]) -> None:
    clocks: dict[str, Any] = {"recorded_at": "2026-02-01T00:00:00Z"}
    records = [
        *(node(name) for name in "abc"),
        edge("a", "b", **clocks, superseded_at="2026-02-10T00:00:00Z"),
        edge("a", "c", recorded_at="2026-02-10T00:00:00Z"),
    ]
    assert set(spread(records, "a")) == {"c"}
    assert set(spread(records, "a", known_at="2026-02-05T00:00:00Z")) == {"b"}


@pytest.mark.parametrize(
    ("curve", "left"),
    [("power", 2**-0.5), ("base-level", 2**-0.5), ("exponential", exp(-1))],
)
def test_what_is_left_follows_the_chosen_curve(
    spread: Callable[..., dict[str, Route]], curve: str, left: float
) -> None:
    """Ten days after the last mention, at a stability of ten days."""
    before = "2026-02-19T12:00:00+01:00"
    found = spread([node("a"), node("b", before), edge("a", "b")], "a", curve=curve)
    assert found["b"].activation == pytest.approx(0.5 * left)


def test_a_curve_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="one of power, exponential, base-level"):
        with_changes(Settings(), {"graph.retention": "linear"})


def test_what_was_not_mentioned_for_long_gets_less(
    spread: Callable[..., dict[str, Route]],
) -> None:
    old = "2025-12-01T12:00:00+01:00"
    found = spread([node("a"), node("b"), node("c", old), edge("a", "b"), edge("a", "c")], "a")
    assert 0 < found["c"].activation < found["b"].activation


def test_an_edge_to_a_node_that_is_missing_leads_nowhere(
    spread: Callable[..., dict[str, Route]],
) -> None:
    assert spread([node("a"), edge("a", "ghost"), edge("ghost", "a", 0.5)], "a") == {}


def test_a_hub_passes_nothing_on_unless_it_is_meant(
    spread: Callable[..., dict[str, Route]],
) -> None:
    spokes = [f"s{number}" for number in range(WIDEST + 1)]
    records: list[Node | Edge] = [node("a"), node("hub"), *map(node, spokes)]
    records += [edge("a", "hub"), *(edge("hub", spoke) for spoke in spokes)]
    assert set(spread(records, "a")) <= {"hub"}
    assert set(spread(records, "hub")) == {"a", *spokes}
