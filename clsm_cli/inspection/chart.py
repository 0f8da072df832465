"""Charts as inline SVG: lines, level lines and stacked bars on two axes, without any library.

A picture is one SVG file or one HTML page with the same SVG inside; it loads nothing, runs nothing,
and the same numbers give the same bytes. It follows the reader's light or dark scheme; a renderer
that knows no schemes shows the light one.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import pairwise
from math import floor, log1p, log10
from typing import TYPE_CHECKING, Literal

from clsm_cli import __version__
from clsm_cli.records import NamedTuple
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterator

Colour = Literal["blue", "orange", "green", "pink", "vermilion", "grey"]
"""The hues of Okabe and Ito, which people with any colour vision tell apart. ``chart.css`` has each
for light paper and for dark; all stand out from it by 3 : 1 at least, as graphics must (WCAG 2.1)."""
WIDTH, PLOT = 760.0, 260.0
"""Width of a picture and height of a plot, in pixels; a viewer scales them."""
LEFT, RIGHT, LETTER, ROW = 62.0, 18.0, 6.6, 18.0
"""Margins of a plot, width of a letter as it is estimated, height of a row of text."""


class Axis(NamedTuple):
    """One direction of a plot.

    Attributes:
        low: Value at its start; ``high`` at its end, above ``low``.
        ticks: Values that are marked, each with its label.
        is_log: Places go with log(1 + value - low), so that the first days are seen beside a year.
    """

    title: str
    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    is_log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies between the ends, 0 … 1; what lies outside is at the end.

        >>> axis = Axis("days", 0, 99, ())
        >>> axis.share(49.5), axis._replace(is_log=True).share(9), axis.share(200)
        (0.5, 0.5, 1.0)
        """
        along = min(max(value, self.low), self.high) - self.low
        span = self.high - self.low
        return log1p(along) / log1p(span) if self.is_log else along / span


class Line(NamedTuple):
    """Points by x ascending; ``is_marked`` shows each, with its values for who points at it."""

    name: str
    colour: Colour
    points: tuple[tuple[float, float], ...]
    is_dashed: bool = False
    is_marked: bool = False

    @property
    def looks(self) -> str:
        """Classes of its stroke."""
        return f"line {'dash ' * self.is_dashed}{self.colour}"


class Level(NamedTuple):
    """A value of the y axis that has a name."""

    name: str
    value: float


class Bars(NamedTuple):
    """One value for each bin of the chart; the bars of several stand on one another."""

    name: str
    colour: Colour
    values: tuple[float, ...]


class Chart(NamedTuple):
    """One plot with its legend.

    Attributes:
        edges: Where the bins of the bars begin and end; one more than there are bins.
    """

    title: str
    x: Axis
    y: Axis
    lines: tuple[Line, ...] = ()
    levels: tuple[Level, ...] = ()
    bars: tuple[Bars, ...] = ()
    edges: tuple[float, ...] = ()


class Picture(NamedTuple):
    """Charts from top to bottom, under one title, and a note in small letters (may be empty)."""

    title: str
    note: str
    charts: tuple[Chart, ...]


def axis(title: str, high: float, unit: str = "") -> Axis:
    """An axis from 0 to a round value that is at least ``high``, with at most six ticks.

    The step is 1, 2 or 5 times a power of ten.

    >>> axis("tokens", 1234).ticks
    ((0.0, '0'), (500.0, '500'), (1000.0, '1,000'), (1500.0, '1,500'))
    >>> axis("recall", 0.9).high, axis("nothing", 0).high
    (1.0, 1.0)
    """
    high = high if high > 0 else 1.0
    power = 10.0 ** floor(log10(high / 5))
    step = next(power * by for by in (1, 2, 5, 10) if power * by * 5 >= high * (1 - 1e-9))
    count = next(n for n in range(1, 7) if n * step >= high * (1 - 1e-9))
    marks = [round(n * step, 12) for n in range(count + 1)]
    return Axis(title, 0.0, marks[-1], tuple((mark, f"{mark:,.12g}{unit}") for mark in marks))


def svg(picture: Picture) -> str:
    """A picture as one SVG file."""
    body = [_text(18, 32, picture.title, "head"), _text(18, 52, picture.note, "faint")]
    top = 72.0
    for chart in picture.charts:
        drawn, top = _chart(chart, top)
        body += drawn
    size = f'width="{_n(WIDTH)}" height="{_n(top)}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(WIDTH)} {_n(top)}" {size}'
        f' role="img" aria-label="{_safe(picture.title)}">\n<style>\n{_css()}</style>'
    )
    return "\n".join((head, f'<rect class="paper" {size}/>', *body, "</svg>\n"))


def page(picture: Picture) -> str:
    """The same as one HTML page; a content security policy forbids all but its style."""
    digest = b64encode(sha256(f"\n{_css()}".encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="clsm {__version__}">\n'
        f"<title>{_safe(picture.title)}</title>\n</head>\n<body>\n{svg(picture)}</body>\n</html>\n"
    )


FORMS = {".svg": svg, ".html": page}
"""How a picture is written, by the ending of its file's name."""


def _chart(chart: Chart, top: float) -> tuple[list[str], float]:
    """The elements of a chart whose first line is at ``top``, and where it ends."""
    parts = [_text(18, top + 14, chart.title, "name")]
    legend, down = _legend(chart, top + 26)
    frame = _Frame(chart, down + 12)
    parts += [*legend, *frame.axes(), *frame.bars(), *frame.levels(), *frame.lines()]
    return parts, down + PLOT + 74


def _legend(chart: Chart, top: float) -> tuple[list[str], float]:
    """A swatch and a name for each series, in as many rows as it takes; where it ends."""
    parts: list[str] = []
    x = 18.0
    swatches = [
        *((each.name, f"line thick {each.colour}") for each in chart.bars),
        *((each.name, each.looks) for each in chart.lines),
    ]
    for name, looks in swatches:
        width = 42 + LETTER * len(name)
        if x > 18 and x + width > WIDTH - RIGHT:
            x, top = 18.0, top + ROW
        parts.append(f'<path class="{looks}" d="M{_n(x)} {_n(top + 8)}h20"/>')
        parts.append(_text(x + 26, top + 12, name, "small"))
        x += width
    return parts, top + (ROW if parts else 0.0)


class _Frame:
    """A plot: where values lie in the picture, and what stands there."""

    def __init__(self, chart: Chart, top: float) -> None:
        self._chart = chart
        self._top = top
        self._bottom = top + PLOT

    def _x(self, value: float) -> float:
        return LEFT + self._chart.x.share(value) * (WIDTH - LEFT - RIGHT)

    def _y(self, value: float) -> float:
        return self._bottom - self._chart.y.share(value) * PLOT

    def axes(self) -> Iterator[str]:
        """Grid, ticks, and the titles of both axes."""
        end = _n(WIDTH - RIGHT)
        for value, label in self._chart.y.ticks:
            y = self._y(value)
            yield f'<path class="rule" d="M{_n(LEFT)} {_n(y)}H{end}"/>'
            yield _text(LEFT - 8, y + 4, label, "small end")
        for value, label in self._chart.x.ticks:
            x = self._x(value)
            yield f'<path class="axis" d="M{_n(x)} {_n(self._bottom)}v5"/>'
            yield _text(x, self._bottom + 20, label, "small middle")
        yield f'<path class="axis" d="M{_n(LEFT)} {_n(self._bottom)}H{end}"/>'
        across, middle = (LEFT + WIDTH - RIGHT) / 2, (self._top + self._bottom) / 2
        yield _text(across, self._bottom + 40, self._chart.x.title, "faint middle")
        turn = f"translate(14 {_n(middle)}) rotate(-90)"
        title = _safe(self._chart.y.title)
        yield f'<text class="faint middle" transform="{turn}">{title}</text>'

    def bars(self) -> Iterator[str]:
        """The bars, each with its bin, name and value for who points at it."""
        for place, (low, high) in enumerate(pairwise(self._chart.edges)):
            below = 0.0
            for series in self._chart.bars:
                value = series.values[place]
                if value <= 0:
                    continue
                left, top = self._x(low) + 1, self._y(below + value)
                size = f'width="{_n(self._x(high) - 1 - left)}" height="{_n(self._y(below) - top)}"'
                said = _safe(f"{series.name}: {value:,.6g} ({low:g} to {high:g})")
                corner = f'x="{_n(left)}" y="{_n(top)}"'
                yield f'<rect class="bar {series.colour}" {corner} {size}><title>{said}</title></rect>'
                below += value

    def levels(self) -> Iterator[str]:
        """The named values, each a dashed line with its name at the left, where curves are high."""
        for level in self._chart.levels:
            y = self._y(level.value)
            yield f'<path class="axis dash" d="M{_n(LEFT)} {_n(y)}H{_n(WIDTH - RIGHT)}"/>'
            yield _text(LEFT + 6, y - 3, level.name, "small")

    def lines(self) -> Iterator[str]:
        """The lines; a marked one shows its points, each with name and values."""
        for line in self._chart.lines:
            places = [(_n(self._x(x)), _n(self._y(y))) for x, y in line.points]
            if places:
                yield f'<path class="{line.looks}" d="M{"L".join(map(" ".join, places))}"/>'
            for (x, y), (left, up) in zip(line.points, places, strict=True):
                if line.is_marked:
                    yield (
                        f'<circle class="bar {line.colour}" cx="{left}" cy="{up}" r="3">'
                        f"<title>{_safe(f'{line.name}: {y:,.6g} at {x:g}')}</title></circle>"
                    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}">{_safe(text)}</text>' if text else ""


def _safe(text: str) -> str:
    """Text that no element or attribute ends in, and that shows whatever is hidden in it."""
    shown = safe(" ".join(text.split()))
    return escape(shown.replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}"))


def _n(value: float) -> str:  # a coordinate, to a tenth of a pixel
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _css() -> str:
    return (files("clsm_cli.inspection") / "assets" / "chart.css").read_text(encoding="utf-8")
