"""Shadow mode as a picture: what stood before the model, and what was used of it, session by session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.shadow.report import relevance
from clsm_cli.inspection import chart
from clsm_cli.inspection.chart import Axis, Chart, Line, Picture

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clsm_cli.evaluation.shadow.log import Row, Side
    from clsm_cli.evaluation.shadow.report import Report


def picture(report: Report) -> Picture:
    """Two charts over the sessions: tokens at a prompt, and relevance."""
    rows = report.rows
    charts = (
        _chart(
            "Tokens in front of the model at a prompt", "tokens", rows, lambda side: side.prompt
        ),
        _chart(
            "Part of what was loaded that was used",
            "relevance (%)",
            rows,
            lambda side: 100 * relevance(side.used, side.tokens),
        ),
    )
    note = f"{rows[0].at[:10]} to {rows[-1].at[:10]}" if rows else report.verdict
    return Picture("Memory in shadow mode", note, charts if rows else ())


def _chart(title: str, unit: str, rows: Sequence[Row], value: Callable[[Side], float]) -> Chart:
    clsm = tuple((float(at), value(row.clsm)) for at, row in enumerate(rows, 1))
    static = tuple(
        (float(at), value(row.static)) for at, row in enumerate(rows, 1) if row.static is not None
    )
    lines = [Line("clsm", "blue", clsm, is_marked=True)]
    if static:
        lines.append(Line("files", "orange", static, is_dashed=True, is_marked=True))
    high = max(point for line in lines for _, point in line.points)
    step = max(1, len(rows) // 10)
    ticks = tuple((float(at), str(at)) for at in range(1, len(rows) + 1, step))
    x = Axis("session", 0.0, float(len(rows) + 1), ticks)
    return Chart(title, x, chart.axis(unit, high), lines=tuple(lines))
