"""Export a graph: as JSON, GraphML (Gephi, yEd, NetworkX), or one offline HTML page.

Style, scripts and data are inline; a content security policy allows only their digests, and no
requests. Cytoscape lays it out (``assets/graph.js``), deterministically.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from typing import Any

from clsm_cli import __version__
from clsm_cli.inspection.fact_history import name_of
from clsm_cli.inspection.graph_view import Graph, communities, count_names
from clsm_cli.model.graph import Edge, Node, Statement
from clsm_cli.store.jsonlines import change_strings
from clsm_cli.text.terminal import safe

_NOT_IN_XML = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}
"""Code points that XML 1.0 forbids but ``safe`` allows."""

_KEYS = {
    "node": {
        **dict.fromkeys(("label", "kind", "stream", "aliases", "summary"), "string"),
        "confidence": "double",
        "n": "long",
        "first": "string",
        "last": "string",
    },
    "edge": {
        "type": "string",
        "weight": "double",
        "n": "long",
        **dict.fromkeys(("valid_from", "valid_until", "sentence"), "string"),
    },
}
"""GraphML attributes and their types; missing or empty values are left out."""


def _node_mapping(node: Node, about: tuple[Statement, ...] = ()) -> dict[str, Any]:
    names = ("kind", "stream", "aliases", "summary", "confidence", "n", "first", "last")
    return {
        "id": node.id,
        "label": name_of(node),
        **{name: getattr(node, name) for name in names},
        "statements": [
            {"id": s.id, "kind": s.kind, "text": s.text, "state": s.state, "since": s.valid_from}
            for s in about
        ],
    }


def _edge_mapping(edge: Edge, sentence: str = "") -> dict[str, Any]:
    names = [
        "id",
        "source",
        "target",
        "type",
        "directed",
        "weight",
        "n",
        "valid_from",
        "valid_until",
    ]
    return {name: getattr(edge, name) for name in names} | {"sentence": sentence}


def mapping(graph: Graph) -> dict[str, Any]:
    """Nodes and edges as JSON values."""
    return {
        "nodes": [_node_mapping(node, graph.statements.get(node.id, ())) for node in graph.nodes],
        "edges": [_edge_mapping(edge, graph.sentences.get(edge.id, "")) for edge in graph.edges],
    }


def graphml(graph: Graph) -> str:
    """The graph as GraphML 1.0; edges are undirected unless marked."""
    from xml.etree import ElementTree as ET  # only written here, never parsed

    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for kind, keys in _KEYS.items():
        for name, type_name in keys.items():
            known = {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": type_name}
            ET.SubElement(root, "key", known)
    body = ET.SubElement(root, "graph", id="clsm", edgedefault="undirected")
    for node in graph.nodes:
        element = ET.SubElement(body, "node", id=node.id)
        _fill(element, "node", _node_mapping(node))
    for edge in graph.edges:
        ends = {"id": edge.id, "source": edge.source, "target": edge.target}
        element = ET.SubElement(body, "edge", ends)
        if edge.directed:
            element.set("directed", "true")
        _fill(element, "edge", _edge_mapping(edge, graph.sentences.get(edge.id, "")))
    ET.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{head}{ET.tostring(root, encoding='unicode')}\n"


def _fill(element: Any, kind: str, values: Mapping[str, Any]) -> None:
    from xml.etree import ElementTree as ET

    for name in _KEYS[kind]:
        value = values[name]
        if value in (None, "", ()):
            continue
        text = "; ".join(value) if isinstance(value, tuple) else str(value)
        ET.SubElement(element, "data", key=f"{kind}_{name}").text = _clean(text)


def _clean(text: str) -> str:
    return safe(text).translate(_NOT_IN_XML)


PALETTE = {
    "sky": "#56b4e9", "orange": "#e69f00", "green": "#009e73", "vermilion": "#d55e00",
    "pink": "#cc79a7", "blue": "#0072b2", "yellow": "#f0e442", "grey": "#8c8c8c",
}  # fmt: skip
"""The Okabe-Ito palette, distinct for any colour vision, and a grey."""
KIND_STYLES = {
    "concept": ("sky", "ellipse"),
    "person": ("orange", "ellipse"),
    "agent": ("orange", "diamond"),
    "project": ("green", "ellipse"),
    "file": ("green", "diamond"),
    "place": ("vermilion", "ellipse"),
    "tool": ("blue", "ellipse"),
    "other": ("yellow", "ellipse"),
    "organisation": ("grey", "ellipse"),
    "episode": ("grey", "diamond"),
    "gist": ("grey", "hexagon"),
}
"""Colour and shape of the usual kinds; related kinds share a colour. Other kinds take the colours in
turn, with the shapes below."""
OTHER_SHAPES = ("hexagon", "triangle")
MIN_DIAMETER, MAX_DIAMETER = 12.0, 40.0
"""Diameter of a node without mentions, and of the most mentioned, in pixels at zoom 1."""
MAX_LABEL = 32  # characters of a node's label; the panel shows the full name
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_SCRIPT_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""JSON escapes for characters that could end a ``script`` element."""


def page(graph: Graph, chosen: str | None = None) -> str:
    """The graph as one self-contained HTML file."""
    css = _asset("graph.css")
    scripts = {
        "library": _asset("cytoscape.min.js"),
        "picture": _asset("graph.js"),
        "panel": _asset("panel.js"),
    }
    allowed = " ".join(map(_source, scripts.values()))
    policy = f"default-src 'none'; script-src {allowed}; style-src {_source(css)};"
    data = json.dumps(picture(graph, chosen), ensure_ascii=False, separators=(",", ":"))
    values = {
        "policy": f"{policy} base-uri 'none'; form-action 'none'",
        "version": __version__,
        "css": css,
        "data": data.translate(_SCRIPT_ESCAPES),
        **scripts,
    }
    # In one pass, so placeholders inside a value are not replaced.
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], _asset("graph.html"))


def _asset(name: str) -> str:
    return (files("clsm_cli.inspection") / "assets" / name).read_text(encoding="utf-8")


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def picture(graph: Graph, chosen: str | None = None) -> dict[str, Any]:
    """The page's data as JSON values, without invisible or bidirectional control characters.

    Kinds have colour, shape and count; types a count; nodes a community, a size (diameter in pixels,
    logarithmic in the mentions) and the statements about them.
    """
    sizes = _sizes(graph)
    groups = communities(graph)
    data = change_strings(mapping(graph), safe)
    for node in data["nodes"]:
        name = node["label"]
        node["short"] = name if len(name) <= MAX_LABEL else f"{name[: MAX_LABEL - 1].rstrip()}…"
        node |= {"size": sizes[node["id"]], "group": groups[node["id"]]}
    for edge in data["edges"]:
        edge["weight"] = min(1.0, max(0.0, edge["weight"]))
    return {
        "total": graph.total,
        "chosen": chosen,
        "kinds": _kinds([node["kind"] for node in data["nodes"]]),
        "types": count_names([edge["type"] for edge in data["edges"]]),
        **data,
    }


def _sizes(graph: Graph) -> dict[str, float]:
    worth = {node.id: node.prominence for node in graph.nodes}
    most = max(worth.values(), default=0.0) or 1.0
    spread = MAX_DIAMETER - MIN_DIAMETER
    return {node: round(MIN_DIAMETER + spread * value / most, 1) for node, value in worth.items()}


def _kinds(kinds: list[str]) -> dict[str, dict[str, Any]]:
    counts = count_names(kinds)
    colours = tuple(PALETTE)
    others = {
        kind: (colours[n % len(colours)], OTHER_SHAPES[n // len(colours) % len(OTHER_SHAPES)])
        for n, kind in enumerate(sorted(set(counts) - set(KIND_STYLES)))
    }
    looks = {kind: (KIND_STYLES.get(kind) or others[kind]) for kind in counts}
    return {
        kind: {"colour": PALETTE[looks[kind][0]], "shape": looks[kind][1], "count": count}
        for kind, count in counts.items()
    }
