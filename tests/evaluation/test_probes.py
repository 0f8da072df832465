"""What the probes tell, when an answer counts as right, and runs on less material than a user's."""

import re
from collections.abc import Callable, Iterable

import pytest

from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import Bench, with_settings
from clsm_cli.evaluation.dataset import Chat, LabelledQuery, LabelledTurn
from clsm_cli.evaluation.measures import Item, Retrieved
from clsm_cli.evaluation.probes import material, probe_registry
from clsm_cli.evaluation.probes.probe_registry import (
    FALSE_KINDS,
    PROBES,
    FactChange,
    run_probe,
    tells_latest,
)
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine

CONVERSATIONS: dict[str, Callable[[int], Iterable[LabelledTurn]]] = {
    "drift": lambda seed: probe_registry.make_drift(seed)[2],
    "distractor": lambda seed: probe_registry.make_traps(seed)[1],
    "split": lambda seed: probe_registry.make_split(seed)[1],
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_conversation_is_whole_and_drawn_from_its_seed(name: str) -> None:
    turns = list(CONVERSATIONS[name](3))
    assert turns == list(CONVERSATIONS[name](3))
    assert [turn.text for turn in turns] != [turn.text for turn in CONVERSATIONS[name](4)]
    assert len({turn.id for turn in turns}) == len(turns)
    assert [turn.time for turn in turns] == sorted(turn.time for turn in turns)
    assert not [turn.text for turn in turns if re.search(r"\{\w*\}", turn.text) or not turn.text]


def test_split_gold_lies_in_different_sessions_and_questions_differ() -> None:
    queries, turns = probe_registry.make_split(0)
    session = {turn.id: turn.session for turn in turns}
    assert len({query.text for query in queries}) == len(queries)
    for query in queries:
        assert len({session[id_] for id_ in query.gold}) == len(query.gold) == 2


def item(*turns: str) -> Item:
    return Item("-".join(turns), "text", 3, turns, "2026-01-01")


def test_the_first_item_that_tells_the_fact_decides() -> None:
    told = [FactChange(*each, "") for each in (("a", 0, 1, "Leeds"), ("b", 0, 5, "York"))]
    told.append(FactChange("c", 0, 9, "Leeds", ""))
    assert tells_latest([item("x"), item("c"), item("b")], told)
    assert not tells_latest([item("x"), item("b"), item("c")], told)
    assert tells_latest([item("a")], told)  # the same value, told before
    assert not tells_latest([item("a", "b")], told)  # two values at once say nothing
    assert not tells_latest([item("x")], told)


def test_a_distractor_may_be_missing_but_the_truth_may_not() -> None:
    def judge(*ids: str) -> list[bool]:
        found = Retrieved(tuple(item(id_) for id_ in ids))
        return [
            probe_registry.is_above(found, LabelledQuery("7", "?"), kind) for kind in FALSE_KINDS
        ]

    assert judge("7-true", "7-poisoned") == [True, True, True]
    assert judge("7-poisoned", "7-true", "7-similar-1") == [True, True, False]
    assert judge("7-similar-1", "7-superseded", "7-true") == [False, False, True]
    assert judge("17-true", "other") == [False, False, False]


def test_a_bar_counts_where_there_is_such_a_figure() -> None:
    assert PROBES["drift"].passes({"latest": 0.95})
    assert not PROBES["drift"].passes({"latest": 0.95, "closed": 0.5})


def test_drift(factory: StoreFactory, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_registry, "DRIFT_SESSIONS", 10)
    monkeypatch.setattr(probe_registry, "CHECKS", 2)
    monkeypatch.setattr(probe_registry, "TELLINGS", 4)
    verdicts = {each["system"]: each for each in run_probe("drift", factory, engine, 0)["verdicts"]}
    assert verdicts["clsm"]["figures"]["latest"] > verdicts["BM25"]["figures"]["latest"]
    assert verdicts["clsm"]["figures"]["learnt"] > 0.5
    assert not verdicts["BM25"]["passed"]


def test_what_has_no_flaw_comes_first(
    factory: StoreFactory, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told of another name, denied, superseded or planted; without rivals likeness decides."""
    monkeypatch.setattr(probe_registry, "TRAPS", 1)
    monkeypatch.setattr(probe_registry, "CHATTER", 1)
    queries, turns = probe_registry.make_traps(0)
    bench = material.make_bench(factory, engine, "distractor", Chat((), tuple(turns)))

    def above(bench: Bench) -> dict[str, int]:
        answers = systems.recall_system()(bench, queries)
        pairs = list(zip(answers, queries, strict=True))
        return {
            kind: sum(probe_registry.is_above(*pair, kind) for pair in pairs)
            for kind in FALSE_KINDS
        }

    whole, without = above(bench), above(with_settings(bench, {"recall.rivals": 0.0}))
    for kind in FALSE_KINDS:
        least = 0.6 if kind == "superseded" else 0.9  # the head judges what ends; of all traps .89
        assert whole[kind] >= least * len(queries), whole
        assert without[kind] < whole[kind]
