"""Charts: the numbers are where they belong, the file is well-formed and asks for nothing."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import get_args
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspection.test_graph_export import HOSTILE
from strategies import examples

from clsm_cli.inspection import svg_charts
from clsm_cli.inspection.svg_charts import Axis, Bars, Chart, Level, Line, Picture

SVG = "{http://www.w3.org/2000/svg}"
MONTHS = Axis("months", 0, 12, tuple((float(n), str(n)) for n in (0, 6, 12)))


def lines(name: str = "kept") -> Chart:
    return Chart(
        title="What is left",
        x=MONTHS,
        y=svg_charts.axis("retention", 1),
        lines=(
            Line(name, "blue", ((0, 1.0), (6, 0.5), (12, 0.0)), is_marked=True),
            Line("other", "orange", ((0, 0.0), (12, 1.0)), is_dashed=True),
        ),
        levels=(Level("half", 0.5),),
    )


def bars() -> Chart:
    return Chart(
        title="How many",
        x=svg_charts.axis("retention", 1),
        y=svg_charts.axis("memories", 10),
        bars=(Bars("flow", "blue", (4.0, 0.0)), Bars("tasks", "pink", (6.0, 10.0))),
        edges=(0.0, 0.5, 1.0),
    )


def parsed(*charts: Chart, title: str = "A title", note: str = "") -> ET.Element:
    return ET.fromstring(svg_charts.svg(Picture(title, note, charts)))


def of(root: ET.Element, tag: str, kind: str) -> list[ET.Element]:
    """Elements of a tag that have a class."""
    return [each for each in root.iter(SVG + tag) if kind in each.get("class", "").split()]


def test_points_lie_at_their_values() -> None:
    root = parsed(lines())
    points = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in of(root, "circle", "blue")]
    (left, top), (middle, half), (right, bottom) = points
    assert (left, right) == (svg_charts.LEFT, svg_charts.WIDTH - svg_charts.RIGHT)
    assert middle == pytest.approx((left + right) / 2, abs=0.1)
    assert bottom - top == pytest.approx(svg_charts.PLOT, abs=0.1)
    assert half == pytest.approx((top + bottom) / 2, abs=0.1)
    (level,) = [each for each in of(root, "path", "dash") if "axis" in each.get("class", "")]
    assert level.get("d", "").startswith(f"M{svg_charts.LEFT:g} {half:g}H")
    assert [c.findtext(SVG + "title") for c in of(root, "circle", "bar")] == [
        "kept: 1 at 0",
        "kept: 0.5 at 6",
        "kept: 0 at 12",
    ]
    dashed = [each for each in of(root, "path", "line") if "dash" in each.get("class", "")]
    assert {each.get("class") for each in dashed} == {"line dash orange"}


def test_bars_stand_on_one_another() -> None:
    root = parsed(bars())
    flow, first, second = of(root, "rect", "bar")
    assert [flow.get("class"), first.get("class")] == ["bar blue", "bar pink"]
    heights = [float(each.get("height", "")) for each in (flow, first, second)]
    assert heights == pytest.approx([svg_charts.PLOT * n / 10 for n in (4, 6, 10)], abs=0.1)
    assert float(first.get("y", "")) + heights[1] == pytest.approx(
        float(flow.get("y", "")), abs=0.2
    )
    assert first.get("x") == flow.get("x") != second.get("x")
    assert flow.findtext(SVG + "title") == "flow: 4 (0 to 0.5)"


@pytest.mark.parametrize("low", [0.0, 2.0])
def test_a_logarithmic_axis_begins_at_its_start(low: float) -> None:
    axis = Axis("days", low, low + 999, (), is_log=True)
    assert [round(axis.share(low + n), 3) for n in (0, 9, 99, 999)] == [0.0, 0.333, 0.667, 1.0]


@given(high=st.floats(min_value=1e-6, max_value=1e12))
@examples(200)
def test_an_axis_is_round_and_holds_its_values(high: float) -> None:
    axis = svg_charts.axis("any", high)
    marks = [value for value, _ in axis.ticks]
    assert axis.low == marks[0] == 0
    assert high <= axis.high * (1 + 1e-9)
    assert axis.high == marks[-1] < 2.6 * high
    assert 2 <= len(marks) <= 6
    assert len({label for _, label in axis.ticks}) == len(marks)


@given(text=st.sampled_from(HOSTILE) | st.text(max_size=30))
@examples(60)
def test_no_text_breaks_out(text: str) -> None:
    root = parsed(lines(text), title=text, note=text)
    assert {each.tag.removeprefix(SVG) for each in root.iter()} <= {
        *("svg", "style", "rect", "text", "path", "circle", "title")
    }
    for each in root.iter():
        assert not [name for name in each.attrib if name.startswith("on") or name == "style"]
    assert parsed(lines("x")).findtext(f"{SVG}style") == root.findtext(f"{SVG}style")


def test_the_page_allows_its_style_and_nothing_else() -> None:
    page = svg_charts.page(Picture("A title", "", (lines(),)))
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in page
    assert not re.search(r"<script|url\(|@import|href=|src=", page)
    assert svg_charts.svg(Picture("A title", "", (lines(),))) in page


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_everything_stands_out_from_its_paper(is_dark: bool) -> None:
    """WCAG 2.1: 3 : 1 for graphics, 4.5 : 1 for words."""
    css = (files("clsm_cli.inspection") / "assets" / "chart.css").read_text(encoding="utf-8")
    _, light, dark = re.split(r"(?=\nbody { background)|@media", css)
    looks = dict(re.findall(r"(\S+) {[^#{}]*(#[0-9a-f]{6}); }", dark if is_dark else light))
    paper = looks[".paper"]
    assert looks["body"] == paper
    for colour in get_args(svg_charts.Colour):
        assert contrast(looks[f".{colour}"], paper) >= 3, colour
    for words in ("text", "text.faint"):
        assert contrast(looks[words], paper) >= 4.5


def contrast(one: str, other: str) -> float:
    """(L1 + .05) / (L2 + .05) of relative luminances, the lighter first."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
