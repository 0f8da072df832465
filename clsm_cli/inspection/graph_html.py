"""A graph as one HTML file: a picture that opens offline and loads nothing.

Style, scripts and data stand inside it; a content security policy names them by their digests and
forbids everything else, requests of any kind included.
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
from clsm_cli.inspection import graph_export
from clsm_cli.inspection.graph_layout import layout
from clsm_cli.inspection.graph_statistics import communities
from clsm_cli.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clsm_cli.inspection.graph import Graph

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
    """The picture of a graph, one self-contained HTML file.

    Args:
        graph: What is shown.
        chosen: Id of the node that is selected when the picture opens.
    """
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
    data = _safe(graph_export.mapping(graph))
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
    """The same with every text made safe to show."""
    if isinstance(value, dict):
        return {key: _safe(item) for key, item in value.items()}
    if isinstance(value, list):
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
