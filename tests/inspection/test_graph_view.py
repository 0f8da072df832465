"""The graph of a store: what belongs to it, which part is shown, whom a name means."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from clsm_cli.errors import BadInputError
from clsm_cli.inspection.fact_history import View
from clsm_cli.inspection.graph_view import Graph, find_nodes, load, neighbourhood, strongest_part
from clsm_cli.model.codec import Record
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.model.ids import edge_id, statement_id, tombstone_hash
from clsm_cli.model.streams import Stream
from clsm_cli.store import layout, logs, record_files, runs, topics
from clsm_cli.store.layout import Store
from clsm_cli.text.node_ids import node_id

NOW = "2026-02-24T08:00:00Z"
REV = (1, "pi")

KINDS: dict[str, tuple[str, ...]] = {
    "person": ("Mara Hart", "Jonas", "Ottilie Berg", "Sunniva", "Tariq", "Old Pell"),
    "project": ("Lantern Rebuild", "Night Log", "Fog Signal", "Chart Archive"),
    "concept": (
        "bounded rationality", "feedback delay", "tide table", "night watch", "slow memory",
        "error budget", "attention", "spreading activation", "commons", "stock and flow",
    ),
    "book": ("Thinking in Systems", "The Sea Around Us", "Models of Man"),
    "place": ("Skerry Light", "North Pier", "Bergen", "boat house"),
    "tool": ("SQLite", "soldering iron", "tide gauge", "radio", "Raspberry Pi"),
    "event": ("spring storm", "keeper's dinner"),
    "organisation": ("Coast Guard", "Harbour Office"),
    "reading": ("weekly reading", "footnote file"),
    "infrastructure": ("diesel generator", "battery bank", "uplink"),
}  # fmt: skip
TYPED: tuple[tuple[str, str, str, float, bool], ...] = (
    ("Mara Hart", "personal", "Jonas", 0.71, False),
    ("Mara Hart", "participated_in", "keeper's dinner", 0.32, True),
    ("Jonas", "project", "Lantern Rebuild", 0.83, True),
    ("Ottilie Berg", "project", "Chart Archive", 0.66, True),
    ("Tariq", "project", "Night Log", 0.58, True),
    ("Sunniva", "located_at", "Bergen", 0.41, True),
    ("Lantern Rebuild", "located_at", "Skerry Light", 0.77, True),
    ("Skerry Light", "part_of", "Coast Guard", 0.35, True),
    ("Mara Hart", "reading", "Thinking in Systems", 0.62, True),
    ("Jonas", "reading", "The Sea Around Us", 0.44, True),
    ("Ottilie Berg", "reading", "Models of Man", 0.39, True),
    ("bounded rationality", "semantic", "attention", 0.68, False),
    ("stock and flow", "semantic", "feedback delay", 0.64, False),
    ("spreading activation", "semantic", "slow memory", 0.73, False),
    ("spring storm", "caused", "battery bank", 0.52, True),
    ("spring storm", "before", "keeper's dinner", 0.27, True),
    ("Fog Signal", "after", "spring storm", 0.3, True),
    ("Mara Hart", "prefers", "night watch", 0.47, True),
    ("Jonas", "emotional", "Old Pell", 0.36, False),
    ("Night Log", "identity", "slow memory", 0.81, True),
    ("tide gauge", "part_of", "Fog Signal", 0.55, True),
    ("radio", "same_as", "uplink", 0.22, False),
)
TOGETHER = (
    ("Mara Hart", "Jonas", "Lantern Rebuild", "Skerry Light", "night watch"),
    ("Ottilie Berg", "Chart Archive", "Models of Man", "bounded rationality", "attention"),
    ("Night Log", "slow memory", "spreading activation", "Tariq", "SQLite"),
    ("feedback delay", "stock and flow", "Thinking in Systems", "commons", "error budget"),
    ("tide table", "tide gauge", "North Pier", "Fog Signal", "Harbour Office"),
    ("diesel generator", "battery bank", "uplink", "radio", "Raspberry Pi"),
    ("Old Pell", "boat house", "soldering iron", "Jonas"),
    ("weekly reading", "Thinking in Systems", "Mara Hart"),
)


def node(label: str, kind: str = "concept", **values: object) -> Node:
    return Node(id=node_id(label), rev=REV, label=label, kind=kind, **values)  # type: ignore[arg-type]


def edge(
    source: str, target: str, edge_type: str = "co_occurs", weight: float = 0.5, **values: object
) -> Edge:
    one, other = node_id(source), node_id(target)
    values = {"id": edge_id(one, edge_type, other), "n": 1, **values}
    return Edge(rev=REV, source=one, target=other, type=edge_type, weight=weight, **values)  # type: ignore[arg-type]


def sample() -> list[Record]:
    """Some forty nodes and eighty edges, of every kind and type."""
    streams: dict[str, Stream] = {"person": "identity", "project": "projects", "event": "flow"}
    labels = [(label, kind) for kind, names in KINDS.items() for label in names]
    records: list[Record] = [
        node(
            label,
            kind,
            n=3 + (7 * place) % 40,
            stream=streams.get(kind, "projects"),
            aliases=(label.split()[0],) if kind == "person" and " " in label else (),
            summary=f"{label} came up in the log more than once.",
            first="2026-01-04",
            last=f"2026-02-{1 + place % 24:02}",
        )
        for place, (label, kind) in enumerate(labels)
    ]
    records += [edge(one, to, name, w, directed=arrow, n=3) for one, name, to, w, arrow in TYPED]
    pairs = [pair for group in TOGETHER for pair in combinations(group, 2)]
    records += [
        edge(one, other, "co_occurs", round(0.12 + 0.8 * ((11 * place) % 29) / 29, 2), n=2)
        for place, (one, other) in enumerate(dict.fromkeys(pairs))
    ]
    return records


def new_store(root: Path, records: list[Record]) -> Store:
    layout.create(root, "UTC")
    store = layout.open_store(root, {"CLSM_DEVICE": "pi"})
    runs.apply(store, "test", NOW, record_files.plan_records(store, "projects", records))
    return store


def state(store: Store, text: str, subject: str, **values: object) -> Statement:
    """Write a statement about a node as a topic file has it."""
    statement = Statement(
        id=statement_id(text),
        rev=REV,
        text=text,
        text_sha=topics.text_sha(text),
        topic="yard",
        subject=subject,
        **values,  # type: ignore[arg-type]
    )
    runs.apply(store, "test", NOW, record_files.plan_records(store, "projects", [statement]))
    if statement.is_current:
        page = topics.render_topic("Yard", "projects", "yard", [statement])
        (store.root / "projects" / "yard.md").write_bytes(page)
    return statement


def forget(store: Store, record: str) -> None:
    line = logs.render(logs.Tombstone(tombstone_hash(record), NOW))
    folder = store.root / "tombstones"
    folder.mkdir(exist_ok=True)
    (folder / "pi.jsonl").write_bytes(line + b"\n")


def of(records: list[Record]) -> Graph:
    """The graph of some records, without a store."""
    nodes = tuple(sorted((r for r in records if isinstance(r, Node)), key=lambda r: r.id))
    edges = tuple(sorted((r for r in records if isinstance(r, Edge)), key=lambda r: r.id))
    return Graph(nodes, edges, {}, len(nodes))


def ids(graph: Graph) -> set[str]:
    return {each.id for each in graph.nodes}


def test_what_holds_now(tmp_path: Path) -> None:
    records: list[Record] = [
        *(node(label) for label in "abcd"),
        edge("a", "b"),
        edge("a", "c", superseded_at=NOW),
        edge("a", "d", valid_until="2026-02-01"),
        edge("a", "nobody"),
    ]
    found = load(new_store(tmp_path / "memory", records), View(NOW))
    assert (ids(found), found.total, found.dangling) == (set("abcd"), 4, 1)
    assert [(each.source, each.target) for each in found.edges] == [("a", "b")]


def test_what_was_forgotten_is_gone(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory", [node("a"), node("b"), edge("a", "b")])
    forget(store, "b")
    found = load(store, View(NOW))
    assert (ids(found), found.edges, found.dangling) == ({"a"}, (), 0)


def test_episodes_only_when_asked_for(tmp_path: Path) -> None:
    day = EpisodeRecord(id="e-1", rev=REV, title="Day 1", narrative="Fog.")
    gist = Statement(id="f-1", rev=REV, text="It was foggy.", kind="gist", stream="flow")
    ends = (("e-1", "next", "e-2"), ("e-2", "next", "e-3"), ("e-1", "gist_of", "f-1"))
    edges = [
        Edge(id=f"g-{n}", rev=REV, source=one, target=other, type=name, directed=True, weight=1.0)
        for n, (one, name, other) in enumerate(ends)
    ]
    store = new_store(tmp_path / "memory", [node("a"), day, gist, *edges])
    forget(store, "e-3")
    plain = load(store, View(NOW))
    assert (ids(plain), plain.edges, plain.dangling) == ({"a"}, (), 0)
    found = load(store, View(NOW), episodes=True)
    assert ids(found) == {"a", "e-1", "e-2", "f-1"}
    assert (found.edges, found.dangling) == ((edges[0], edges[2]), 0)
    shown = {each.id: (each.label, each.kind, each.summary) for each in found.nodes}
    assert shown["e-1"] == ("Day 1", "episode", "Fog.")
    assert shown["e-2"] == ("", "episode", "")  # nothing was derived of it
    assert shown["f-1"] == ("It was foggy.", "gist", "")


def test_statements_stand_at_their_subject(tmp_path: Path) -> None:
    store = new_store(tmp_path / "memory", [node("Mara"), node("Jonas")])
    kept = state(store, "Mara winds the lamp.", "mara")
    state(store, "Mara lives in Bergen.", "mara", superseded_at=NOW)
    found = load(store, View(NOW))
    assert {name: [s.text for s in about] for name, about in found.statements.items()} == {
        "mara": ["Mara winds the lamp."]
    }
    page = store.root / "projects" / "yard.md"
    page.write_text(page.read_text().replace("winds the lamp", "winds the clock"))
    (edited,) = load(store, View(NOW)).statements["mara"]
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
    assert find_nodes(graph, wanted) == found


@pytest.mark.parametrize("wanted", ["Mara Heart", "maara", "Hart"])
def test_near_names_are_offered(wanted: str) -> None:
    graph = of([node("Mara Hart", aliases=("Maara Hardt",)), node("tide gauge")])
    with pytest.raises(BadInputError, match=f"^{wanted}: .* is called so; near it are: Mara Hart$"):
        find_nodes(graph, wanted)


CHAIN = [node(each) for each in "abcde"] + [edge(*pair) for pair in ("ab", "bc", "dc", "de")]


@pytest.mark.parametrize(
    ("depth", "found"), [(0, "a"), (1, "ab"), (2, "abc"), (3, "abcd"), (9, "abcde")]
)
def test_a_neighbourhood_goes_against_arrows_too(depth: int, found: str) -> None:
    part = neighbourhood(of(list(CHAIN)), ["a"], depth)
    assert ids(part) == set(found)
    assert len(part.edges) == len(found) - 1
    assert part.total == 5


def test_the_strongest_around_a_node() -> None:
    """The best path counts: over two strong edges before one weak one, and never above its seed."""
    graph = of(
        [
            *(node(each) for each in "abcd"),
            edge("a", "b", weight=0.9),
            edge("b", "c", weight=0.9),
            edge("a", "d", weight=0.8),
            edge("a", "c", weight=0.1),
        ]
    )
    assert ids(strongest_part(graph, 1, ["c"])) == {"c"}
    assert ids(strongest_part(graph, 2, ["a"])) == {"a", "b"}
    assert ids(strongest_part(graph, 3, ["a"])) == {"a", "b", "c"}
