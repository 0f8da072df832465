"""The graph of a store: what belongs to it, which part is shown, whom a name means."""

from itertools import combinations
from pathlib import Path

import ingesting
import pytest
from curation.test_correction import hold, statement
from laid_down import bury

from clsm_cli.errors import BadInputError
from clsm_cli.inspection import graph_view
from clsm_cli.inspection.fact_history import View
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import DRAWN, Edge, Node
from clsm_cli.model.ids import edge_id
from clsm_cli.store import record_files, runs
from clsm_cli.store.layout import Store
from clsm_cli.text.node_ids import node_id
from scripts import fit_prominence

NOW = "2026-02-24T08:00:00Z"
REV = (1, "pi")

KINDS = (
    *("person", "project", "concept", "book", "place", "tool", "event", "organisation", "reading"),
    "infrastructure",
)
TYPES = ("personal", "located_at", "reading", "semantic", "caused", "part_of", "prefers")


def node(label: str, kind: str = "concept", **values: object) -> Node:
    return Node(id=node_id(label), rev=REV, label=label, kind=kind, **values)  # type: ignore[arg-type]


def edge(
    source: str, target: str, edge_type: str = "co_occurs", weight: float = 0.5, **values: object
) -> Edge:
    one, other = node_id(source), node_id(target)
    values = {"id": edge_id(one, edge_type, other), "n": 1, **values}
    return Edge(rev=REV, source=one, target=other, type=edge_type, weight=weight, **values)  # type: ignore[arg-type]


def sample() -> list[Record]:
    """Some forty nodes and ninety edges, of every kind and some types, in groups of five."""
    names = [f"{KINDS[place % 10]} {place}" for place in range(41)]
    groups = [names[start : start + 5] for start in range(0, 35, 5)]
    pairs = [pair for group in groups for pair in combinations(group, 2)]
    return [
        *(node(name, name.split()[0], n=3 + (7 * at) % 40) for at, name in enumerate(names)),
        *(
            edge(names[at], names[at + 7], TYPES[at % len(TYPES)], directed=at % 3 > 0)
            for at in range(21)
        ),
        *(edge(one, other) for one, other in pairs),
    ]


def new_store(root: Path, records: list[Record]) -> Store:
    store = ingesting.new_store(root)
    runs.apply(store, "test", NOW, record_files.plan_records(store, "projects", records))
    return store


def of(records: list[Record]) -> graph_view.Graph:
    """The graph of some records, without a store."""
    nodes = tuple(sorted((r for r in records if isinstance(r, Node)), key=lambda r: r.id))
    edges = tuple(sorted((r for r in records if isinstance(r, Edge)), key=lambda r: r.id))
    return graph_view.Graph(nodes, edges, {}, len(nodes))


def ids(graph: graph_view.Graph) -> set[str]:
    return {each.id for each in graph.nodes}


def test_what_holds_now_without_episodes_and_what_was_forgotten(tmp_path: Path) -> None:
    records: list[Record] = [
        *(node(label) for label in "abcde"), edge("a", "b"), edge("a", "c", superseded_at=NOW),
        edge("a", "d", valid_until="2026-02-01"), edge("a", "e"), edge("a", "nobody"),
        EpisodeRecord(id="e-1", rev=REV, title="Day 1", narrative="Fog."),
        Edge(id="g-1", rev=REV, source="e-1", target="e-2", type="next", directed=True),
    ]  # fmt: skip
    store = new_store(tmp_path / "memory", records)
    bury(store, "e")
    found = graph_view.load(store, View(NOW))
    assert (ids(found), found.total, found.dangling) == (set("abcd"), 4, 1)
    assert [(each.source, each.target) for each in found.edges] == [("a", "b")]


def test_statements_stand_at_their_subject(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory", [node("Mara"), node("Jonas")])
    kept = statement("Mara winds the lamp.", subject="mara")
    hold(store, kept, statement("Mara lives in Bergen.", subject="mara", superseded_at=NOW))
    found = graph_view.load(store, View(NOW))
    assert {name: [s.text for s in about] for name, about in found.statements.items()} == {
        "mara": ["Mara winds the lamp."]
    }
    page = store.root / "projects" / "facts.md"
    page.write_text(page.read_text().replace("winds the lamp", "winds the clock"))
    (edited,) = graph_view.load(store, View(NOW)).statements["mara"]
    assert (edited.id, edited.text) == (kept.id, "Mara winds the clock.")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("mara-hart", ["mara-hart"]),
        ("  mara   HART ", ["mara-hart"]),
        ("the keeper", ["mara-hart", "old-pell"]),
        ("C++", [node_id("C++")]),
        ("c", ["c"]),
    ],
)
def test_whom_a_name_means(wanted: str, found: list[str]) -> None:
    graph = of(
        [
            node("Mara Hart", aliases=("Mara", "The Keeper")),
            node("Old Pell", aliases=("the keeper",)),
            node("C"),
            node("C++"),
        ]
    )
    assert graph_view.find_nodes(graph, wanted) == found


@pytest.mark.parametrize("wanted", ["Mara Heart", "maara", "Hart"])
def test_near_names_are_offered(wanted: str) -> None:
    graph = of([node("Mara Hart", aliases=("Maara Hardt",)), node("tide gauge"), node("ear")])
    with pytest.raises(BadInputError, match=f"^{wanted}: .* is called so; near it are: Mara Hart$"):
        graph_view.find_nodes(graph, wanted)


CHAIN = [node(each) for each in "abcde"] + [edge(*pair) for pair in ("ab", "bc", "dc", "de")]


@pytest.mark.parametrize(
    ("depth", "found"), [(0, "a"), (1, "ab"), (2, "abc"), (3, "abcd"), (9, "abcde")]
)
def test_a_neighbourhood_goes_against_arrows_too(depth: int, found: str) -> None:
    part = graph_view.neighbourhood(of(list(CHAIN)), ["a"], depth)
    assert ids(part) == set(found)
    assert (len(part.edges), part.total) == (len(found) - 1, 5)


def test_what_is_hardly_a_thing_stands_out_less_than_what_surely_is_one() -> None:
    records: list[Record] = [
        *(node(name, n=9) for name in "abc"),
        node("READY", n=900, confidence=0.3),
        node("Ada", n=20),
        *(edge(name, "READY") for name in "abc"),
        *(edge(name, "Ada") for name in "abc"),
    ]
    graph = of(records)
    assert "ready" not in ids(graph_view.strongest_part(graph, 2))
    assert graph_view.statistics(graph)["hubs"][0]["label"] == "Ada"
    assert max(graph.nodes, key=lambda each: each.prominence).label == "Ada"


def test_a_file_and_what_was_told_on_one_day_stand_out_less() -> None:
    one = node("a", n=9, first="2026-03-01T08:00:00Z", last="2026-03-01T20:00:00Z")
    longer = node("a", n=9, first="2026-03-01T08:00:00Z", last="2026-03-02T08:00:00Z")
    assert node("src/a.ts", n=9).prominence < node("a", n=9).prominence
    assert one.prominence == node("a", n=9).prominence < longer.prominence


def test_who_draws_a_node_is_what_the_labels_tell() -> None:
    found = fit_prominence.examples()
    assert fit_prominence.left_out(found)["things AUROC"] > 0.75
    assert fit_prominence.fit(found) == DRAWN  # the figures left the weights alone


def test_the_strongest_part_keeps_its_seeds() -> None:
    ends = (("a", "b", 0.9), ("b", "c", 0.9), ("a", "d", 0.1))
    graph = of([*(node(each) for each in "abcd"), *(edge(x, y, weight=w) for x, y, w in ends)])
    assert ids(graph_view.strongest_part(graph, 2)) == {"a", "b"}
    assert ids(graph_view.strongest_part(graph, 2, ["d"])) == {"b", "d"}


TRIANGLES: list[Record] = [
    *(node(each, n=place) for place, each in enumerate("abcdefg")),
    *(edge(one, other, weight=0.9) for one, other in ("ab", "bc", "ca", "de", "ef", "fd")),
    edge("c", "d", "caused", 0.1, directed=True),
]
"""Two triangles on one edge, and a node without any."""


def test_the_figures_of_two_triangles() -> None:
    found = graph_view.statistics(of(TRIANGLES))
    wanted = {"nodes": 7, "edges": 7, "isolated": 1, "edges_per_node": 1.0, "mean_degree": 2.0}
    wanted |= {"largest_degree": 3, "components": 2, "largest_component": 6, "communities": 2}
    assert {name: found[name] for name in wanted} == wanted
    assert found["density"] == pytest.approx(7 / 21, abs=1e-4)
    assert found["types"] == {"co_occurs": 6, "caused": 1}
    assert [(hub["id"], hub["degree"]) for hub in found["hubs"]][:2] == [("d", 3), ("c", 3)]
    assert "g" not in [hub["id"] for hub in found["hubs"]]
    assert (found["strongest"][-1]["source"], found["strongest"][-1]["weight"]) == ("c", 0.1)
