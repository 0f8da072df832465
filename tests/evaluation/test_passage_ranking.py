"""The order of single passages: by which weights, one item for what, and what each signal is worth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from evaluation.small_sets import write_locomo
from ingesting import embedder
from numpy.typing import NDArray

from clsm_cli.evaluation import benches, rank_fit
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, LabelledTurn, Query
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.measures import Item, Retrieved
from clsm_cli.evaluation.rank_fit import SIGNALS, AskedCase, CandidateTable
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.store import layout

WIDTH = len(SIGNALS)
Sample = tuple[NDArray[np.float64], Sequence[int]]
NOW = datetime(2023, 6, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def long_shop(tmp_path_factory: pytest.TempPathFactory) -> StoreFactory:
    """A workshop for the sets that several tests ask."""
    folder = tmp_path_factory.mktemp("work")
    return StoreFactory(folder, embedder(), None, fresh=False, progress=lambda *_: None)


@pytest.fixture(scope="module")
def talks(
    tmp_path_factory: pytest.TempPathFactory, long_shop: StoreFactory, engine: Engine
) -> list[AskedCase]:
    """Two conversations, asked all their questions."""
    path = write_locomo(tmp_path_factory.mktemp("talks") / "set")
    made = benches.make_benches(locomo.load(path), long_shop, engine)
    return rank_fit.ask_all(made, [bench.case.queries for bench in made])


def item(name: str, turn: str) -> Item:
    return Item(name, name, 1, (turn,), "2023-05-01")


def run(signals: Sequence[Sequence[float]], units: Sequence[str] = ()) -> CandidateTable:
    """Candidates i0, i1, … with the first signals as given and the others 0."""
    names = [f"i{place}" for place in range(len(signals))]
    return CandidateTable(
        items=tuple(item(name, name) for name in names),
        units=tuple(units or names),
        signals=np.array([[*row, *[0.0] * (WIDTH - len(row))] for row in signals]),
        confidence=0.5,
    )


def ids(found: Retrieved) -> list[str]:
    return [each.id for each in found.items]


@pytest.fixture
def bench(tmp_path: Path, factory: StoreFactory, engine: Engine) -> Bench:
    """A case whose store has the shipped settings and is never asked."""
    layout.create(tmp_path / "memory", "UTC")
    store = layout.open_store(tmp_path / "memory", {})
    case = Case("a", Chat((), ()), ())
    dataset = Dataset("locomo", "set", "0", "turn", "recall@10", (case,))
    return Bench(dataset, case, store, store, NOW, 0, factory, engine)


def asked(bench: Bench, name: str, signals: Sequence[Sequence[float]], times: int = 5) -> AskedCase:
    """A case of some equal queries whose first candidate is the evidence."""
    queries = tuple(Query(f"q{number}", "?", gold=("i0",)) for number in range(times))
    case = Case(name, Chat((), ()), queries)
    there = Bench(bench.dataset, case, bench.store, bench.raw, NOW, 0, bench.factory, bench.engine)
    return AskedCase(there, queries, (run(signals),) * times)


def test_weights_are_fitted_on_the_other_cases(bench: Bench) -> None:
    """Case a rewards signal 0, b and c signal 1: each is judged by the others."""
    first, second = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]]
    cases = [asked(bench, "a", first), asked(bench, "b", second), asked(bench, "c", second)]
    fitted = rank_fit.leave_one_out(cases)
    assert fitted["a"][1] > 0 > fitted["a"][0]
    assert fitted["b"] == pytest.approx(fitted["c"])
    assert fitted["b"][0] == pytest.approx(fitted["b"][1])
    assert rank_fit.leave_one_out(cases, [SIGNALS[1]])["a"][1] == 0
    refitted = rank_fit.rank_asked(cases)[rank_fit.REFIT]
    assert [ids(found)[0] for found in refitted[0]] == ["i1"] * 5


def test_every_query_of_every_case_is_ranked(talks: list[AskedCase]) -> None:
    found = rank_fit.rank_asked(talks)
    assert list(found) == [
        rank_fit.SHIPPED, rank_fit.CONTENT, rank_fit.REFIT, rank_fit.REFIT_CONTENT,
    ]  # fmt: skip
    for by_case in found.values():
        for case, answers in zip(talks, by_case, strict=True):
            for query, answer in zip(case.queries, answers, strict=True):
                assert answer.confidence is not None
                turns = [turn for each in answer.items for turn in each.turns]
                assert len(set(turns)) == len(turns)
                # Eight turns a store, so all evidence is there; without any, nothing is shown.
                assert set(query.gold) <= set(turns)
                assert bool(answer.items) == bool(query.gold)
                assert all(each.text and each.tokens and each.day for each in answer.items)
    bought = next(at for at, query in enumerate(talks[0].queries) if query.id == "1-3")
    assert found[rank_fit.SHIPPED][0][bought].items[0].turns == ("D2:1",)


def test_a_turn_in_parts_is_one_item(long_shop: StoreFactory, engine: Engine) -> None:
    sentences = [
        f"The heron number {n} stood on the gauge by the weir and slept." for n in range(60)
    ]
    turns = (
        LabelledTurn("t1", "Ann", "user", " ".join(sentences), "2023-05-01T10:00:00+00:00", "s"),
        LabelledTurn("t2", "Bob", "user", "A violin was sold.", "2023-05-01T10:01:00+00:00", "s"),
    )
    query = Query("q", "Where did the heron number 59 stand?", gold=("t1",))
    case = Case("parts", Chat(("Ann", "Bob"), turns), (query,))
    dataset = Dataset("locomo", "set", "0", "turn", "recall@10", (case,))
    (made,) = benches.make_benches(dataset, long_shop, engine)
    (whole,) = rank_fit.rank_asked(rank_fit.ask_all([made], [[query]]))[rank_fit.SHIPPED][0]
    assert sorted(each.turns for each in whole.items) == [("t1",), ("t2",)]
    assert "heron number 59" in whole.items[0].text


def _samples(weights: NDArray[np.float64], count: int = 400) -> list[Sample]:
    """Choices drawn from the model itself."""
    generator = np.random.default_rng(11)
    found: list[Sample] = []
    for _ in range(count):
        signals = generator.random((20, len(weights)))
        odds = np.exp(signals @ weights)
        gold = int(generator.choice(20, p=odds / odds.sum()))
        found.append((signals, (gold,)))
    return found


def _likelihood(samples: list[Sample], weights: NDArray[np.float64]) -> float:
    total = -rank_fit.RIDGE * len(samples) / 2 * float(weights @ weights)
    for signals, gold in samples:
        scores = signals @ weights
        logs = scores - np.log(np.exp(scores).sum())
        total += float(np.mean(logs[list(gold)]))
    return total


def test_no_step_away_is_better() -> None:
    samples = _samples(np.array([4.0, 1.0]), 60)
    samples += [(signals, (0, 3)) for signals, _ in samples[:20]]  # several gold
    best = rank_fit.fit(samples)
    for step in ([0.01, 0], [-0.01, 0], [0, 0.01], [0, -0.01]):
        assert _likelihood(samples, best + np.array(step)) < _likelihood(samples, best)
