"""Charts of a result: systems, precision against recall, recall against tokens, ablation, probes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.evaluation.reporting.names import heading, more, share
from clsm_cli.inspection import bar_chart, chart
from clsm_cli.inspection.bar_chart import Bar, BarChart, Group
from clsm_cli.inspection.chart import Axis, Chart, Line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.evaluation.result import Ablated, ProbeResult, SetResult, SystemResult
    from clsm_cli.inspection.drawing import Colour

WIDTH = 460.0
"""Of a chart, in pixels: two stand side by side on a wide screen, and one is read on a narrow one."""
HUES: tuple[Colour, ...] = ("blue", "orange", "green", "pink", "vermilion")
"""clsm, then the best of the others; what is left is grey and has one name."""
MARKED = 12
"""Points up to which a line shows each."""
BUDGETS = (500, 1000, 2000, 4000)


def systems(found: SetResult) -> BarChart | None:
    """The headline measure of every system, with its interval; None where nobody has it."""
    name = found.headline
    hues = _hues(found, name)
    groups = []
    for each in found.systems:
        value = each.figures.get(name)
        if value is not None:
            interval = _percent(each.intervals.get(name))
            bar = Bar("", hues.get(each.name, "grey"), 100 * value, interval, share(value))
            groups.append(Group(each.name, (bar,)))
    if not groups:
        return None
    return BarChart(
        f"{heading(name)} by system, with 95 % intervals",
        chart.axis(f"{heading(name)} (%)", 100),
        tuple(groups),
    )


def categories(found: SetResult) -> BarChart | None:
    """The headline measure by category, of the systems that have a colour; None without any."""
    name = found.headline
    hues = _hues(found, name)
    coloured = [each for each in found.systems if each.name in hues]
    groups = []
    for category in dict.fromkeys(g for each in coloured for g in each.groups.get("category", {})):
        values = [(each, each.groups["category"].get(category, {}).get(name)) for each in coloured]
        bars = tuple(
            Bar(each.name, hues[each.name], 100 * value)
            for each, value in values
            if value is not None
        )
        if bars:
            groups.append(Group(category, bars))
    if not groups:
        return None
    return BarChart(
        f"{heading(name)} by category", chart.axis(f"{heading(name)} (%)", 100), tuple(groups)
    )


def curve(found: SetResult) -> Chart | None:
    """Precision against recall at 1, 2, … items; None without a curve of two points."""
    lines = _lines(
        found,
        "recall@10",
        ((each, tuple((100 * r, 100 * p) for r, p in each.curve)) for each in found.systems),
    )
    if not lines:
        return None
    axes = chart.axis("recall (%)", 100), chart.axis("precision (%)", 100)
    return Chart("Precision and recall at 1, 2, … items", *axes, lines=lines)


def tokens(found: SetResult) -> Chart | None:
    """Share of the evidence that fits a budget; None where it is not known."""
    rows = [
        (
            each,
            tuple(
                (float(budget), 100 * value)
                for budget in BUDGETS
                if (value := each.figures.get(f"tokens@{budget}")) is not None
            ),
        )
        for each in found.systems
    ]
    lines = _lines(found, "tokens@1000", rows)
    if not lines:
        return None
    ticks = ((0.0, "0"), *((float(each), f"{each:,}") for each in BUDGETS))
    across = Axis("tokens given to the memory", 0, BUDGETS[-1], ticks)
    return Chart("Recall within a budget", across, chart.axis("recall (%)", 100), lines=lines)


def ablation(found: SetResult) -> BarChart | None:
    """What each mechanism taken out costs, in points; None without one."""
    order = sorted(found.ablation, key=lambda each: (each.difference, each.mechanism))
    if not order:
        return None
    ends = [end for each in order for end in (*each.interval, each.difference)]
    axis = chart.axis(
        f"{heading(found.headline)} without it minus with it, points",
        100 * max(ends),
        low=100 * min(ends),
    )
    groups = (Group(each.mechanism, (_lost(each),)) for each in order)
    return BarChart("What a mechanism is worth, with 95 % intervals", axis, tuple(groups))


def probe(found: ProbeResult) -> Chart | None:
    """The curves of a probe; None where it has none."""
    series = [each for each in found.series if len(each.points) > 1]
    if not series or not found.axes:
        return None
    xs = [x for each in series for x, _ in each.points]
    ys = [y for each in series for _, y in each.points]
    across, up = found.axes
    hues = (*HUES, "grey")
    lines = tuple(
        Line(each.name, hues[at % 6], each.points, is_dashed=at >= len(hues), is_marked=True)
        for at, each in enumerate(series)
    )
    return Chart(
        f"{found.name}: {up} by {across}",
        chart.axis(across, max(xs), low=min(xs)),
        chart.axis(up, max(ys), low=min(ys)),
        lines=lines,
    )


def draw(found: Chart | BarChart) -> str:
    """A chart of either form as an SVG element."""
    if isinstance(found, BarChart):
        return bar_chart.figure(found, WIDTH)
    return chart.figure(found, WIDTH)


def _hues(found: SetResult, measure: str) -> dict[str, Colour]:
    """The colours of clsm and of those that come next by a measure; its own variants stay grey."""
    first, others = found.systems[:1], [each for each in found.systems[1:] if not _is_ours(each)]
    others.sort(key=lambda each: -(each.figures.get(measure) or 0.0))
    return {each.name: hue for each, hue in zip((*first, *others), HUES, strict=False)}


def _is_ours(each: SystemResult) -> bool:
    return each.name.startswith("clsm ")


def _lines(
    found: SetResult,
    measure: str,
    rows: Iterable[tuple[SystemResult, tuple[tuple[float, float], ...]]],
) -> tuple[Line, ...]:
    """Lines of systems, those of one colour first by a measure; a point is no line."""
    hues = _hues(found, measure)
    left = len(found.systems) - len(hues)
    coloured, grey = [], []
    for each, points in rows:
        if len(points) > 1 and each.name in hues:
            marked = len(points) <= MARKED
            coloured.append(Line(each.name, hues[each.name], points, is_marked=marked))
        elif len(points) > 1:
            grey.append(Line(f"{left} more, in the table", "grey", points))
    return (*coloured, *grey)


def _lost(each: Ablated) -> Bar:
    """Blue where a mechanism certainly helps, vermilion where it certainly harms."""
    low, high = each.interval
    sense: tuple[str, Colour] = ("no clear difference", "grey")
    if high < 0:
        sense = ("clearly worse without", "blue")
    elif low > 0:
        sense = ("clearly better without", "vermilion")
    return Bar(*sense, 100 * each.difference, _percent(each.interval), more(each.difference))


def _percent(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return interval and (100 * interval[0], 100 * interval[1])
