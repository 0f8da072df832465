"""Charts as one SVG file, without any library: lines and stacked bars on two axes.

Everything is placed by shares of a plot, 0 to 1 from its lower left corner; the caller knows the
units. The file loads nothing and runs nothing, and the same numbers give the same bytes.
"""

from __future__ import annotations

from html import escape
from math import floor, log10
from typing import TYPE_CHECKING

from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WIDTH, PLOT, LEFT, RIGHT, ROW = 760, 260, 62, 18, 18
"""Width of a picture, height of a plot, its margins, and a line of text, in pixels."""
COLOURS = ("#a86a00", "#00785a", "#a8497c", "#0072b2")
"""Hues of Okabe and Ito, which people with any colour vision tell apart, dark enough for paper."""


class Axis(NamedTuple):
    """The title of an axis, and where it is marked: shares with their labels."""

    title: str
    ticks: tuple[tuple[float, str], ...]


class Series(NamedTuple):
    """A named line, or the bars of one colour: each its left, right, lower and upper edge."""

    name: str
    colour: str
    points: tuple[tuple[float, float], ...] = ()
    bars: tuple[tuple[float, float, float, float], ...] = ()
    is_dashed: bool = False


class Chart(NamedTuple):
    """One plot with its legend; ``levels`` are shares of the upright axis that have a name."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    levels: tuple[tuple[float, str], ...] = ()


def round_ticks(high: float) -> tuple[tuple[float, str], ...]:
    """Marks of an axis from 0 to ``high``: every 1, 2 or 5 times a power of ten, at most six.

    >>> round_ticks(1.0)[1:3], round_ticks(12.5)[-1]
    (((0.2, '0.2'), (0.4, '0.4')), (0.8, '10'))
    """
    power = 10.0 ** floor(log10(high / 5))
    step = next(power * by for by in (1, 2, 5, 10) if power * by * 5 >= high * (1 - 1e-9))
    return tuple((n * step / high, f"{n * step:,.6g}") for n in range(int(high / step + 1e-9) + 1))


def svg(title: str, note: str, charts: Sequence[Chart]) -> str:
    """Charts from top to bottom, under a title and a note in small letters."""
    body = [_text(LEFT, 32, title, "font-size='19'"), _text(LEFT, 52, note)]
    top = 72.0
    for chart in charts:
        body.append(_text(LEFT, top + 14, chart.title, "font-size='14'"))
        top += 26
        for series in chart.series:
            dash = " stroke-dasharray='6 4'" if series.is_dashed else ""
            body.append(f"<path d='M{LEFT} {top + 8}h20' stroke='{series.colour}'{dash}/>")
            body.append(_text(LEFT + 26, top + 12, series.name))
            top += ROW
        body += _plot(chart, top + 12)
        top += PLOT + 74
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {top:g}' width='{WIDTH}'"
        f" height='{top:g}' font-family='sans-serif' font-size='12' fill='none' stroke-width='2'>"
    )
    paper = f"<rect width='{WIDTH}' height='{top:g}' fill='white'/>"
    return "\n".join((head, paper, *body, "</svg>\n"))


def _plot(chart: Chart, top: float) -> Iterator[str]:
    wide, bottom = WIDTH - LEFT - RIGHT, top + PLOT
    grey = "stroke='#c8c8c8' stroke-width='1'"
    for share, label in chart.y.ticks:
        y = bottom - share * PLOT
        yield f"<path d='M{LEFT} {y:.1f}h{wide}' {grey}/>"
        yield _text(LEFT - 8, y + 4, label, "text-anchor='end'")
    for share, label in chart.x.ticks:
        x = LEFT + share * wide
        yield f"<path d='M{x:.1f} {bottom:.1f}v5' {grey}/>"
        yield _text(x, bottom + 20, label, "text-anchor='middle'")
    yield _text(LEFT + wide / 2, bottom + 40, chart.x.title, "text-anchor='middle'")
    turn = f"text-anchor='middle' transform='rotate(-90 14 {top + PLOT / 2:.1f})'"
    yield _text(14, top + PLOT / 2, chart.y.title, turn)
    for share, name in chart.levels:
        y = bottom - share * PLOT
        yield f"<path d='M{LEFT} {y:.1f}h{wide}' stroke='#555' stroke-dasharray='2 3'/>"
        yield _text(LEFT + 6, y - 3, name)
    for series in chart.series:
        for left, right, low, high in series.bars:
            x, y = LEFT + left * wide, bottom - high * PLOT
            size = f"width='{(right - left) * wide - 1:.1f}' height='{(high - low) * PLOT:.1f}'"
            yield f"<rect x='{x:.1f}' y='{y:.1f}' {size} fill='{series.colour}'/>"
        places = [f"{LEFT + x * wide:.1f} {bottom - y * PLOT:.1f}" for x, y in series.points]
        if places:
            dash = " stroke-dasharray='6 4'" if series.is_dashed else ""
            yield f"<path d='M{'L'.join(places)}' stroke='{series.colour}'{dash}/>"


def _text(x: float, y: float, words: str, looks: str = "") -> str:
    shown = escape(safe(" ".join(words.split())))
    return f"<text x='{x:.1f}' y='{y:.1f}' fill='#222' {looks}>{shown}</text>"
