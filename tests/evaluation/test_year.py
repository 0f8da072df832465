"""A simulated year on a small labelled memory, with the real model, recall, touch and decay."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from evaluation.small_sets import QUERIES, write_asked_memory
from ingesting import tree

from clsm_cli.commands import render_year
from clsm_cli.commands.tables import lines
from clsm_cli.evaluation.studies import year, year_report
from clsm_cli.evaluation.studies.year_report import ALL, NEVER, Kept, Month

if TYPE_CHECKING:
    from pathlib import Path

    from clsm_cli.evaluation.stores import Workshop
    from clsm_cli.evaluation.studies.year_report import YearReport
    from clsm_cli.retrieval.meaning import Engine

TOWN = """
- id: q3
  query: "in which town do I live"
  category: personal
  difficulty: easy
  concepts:
  - moon
  evidence:
  - file: sessions/a.jsonl
    quote: "I live in Leiden."
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_asked_memory(tmp_path / "set", QUERIES + TOWN)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A year just long enough for the flow to fade, with one question a day, nearly always the
    same one."""
    monkeypatch.setattr(year, "DAYS", 104)
    monkeypatch.setattr(year, "QUESTIONS", 1)
    monkeypatch.setattr(year, "EXPONENT", 20.0)
    monkeypatch.setattr(year, "MONTHS", (0, 6, 12))


@pytest.mark.usefixtures("short")
def test_a_year(root: Path, shop: Workshop, engine: Engine) -> None:
    before = tree(root, derived=True)
    report = year.run_year(root, shop, engine, seed=0)
    assert tree(root, derived=True) == before
    assert report.data["queries"] == report.data["quotes"] == 3
    assert report.data["questions"] == sum(query.asked for query in report.queries) == 104
    assert report.data["never asked"] == sum(query.asked == 0 for query in report.queries) == 2
    first, half, last = report.months
    assert (first.month, half.month, last.month) == (0, 6, 12)
    assert not first.archived
    assert half.considered == first.considered == report.data["passages"]
    assert not any(state.archived for state in half.archived.values())
    assert last.archived["flow"].archived > 0
    assert last.archived["identity"].archived == 0
    assert first.kept[ALL].now == first.kept[ALL].before
    assert last.kept[NEVER].queries == 2
    is_consistent(report)
    shown = "\n".join(lines(render_year.tables(report, verbose=True)))
    for target in report.targets:
        assert target.name in shown
    assert shown.count(" met") + shown.count(" missed") == len(report.targets) == 3
    data = render_year.mapping(report)
    assert data["schema"] == "clsm.study-year/1"
    assert [row["is_met"] for row in data["targets"]] == [each.is_met for each in report.targets]


def is_consistent(report: YearReport) -> None:
    """Means follow from the figures of the queries, and groups compare with the first day."""
    for month in report.months:
        by_query = [query.recall[month.month] for query in report.queries]
        assert month.kept[ALL].now == pytest.approx(sum(by_query) / len(by_query))
        never = [query for query in report.queries if not query.asked]
        if month is report.months[-1]:
            found = [query.recall[0] for query in never]
            assert month.kept[NEVER].before == pytest.approx(sum(found) / len(found))
        for kept in month.kept.values():
            low, high = kept.interval
            assert low <= kept.now - kept.before + 1e-9
            assert kept.now - kept.before <= high + 1e-9


def test_what_is_asked_follows_the_law() -> None:
    days = year.schedule(45, seed=3)
    assert days == year.schedule(45, seed=3) != year.schedule(45, seed=4)
    assert [len(day) for day in days] == [year.QUESTIONS] * year.DAYS
    counts = Counter(place for day in days for place in day)
    by_rank = [n for _, n in counts.most_common()]
    total = sum(1 / rank**year.EXPONENT for rank in range(1, 46))
    for rank in (1, 2, 3):
        expected = 1825 / rank**year.EXPONENT / total
        assert by_rank[rank - 1] == pytest.approx(expected, rel=0.2)
    assert 3 <= 45 - len(counts) <= 15  # never asked


def month(number: int, considered: float, **kept: tuple[float, float]) -> Month:
    groups = {
        name.replace("_", " "): Kept(1, 1, now, before, (0.0, 0.0))
        for name, (now, before) in kept.items()
    }
    return Month(number, "2026-01-01", groups, considered, 1.0, 0, {})


@pytest.mark.parametrize(
    ("kept", "considered", "met"),
    [
        ({"all": (0.70, 0.70), "used_or_pinned": (0.8, 0.8)}, 60.0, [True, True, True]),
        ({"all": (0.67, 0.70), "used_or_pinned": (0.79, 0.8)}, 60.0, [True, True, True]),
        ({"all": (0.66, 0.70), "used_or_pinned": (0.78, 0.8)}, 60.1, [False, False, False]),
        ({"all": (0.80, 0.70)}, 100.0, [True, False]),  # nothing was used
    ],
)
def test_targets(kept: dict[str, tuple[float, float]], considered: float, met: list[bool]) -> None:
    found = year_report.targets([month(0, 100.0, all=(0.7, 0.7)), month(12, considered, **kept)])
    assert [target.is_met for target in found] == met
    assert found[-1].measured == pytest.approx(1 - considered / 100)


def test_a_group_is_compared_query_by_query() -> None:
    found = year_report.kept([0.0, 1.0, 1.0], [1.0, 1.0, 0.5], 4, seed=0)
    assert (found.queries, found.quotes) == (3, 4)
    assert found.lost == pytest.approx(0.5 / 3)
    assert found.interval[0] < -found.lost < found.interval[1]
