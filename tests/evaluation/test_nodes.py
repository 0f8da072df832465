"""The node benchmark: which concepts there are, what is gold, and from file to figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from clsm_cli.errors import BadInputError
from clsm_cli.evaluation import stores
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.loaders.cases import Conversation, Said
from clsm_cli.evaluation.nodes import benchmark as nodes
from clsm_cli.evaluation.nodes import store as nodes_store
from clsm_cli.evaluation.nodes.baselines import NAMES as NAMES_IN_QUESTION
from clsm_cli.evaluation.nodes.baselines import PASSAGES
from clsm_cli.evaluation.nodes.fit import NAMES, fit
from clsm_cli.evaluation.nodes.fit import Weighed as Fitted
from clsm_cli.evaluation.nodes.inventory import burstiness, inventory
from clsm_cli.evaluation.nodes.report import EVERYTHING, Posed, measures
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.scoring.relevance import Evidence
from clsm_cli.store import shards
from clsm_cli.store.index import graph
from clsm_cli.store.index.opening import open_index

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine

SUBJECTS = (
    (
        "violin lesson",
        "I bought a {} today.",
        "My {}s are hard.",
        "Every {} costs ten euros.",
        "He plays.",
    ),
    (
        "parrot",
        "We adopted a grey {}.",
        "The {} sleeps in the kitchen.",
        "Parrots eat walnuts.",
        "It eats.",
    ),
)
FILLER = (
    "Hi there!",
    "How are you?",
    "Great, thanks.",
    "Wow, that is nice.",
    "See you soon!",
    "Okay, bye.",
)


def talk(one: str, other: str) -> dict[str, Any]:
    """Two sessions of forty turns, each about one subject in four of them."""
    found: dict[str, Any] = {"speaker_a": one, "speaker_b": other}
    for number, (name, *said) in enumerate(SUBJECTS, 1):
        texts = [FILLER[place % len(FILLER)] for place in range(40)]
        for place, text in enumerate(said):
            texts[5 + 7 * place] = text.format(name)
        found[f"session_{number}_date_time"] = f"1:56 pm on {number} May, 2023"
        found[f"session_{number}"] = [
            {"speaker": one if place % 2 else other, "dia_id": f"D{number}:{place}", "text": text}
            for place, text in enumerate(texts)
        ]
    found["qa"] = [
        {
            "question": f"What did {one} buy?",
            "answer": "a violin lesson",
            "evidence": ["D1:5"],
            "category": 4,
        },
        {
            "question": "Where does the parrot sleep?",
            "answer": "with the violin",
            "evidence": ["D2:12"],
            "category": 1,
        },
        {"question": "What costs ten?", "answer": "none", "evidence": ["D1:3"], "category": 4},
        {
            "question": "Who sings?",
            "adversarial_answer": "parrot",
            "evidence": ["D1:5"],
            "category": 5,
        },
    ]
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "set"
    folder.mkdir()
    for name, people in (("1", ("Ann", "Bob")), ("2", ("Cleo", "Dan"))):
        (folder / f"{name}.json").write_text(json.dumps(talk(*people)), encoding="utf-8")
    return folder


def conversation(*texts: str, sessions: int = 1) -> Conversation:
    turns = tuple(
        Said(
            f"{place}",
            "Ann",
            "user",
            text,
            "2023-05-01T10:00:00+00:00",
            f"s{place % sessions}",
            f"{place}",
        )
        for place, text in enumerate(texts)
    )
    return Conversation("c", ("Ann Example", "Bob"), turns, ())


def test_concepts_are_stems_and_pairs_without_chat_and_names() -> None:
    texts = ["Ann's violin lessons", "A violin lesson, Bob!", "Thanks for violin-lessons"]
    found = inventory(conversation(*texts, *["Hello!"] * 40)).concepts
    assert {each.stems for each in found} == {("violin",), ("lesson",), ("violin", "lesson")}
    (pair,) = (each for each in found if len(each.stems) == 2)
    assert (pair.label, pair.aliases, pair.turns) == (
        "violin lessons",
        ("violin lesson",),
        ("0", "1", "2"),
    )


def test_rare_and_frequent_words_are_no_concepts() -> None:
    texts = ["rare word", "rare", *["often"] * 10, *["Hello!"] * 20]
    assert inventory(conversation(*texts)).concepts == ()


def test_the_bursty_ones_come_first() -> None:
    texts = ["Hello!"] * 60
    for place in (0, 2, 4, 6):
        texts[place] = "parrots"
    for place in (1, 10, 21, 30):
        texts[place] = "kitchen"
    found = inventory(conversation(*texts, sessions=2), size=1).concepts
    assert [each.label for each in found] == ["parrots"]
    sizes = {"a": 10, "b": 10}
    assert (
        burstiness({"a": 6}, sizes)
        > burstiness({"a": 3}, sizes)
        > burstiness({"a": 3, "b": 2}, sizes)
    )


def test_gold_is_in_the_evidence_or_in_the_answer(path: Path) -> None:
    conversations = locomo.load(path).conversations
    told = nodes.answers(path, conversations)
    posed, texts = nodes.pose(conversations[0], told, inventory(conversations[0]))
    assert [each.id for each in posed] == ["1-1", "1-2"]
    assert texts[1] == "Where does the parrot sleep?"
    assert posed[0].gold == {"violin", "lesson", "violin-lesson"} == posed[0].told
    assert posed[1].gold == {"violin", "parrot"}
    assert posed[1].told == {"violin"}


def test_figures_of_one_answer() -> None:
    posed = Posed("q", "c", "x", frozenset("ab"), frozenset("b"))
    found = measures(posed, list("bxyzuvwstra"), frozenset("xy"))
    assert (found["precision"], found["recall"], found["answer"]) == (0.1, 0.5, 1.0)
    assert (found["hubs"], found["returned"]) == (0.2, 10)
    nothing = measures(posed._replace(told=frozenset()), [], frozenset())
    assert (nothing["f1"], nothing["coverage"], nothing["answer"]) == (0.0, 0.0, None)


def test_the_store_holds_what_consolidation_would_have_written(path: Path, shop: Workshop) -> None:
    (talked, _) = locomo.load(path).conversations
    found = inventory(talked)
    made = stores.of_conversation(shop, talked)
    noded = nodes_store.with_nodes(shop, made, talked, found, "nodes")
    assert {node.label for node in noded.nodes.values()} == {each.label for each in found.concepts}
    records = shards.load_graph(noded.store.graphs()).records
    episodes = [each for each in records.values() if isinstance(each, EpisodeRecord)]
    assert {each.stage for each in episodes} == {"consolidated"}
    noted = sum(len(keys) for each in episodes for keys in each.mentions.values())
    assert noted == sum(len(each.turns) for each in found.concepts)
    with open_index(noded.store, shop.embedder) as opened:
        assert not opened.warnings
        numbers = [graph.number_of(node) for node in noded.nodes]
        rows = graph.nodes(opened.index.connection, numbers).values()
        assert len(rows) == len(noded.nodes)
        assert all(row.vector >= 0 for row in rows)
        assert {e.source for e in noded.edges.values()} <= {row.id for row in rows if row.degree}


def test_from_file_to_figures(path: Path, shop: Workshop, engine: Engine) -> None:
    report = nodes.run_nodes(path, shop, engine, seed=0)
    assert report.data["questions"] == 4
    assert report.data["with further nodes in the answer"] == 4
    systems = {each.system: each for each in report.systems}
    assert {nodes.CLSM, nodes.FIRST_TEN, nodes.REFIT, PASSAGES} < set(systems)
    figures = {name: each.figures[EVERYTHING] for name, each in systems.items()}
    assert figures[nodes.FIRST_TEN]["recall"] > figures[NAMES_IN_QUESTION]["recall"]
    assert figures[nodes.FIRST_TEN]["coverage"] == 1.0
    for each in report.systems:
        assert set(each.figures) == {EVERYTHING, "single-hop", "multi-hop", "1", "2"}
    assert set(report.weights) == {"shipped", "without 1", "without 2"}
    (first, *_) = report.questions
    assert first.gold == ("lesson", "violin", "violin-lesson")
    assert set(first.returned) == set(systems)


def test_a_set_without_gold_is_refused(tmp_path: Path, shop: Workshop, engine: Engine) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "1.json").write_text(json.dumps(talk("Ann", "Bob") | {"qa": []}), encoding="utf-8")
    with pytest.raises(BadInputError, match="no question"):
        nodes.run_nodes(folder, shop, engine, seed=0)


def test_the_fit_finds_what_tells_gold_from_the_rest() -> None:
    def weighed(name: str, best: float) -> Fitted:
        return Fitted(name, Evidence(1.0, best, *[0.0] * 6), is_named=False)

    questions = [[weighed("a", 0.9), weighed("b", 0.4), weighed("c", 0.5)] for _ in range(20)]
    weights = dict(zip(NAMES, fit(questions, [frozenset("a")] * 20), strict=True))
    assert weights["best"] > 1
    assert weights["mass"] == 0
