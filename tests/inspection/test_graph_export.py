"""What other programs read: GraphML holds the whole graph, whatever stands in a label."""

from dataclasses import replace
from xml.etree import ElementTree as ET

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
    one = replace(node("a", kind), label=label, summary=label, aliases=(label,))
    edges = [edge("a", "b", edge_type), edge("b", "a", "next", directed=True)]
    return of([one, node("b", n=7), *edges])


def clean(text: str) -> str:
    """As XML 1.0 may hold it, and so as it is shown."""
    return safe(text).replace("\ufffe", "\\u{fffe}").replace("\uffff", "\\u{ffff}")


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
    assert nodes["a"]["label"] == (clean(" ".join(label.split())) or "a")
    assert nodes["a"].get("kind", "") == clean(kind)
    assert nodes["a"].get("summary", "") == clean(label)
    assert clean(edge_type) in [each.get("type", "") for each in edges]
    assert [each.get("directed") for each in edges if each["source"] == "b"] == ["true"]
