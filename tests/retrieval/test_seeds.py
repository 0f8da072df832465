"""What a query names, on a store whose nodes are known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clsm_cli.model.graph import Node
from clsm_cli.retrieval import seeds
from clsm_cli.retrieval.seeds import ALIAS, LEAST_COSINE, MOST, Seed, choose, named
from clsm_cli.store import graph as writer
from clsm_cli.store import layout, runs
from clsm_cli.store.index import graph
from clsm_cli.store.index.graph import number_of
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clsm_cli.store.index.reader import Index

NODES = {
    "garrett-hardin": ("Garrett Hardin", ("Hardin",)),
    "delegation-defect": ("delegation defect", ()),
    "defect": ("defect", ("fault",)),
    "c-cedb1bac": ("C++", ()),
    "may": ("May", ("the month of May",)),
}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    layout.create(tmp_path / "memory", "Europe/Amsterdam")
    store = layout.open_store(tmp_path / "memory", {"CLSM_DEVICE": "pi"})
    records = [
        Node(id=name, rev=(1, "pi"), label=label, aliases=aliases)
        for name, (label, aliases) in NODES.items()
    ]
    runs.apply(store, "test", "2026-03-01", writer.plan(store, "projects", records))
    with open_index(store, None) as opened:
        yield opened.index


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("delegation defect", {"delegation-defect": "exact"}),
        ("What IS the Delegation-Defect?", {"delegation-defect": "exact"}),
        ("a defect in delegation", {"defect": "exact"}),
        ("whose fault is it", {"defect": "alias"}),
        ("what did Hardin write", {"garrett-hardin": "alias"}),
        ("Hardin's defect", {"garrett-hardin": "alias", "defect": "exact"}),
        ("is it C++ or C?", {"c-cedb1bac": "exact"}),
        ("(Garrett Hardin)", {"garrett-hardin": "exact"}),
        ("may", {"may": "exact"}),
        ("delegation", {"delegation-defect": "alias"}),
        ("who is garrett", {"garrett-hardin": "alias"}),
        ("who is Garret Hardn", {"garrett-hardin": "fuzzy"}),
        ("defects", {"defect": "fuzzy", "delegation-defect": "fuzzy"}),
        ("undefective", {}),
        ("", {}),
        ("?!", {}),
    ],
)
def test_names(index: Index, query: str, wanted: dict[str, str]) -> None:
    near = graph.nodes(index.connection, [number_of(name) for name in NODES])
    found = {near[number].id: seed.kind for number, seed in named(index, query, near).items()}
    assert found == wanted


def test_an_exact_name_begins_with_a_fifth_more(index: Index) -> None:
    exact = named(index, "delegation defect", {})[number_of("delegation-defect")]
    alias = named(index, "Hardin", {})[number_of("garrett-hardin")]
    assert exact.activation == pytest.approx(1.2 * alias.activation) == pytest.approx(1.2 * ALIAS)


def test_a_long_query_is_cut_off(index: Index) -> None:
    assert named(index, "word " * 10_000 + "Hardin", {}) == {}


def test_meaning_and_words_come_after_names() -> None:
    by_name = {1: Seed("exact", 1.0)}
    cosines = {1: 0.9, 2: 0.5, 3: LEAST_COSINE - 0.01}
    found = choose(by_name, cosines, {})
    assert found == by_name | {2: Seed("cosine", 0.5)}
    many = {number: 0.31 + number / 1000 for number in range(20)}
    assert set(choose({}, many, {})) == set(range(20 - MOST, 20))
    assert choose({}, {}, {4: 1.0, 5: 0.0}) == {4: Seed("bm25", seeds.WORDS)}
