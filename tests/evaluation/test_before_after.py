"""Recall before and after consolidation: how items count, and the comparison from file to figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_locomo
from ingesting import tree

from clsm_cli.evaluation import before_after, stores
from clsm_cli.evaluation.before_after import IN_BUDGET, RECALL, Item, item, shares
from clsm_cli.evaluation.loaders import locomo
from clsm_cli.retrieval.answer import Memory, Source, Why

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine


def memory(*turns: tuple[str, ...], kind: str = "passage") -> Memory:
    sources = tuple(Source("a", 1, 1, ids, None) for ids in turns)
    return Memory("m", kind, "text", "flow", 1.0, 1.0, 7, "user", "s", sources, Why(), Why())


def test_a_statement_stands_for_the_turns_it_rests_on() -> None:
    assert item(memory(("D1:1",))) == Item(frozenset({"D1:1"}), 1, 7)
    stated = memory(("f-1",), ("D1:1",), ("D2:4",), kind="statement")
    assert item(stated) == Item(frozenset({"D1:1", "D2:4"}), 2, 7)


def test_items_use_places_and_tokens() -> None:
    items = [Item(frozenset({f"t{n}"}), 1, 100) for n in range(9)]
    items.append(Item(frozenset({"a", "b", "c"}), 3, 100))
    items.append(Item(frozenset({"late"}), 1, 100))
    assert shares(items, ["a", "c"]) == {RECALL: 1.0, IN_BUDGET: 1.0}
    # The statement began at the tenth place, so nothing is left for what comes behind it.
    assert shares(items, ["late", "t0"]) == {RECALL: 0.5, IN_BUDGET: 0.5}
    assert shares([], ["a"]) == {RECALL: 0.0, IN_BUDGET: 0.0}


def test_from_file_to_figures(tmp_path: Path, shop: Workshop, engine: Engine) -> None:
    path = write_locomo(tmp_path / "set")
    report = before_after.run_consolidated(path, shop, engine, seed=0)
    assert report.data["conversations"] == 2
    assert report.data["questions"] == 6
    assert set(report.pairs) == {"all", "multi-hop", "single-hop", "temporal"}
    for name, pairs in report.pairs.items():
        for pair in pairs:
            gained = report.after[name][pair.measure] - report.before[name][pair.measure]
            assert pair.difference == pytest.approx(gained)
    # Eight turns a store: before, whatever is relevant is among the first ten.
    assert report.before["temporal"][RECALL] == 1


def test_the_store_before_is_not_consolidated(
    tmp_path: Path, shop: Workshop, engine: Engine
) -> None:
    path = write_locomo(tmp_path / "set")
    conversation = locomo.load(path).conversations[0]
    made = stores.of_conversation(shop, conversation)
    before = tree(made.store.root)
    before_after.run_consolidated(path, shop, engine, seed=0)
    assert tree(made.store.root) == before
