"""Bars beside names: they begin at zero, end at their values, and keep inside the picture."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspection.test_graph_export import HOSTILE
from strategies import examples

from clsm_cli.inspection import bar_chart, chart, drawing
from clsm_cli.inspection.bar_chart import Bar, BarChart, Group

WIDTH = 400.0


def parsed(*groups: Group, low: float = 0.0, title: str = "Worth") -> ET.Element:
    axis = chart.axis("points", 10, low=low)
    return ET.fromstring(bar_chart.figure(BarChart(title, axis, groups), WIDTH))


def bars(root: ET.Element) -> list[tuple[float, float]]:
    """Left and right end of each bar."""
    places = [(float(e.get("x", "")), float(e.get("width", ""))) for e in root.iter("rect")]
    return [(x, x + width) for x, width in places]


def test_bars_begin_at_zero_and_end_at_their_values() -> None:
    root = parsed(
        Group("one", (Bar("", "blue", 10.0),)), Group("two", (Bar("", "grey", -5.0),)), low=-5
    )
    (zero, high), (low, end) = bars(root)
    assert end == pytest.approx(zero, abs=0.2)
    assert high - zero == pytest.approx(2 * (zero - low), abs=0.3)
    (axis,) = [e for e in root.iter("path") if e.get("class") == "axis"]
    assert axis.get("d", "").startswith(f"M{drawing.pixels(zero)} ")


def test_a_whisker_goes_from_end_to_end() -> None:
    root = parsed(Group("one", (Bar("", "blue", 5.0, (0.0, 10.0)),)))
    (whisker,) = [e.get("d", "") for e in root.iter("path") if e.get("class") == "whisker"]
    ((zero, middle),) = bars(root)
    low, rest = whisker.removeprefix("M").split(" ", 1)
    high = rest.partition("H")[2].partition("M")[0]
    assert float(low) == zero
    assert float(high) - zero == pytest.approx(2 * (middle - zero), abs=0.3)


def test_groups_do_not_overlap_and_have_one_legend() -> None:
    pair = (Bar("a", "blue", 1.0), Bar("b", "orange", 2.0))
    root = parsed(Group("one", pair), Group("two", pair))
    spans = [(float(e.get("y", "")), float(e.get("height", ""))) for e in root.iter("rect")]
    assert all(y + height <= next_y for (y, height), (next_y, _) in pairwise(spans))
    said = [e.text for e in root.iter("text")]
    assert (said.count("a"), said.count("b"), said.count("one")) == (1, 1, 1)
    assert [e.findtext("title") for e in root.iter("rect")][:2] == ["one · a · 1", "one · b · 2"]
    bottom = float(root.get("viewBox", "").split()[3])
    assert max(float(e.get("y", "0")) for e in root.iter("text")) < bottom


def test_long_names_are_cut_in_the_middle_and_whole_for_who_points() -> None:
    name = "a rather long name of something, number 17"
    root = parsed(Group(name, (Bar(name * 3, "blue", 1.0),)))
    shown = [e.text or "" for e in root.iter("text")]
    assert any(each.endswith("17") and "…" in each for each in shown)
    assert name in (next(root.iter("rect")).findtext("title") or "")
    assert all(len(each) * drawing.LETTER < WIDTH for each in shown)


@given(text=st.sampled_from(HOSTILE) | st.text(max_size=30))
@examples(40)
def test_no_text_breaks_out(text: str) -> None:
    root = parsed(Group(text, (Bar(text, "blue", 1.0, label=text),)), title=text)
    assert {e.tag for e in root.iter()} <= {"svg", "path", "text", "rect", "title"}
    assert not [n for e in root.iter() for n in e.attrib if n.startswith("on") or n == "style"]
