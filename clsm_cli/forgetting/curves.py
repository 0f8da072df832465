"""Plot forgetting: the curves that memories follow, and where those of a store are today."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from typing import TYPE_CHECKING

from clsm_cli.forgetting import fading
from clsm_cli.forgetting.fading import Trace
from clsm_cli.inspection import svg_charts
from clsm_cli.inspection.svg_charts import Axis, Bars, Chart, Level, Line, Picture
from clsm_cli.model.streams import STREAMS
from clsm_cli.scoring.retention import ARCHIVE, DORMANT
from clsm_cli.store import logs, record_files, shards

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.inspection.svg_charts import Colour
    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store

HUES: dict[Stream, Colour] = {
    "identity": "orange",
    "projects": "green",
    "tasks": "pink",
    "flow": "blue",
}
USED = (3, 7)
"""Days of use after which a memory of the flow is drawn too: its curve falls later."""
TWO_YEARS = 730
MARKED = (0, 1, 3, 7, 30, 90, 365, TWO_YEARS)
"""Days that the axis names."""
COLUMNS = 20
"""Of the histogram; so each limit lies between two columns."""
_FIRST = date(2000, 1, 1)
"""When the memories of the curves are recorded."""


def forgetting_picture(store: Store, now: datetime) -> Picture:
    """The curves, and how many memories of each stream have how much left.

    A memory is a turn, a block or a current statement; what was superseded or withdrawn is none.

    Args:
        store: Is read as it stands: nothing is written, and recalls that are not folded yet count.
    """
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, now.astimezone(UTC).isoformat())
    current = {name: row for name, row in rows.items() if row.is_current}
    found = fading.survey_store(store, records, current, now, is_told=True)
    curve, today = store.settings.graph.retention, found.clock.today
    held = len(found.traces)
    return Picture(
        title="What is left",
        note=f"{today}: {held:,} {'memory' if held == 1 else 'memories'}",
        charts=(curves(curve), histogram(found.traces, today, curve)),
    )


def curves(law: str) -> Chart:
    """Retention by the days since the last use, for each stream, and for use on several days.

    Args:
        law: ``power``, ``exponential`` or ``base-level``.
    """
    lines = [_line(law, stream) for stream in STREAMS]
    lines += [_line(law, "flow", times) for times in USED]
    return Chart(
        title=f"How a memory fades, by the {law} law",
        x=Axis(
            title="days since the last use (logarithmic)",
            low=0,
            high=TWO_YEARS,
            ticks=tuple((float(day), f"{day}") for day in MARKED),
            is_log=True,
        ),
        y=svg_charts.axis("retention", 1),
        lines=tuple(lines),
        levels=(Level(f"dormant {DORMANT:.2f}", DORMANT), Level(f"archive {ARCHIVE:.2f}", ARCHIVE)),
    )


def histogram(found: Sequence[Trace], today: date, law: str) -> Chart:
    """How many memories have how much left, by stream."""
    counts = {stream: [0.0] * COLUMNS for stream in STREAMS}
    for trace in found:
        column = min(int(trace.retention(today, law) * COLUMNS), COLUMNS - 1)
        counts[trace.stream][column] += 1
    highest = max(map(sum, zip(*counts.values(), strict=True)))
    return Chart(
        title="How much is left of the memories of this store",
        x=svg_charts.axis("retention", 1),
        y=svg_charts.axis("memories", highest),
        bars=tuple(
            Bars(f"{stream} ({sum(column):,.0f})", HUES[stream], tuple(column))
            for stream, column in counts.items()
        ),
        edges=tuple(at / COLUMNS for at in range(COLUMNS + 1)),
    )


def _line(law: str, stream: Stream, times: int = 0) -> Line:
    """The curve of a memory that was used on so many days after that of its recording."""
    used = tuple(_FIRST + timedelta(n) for n in range(1, times + 1))
    trace = Trace("", "", stream, "", 0, _FIRST, used)
    points = tuple((float(n), trace.retention(trace.last + timedelta(n), law)) for n in _days())
    name = f"{stream}, used on {times} days" if times else stream
    return Line(name, HUES[stream], points, is_dashed=times > 0)


def _days() -> list[int]:
    """Days at which the curves are worked out, denser at their steep beginning."""
    return [*range(30), *range(30, 120, 5), *range(120, TWO_YEARS + 1, 10)]
