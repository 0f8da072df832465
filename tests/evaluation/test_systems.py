"""clsm and the published systems as the evaluation asks them: what ``recall`` itself gives."""

from __future__ import annotations

import pytest
from evaluation.small_sets import bench_of, write_memory

from clsm_cli.commands.engine import QueryEngine
from clsm_cli.evaluation import systems
from clsm_cli.evaluation.benches import Bench
from clsm_cli.evaluation.dataset import Case, Folders, Query
from clsm_cli.evaluation.measures import answer_result
from clsm_cli.evaluation.stores import StoreFactory
from clsm_cli.retrieval.answer import Answer
from clsm_cli.retrieval.recall import Query as Asked
from clsm_cli.retrieval.recall import recall

TEXTS = ("what happened to the pump", "how often does the pump run", "a bird that stays")
QUERIES = tuple(Query(str(number), text) for number, text in enumerate(TEXTS))


@pytest.fixture(scope="module")
def bench(
    engine: QueryEngine, shop: StoreFactory, tmp_path_factory: pytest.TempPathFactory
) -> Bench:
    root = write_memory(tmp_path_factory.mktemp("set") / "memory")
    case = Case("memory", Folders(root, ("workspace", "sessions")), QUERIES)
    return bench_of(case, shop, engine, "quote")


def _answers(bench: Bench, k: int, budget: int) -> list[Answer]:
    asked = [Asked(text, bench.now.isoformat(), k, budget) for text in TEXTS]
    return list(recall(bench.store, asked, bench.engine, bench.factory.embedder))


def test_a_preset_returns_what_fits_the_default_budget(bench: Bench) -> None:
    system = systems.preset_system("nemori")
    found = list(system.ask(bench, QUERIES))
    assert [bool(each.items) for each in found] == [True] * len(QUERIES)
    budget = bench.store.settings.recall.budget
    assert all(sum(item.tokens for item in each.items) <= budget for each in found)
    assert all(each.confidence is None for each in found)


def test_packed_is_what_recall_gives_for_a_budget(bench: Bench) -> None:
    (found,) = systems.PACKED.ask(bench, QUERIES[:1])
    assert found.items == ()
    assert found.packed is not None
    assert 1000 in found.packed
    for budget, items in found.packed.items():
        answer = _answers(bench, systems.ITEMS, budget)[0]
        assert items == answer_result(answer).items
        assert sum(item.tokens for item in items) <= budget


def test_a_query_is_asked_at_its_own_time(bench: Bench) -> None:
    text = "what did we discuss about the pump yesterday"  # hard bounds: it speaks of the talk
    spoken = Query("spoken", text, at="2026-03-04T09:00:00+00:00")
    silent = Query("silent", text, at="2026-03-20T09:00:00+00:00")
    one, other = systems.recall_system(systems.CLSM).ask(bench, [spoken, silent])
    assert one.items
    assert not other.items
