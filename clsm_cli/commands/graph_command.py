"""``clsm graph``: the knowledge graph as figures, as a file for other programs, or in a browser."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clsm_cli.commands import recall_command, tables
from clsm_cli.commands.command_line import AS_OF, KNOWN_AT, Common, Option
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, count_noun, plain, shorten
from clsm_cli.commands.tables import Table
from clsm_cli.errors import BadInputError
from clsm_cli.inspection import graph_export, graph_view
from clsm_cli.store import atomic
from clsm_cli.text.terminal import safe, safe_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.inspection.graph_view import Graph, Tie

LONGEST = 60
"""Characters of a label in a table."""


IN_PICTURE = 150
"""Nodes of a picture unless ``--limit`` says how many."""


@command(
    "clsm graph                             # size, hubs, strongest edges",
    "clsm graph --format html --out graph.html    # a picture for the browser",
    "clsm graph 'delegation defect' --depth 1",
    "clsm graph --query 'who distrusts delegation' --format html --out way.html",
    "clsm graph heartbeat --as-of 2026-02-15      # as it was on that day",
    "clsm graph --format graphml --out graph.graphml   # for Gephi",
    "clsm graph --format dot | dot -Tsvg > graph.svg   # Graphviz",
    nodes=Option("", "[NODE]...", "Only what lies around these: labels, aliases or ids."),
    query=Option(
        "--query",
        "TEXT",
        "Only what this question activates, and the way there; sizes are activations.",
    ),
    depth=Option("--depth", "N", "Edges to go from NODE at most.", least=0),
    limit=Option(
        "--limit", "N", "Only the N strongest nodes; default: all, and 150 in a picture.", least=1
    ),
    form=Option(
        "--format",
        "",
        "Figures, data, or a picture (html).",
        choices=("text", "json", "dot", "graphml", "html"),
    ),
    out=Option("--out", "FILE", "Write to this file instead of standard output."),
    as_of=AS_OF,
    known_at=KNOWN_AT,
)
def graph(
    nodes: list[str] | None = None,
    *,
    query: str | None = None,
    depth: int = 2,
    limit: int | None = None,
    form: str = "text",
    out: Path | None = None,
    as_of: str | None = None,
    known_at: str | None = None,
    common: Common,
) -> None:
    """Look at the knowledge graph.

    Its size, density, hubs and strongest edges; or all of it as JSON, DOT (Graphviz), GraphML
    (Gephi), or as one HTML file that shows it in any browser, offline. Of a past time it has only
    what had been said by then and held then.
    """
    if common.as_json and form not in ("text", "json"):
        raise UsageError("--json", f"prints JSON; --format {form} is another form")
    form = "json" if common.as_json else form
    printer = common._replace(as_json=form == "json").printer()
    if form == "html" and out is None and printer.is_terminal:
        raise UsageError("--format", "a picture needs a file: add --out graph.html")
    if query is not None and nodes:
        raise UsageError("--query", "it chooses the nodes itself; leave out NODE")
    found = common.opened()
    view = recall_command.view_of(found, common.time(found.zone), as_of, known_at)
    whole = graph_view.load(found, view)
    if whole.dangling:
        edges = count_noun(whole.dangling, "edge")
        printer.warn(f"{edges} left out, as the store does not hold both nodes")
    seeds = [
        node for each in nodes or () for node in graph_view.find_nodes(whole, decode_words([each]))
    ]
    if query is not None:
        asked = recall_command.Options((query,), as_of=as_of, known_at=known_at, common=common)
        whole = graph_view.activated_part(
            whole, recall_command.node_activation(found, asked, printer)
        )
    limit = IN_PICTURE if limit is None and form == "html" else limit
    shown = graph_view.neighbourhood(whole, seeds, depth) if seeds else whole
    shown = shown if limit is None else graph_view.strongest_part(shown, limit, seeds)
    _put(printer, shown, form, out, seeds)


def _put(printer: Printer, shown: Graph, form: str, out: Path | None, seeds: Sequence[str]) -> None:
    """Print a graph in one of its forms, or write it to a file."""
    if out is not None:
        _write(out, _rendered(shown, form, seeds))
        sizes = f"{count_noun(len(shown.nodes), 'node')}, {count_noun(len(shown.edges), 'edge')}"
        if not printer.quiet:
            printer.lines([f"{out} written: {sizes}"])
    elif form in ("text", "json"):
        tables.show(printer, _mapping(shown), _tables(shown, seeds))
    else:
        printer.utf8(_rendered(shown, form, seeds).removesuffix("\n").split("\n"))


def _rendered(shown: Graph, form: str, seeds: Sequence[str]) -> str:
    if form == "dot":
        return graph_export.dot(shown)
    if form == "graphml":
        return graph_export.graphml(shown)
    if form == "html":
        return graph_export.page(shown, next(iter(seeds), None))
    if form == "json":
        return f"{safe_json(json.dumps(_mapping(shown), ensure_ascii=False))}\n"
    return "".join(f"{safe(line)}\n" for line in tables.table_lines(_tables(shown, seeds)))


def _write(out: Path, text: str) -> None:
    """Write a file that is private, as the memory is; what it was is replaced whole."""
    path = Path(os.path.realpath(out.expanduser()))
    if path.exists() and not path.is_file():
        raise BadInputError(str(out), "is not a regular file", "name another one with --out")
    atomic.put(path, text.encode("utf-8"))


def _mapping(graph: Graph) -> dict[str, Any]:
    return {
        "schema": "clsm.graph/1",
        "total_nodes": graph.total,
        "statistics": plain(graph_view.statistics(graph)),
        **graph_export.mapping(graph),
    }


def _tables(graph: Graph, seeds: Sequence[str]) -> list[Table]:
    """Sizes, types, kinds, streams, hubs, the strongest edges; of some nodes also what is held."""
    found = graph_view.statistics(graph)
    part = "" if found.nodes == graph.total else f" of {graph.total}"
    sizes = (
        ("nodes", f"{found.nodes}{part}"),
        ("edges", str(found.edges)),
        ("edges per node", f"{found.edges_per_node:.2f}"),
        ("density", f"{found.density:.4f}"),
        ("mean degree", f"{found.mean_degree:.2f}"),
        ("largest degree", str(found.largest_degree)),
        ("isolated nodes", str(found.isolated)),
        ("connected components", str(found.components)),
        ("nodes in the largest", str(found.largest_component)),
        ("communities", str(found.communities)),
    )
    hubs = tuple((shorten(hub.label, LONGEST), str(hub.degree)) for hub in found.hubs)
    ties = tuple((_tie(tie), f"{tie.weight:.2f}", str(tie.n)) for tie in found.strongest)
    shown = [
        Table("graph", ("measure", "value"), sizes),
        Table("edges by type", ("type", "edges", "%"), _shares(found.types)),
        Table("nodes by kind", ("kind", "nodes", "%"), _shares(found.kinds)),
        Table("nodes by stream", ("stream", "nodes", "%"), _shares(found.streams)),
        Table("hubs", ("node", "degree"), hubs),
        Table("strongest edges", ("edge", "weight", "n"), ties),
        Table("what is held of it", ("statement", "true from", "id"), _said(graph, seeds)),
    ]
    return [table for table in shown if table.rows]


def _said(graph: Graph, seeds: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
    rows = {row.id: row for node in seeds for row in graph.statements.get(node, ())}
    newest = sorted(rows.values(), key=lambda row: (row.valid_from or "", row.id), reverse=True)
    return tuple(
        (shorten(row.text, LONGEST), (row.valid_from or "")[:10], row.id) for row in newest
    )


def _shares(counts: Mapping[str, int]) -> tuple[tuple[str, str, str], ...]:
    total = sum(counts.values())
    return tuple(
        (shorten(name, LONGEST), str(count), f"{100 * count / total:.1f}")
        for name, count in counts.items()
    )


def _tie(tie: Tie) -> str:
    """One edge as a phrase.

    >>> from clsm_cli.inspection.graph_view import Tie
    >>> _tie(Tie("Mara", "reading", "Tides", 0.5, 2, directed=True))
    'Mara -reading-> Tides'
    """
    end = "->" if tie.directed else "-"
    return f"{shorten(tie.source, LONGEST)} -{shorten(tie.type, LONGEST)}{end} {shorten(tie.target, LONGEST)}"
