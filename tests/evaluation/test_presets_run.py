"""Presets side by side on a small labelled memory, with the real model and the real consolidation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import QUERIES, write_memory
from ingesting import tree

from clsm_cli.commands import render_presets
from clsm_cli.commands.render_eval import lines
from clsm_cli.evaluation import presets
from clsm_cli.retrieval.presets import PRESETS

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.presets_report import PresetsReport
    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = write_memory(tmp_path / "set")
    (folder / "labels" / "queries.yaml").write_text(QUERIES, encoding="utf-8")
    return folder


def test_all_presets_and_the_default_on_the_same_labels(
    root: Path, shop: Workshop, engine: Engine
) -> None:
    before = tree(root, derived=True)
    report = presets.run_presets(root, shop, engine, seed=0)
    assert tree(root, derived=True) == before
    assert report.data["queries"] == 2
    assert [row.name for row in report.rows] == [presets.DEFAULT, *PRESETS]
    for row in report.rows:
        assert set(row.figures) == {"all", "personal", "project"}
        assert all(0 <= row.figures["all"][m] <= 1 for m in ("precision", "recall", "f1"))
        assert 0 <= row.covered <= 2
    default = report.rows[0]
    assert default.ratio == 1.0
    assert default.figures["all"]["quotes"] > 0
    assert default.figures["project"]["recall"] == 1.0  # "what happened to the pump": brian
    assert {(pair.against, pair.measure) for pair in report.pairs} == {
        (name, measure) for name in PRESETS for measure in ("f1", "quotes")
    }
    _is_consistent(report)
    shown = "\n".join(lines(render_presets.tables(report, verbose=True)))
    assert all(name in shown for name in PRESETS)
    assert render_presets.mapping(report)["schema"] == "clsm.eval-presets/1"


def _is_consistent(report: PresetsReport) -> None:
    """Means, ratios and differences follow from the figures of the queries."""
    ours = [query.f1[presets.DEFAULT] for query in report.queries]
    for row in report.rows:
        theirs = [query.f1[row.name] for query in report.queries]
        assert row.figures["all"]["f1"] == pytest.approx(sum(theirs) / 2)
        assert row.ratio is None or row.ratio == pytest.approx(sum(ours) / sum(theirs))
        assert (row.ratio is None) == (sum(theirs) == 0)
        for pair in report.pairs:
            if (pair.against, pair.measure) == (row.name, "f1"):
                assert pair.difference == pytest.approx((sum(ours) - sum(theirs)) / 2)
