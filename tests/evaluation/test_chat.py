"""LoCoMo and GVD from file to figures, with the real model, on sets of a few turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_gvd, write_locomo

from clsm_cli.config import Settings
from clsm_cli.evaluation import chat
from clsm_cli.evaluation.ranking import runs, systems

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine


def test_locomo(tmp_path: Path, shop: Workshop, engine: Engine) -> None:
    report = chat.run_locomo(write_locomo(tmp_path / "set"), shop, engine, seed=0)
    assert report.data == {
        "conversations": 2,
        "turns": 16,
        "questions": 8,
        "evidence_repaired": 4,
        "evidence_unresolved": 4,
        "questions_dropped": ["1-4", "2-4"],
        "turns_not_in_store": 0,
    }
    rows = {row.system: row for row in report.rows}
    assert systems.REFIT in rows
    for row in rows.values():
        # Eight turns a store: nothing that is returned can lie below place 10.
        assert row.figures["recall@10"] == row.figures["recall@50"] > 0
        assert set(row.groups["category"]) == {
            "adversarial", "multi-hop", "single-hop", "temporal",
        }  # fmt: skip
        counted = [
            row.groups["category"][c]["mrr"] for c in ("multi-hop", "single-hop", "temporal")
        ]
        assert row.figures["mrr"] == pytest.approx(sum(counted) / 3)
    assert rows[systems.CLSM].figures["hit@10"] == 1
    assert report.abstention is not None
    assert (report.abstention.answerable, report.abstention.adversarial) == (6, 2)
    assert report.abstention.strangers == 8
    weights = dict(zip(runs.SIGNALS, runs.weights(Settings().recall), strict=True))
    weighty = {name for name, weight in weights.items() if weight}
    assert {each.signal for each in report.ablation} == weighty
    assert set(report.weights) == {"shipped", "without 1", "without 2"}
    asked = {each.id: each for each in report.questions}
    assert asked["1-2"].gold == ("D1:3", "D10:1")
    assert len(asked["1-2"].ranks[systems.CLSM]) == 2


def test_the_same_run_gives_the_same_report(tmp_path: Path, shop: Workshop, engine: Engine) -> None:
    path = write_locomo(tmp_path / "set")
    assert chat.run_locomo(path, shop, engine, seed=4) == chat.run_locomo(
        path, shop, engine, seed=4
    )


def test_gvd(tmp_path: Path, shop: Workshop, engine: Engine) -> None:
    report = chat.run_gvd(write_gvd(tmp_path / "set"), shop, engine, seed=0)
    assert report.data["labelled_dated"] == 1
    assert report.data["labelled_lexical"] == 2
    assert report.data["questions_unlabelled"] == ["Emily-3"]
    asked = {each.id: each for each in report.questions}
    assert asked["Emily-2"].gold == ("2023-05-02",)
    assert asked["Emily-2"].ranks[systems.BM25] == (1,)  # the only day with Xiamen
    rows = {row.system: row for row in report.rows}
    assert systems.REFIT not in rows
    assert 0 < rows[systems.CLSM].figures["recall@3"] <= 1
