"""The order of single passages: by which weights, one item for what, and what each signal is worth."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from clsm_cli.evaluation.rank_fit import SIGNALS, AskedCase, CandidateTable
from evaluation.small_sets import write_locomo

from clsm_cli.evaluation import benches, rank_fit
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Chat, Dataset, Query
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.evaluation.measures import Item, Retrieved
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.dense_search import Engine
from clsm_cli.store import layout

WIDTH = len(SIGNALS)
NOW = datetime(2023, 6, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def talks(
    tmp_path_factory: pytest.TempPathFactory, shop: StoreFactory, engine: Engine
) -> list[AskedCase]:
    """Two conversations, asked all their questions."""
    path = write_locomo(tmp_path_factory.mktemp("talks") / "set")
    made = benches.make_benches(locomo.load(path), shop, engine)
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
