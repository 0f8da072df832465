"""A graph for other programs: a JSON mapping, DOT (Graphviz) and GraphML (Gephi, yEd, NetworkX)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from clsm_cli.inspection.graph import name_of
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.inspection.graph import Graph
    from clsm_cli.model.graph import Edge, Node, Statement

_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
"""What Graphviz would read as a character: ``&amp;`` in a label stands for ``&``."""
_NOT_IN_XML = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}
"""The code points that XML 1.0 forbids and ``safe`` lets pass; Graphviz writes SVG, so XML too."""

NODE_KEYS = {
    "label": "string",
    "kind": "string",
    "stream": "string",
    "aliases": "string",
    "tags": "string",
    "summary": "string",
    "n": "long",
    "first": "string",
    "last": "string",
    "activation": "double",
}
EDGE_KEYS = {
    "type": "string",
    "weight": "double",
    "n": "long",
    "valid_from": "string",
}
"""Attributes in GraphML and their types; a value that is missing or empty is left out."""


def node_mapping(
    node: Node, about: tuple[Statement, ...] = (), activation: float | None = None
) -> dict[str, Any]:
    """A node as JSON values, with the statements about it, and what a query gave it."""
    return {
        "id": node.id,
        "label": name_of(node),
        "kind": node.kind,
        "stream": node.stream,
        "aliases": list(node.aliases),
        "tags": list(node.tags),
        "summary": node.summary,
        "n": node.n,
        "first": node.first,
        "last": node.last,
        "activation": activation,
        "statements": [
            {"id": s.id, "kind": s.kind, "text": s.text, "state": s.state, "since": s.valid_from}
            for s in about
        ],
    }


def edge_mapping(edge: Edge) -> dict[str, Any]:
    """An edge as JSON values."""
    return {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "type": edge.type,
        "directed": edge.directed,
        "weight": edge.weight,
        "n": edge.n,
        "valid_from": edge.valid_from,
    }


def mapping(graph: Graph) -> dict[str, Any]:
    """Nodes and edges as JSON values."""
    return {
        "nodes": [
            node_mapping(node, graph.statements.get(node.id, ()), graph.activation.get(node.id))
            for node in graph.nodes
        ],
        "edges": [edge_mapping(edge) for edge in graph.edges],
    }


def dot(graph: Graph) -> str:
    """The graph in Graphviz' language; edges that have no direction are marked ``dir=none``."""
    lines = [
        "digraph clsm {",
        "  graph [layout=neato, overlap=false, outputorder=edgesfirst];",
        "  node [shape=ellipse, fontname=Helvetica];",
        "  edge [color=gray60];",
    ]
    for node in graph.nodes:
        values = {"label": name_of(node), "kind": node.kind, "stream": node.stream, "n": node.n}
        lines.append(f"  {_quoted(node.id)} [{_listed(values)}];")
    for edge in graph.edges:
        shown: dict[str, Any] = {"type": edge.type, "weight": edge.weight, "n": edge.n}
        shown |= {"penwidth": round(0.5 + 3 * min(1.0, max(0.0, edge.weight)), 2)}
        shown |= {} if edge.directed else {"dir": "none"}
        ends = f"{_quoted(edge.source)} -> {_quoted(edge.target)}"
        lines.append(f"  {ends} [{_listed(shown)}];")
    return "\n".join([*lines, "}", ""])


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_quoted(str(value))}" for name, value in values.items())


def _quoted(text: str) -> str:
    r"""A DOT string: ``\\`` and ``\"`` for backslash and quote, one line.

    >>> print(_quoted('say "C:\\new" &amp; go'))
    "say \"C:\\new\" &amp;amp; go"
    """
    text = _clean(" ".join(text.split())).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_ENTITY.sub("&amp;", text)}"'


def graphml(graph: Graph) -> str:
    """The graph as GraphML 1.0: edges undirected but for those that say otherwise."""
    from xml.etree import ElementTree as ET  # only written here, never parsed

    root = ET.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    for kind, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        for name, type_name in keys.items():
            known = {"id": f"{kind}_{name}", "for": kind, "attr.name": name, "attr.type": type_name}
            ET.SubElement(root, "key", known)
    body = ET.SubElement(root, "graph", id="clsm", edgedefault="undirected")
    for node in graph.nodes:
        element = ET.SubElement(body, "node", id=node.id)
        values = node_mapping(node)
        _fill(element, "node", {name: values[name] for name in NODE_KEYS})
    for edge in graph.edges:
        ends = {"id": edge.id, "source": edge.source, "target": edge.target}
        element = ET.SubElement(body, "edge", ends)
        if edge.directed:
            element.set("directed", "true")
        values = edge_mapping(edge)
        _fill(element, "edge", {name: values[name] for name in EDGE_KEYS})
    ET.indent(root)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f"{head}{ET.tostring(root, encoding='unicode')}\n"


def _fill(element: Any, kind: str, values: Mapping[str, Any]) -> None:
    from xml.etree import ElementTree as ET

    for name, value in values.items():
        if value in (None, "", []):
            continue
        text = "; ".join(value) if isinstance(value, list) else str(value)
        ET.SubElement(element, "data", key=f"{kind}_{name}").text = _clean(text)


def _clean(text: str) -> str:
    return safe(text).translate(_NOT_IN_XML)
