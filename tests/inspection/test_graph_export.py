"""What other programs read: DOT and GraphML hold the whole graph, whatever stands in a label."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspection.test_graph_view import edge, node, of
from strategies import NASTY, examples

from clsm_cli.inspection import graph_export
from clsm_cli.inspection.graph_view import Graph
from clsm_cli.text.terminal import safe

ML = "{http://graphml.graphdrawing.org/xmlns}"
HOSTILE = [
    *NASTY,
    'a"b', "a\\", '\\"', "\\N\\G\\n", "a]; b [x=1", "<b>bold</b>", "]]>", "&amp; &#60; &x", "-- //",
    "/* x", "# line", "\u202eevil", "\ud800", "\ufffe", "{{data}}", "</script><script>x()</script>",
    "<!--", "__proto__", "constructor", "é 漢字 🙂", "x" * 20_000,
]  # fmt: skip
TEXTS = st.sampled_from(HOSTILE) | st.text(max_size=40)


def named(label: str, kind: str, edge_type: str) -> Graph:
    """Two nodes and two edges with any text in every place that takes text."""
    one = replace(node("a", kind), label=label, summary=label, aliases=(label,), tags=(kind,))
    edges = [edge("a", "b", edge_type), edge("b", "a", "next", directed=True)]
    return of([one, node("b", n=7), *edges])


def parse_dot(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    """A strict reader of the DOT that clsm writes: every character belongs to a token."""
    quoted = r'"((?:[^"\\]|\\.)*)"'
    pair = re.compile(rf"([a-z]+)={quoted}(?:, |$)")
    nodes: dict[str, dict[str, str]] = {}
    edges = []
    first, *lines, last, empty = text.split("\n")
    assert (first, last, empty) == ("digraph clsm {", "}", "")
    for line in lines[3:]:
        found = re.fullmatch(rf"  {quoted}(?: -> {quoted})? \[(.*)\];", line)
        assert found, line
        values, place = {}, 0
        while place < len(found[3]):
            match = pair.match(found[3], place)
            assert match, found[3][place:]
            values[match[1]] = re.sub(r"\\(.)", r"\1", match[2]).replace("&amp;", "&")
            place = match.end()
        if found[2] is None:
            nodes[found[1]] = values
        else:
            edges.append((found[1], found[2], values))
    return nodes, edges


def clean(text: str) -> str:
    """As XML 1.0 may hold it, and so as both formats show it."""
    return safe(text).replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}")


def flat(text: str) -> str:
    return clean(" ".join(text.split()))


@given(label=TEXTS, kind=TEXTS, edge_type=TEXTS)
@examples(200)
def test_dot_holds_any_text(label: str, kind: str, edge_type: str) -> None:
    graph = named(label, kind, edge_type)
    nodes, edges = parse_dot(graph_export.dot(graph))
    assert nodes["a"]["label"] == (flat(label) or "a")
    assert nodes["a"]["kind"] == flat(kind)
    assert nodes["b"]["n"] == "7"
    (plain,) = [values for source, _, values in edges if source == "a"]
    assert plain["type"] == flat(edge_type)
    assert plain["dir"] == "none"
    (arrow,) = [values for source, _, values in edges if source == "b"]
    assert "dir" not in arrow


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it() -> None:
    labels = [text for text in HOSTILE if len(text) < 1000]
    records: list[Any] = [
        replace(node(f"n{place}", text), label=text) for place, text in enumerate(labels)
    ]
    records += [edge(f"n{place}", "n0", text) for place, text in enumerate(labels[1:], 1)]
    text = graph_export.dot(of(records))
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True)
    assert done.stderr == b""
    svg = ET.fromstring(done.stdout)
    shown = ["".join(each.itertext()) for each in svg.iter("{http://www.w3.org/2000/svg}text")]
    for label in ('a"b', "a\\", "\\N\\G\\n", "a]; b [x=1", "&amp; &#60; &x", "<b>bold</b>"):
        assert any(label == each.replace("\xa0", " ") for each in shown), label


def read_graphml(text: str) -> tuple[dict[str, dict[str, str]], list[dict[str, str]]]:
    root = ET.fromstring(text.encode())
    keys = {key.get("id"): key.get("attr.name") for key in root.iter(f"{ML}key")}

    def values(element: ET.Element) -> dict[str, str]:
        found = {str(keys[data.get("key")]): data.text or "" for data in element}
        return {**found, **element.attrib}

    nodes = {str(each.get("id")): values(each) for each in root.iter(f"{ML}node")}
    return nodes, [values(each) for each in root.iter(f"{ML}edge")]


@given(label=TEXTS, kind=TEXTS, edge_type=TEXTS)
@examples(200)
def test_graphml_holds_any_text(label: str, kind: str, edge_type: str) -> None:
    nodes, edges = read_graphml(graph_export.graphml(named(label, kind, edge_type)))
    assert nodes["a"]["label"] == (flat(label) or "a")
    assert nodes["a"].get("kind", "") == clean(kind)
    assert nodes["a"].get("summary", "") == clean(label)
    assert clean(edge_type) in [each.get("type", "") for each in edges]
    assert [each.get("directed") for each in edges if each["source"] == "b"] == ["true"]
