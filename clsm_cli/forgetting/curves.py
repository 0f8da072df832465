"""Plot forgetting: the curves that memories follow, and where those of a store are today."""

from __future__ import annotations

from datetime import UTC, date, timedelta
from math import log1p
from typing import TYPE_CHECKING

from clsm_cli.forgetting import fading
from clsm_cli.forgetting.fading import Trace
from clsm_cli.inspection.svg_charts import COLOURS, Axis, Chart, Series, round_ticks, svg
from clsm_cli.model.streams import STREAMS
from clsm_cli.scoring.retention import ARCHIVE, DORMANT
from clsm_cli.store import logs, record_files, shards

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from clsm_cli.model.streams import Stream
    from clsm_cli.store.layout import Store

HUES = dict(zip(STREAMS, COLOURS, strict=True))
USED = (3, 7)
"""Days of use after which a memory of the flow is drawn too: its curve falls later."""
TWO_YEARS = 730
MARKED = (0, 1, 3, 7, 30, 90, 365, TWO_YEARS)
"""Days that the axis names."""
COLUMNS = 20
"""Of the histogram; so each limit lies between two columns."""
_FIRST = date(2000, 1, 1)
"""When the memories of the curves are recorded."""


def forgetting_picture(store: Store, now: datetime) -> str:
    """The curves, and how many memories of each stream have how much left, as SVG.

    A memory is a turn, a block or a current statement; what was superseded or withdrawn is none.

    Args:
        store: Is read as it stands: nothing is written, and recalls that are not folded yet count.
    """
    records = shards.load_graph(store.graphs(), logs.load_tombstones(store)).records
    rows = record_files.load_statements(store, records, now.astimezone(UTC).isoformat())
    current = {name: row for name, row in rows.items() if row.is_current}
    found = fading.survey_store(store, records, current, now, is_told=True)
    law, today = store.settings.graph.retention, found.clock.today
    counts = histogram(found.traces, today, law)
    note = f"{today}: {len(found.traces):,} memories"
    return svg("What is left", note, (_curves(law), _columns(counts)))


def curve(law: str, stream: Stream, times: int = 0) -> list[tuple[int, float]]:
    """Retention of a memory by the days since its last use, denser at its steep beginning.

    Args:
        law: ``power`` or ``exponential``.
        stream: Of the memory.
        times: Days on which it was used after that of its recording.
    """
    used = tuple(_FIRST + timedelta(n) for n in range(1, times + 1))
    trace = Trace("", "", stream, "", 0, _FIRST, used)
    days = (*range(30), *range(30, 120, 5), *range(120, TWO_YEARS + 1, 10))
    return [(n, trace.retention(trace.last + timedelta(n), law)) for n in days]


def histogram(found: Sequence[Trace], today: date, law: str) -> dict[Stream, list[int]]:
    """How many memories of each stream have how much left: retention 0 to 1 in ``COLUMNS``."""
    counts = {stream: [0] * COLUMNS for stream in STREAMS}
    for trace in found:
        column = min(int(trace.retention(today, law) * COLUMNS), COLUMNS - 1)
        counts[trace.stream][column] += 1
    return counts


def _curves(law: str) -> Chart:
    drawn: list[tuple[Stream, int]] = [(stream, 0) for stream in STREAMS]
    drawn += [("flow", times) for times in USED]
    series = tuple(
        Series(
            f"{stream}, used on {times} days" if times else stream,
            HUES[stream],
            tuple((_along(day), left) for day, left in curve(law, stream, times)),
            is_dashed=times > 0,
        )
        for stream, times in drawn
    )
    days = tuple((_along(day), f"{day}") for day in MARKED)
    return Chart(
        f"How a memory fades, by the {law} law",
        Axis("days since the last use (logarithmic)", days),
        Axis("retention", round_ticks(1)),
        series,
        ((DORMANT, f"dormant {DORMANT:.2f}"), (ARCHIVE, f"archive {ARCHIVE:.2f}")),
    )


def _along(day: float) -> float:
    """Where a day stands on the axis: log(1 + day), so that the first ones are seen beside a year."""
    return log1p(day) / log1p(TWO_YEARS)


def _columns(counts: dict[Stream, list[int]]) -> Chart:
    highest = max(1, *map(sum, zip(*counts.values(), strict=True)))
    below = [0.0] * COLUMNS
    series = []
    for stream, column in counts.items():
        bars = []
        for place, count in enumerate(column):
            low, below[place] = below[place], below[place] + count / highest
            bars.append((place / COLUMNS, (place + 1) / COLUMNS, low, below[place]))
        series.append(Series(f"{stream} ({sum(column):,})", HUES[stream], bars=tuple(bars)))
    return Chart(
        "How much is left of the memories of this store",
        Axis("retention", round_ticks(1)),
        Axis("memories", round_ticks(highest)),
        tuple(series),
    )
