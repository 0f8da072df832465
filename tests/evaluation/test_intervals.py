"""Probes and facts by the day, with the real model and the real consolidation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import write_asked_memory

from clsm_cli.commands import render_intervals
from clsm_cli.commands.tables import lines
from clsm_cli.evaluation.studies import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.intervals import Asked, IntervalsReport
    from clsm_cli.retrieval.meaning import Engine

PROBES = """
- id: p1
  kind: as-of
  query: "How often did the pump run on 2 March?"
  as_of: "2026-03-02"
  answer: "every 20 minutes"
  evidence: [{file: workspace/memory/2026-03-02.md, quote: "The pump runs every 20 minutes"}]
- id: p2
  kind: changed-fact
  query: "How often does the pump run now?"
  as_of: "2026-03-03"
  answer: "every 50 minutes"
  evidence: [{file: workspace/memory/2026-03-03.md, quote: "nobody said that"}]
- id: p3
  kind: unanswerable
  query: "How much does the pump weigh?"
  as_of: "2026-03-03"
  answer: null
  evidence: []
"""
PUMP = '- {fact: pump, asks: "How often does the pump run?", claims: "Does the pump run every {value}?"}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = write_asked_memory(tmp_path / "set")
    labels = {"probes": PROBES, "questions": PUMP}
    for name, text in labels.items():
        (folder / "labels" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def right(asked: Iterable[Asked], *kinds: str) -> tuple[int, int]:
    """How many are right, and how many there are."""
    chosen = [each for each in asked if each.kind in kinds]
    return sum(not each.why for each in chosen), len(chosen)


def test_a_small_memory(root: Path, shop: Workshop, engine: Engine) -> None:
    report = intervals.run_intervals(root, shop, engine)
    assert [(each.of, not each.why) for each in report.probes] == [
        ("p1", True),
        ("p2", False),
        ("p3", True),
    ]
    assert report.probes[2].verdict == "not known"
    assert report.queries == 2
    asked = report.facts["pump"]
    # One day of the first value; first, middle and last day of what still holds are two days.
    assert [(each.expected, each.as_of) for each in asked if each.kind == "value"] == [
        ("20 minutes", "2026-03-02"),
        ("40 minutes", "2026-03-03"),
        ("40 minutes", "2026-03-04"),
    ]
    assert right(asked, "value") == (3, 3)
    assert right(asked, "claim") == (6, 6)
    _is_rendered(report)


def _is_rendered(report: IntervalsReport) -> None:
    short, long = (
        lines(render_intervals.tables(report, verbose=verbose)) for verbose in (False, True)
    )
    assert short[0] == "probes"
    assert ["pump", "3", "of", "3", "6", "of", "6"] in [line.split() for line in short]
    assert sum("weigh" in line for line in short) == 0
    assert sum("weigh" in line for line in long) == 1
    assert sum("p2" in line for line in short) == 1
    mapping = render_intervals.mapping(report)
    assert mapping["schema"] == "clsm.study-intervals/1"
    assert len(mapping["facts"]["pump"]) == 9
