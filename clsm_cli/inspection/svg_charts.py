"""Charts as inline SVG: lines, level lines and stacked bars on two axes, without any library.

A picture is one SVG file or one HTML page with the same SVG inside; it loads nothing, runs nothing,
and the same numbers give the same bytes. It follows the reader's light or dark scheme; a renderer
that knows no schemes shows the light one. ``figure`` gives one chart to a page of others, which has
the style (``css``) once.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from itertools import pairwise
from math import ceil, floor, log1p, log10
from typing import TYPE_CHECKING, Literal

from clsm_cli import __version__
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Colour = Literal["blue", "orange", "green", "pink", "vermilion", "grey"]
"""The hues of Okabe and Ito, which people with any colour vision tell apart. ``css`` has each
for light paper and for dark; all stand out from it by 3 : 1 at least, as graphics must (WCAG 2.1)."""
LETTER, ROW, MARGIN = 6.6, 18.0, 18.0
"""Width of a letter as it is estimated, height of a row of text, and free space at the sides, in
pixels."""


def legend(
    swatches: Iterable[tuple[str, str]], top: float, width: float
) -> tuple[list[str], float]:
    """A swatch for each name and its looks, each once, in as many rows as it takes; its end."""
    parts: list[str] = []
    x = MARGIN
    most = int((width - 2 * MARGIN - 42) / LETTER)
    for name, looks in dict.fromkeys((shorten(name, most), looks) for name, looks in swatches):
        wide = 42 + LETTER * len(name)
        if x > MARGIN and x + wide > width - MARGIN:
            x, top = MARGIN, top + ROW
        parts.append(f'<path class="{looks}" d="M{pixels(x)} {pixels(top + 8)}h20"/>')
        parts.append(text(x + 26, top + 12, name, "small"))
        x += wide
    return parts, top + (ROW if parts else 0.0)


def text(x: float, y: float, words: str, kind: str) -> str:
    """Words at a place in one of the styles; nothing for no words."""
    if not words:
        return ""
    return f'<text class="{kind}" x="{pixels(x)}" y="{pixels(y)}">{escaped(words)}</text>'


def shorten(words: str, most: int) -> str:
    """Words on one line in at most so many letters; what is left out stood in the middle.

    >>> shorten("conversation number 41", 12), shorten("short", 12)
    ('conversa… 41', 'short')
    """
    flat = " ".join(words.split())
    if len(flat) <= most:
        return flat
    last = (most - 1) // 3
    return f"{flat[: most - 1 - last].rstrip()}…{flat[len(flat) - last :]}"


def escaped(words: str) -> str:
    """Words that no element or attribute ends in, and that show whatever is hidden in them."""
    shown = safe(" ".join(words.split()))
    return escape(shown.replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}"))


def pixels(value: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> pixels(12.04), pixels(-0.01), pixels(3.55)
    ('12', '0', '3.5')
    """
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def css() -> str:
    """The style of all charts, light and dark."""
    return (files("clsm_cli.inspection") / "assets" / "chart.css").read_text(encoding="utf-8")


WIDTH, PLOT = 760.0, 260.0
"""Width of a picture and height of a plot, in pixels; a viewer scales them."""
LEFT, RIGHT = 62.0, 18.0
"""Margins of a plot."""


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


def axis(title: str, high: float, unit: str = "", low: float = 0.0) -> Axis:
    """An axis from 0 to a round value that is at least ``high``, with at most six ticks.

    The step is 1, 2 or 5 times a power of ten. Where ``low`` is below 0 it begins at a round value
    that is at most that, and may have seven ticks.

    >>> axis("tokens", 1234).ticks
    ((0.0, '0'), (500.0, '500'), (1000.0, '1,000'), (1500.0, '1,500'))
    >>> axis("recall", 0.9).high, axis("nothing", 0).high
    (1.0, 1.0)
    >>> axis("points", 0.5, low=-7).ticks
    ((-8.0, '−8'), (-6.0, '−6'), (-4.0, '−4'), (-2.0, '−2'), (0.0, '0'), (2.0, '2'))
    """
    low, high = min(low, 0.0), max(high, 0.0)
    high = high if high > low else 1.0
    size = (high - low) * (1 - 1e-9)
    power = 10.0 ** floor(log10((high - low) / 5))
    step = next(power * by for by in (1, 2, 5, 10) if power * by * 5 >= size)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    marks = [round(n * step, 12) + 0.0 for n in range(first, last + 1)]
    ticks = tuple((mark, f"{mark:,.12g}{unit}".replace("-", "−")) for mark in marks)
    return Axis(title, marks[0], marks[-1], ticks)


def svg(picture: Picture) -> str:
    """A picture as one SVG file."""
    body = [text(18, 32, picture.title, "head"), text(18, 52, picture.note, "faint")]
    top = 72.0
    for chart in picture.charts:
        body.append(text(18, top + 14, chart.title, "name"))
        drawn, top = _chart(chart, top + 26, WIDTH)
        body += drawn
    size = f'width="{pixels(WIDTH)}" height="{pixels(top)}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {pixels(WIDTH)} {pixels(top)}" {size}'
        f' role="img" aria-label="{escaped(picture.title)}">\n<style>\n{css()}</style>'
    )
    return "\n".join((head, f'<rect class="paper" {size}/>', *body, "</svg>\n"))


def page(picture: Picture) -> str:
    """The same as one HTML page; a content security policy forbids all but its style."""
    digest = b64encode(sha256(f"\n{css()}".encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f'<meta name="generator" content="clsm {__version__}">\n'
        f"<title>{escaped(picture.title)}</title>\n</head>\n<body>\n{svg(picture)}</body>\n</html>\n"
    )


FORMS = {".svg": svg, ".html": page}
"""How a picture is written, by the ending of its file's name."""


def _chart(chart: Chart, top: float, width: float) -> tuple[list[str], float]:
    """The elements of a chart whose legend is at ``top``, and where it ends."""
    swatches = [
        *((each.name, f"line thick {each.colour}") for each in chart.bars),
        *((each.name, each.looks) for each in chart.lines),
    ]
    parts, down = legend(swatches, top, width)
    frame = _Frame(chart, down + 12, width)
    parts += [*frame.axes(), *frame.bars(), *frame.levels(), *frame.lines()]
    return parts, down + PLOT + 74


class _Frame:
    """A plot: where values lie in the picture, and what stands there."""

    def __init__(self, chart: Chart, top: float, width: float) -> None:
        self._chart = chart
        self._top = top
        self._right = width - RIGHT
        self._bottom = top + PLOT

    def _x(self, value: float) -> float:
        return LEFT + self._chart.x.share(value) * (self._right - LEFT)

    def _y(self, value: float) -> float:
        return self._bottom - self._chart.y.share(value) * PLOT

    def axes(self) -> Iterator[str]:
        """Grid, ticks, and the titles of both axes."""
        end = pixels(self._right)
        for value, label in self._chart.y.ticks:
            y = self._y(value)
            yield f'<path class="rule" d="M{pixels(LEFT)} {pixels(y)}H{end}"/>'
            yield text(LEFT - 8, y + 4, label, "small end")
        for value, label in self._chart.x.ticks:
            x = self._x(value)
            yield f'<path class="axis" d="M{pixels(x)} {pixels(self._bottom)}v5"/>'
            yield text(x, self._bottom + 20, label, "small middle")
        yield f'<path class="axis" d="M{pixels(LEFT)} {pixels(self._bottom)}H{end}"/>'
        across, middle = (LEFT + self._right) / 2, (self._top + self._bottom) / 2
        yield text(across, self._bottom + 40, self._chart.x.title, "faint middle")
        turn = f"translate(14 {pixels(middle)}) rotate(-90)"
        title = escaped(self._chart.y.title)
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
                size = f'width="{pixels(self._x(high) - 1 - left)}" height="{pixels(self._y(below) - top)}"'
                said = escaped(f"{series.name}: {value:,.6g} ({low:g} to {high:g})")
                corner = f'x="{pixels(left)}" y="{pixels(top)}"'
                yield f'<rect class="bar {series.colour}" {corner} {size}><title>{said}</title></rect>'
                below += value

    def levels(self) -> Iterator[str]:
        """The named values, each a dashed line with its name at the left, where curves are high."""
        for level in self._chart.levels:
            y = self._y(level.value)
            yield f'<path class="axis dash" d="M{pixels(LEFT)} {pixels(y)}H{pixels(self._right)}"/>'
            yield text(LEFT + 6, y - 3, level.name, "small")

    def lines(self) -> Iterator[str]:
        """The lines, the first on top; a marked one shows its points, with name and values."""
        for line in reversed(self._chart.lines):
            places = [(pixels(self._x(x)), pixels(self._y(y))) for x, y in line.points]
            if places:
                yield f'<path class="{line.looks}" d="M{"L".join(map(" ".join, places))}"/>'
            for (x, y), (left, up) in zip(line.points, places, strict=True):
                if line.is_marked:
                    yield (
                        f'<circle class="bar {line.colour}" cx="{left}" cy="{up}" r="3">'
                        f"<title>{escaped(f'{line.name}: {y:,.6g} at {x:g}')}</title></circle>"
                    )
