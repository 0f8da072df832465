"""The presets: their files, cls-m on graphs drawn by hand, all on the consolidated sample memory."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from ingesting import embedder, new_store
from sample_store import NOW, query_engine

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.consolidation.correction import correct
from clsm_cli.evaluation.formulas import Spreading
from clsm_cli.evaluation.measures import Retrieved
from clsm_cli.evaluation.presets import preset as presets
from clsm_cli.evaluation.presets import retrieve
from clsm_cli.evaluation.presets.preset import Preset, Rounds
from clsm_cli.model.graph import Edge, Node
from clsm_cli.retrieval.retrieve import Query
from clsm_cli.store import atomic, layout, record_files, shards
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index
from clsm_cli.store.layout import Store

DAY = datetime.fromisoformat(NOW).date().isoformat()
LABELS = ("Quartz", "Ferry", "Violin", "Tax", "Moss")
"""Things that are far from each other in meaning."""


@cache
def engine() -> QueryEngine:
    """One engine, with the vectors of what was asked before."""
    opened = query_engine()
    opened.open()
    return opened


def ask(index: Index, preset: Preset | str, text: str, **query: Any) -> Retrieved:
    """What a preset returns, by its name or changed."""
    asked = Query(text, NOW, 10, 2000)._replace(**query)
    how = presets.load(preset) if isinstance(preset, str) else preset
    return retrieve.retrieve(index, asked, engine(), how)


def ids(found: Retrieved) -> set[str]:
    return {item.id for item in found.items}


@pytest.mark.parametrize("name", presets.PRESETS)
def test_a_preset_says_where_each_setting_comes_from(name: str) -> None:
    assert presets.load(name).name == name
    for line in presets.preset_text(name).splitlines():
        assert "#" in line or line.endswith(":"), line


def test_the_published_numbers() -> None:
    clsm, smriti, cma = map(presets.load, ("cls-m", "smriti", "cma"))
    assert clsm.spreading == Spreading(3, 0.5, 0.15, 0.2, 1.5)
    assert clsm.seeds is not None
    assert (clsm.seeds.exact, clsm.pack.characters, clsm.units[0].k) == (1.2, 8192, 10)
    assert (smriti.fusion.constant, smriti.fusion.first) == (60, 0)
    assert smriti.fusion.agreed == (1.0, 1.05, 1.15)
    assert (cma.fusion.first, cma.pack.knapsack) == (1, True)
    assert presets.load("caim").controller


def node(label: str, *, last: str = DAY) -> Node:
    return Node(id=label.lower(), rev=(1, "pi"), label=label, n=3, last=last)


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


@pytest.fixture
def store(tmp_path: Path, model_folder: Path) -> Store:
    return new_store(tmp_path / "memory")


def reached(store: Store, **changes: Any) -> list[str]:
    """The nodes that cls-m finds for "Quartz" with the nearest seed alone, so that all else is spread."""
    preset = presets.load("cls-m")
    assert preset.seeds is not None
    assert preset.spreading is not None
    preset = preset._replace(
        seeds=preset.seeds._replace(most=1), spreading=preset.spreading._replace(**changes)
    )
    with open_index(store, embedder()) as opened:
        return [name for (name,) in ask(opened.index, preset, "Quartz").concepts]


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
    assert reached(store) == ["quartz", "moss"]


def test_a_node_that_was_used_is_awake(store: Store) -> None:
    draw(store, node("Quartz"), node("Ferry", last="2020-01-01"), edge("Quartz", "Ferry", 0.5))
    assert reached(store, damping=0.0, threshold=0.4) == ["quartz"]
    used = json.dumps({"id": "ferry", "day": DAY, "n": 1})
    atomic.put(store.flow / "uses.jsonl", f"{used}\n".encode())
    assert reached(store, damping=0.0, threshold=0.4) == ["quartz", "ferry"]


@pytest.fixture(scope="module")
def asleep(slept_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The sample memory after a night; nothing is written to it here."""
    root = tmp_path_factory.mktemp("asleep") / "memory"
    shutil.copytree(slept_store, root)
    with open_index(layout.open_store(root, {"CLSM_DEVICE": "pi"}), embedder()) as opened:
        yield opened.index


@pytest.mark.parametrize("name", presets.PRESETS)
def test_every_preset_returns_memories_and_their_concepts(asleep: Index, name: str) -> None:
    answer = ask(asleep, name, "why did memory_v2 fail")
    assert answer.items
    assert 0 < len(answer.concepts) <= 10
    assert "memoryv2" in {key for names in answer.concepts for key in names}
    assert all(each.turns for each in answer.items)
    assert answer == ask(asleep, name, "why did memory_v2 fail")


def test_nemori_ten_episodes_of_which_two_have_their_turns_and_twenty_statements(
    asleep: Index,
) -> None:
    found = ask(asleep, "nemori", "how is the alignment problem connected", budget=10**6).items
    episodes, statements = found[:10], found[10:]
    assert len(statements) == 20
    assert all(item.id.startswith("f-") for item in statements)
    assert ["\n\n" in item.text for item in episodes] == [True] * 2 + [False] * 8


def test_caim_finds_by_date_alone(asleep: Index) -> None:
    preset = presets.load("caim")
    dates = preset._replace(channels={"dates": preset.channels["dates"]}, filter=None)
    found = ask(asleep, dates, "What happened on 12 February?", budget=10**6).items
    assert "2026-02-12" in {item.day for item in found}
    assert ask(asleep, dates, "What happened on 12 March 2019?").items == ()


def test_caim_filters_what_shares_a_tag_only(asleep: Index) -> None:
    asked = "how often does the heartbeat come"
    preset = presets.load("caim")
    kept = ids(ask(asleep, preset, asked, k=100))
    tagged = ids(ask(asleep, preset._replace(filter=None), asked, k=100))
    assert kept
    assert kept < tagged


def test_smriti_adds_the_reliability_of_the_kind_to_the_votes(asleep: Index) -> None:
    preset = presets.load("smriti")
    words = preset._replace(
        channels={"words": preset.channels["words"]}, rounds=None, diversity=None, recency=()
    )
    asked = "Mandelbrot and prices"
    plain = [i.id for i in ask(asleep, words._replace(reliability=None), asked, budget=10**6).items]
    found = [item.id for item in ask(asleep, words, asked, budget=10**6).items]
    votes = {name: 1 / (60 + rank) for rank, name in enumerate(plain)}
    wanted = {n: vote + (0.085 if n.startswith("f-") else 0.075) for n, vote in votes.items()}
    assert found == sorted(found, key=lambda name: -wanted[name])
    assert found != plain


def smriti_rounds() -> Rounds:
    rounds = presets.load("smriti").rounds
    assert rounds is not None
    return rounds


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Why we switched to SQLite", 1),
        ("what is a strange loop", 1),
        ("REST vs GraphQL", 3),
        ("authentication, sessions, and tokens", 4),
    ],
)
def test_smriti_takes_apart_what_is_complex(text: str, parts: int) -> None:
    found = retrieve.queries(text, smriti_rounds())
    assert len(found) == parts
    assert found[0] == (text, 1.0)


def test_smriti_fuses_rounds_and_asks_for_what_is_missing() -> None:
    held = {"REST vs GraphQL": {1: 0.4, 2: 0.3}, "REST": {1: 0.5}, "GraphQL": {3: 0.2}}
    asked = []

    def search(text: str) -> dict[int, float]:
        asked.append(text)
        return held.get(text, {})

    found = retrieve.retrieve_in_rounds(
        "REST vs GraphQL", smriti_rounds(), search, lambda _: "REST is an interface"
    )
    assert asked == ["REST vs GraphQL", "REST", "GraphQL"]  # GraphQL was asked for already
    assert found == pytest.approx({1: (0.4 + 0.8 * 0.5) * 1.3, 2: 0.3, 3: 0.6 * 0.2})


def test_cma_a_value_that_was_superseded_is_a_distractor(slept_store: Path, tmp_path: Path) -> None:
    shutil.copytree(slept_store, tmp_path / "memory")
    store = layout.open_store(tmp_path / "memory", {"CLSM_DEVICE": "pi"})
    records = shards.load_graph(store.graphs()).records
    row = next(
        each
        for each in record_files.load_statements(store, records, "2026-02-25T08:00:00Z").values()
        if each.is_current and each.kind == "fact" and len(each.sources) == 1
    )
    now = datetime.fromisoformat("2026-02-25T08:00:00+01:00")
    correct(store, row.id, "That is over.", now, lambda _: None, is_whole=True)
    preset = presets.load("cma")
    assert preset.gain is not None
    turns = preset._replace(units=(preset.units[0]._replace(kinds=("turn",)),))
    blind = turns._replace(gain=preset.gain._replace(outdated=0.0))
    turns = turns._replace(gain=preset.gain._replace(outdated=9.0))
    with open_index(store, embedder()) as opened:
        seen = ids(ask(opened.index, turns, row.text, budget=10**6))
        all_of_them = ids(ask(opened.index, blind, row.text, budget=10**6))
    assert all_of_them - seen == {*row.sources}
