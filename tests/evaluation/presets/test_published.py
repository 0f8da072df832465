"""The presets on the consolidated sample memory, with the real model."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from evaluation.presets.published_store import ask_index as ask
from ingesting import embedder

from clsm_cli.consolidation.correction import correct
from clsm_cli.evaluation.presets import preset as presets
from clsm_cli.evaluation.presets import retrieve
from clsm_cli.evaluation.presets.preset import Rounds
from clsm_cli.store import layout, record_files, shards
from clsm_cli.store.index.index_queries import Index
from clsm_cli.store.index.opening import open_index


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
    assert answer.memories
    assert 0 < len(answer.concepts) <= 10
    assert "memory_v2" in {concept.label for concept in answer.concepts}
    assert all(each.sources for each in answer.memories)
    assert answer == ask(asleep, name, "why did memory_v2 fail")


def test_nemori_ten_episodes_of_which_two_have_their_turns_and_twenty_statements(
    asleep: Index,
) -> None:
    memories = ask(
        asleep, "nemori", "how is the alignment problem connected", budget=10**6
    ).memories
    kinds = [memory.kind for memory in memories]
    assert kinds == ["episode"] * 10 + ["statement"] * 20
    raw = ["\n\n" in memory.text for memory in memories[:10]]
    assert raw == [True] * 2 + [False] * 8
    for part in (memories[:10], memories[10:]):
        near = [memory.confidence for memory in part]
        assert near == sorted(near, reverse=True)
        assert near[-1] >= 0.0


def test_caim_finds_by_date_alone(asleep: Index) -> None:
    preset = presets.load("caim")
    dates = preset._replace(channels={"dates": preset.channels["dates"]}, filter=None)
    found = ask(asleep, dates, "What happened on 12 February?", budget=10**6).memories
    assert found
    for memory in found:
        assert any(
            (source.timestamp or "").startswith("2026-02-12") for source in memory.sources
        ), memory
    assert ask(asleep, dates, "What happened on 12 March 2019?").memories == []


def test_caim_filters_what_shares_a_tag_only(asleep: Index) -> None:
    asked = "how often does the heartbeat come"
    preset = presets.load("caim")
    kept = {memory.id for memory in ask(asleep, preset, asked, k=100).memories}
    tagged = {m.id for m in ask(asleep, preset._replace(filter=None), asked, k=100).memories}
    assert kept
    assert kept < tagged


def test_smriti_adds_the_reliability_of_the_kind_to_the_votes(asleep: Index) -> None:
    preset = presets.load("smriti")
    words = preset._replace(
        channels={"words": preset.channels["words"]}, rounds=None, diversity=None, recency=()
    )
    asked = "Mandelbrot and prices"
    plain = ask(asleep, words._replace(reliability=None), asked, budget=10**6).memories
    found = ask(asleep, words, asked, budget=10**6).memories
    added = {"statement": 0.085, "passage": 0.075}
    wanted = {m.id: 1 / (60 + rank) + added[m.kind] for rank, m in enumerate(plain)}
    best = max(wanted.values())
    assert {m.id: m.score for m in found} == {i: round(v / best, 4) for i, v in wanted.items()}
    assert [m.kind for m in found] != [m.kind for m in plain]


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
        seen = {m.id for m in ask(opened.index, turns, row.text, budget=10**6).memories}
        all_of_them = {m.id for m in ask(opened.index, blind, row.text, budget=10**6).memories}
    assert all_of_them - seen == {*row.sources}


def test_cma_consolidated_fragments_count_less(asleep: Index) -> None:
    preset = presets.load("cma")
    fair = preset._replace(episodes=preset.episodes._replace(consolidated=1.0))
    asked = "who mended the gauge"
    less = ask(asleep, preset, asked, budget=10**6).memories
    more = ask(asleep, fair, asked, budget=10**6).memories
    places = [[m.kind for m in found].index("episode") for found in (less, more)]
    assert places[0] >= places[1]
    assert [m.id for m in less] != [m.id for m in more]
