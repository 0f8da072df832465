"""Export a graph: as JSON, DOT (Graphviz), GraphML (Gephi, yEd, NetworkX), or one offline HTML page.

Style, scripts and data stand inside the page; a content security policy names them by their digests and
forbids everything else, requests of any kind included. Its layout is force-directed and takes only
additions, products, quotients and square roots, in a fixed order, from a rounded start, so that every
machine with IEEE 754 numbers draws the same picture.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from clsm_cli import __version__
from clsm_cli.inspection.graph_statistics import communities
from clsm_cli.inspection.graph_view import name_of
from clsm_cli.startup.records import NamedTuple
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np

    from clsm_cli.inspection.graph_view import Graph
    from clsm_cli.model.graph import Edge, Node, Statement

    Array = np.ndarray[Any, Any]

_ENTITY = re.compile(r"&(?=#?\w{1,32};)")
"""What Graphviz would read as a character: ``&amp;`` in a label stands for ``&``."""
_NOT_IN_XML = {0xFFFE: "\\u{fffe}", 0xFFFF: "\\u{ffff}"}
"""The code points that XML 1.0 forbids and ``safe`` lets pass; Graphviz writes SVG, so XML too."""

_KEYS = {
    "node": {
        **dict.fromkeys(("label", "kind", "stream", "aliases", "tags", "summary"), "string"),
        "n": "long",
        "first": "string",
        "last": "string",
        "activation": "double",
    },
    "edge": {"type": "string", "weight": "double", "n": "long", "valid_from": "string"},
}
"""Attributes in GraphML and their types; a value that is missing or empty is left out."""


def _node_mapping(
    node: Node, about: tuple[Statement, ...] = (), activation: float | None = None
) -> dict[str, Any]:
    names = ("kind", "stream", "aliases", "tags", "summary", "n", "first", "last")
    return {
        "id": node.id,
        "label": name_of(node),
        **{name: getattr(node, name) for name in names},
        "activation": activation,
        "statements": [
            {"id": s.id, "kind": s.kind, "text": s.text, "state": s.state, "since": s.valid_from}
            for s in about
        ],
    }


def _edge_mapping(edge: Edge) -> dict[str, Any]:
    names = ("id", "source", "target", "type", "directed", "weight", "n", "valid_from")
    return {name: getattr(edge, name) for name in names}


def mapping(graph: Graph) -> dict[str, Any]:
    """Nodes and edges as JSON values."""
    return {
        "nodes": [
            _node_mapping(node, graph.statements.get(node.id, ()), graph.activation.get(node.id))
            for node in graph.nodes
        ],
        "edges": [_edge_mapping(edge) for edge in graph.edges],
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
        _fill(element, "edge", _edge_mapping(edge))
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


IDEAL = 95.0
"""Length at which an edge of weight 1 inside a community is at rest, in pixels at zoom 1."""
ACROSS = 0.3
"""Pull of an edge between two communities, against one inside: keeps the groups apart."""
GRAVITY = (0.034, 0.046)
"""Pull towards the middle, across and down: a screen is wider than high."""
APART = 26.0
"""Pixels between the rims of two nodes at least: room for a name."""
MOST_ROUNDS, LEAST_ROUNDS, MOST_PAIRS = 400, 60, 40_000_000
"""Rounds of the simulation: fewer for a large graph, whose pairs times rounds are limited."""
BLOCK = 256
"""Nodes whose forces are computed at once: bounds the memory."""
SETTLING = 80
"""Rounds that push apart what overlaps."""


class Place(NamedTuple):
    """Where a node stands, in pixels at zoom 1 around the middle; y points down."""

    x: float
    y: float


def layout(graph: Graph, group: Mapping[str, int], sizes: Mapping[str, float]) -> dict[str, Place]:
    """Places of all nodes by id, rounded to a tenth of a pixel.

    Fruchterman and Reingold 1991, with gravity: nodes repel each other with k²/d, an edge pulls with
    s · d²/k, where s grows with its weight; steps shrink to zero. Then what overlaps is pushed apart.

    Args:
        sizes: Diameter of each node in pixels.
    """
    import numpy as np

    order = sorted((node.id for node in graph.nodes), key=lambda each: (group[each], each))
    if not order:
        return {}
    row = {node: place for place, node in enumerate(order)}
    ends = np.array([[row[e.source], row[e.target]] for e in graph.edges], dtype=np.int64)
    pulls = np.array([_pull(edge, group) for edge in graph.edges])
    at = _start(len(order))
    rounds = int(min(MOST_ROUNDS, max(LEAST_ROUNDS, MOST_PAIRS // len(order) ** 2)))
    gravity = np.array(GRAVITY)
    for step in range(rounds):
        force = _repulsion(at) - at * gravity * IDEAL
        if len(ends):
            _attract(force, at, ends.reshape(-1, 2), pulls)
        length = np.sqrt((force * force).sum(axis=1, keepdims=True)) + 1e-9
        heat = IDEAL * (1.0 - step / rounds)
        at += force / length * np.minimum(length, heat)
    radii = np.array([sizes[node] / 2 for node in order])
    for _ in range(SETTLING):
        move = _shove(at, radii)
        if not move.any():
            break
        at += move
    return {
        node: Place(round(float(x), 1), round(float(y), 1))
        for node, (x, y) in zip(order, at, strict=True)
    }


def _pull(edge: Edge, group: Mapping[str, int]) -> float:
    inside = 1.0 if group[edge.source] == group[edge.target] else ACROSS
    return inside * (0.25 + 0.75 * min(1.0, max(0.0, edge.weight)))


def _start(count: int) -> Array:
    """Places on a ring, in order; members of a community stand side by side."""
    import numpy as np

    radius = IDEAL * math.sqrt(count)
    angles = [2 * math.pi * place / count for place in range(count)]
    return np.array(
        [[round(radius * math.cos(a), 3), round(0.7 * radius * math.sin(a), 3)] for a in angles]
    )


def _repulsion(at: Array) -> Array:
    import numpy as np

    force = np.empty_like(at)
    for start in range(0, len(at), BLOCK):
        apart = at[None, start : start + BLOCK] - at[:, None]  # (from j, to i, xy)
        square = (apart * apart).sum(axis=2) + 1e-2
        force[start : start + BLOCK] = (apart * (IDEAL * IDEAL / square)[:, :, None]).sum(axis=0)
    return force


def _attract(force: Array, at: Array, ends: Array, pulls: Array) -> None:
    import numpy as np

    apart = at[ends[:, 1]] - at[ends[:, 0]]
    distance = np.sqrt((apart * apart).sum(axis=1))
    pull = apart * (pulls * distance / IDEAL)[:, None]
    np.add.at(force, ends[:, 0], pull)
    np.subtract.at(force, ends[:, 1], pull)


def _shove(at: Array, radii: Array) -> Array:
    """The way each node goes to be ``APART`` from the rims of the others, half of it for each."""
    import numpy as np

    move = np.zeros_like(at)
    for start in range(0, len(at), BLOCK):
        block = slice(start, start + BLOCK)
        apart = at[None, block] - at[:, None]
        distance = np.sqrt((apart * apart).sum(axis=2)) + 1e-6
        least = radii[:, None] + radii[None, block] + APART
        lack = np.maximum(0.0, least - distance)
        lack[np.arange(start, start + lack.shape[1]), np.arange(lack.shape[1])] = 0.0
        move[block] = (apart * (0.5 * lack / distance)[:, :, None]).sum(axis=0)
    return 0.6 * move


PALETTE = {
    "sky": "#56b4e9", "orange": "#e69f00", "green": "#009e73", "vermilion": "#d55e00",
    "pink": "#cc79a7", "blue": "#0072b2", "yellow": "#f0e442", "grey": "#8c8c8c",
}  # fmt: skip
"""Okabe and Ito's colours, which people with any colour vision tell apart, and a grey."""
LOOKS = {
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
"""Colour and shape of the usual kinds, the same in every picture; kinds that are near have one
colour. Any other kind takes the colours in turn, in the shapes below."""
OTHER_SHAPES = ("hexagon", "triangle")
SMALLEST, LARGEST = 12.0, 40.0
"""Diameter of a node that nothing mentions, and of the one mentioned most, in pixels at zoom 1."""
SHORT = 32
"""Characters of a name beside its node; the whole one stands in the panel."""
_MARK = re.compile(r"\{\{(\w+)\}\}")
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
"""Characters of JSON that could end the element it stands in, as JSON escapes."""


def page(graph: Graph, chosen: str | None = None) -> str:
    """The picture of a graph, one self-contained HTML file."""
    css = _asset("graph.css")
    scripts = {
        "library": _asset("cytoscape.min.js"),
        "picture": _asset("graph.js"),
        "panel": _asset("panel.js"),
    }
    return _filled(
        _asset("graph.html"),
        {
            "policy": _policy(css, scripts.values()),
            "version": __version__,
            "css": css,
            "data": _embedded(picture(graph, chosen)),
            **scripts,
        },
    )


def _asset(name: str) -> str:
    return (files("clsm_cli.inspection") / "assets" / name).read_text(encoding="utf-8")


def _filled(template: str, values: dict[str, str]) -> str:
    """Put values into a template in one pass: what a value holds is never looked at again."""
    return _MARK.sub(lambda match: values[match.group(1)], template)


def _policy(css: str, scripts: Iterable[str]) -> str:
    allowed = " ".join(_source(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_source(css)};"
        " base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _embedded(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_IN_SCRIPT)


def picture(graph: Graph, chosen: str | None = None) -> dict[str, Any]:
    """What the page shows as JSON values; no text in it hides or turns what a reader sees.

    Kinds come with colour, shape and count, types with their count, nodes with place, size
    (diameter in pixels: it grows with what a query gave them, without one with the logarithm of the
    mentions) and the statements about them.
    """
    sizes = _sizes(graph)
    places = layout(graph, communities(graph), sizes)
    data = _safe(mapping(graph))
    for node in data["nodes"]:
        name = node["label"]
        node["short"] = name if len(name) <= SHORT else f"{name[: SHORT - 1].rstrip()}…"
        node |= {"size": sizes[node["id"]], **places[node["id"]]._asdict()}
    for edge in data["edges"]:
        edge["weight"] = min(1.0, max(0.0, edge["weight"]))
    return {
        "total": graph.total,
        "chosen": chosen,
        "kinds": _kinds([node["kind"] for node in data["nodes"]]),
        "types": _counted([edge["type"] for edge in data["edges"]]),
        **data,
    }


def _sizes(graph: Graph) -> dict[str, float]:
    worth = {
        node.id: graph.activation.get(node.id, 0.0)
        if graph.activation
        else math.log1p(max(0, node.n))
        for node in graph.nodes
    }
    most = max(worth.values(), default=0.0) or 1.0
    return {
        node: round(SMALLEST + (LARGEST - SMALLEST) * value / most, 1)
        for node, value in worth.items()
    }


def _safe(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _safe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_safe(item) for item in value]
    return safe(value) if isinstance(value, str) else value


def _kinds(kinds: list[str]) -> dict[str, dict[str, Any]]:
    counts = _counted(kinds)
    colours = tuple(PALETTE)
    others = {
        kind: (colours[n % len(colours)], OTHER_SHAPES[n // len(colours) % len(OTHER_SHAPES)])
        for n, kind in enumerate(sorted(set(counts) - set(LOOKS)))
    }
    looks = {kind: (LOOKS.get(kind) or others[kind]) for kind in counts}
    return {
        kind: {"colour": PALETTE[looks[kind][0]], "shape": looks[kind][1], "count": count}
        for kind, count in counts.items()
    }


def _counted(names: list[str]) -> dict[str, int]:
    from collections import Counter

    return dict(sorted(Counter(names).items(), key=lambda each: (-each[1], each[0])))
