"""Bars beside names, with intervals: a figure of several things, or of several things by group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.inspection.drawing import LETTER, MARGIN, cut, escaped, framed, legend, pixels, text
from clsm_cli.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clsm_cli.inspection.chart import Axis
    from clsm_cli.inspection.drawing import Colour

MOST_LETTERS = 26
"""Letters of a name beside its bars; longer ones are cut, and whole for who points at the bar."""
THICK, THIN = 15.0, 9.0
"""Height of the bar of a group that has one, and of each where one has more, in pixels."""
APART = 9.0
"""Between two groups."""


class Bar(NamedTuple):
    """One value.

    Attributes:
        series: What the colour stands for; empty: nothing, and no legend.
        interval: Drawn as a whisker; None: none is known.
        label: The value as it is written; empty: it is not.
    """

    series: str
    colour: Colour
    value: float
    interval: tuple[float, float] | None = None
    label: str = ""


class Group(NamedTuple):
    """Bars that share a name, from top to bottom."""

    name: str
    bars: tuple[Bar, ...]


class BarChart(NamedTuple):
    """Groups from top to bottom, on one axis that holds 0."""

    title: str
    axis: Axis
    groups: tuple[Group, ...]


def figure(chart: BarChart, width: float) -> str:
    """A bar chart as an SVG element, for a page that has the style."""
    bars = [bar for group in chart.groups for bar in group.bars]
    swatches = [(bar.series, f"line thick {bar.colour}") for bar in bars if bar.series]
    drawn, top = legend(swatches, 4, width)
    plot = _Plot(chart, top + 8, width)
    drawn += plot.draw()
    return framed(chart.title, drawn, width, plot.bottom + 46)


class _Plot:
    """Where groups and values lie, and what stands there."""

    def __init__(self, chart: BarChart, top: float, width: float) -> None:
        self._chart = chart
        self._top = top
        names = [min(len(group.name), MOST_LETTERS) for group in chart.groups]
        labels = [len(bar.label) for group in chart.groups for bar in group.bars]
        self._left = MARGIN + LETTER * max(names, default=0)
        self._right = width - 14 - LETTER * max(labels, default=0)
        self._width = width
        self.bottom = top + sum(_height(group) + APART for group in chart.groups)

    def _x(self, value: float) -> float:
        return self._left + self._chart.axis.share(value) * (self._right - self._left)

    def draw(self) -> Iterator[str]:
        """Grid, names, bars and the title of the axis."""
        for value, label in self._chart.axis.ticks:
            looks = "axis" if value == 0 else "rule"
            x = self._x(value)
            yield f'<path class="{looks}" d="M{pixels(x)} {pixels(self._top)}V{pixels(self.bottom)}"/>'
            yield text(x, self.bottom + 18, label, "small middle")
        middle = (self._left + self._right) / 2
        yield text(middle, self.bottom + 38, self._chart.axis.title, "faint middle")
        y = self._top + APART / 2
        for group in self._chart.groups:
            name = group.name
            yield text(
                self._left - 8, y + _height(group) / 2 + 4, cut(name, MOST_LETTERS), "small end"
            )
            for bar in group.bars:
                height = _thickness(group)
                yield from self._bar(name, bar, y, height - 1)
                y += height
            y += APART

    def _bar(self, name: str, bar: Bar, y: float, height: float) -> Iterator[str]:
        start, end = sorted((self._x(0), self._x(bar.value)))
        said = " · ".join(filter(None, (name, bar.series, bar.label or f"{bar.value:,.4g}")))
        yield (
            f'<rect class="bar {bar.colour}" x="{pixels(start)}" y="{pixels(y)}"'
            f' width="{pixels(max(end - start, 1))}" height="{pixels(height)}">'
            f"<title>{escaped(said)}</title></rect>"
        )
        middle = y + height / 2
        if bar.interval is not None:
            low, high = (pixels(self._x(each)) for each in bar.interval)
            whisker = f'd="M{low} {pixels(middle)}H{high}M{low} {pixels(middle - 3)}v6M{high}'
            whisker += f' {pixels(middle - 3)}v6"'
            yield f'<path class="halo" {whisker}/><path class="whisker" {whisker}/>'
        yield text(self._width - 4, middle + 4, bar.label, "small end")


def _thickness(group: Group) -> float:
    return THICK if len(group.bars) == 1 else THIN


def _height(group: Group) -> float:
    return _thickness(group) * len(group.bars)
