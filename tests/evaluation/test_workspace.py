"""Notes from labels to figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_notes

from clsm_cli.evaluation import workspace
from clsm_cli.evaluation.ranking import systems

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.retrieval.meaning import Engine


def test_notes(tmp_path: Path, shop: Workshop, engine: Engine) -> None:
    report = workspace.run_notes(write_notes(tmp_path / "set"), shop, engine, seed=0)
    assert (report.data["queries"], report.data["quotes"], report.data["unanswerable"]) == (2, 2, 1)
    rows = {row.system: row for row in report.rows}
    # The quote of the first query runs over a line end; BM25 finds it by "pump".
    assert rows[systems.BM25].groups["difficulty"]["easy"]["recall@10"] == 1
    assert rows[systems.BM25].groups["difficulty"]["hard"]["recall@10"] == 0
    assert rows[systems.CLSM].groups["category"]["project"]["mrr"] == 1
    assert {(pair.against, pair.measure) for pair in report.pairs} == {
        (against, measure)
        for against in (systems.BM25, systems.FUSION)
        for measure in ("recall@10", "tokens@1000")
    }
    assert report.concepts["project"]["coverage"] == 1  # Brian stands in the passage
    assert report.near_topic is not None
    assert report.off_topic == 1  # the moon is not in the cellar
    easy = next(each for each in report.queries if each.id == "q1")
    assert easy.recall[systems.BM25] == 1
    assert report.concepts["all"]["f1"] == pytest.approx(
        sum(each.concepts["f1"] for each in report.queries) / 2
    )
