"""A simulated year as a picture: what recall kept, and what it had to consider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.studies.year_report import ALL, NEVER, USED
from clsm_cli.inspection import chart
from clsm_cli.inspection.chart import Axis, Chart, Line, Picture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.evaluation.studies.year_report import Month, YearReport
    from clsm_cli.inspection.drawing import Colour

HUES: dict[str, Colour] = {ALL: "blue", USED: "green", NEVER: "orange"}


def picture(report: YearReport) -> Picture:
    """Recall by group, each beside what the same quotes had on the first day; and the passages."""
    first, last = report.months[0], report.months[-1]
    return Picture(
        title="A year of use",
        note=f"{first.day} to {last.day}: {report.data['questions']:,} questions,"
        f" {report.data['queries']} labelled queries, decay every week",
        charts=(_recall(report.months), _considered(report.months)),
    )


def _recall(months: Sequence[Month]) -> Chart:
    lines = []
    for group, hue in HUES.items():
        rows = [(float(m.month), m.kept[group]) for m in months if group in m.kept]
        if not rows:
            continue
        now = tuple((at, 100 * kept.now) for at, kept in rows)
        before = tuple((at, 100 * kept.before) for at, kept in rows)
        lines.append(Line(group, hue, now, is_marked=True))
        if before != now:
            lines.append(Line(f"{group}, on the first day", hue, before, is_dashed=True))
    return Chart(
        title="Evidence among the first ten items",
        x=_months(months),
        y=chart.axis("recall@10 (%)", 100),
        lines=tuple(lines),
    )


def _considered(months: Sequence[Month]) -> Chart:
    passages = tuple((float(m.month), m.considered) for m in months)
    closely = tuple((float(m.month), m.closely) for m in months)
    return Chart(
        title="What a query has to consider",
        x=_months(months),
        y=chart.axis("passages", max(n for _, n in passages)),
        lines=(
            Line("compared by words and meaning", "blue", passages, is_marked=True),
            Line("looked at closely", "pink", closely, is_marked=True),
        ),
    )


def _months(months: Sequence[Month]) -> Axis:
    ticks = tuple((float(m.month), str(m.month)) for m in months)
    return Axis("months", 0, ticks[-1][0], ticks)
