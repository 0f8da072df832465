"""``clsm graph``: the knowledge graph as figures, as a file for other programs, or in a browser."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clsm_cli.commands import run_recall, tables
from clsm_cli.commands.environment import UsageError, decode_words
from clsm_cli.commands.options import AsOfOption, Common, KnownAtOption, examples, takes_common
from clsm_cli.commands.output import Printer, count_noun, plain
from clsm_cli.commands.recall_options import Options, view_of
from clsm_cli.commands.tables import Table
from clsm_cli.errors import BadInputError
from clsm_cli.inspection import graph_export, graph_view
from clsm_cli.inspection.graph_statistics import statistics
from clsm_cli.store import atomic
from clsm_cli.text.terminal import safe, safe_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.inspection.graph_statistics import Statistics, Tie
    from clsm_cli.inspection.graph_view import Graph

LONGEST = 60
"""Characters of a label in a table."""


EXAMPLES = examples(
    "clsm graph                             # size, hubs, strongest edges",
    "clsm graph --format html --out graph.html    # a picture for the browser",
    "clsm graph 'delegation defect' --depth 1",
    "clsm graph --query 'who distrusts delegation' --format html --out way.html",
    "clsm graph heartbeat --as-of 2026-02-15      # as it was on that day",
    "clsm graph --format graphml --out graph.graphml   # for Gephi",
    "clsm graph --format dot | dot -Tsvg > graph.svg   # Graphviz",
)
IN_PICTURE = 150
"""Nodes of a picture unless ``--limit`` says how many."""


class Format(StrEnum):
    """The forms a graph is written in."""

    text = "text"
    json = "json"
    dot = "dot"
    graphml = "graphml"
    html = "html"


@takes_common()
def graph(
    nodes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NODE]...", help="Only what lies around these: labels, aliases or ids."
        ),
    ] = None,
    *,
    query: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="Only what this question activates, and the way there; sizes are activations.",
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(min=0, metavar="N", help="Edges to go from NODE at most.")
    ] = 2,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Only the N strongest nodes; default: all, and 150 in a picture.",
        ),
    ] = None,
    form: Annotated[
        Format, typer.Option("--format", help="Figures, data, or a picture (html).")
    ] = Format.text,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write to this file instead of standard output."),
    ] = None,
    episodes: Annotated[
        bool,
        typer.Option(
            "--episodes", help="Include the episodes, their order, and what they mention."
        ),
    ] = False,
    as_of: AsOfOption = None,
    known_at: KnownAtOption = None,
    common: Common,
) -> None:
    """Look at the knowledge graph.

    Its size, density, hubs and strongest edges; or all of it as JSON, DOT (Graphviz), GraphML
    (Gephi), or as one HTML file that shows it in any browser, offline. Of a past time it has only
    what had been said by then and held then.
    """
    printer = common.printer()
    if common.as_json and form not in (Format.text, Format.json):
        raise UsageError("--json", f"prints JSON; --format {form} is another form")
    form = Format.json if common.as_json else form
    if form is Format.html and out is None and printer.is_terminal:
        raise UsageError("--format", "a picture needs a file: add --out graph.html")
    if query is not None and nodes:
        raise UsageError("--query", "it chooses the nodes itself; leave out NODE")
    found = common.opened()
    view = view_of(found, common.time(found.zone), as_of, known_at)
    whole = graph_view.load(found, view, episodes=episodes)
    if whole.dangling:
        edges = count_noun(whole.dangling, "edge")
        printer.warn(f"{edges} left out, as the store does not hold both nodes")
    seeds = [
        node for each in nodes or () for node in graph_view.find_nodes(whole, decode_words([each]))
    ]
    if query is not None:
        asked = Options((query,), as_of=as_of, known_at=known_at, now=common.now)
        whole = graph_view.activated_part(whole, run_recall.node_activation(found, asked, printer))
    limit = IN_PICTURE if limit is None and form is Format.html else limit
    shown = graph_view.neighbourhood(whole, seeds, depth) if seeds else whole
    shown = shown if limit is None else graph_view.strongest_part(shown, limit, seeds)
    _put(printer, shown, form, out, seeds)


def _put(
    printer: Printer, shown: Graph, form: Format, out: Path | None, seeds: Sequence[str]
) -> None:
    """Print a graph in one of its forms, or write it to a file."""
    if out is not None:
        _write(out, _rendered(shown, form, seeds))
        sizes = f"{count_noun(len(shown.nodes), 'node')}, {count_noun(len(shown.edges), 'edge')}"
        if not printer.quiet:
            printer.lines([f"{out} written: {sizes}"])
    elif form is Format.json:
        printer.json(_mapping(shown))
    elif form is not Format.text:
        printer.utf8(_rendered(shown, form, seeds).removesuffix("\n").split("\n"))
    elif printer.is_terminal:
        printer.rich(tables.renderables(_tables(shown, seeds)))
    else:
        printer.lines(tables.table_lines(_tables(shown, seeds)))


def _rendered(shown: Graph, form: Format, seeds: Sequence[str]) -> str:
    from clsm_cli.inspection import graph_export

    if form is Format.dot:
        return graph_export.dot(shown)
    if form is Format.graphml:
        return graph_export.graphml(shown)
    if form is Format.html:
        return graph_export.page(shown, next(iter(seeds), None))
    if form is Format.json:
        return f"{safe_json(json.dumps(_mapping(shown), ensure_ascii=False))}\n"
    return "".join(f"{safe(line)}\n" for line in tables.table_lines(_tables(shown, seeds)))


def _mapping(shown: Graph) -> dict[str, Any]:
    return graph_mapping(shown, statistics(shown))


def _tables(shown: Graph, seeds: Sequence[str]) -> list[tables.Table]:
    return graph_tables(shown, statistics(shown), seeds)


def _write(out: Path, text: str) -> None:
    """Write a file that is private, as the memory is; what it was is replaced whole."""
    path = Path(os.path.realpath(out.expanduser()))
    if path.exists() and not path.is_file():
        raise BadInputError(str(out), "is not a regular file", "name another one with --out")
    atomic.put(path, text.encode("utf-8"))


def graph_mapping(graph: Graph, found: Statistics) -> dict[str, Any]:
    """Schema ``clsm.graph/1``: statistics, nodes with their statements, edges."""
    return {
        "schema": "clsm.graph/1",
        "total_nodes": graph.total,
        "statistics": plain(found),
        **graph_export.mapping(graph),
    }


def graph_tables(graph: Graph, found: Statistics, seeds: Sequence[str] = ()) -> list[Table]:
    """What a person reads: sizes, types, kinds, streams, hubs and the strongest edges.

    Of the nodes that were asked for also what is held of them.
    """
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
        ("their modularity", f"{found.modularity:.2f}"),
    )
    hubs = tuple((_short(hub.label), str(hub.degree)) for hub in found.hubs)
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
    """The statements about some nodes, newest first."""
    rows = {row.id: row for node in seeds for row in graph.statements.get(node, ())}
    newest = sorted(rows.values(), key=lambda row: (row.valid_from or "", row.id), reverse=True)
    return tuple((_short(row.text), (row.valid_from or "")[:10], row.id) for row in newest)


def _shares(counts: Mapping[str, int]) -> tuple[tuple[str, str, str], ...]:
    total = sum(counts.values())
    return tuple(
        (_short(name), str(count), f"{100 * count / total:.1f}") for name, count in counts.items()
    )


def _tie(tie: Tie) -> str:
    """One edge as a phrase.

    >>> from clsm_cli.inspection.graph_statistics import Tie
    >>> _tie(Tie("Mara", "reading", "Tides", 0.5, 2, directed=True))
    'Mara -reading-> Tides'
    """
    end = "->" if tie.directed else "-"
    return f"{_short(tie.source)} -{_short(tie.type)}{end} {_short(tie.target)}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[: LONGEST - 1]}…"
