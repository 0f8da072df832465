"""The node benchmark: which concepts there are, what is gold, and what each way to rank them finds."""

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest
from evaluation.small_sets import write_locomo
from ingesting import state_of, unchanged

from clsm_cli.evaluation import benches, measures, stores
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Chat, LabelledTurn
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.nodes import choose_concepts
from clsm_cli.evaluation.presets.library import Library
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.evaluation.systems import ask_best_passages
from clsm_cli.model.episodes import EpisodeRecord
from clsm_cli.model.graph import Edge
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.store import shards
from clsm_cli.store.index import graph_queries
from clsm_cli.store.index.opening import Embedder, open_index
from clsm_cli.store.layout import Store

# fmt: off
SUBJECTS = (
    ("violin lesson", "I bought a {} today.", "My {}s are hard.", "Every {} costs ten euros.",
     "He plays."),
    ("parrot", "We adopted a grey {}.", "The {} sleeps in the kitchen.", "Parrots eat walnuts.",
     "It eats."),
)
# fmt: on
FILLER = ("Hi there!", "How are you?", "Great, thanks.", "Wow, that is nice.", "See you!", "Bye.")


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
    rows = (
        (f"What did {one} buy?", "a violin lesson", ["D1:5"], 4),
        ("Where does the parrot sleep?", "with the violin", ["D2:12"], 1),
        ("What costs ten?", "none", ["D1:3"], 4),
        ("Who sings?", "parrot", ["D1:5"], 5),
    )
    keys = ("question", "answer", "evidence", "category")
    return found | {"qa": [dict(zip(keys, row, strict=True)) for row in rows]}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nodes") / "set"
    folder.mkdir()
    for name, people in (("1", ("Ann", "Bob")), ("2", ("Cleo", "Dan"))):
        (folder / f"{name}.json").write_text(json.dumps(talk(*people)), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def made(path: Path, shop: StoreFactory, engine: Engine) -> list[Bench]:
    """The two conversations with their concepts in their stores."""
    return benches.make_benches(locomo.load_nodes(path), shop, engine)


def test_concepts_are_stems_and_pairs_without_chat_and_names() -> None:
    texts = ["Ann's violin lessons", "A violin lesson, Bob!", "Thanks for violin-lessons"]
    turns = tuple(
        LabelledTurn(f"{place}", "Ann", "user", text, "2023-05-01T10:00:00+00:00", "s")
        for place, text in enumerate([*texts, *["Hello!"] * 40])
    )
    found = choose_concepts(Chat(("Ann Example", "Bob"), turns))
    assert {each.stems for each in found} == {("violin",), ("lesson",), ("violin", "lesson")}
    (pair,) = (each for each in found if len(each.stems) == 2)
    assert pair[1:4] == ("violin lessons", ("violin lesson",), ("0", "1", "2"))


def test_gold_is_in_the_evidence_or_in_the_answer(path: Path) -> None:
    data = locomo.load_nodes(path)
    queries = data.cases[0].queries
    assert [each.id for each in queries] == ["1-1", "1-2"]
    violin, parrot = frozenset({"violin", "violins"}), frozenset({"parrot", "parrots"})
    bought, sleeps = queries
    assert bought.text == "What did Ann buy?"
    assert {min(each, key=len) for each in bought.concepts} == {"violin", "lesson", "violinlesson"}
    assert set(map(min, sleeps.concepts)) == {min(violin), min(parrot)}
    for query in queries:
        assert (query.gold, query.negative) == ((), "")
        assert query.category in {"single-hop", "multi-hop"}


def test_the_store_holds_what_consolidation_would_have_written(made: list[Bench]) -> None:
    (bench, _) = made
    assert isinstance(bench.case.source, Chat)
    found = choose_concepts(bench.case.source)
    records = shards.load_graph(bench.store.graphs()).records
    episodes = [each for each in records.values() if isinstance(each, EpisodeRecord)]
    assert {each.stage for each in episodes} == {"consolidated"}
    noted = sum(len(keys) for each in episodes for keys in each.mentions.values())
    assert noted == sum(len(each.turns) for each in found)
    with open_index(bench.store, bench.factory.embedder) as opened:
        assert not opened.warnings
        numbers = {
            number for each in episodes for number in map(graph_queries.number_of, each.mentions)
        }
        rows = list(graph_queries.nodes(opened.index.connection, numbers).values())
        assert {row.label for row in rows} == {each.label for each in found}
        assert all(row.vector >= 0 for row in rows)
        edges = [each for each in records.values() if isinstance(each, Edge)]
        linked = Library(opened.index, bench.engine).links
        assert {edge.source for edge in edges} <= {row.id for row in rows if row.id in linked}
        assert edges


def test_the_best_passages_lead_to_concepts(made: list[Bench]) -> None:
    for bench in made:
        answers = list(ask_best_passages(bench, bench.case.queries))
        for query, answer in zip(bench.case.queries, answers, strict=True):
            assert answer.items == ()
            assert len(answer.concepts) <= 10
            figures = measures.figures(query, answer, None, "turn", bench.whole)
            assert figures["recall"]
        assert list(ask_best_passages(bench, bench.case.queries)) == answers


# Stores are made once, by the real ingest, and completed after an interruption.


@pytest.fixture
def talk_of(tmp_path: Path) -> Case:
    return locomo.load(write_locomo(tmp_path / "set")).cases[0]


def _interrupt(_texts: object) -> NoReturn:
    raise KeyboardInterrupt


def test_every_turn_is_in_an_episode(factory: StoreFactory, talk_of: Case) -> None:
    store, now = stores.make_store(talk_of, factory)
    assert now == datetime.fromisoformat("2023-06-02T09:05:01+00:00")
    state = state_of(store)
    assert isinstance(talk_of.source, Chat)
    held = [(e.session, turn.foreign_id) for e in state.episodes.values() for turn in e.turns]
    assert sorted(held) == sorted((turn.session, turn.id) for turn in talk_of.source.turns)
    assert state.waiting == {}


def test_an_interrupted_store_is_completed(factory: StoreFactory, talk_of: Case) -> None:
    broken = replace(factory, embedder=Embedder(factory.embedder.engine, lambda: _interrupt))
    with pytest.raises(KeyboardInterrupt):
        stores.make_store(talk_of, broken)
    store, _ = stores.make_store(talk_of, factory)
    whole, _ = stores.make_store(talk_of, replace(factory, folder=factory.folder / "other"))
    assert state_of(store).keys() == state_of(whole).keys()
    assert state_of(store).waiting == {}


def test_a_change_is_made_once(
    factory: StoreFactory, talk_of: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = stores.make_store(talk_of, factory)
    with unchanged(made.store.root):
        changes: list[Store] = []

        def mark(store: Store) -> None:
            changes.append(store)
            (store.root / "mark").write_text("1")

        first = stores.cached_copy(made, "marked", mark)
        again = stores.cached_copy(made, "marked", mark)
        assert again.root == first.root
        assert (first.root / "mark").exists()
        assert len(changes) == 1
    assert state_of(first).keys() == state_of(made.store).keys()
    assert stores.cached_copy(made, "marked, too", mark).root != first.root
    monkeypatch.setattr(stores, "code_digest", lambda parts: f"other {len(parts)}")
    assert stores.make_store(talk_of, factory).store.root != made.store.root
    assert stores.cached_copy(made, "marked", mark).root != first.root
