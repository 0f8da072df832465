"""``clsm graph``: statistics of the knowledge graph, or an export for other programs or a browser."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clsm_cli.commands import recall_command
from clsm_cli.commands.command_line import AS_OF, KNOWN_AT, Common, UsageError, option
from clsm_cli.commands.options import command
from clsm_cli.commands.output import Printer, Table, count_noun, plain, shorten, table_lines
from clsm_cli.errors import BadInputError, RefusedError
from clsm_cli.inspection import graph_export, graph_view
from clsm_cli.inspection.graph_view import Graph
from clsm_cli.store import atomic
from clsm_cli.text.terminal import safe, safe_json

MAX_LABEL = 60  # characters of a label in a table
PICTURE_NODES = 150  # default ``--limit`` of a picture


@command(
    "clsm graph                             # size, hubs, strongest edges",
    "clsm graph --format html --out graph.html    # a picture for the browser",
    "clsm graph 'delegation defect' --depth 1",
    "clsm graph heartbeat --as-of 2026-02-15      # as it was on that day",
    "clsm graph --format graphml --out graph.graphml   # for Gephi",
)
def graph(
    nodes: tuple[str, ...] = option(
        "[NODE]...", "Only what lies around these: labels, aliases or ids."
    ),
    *,
    depth: int = option("--depth N", "Edges to go from NODE at most.", least=0, default=2),
    limit: int | None = option(
        "--limit N", "Only the N strongest nodes; default: all, and 150 in a picture.", least=1
    ),
    form: str = option(
        "--format",
        "Figures, data, or a picture (html).",
        choices=("text", "json", "graphml", "html"),
        default="text",
    ),
    out: Path | None = option("--out FILE", "Write to this file instead of standard output."),
    as_of: str | None = AS_OF,
    known_at: str | None = KNOWN_AT,
    common: Common,
) -> None:
    """Look at the knowledge graph.

    Its size, density, hubs and strongest edges, or those of a node and what is held of it; or all
    of it as JSON, as GraphML (Gephi), or as one HTML file that shows it in any browser, offline. Of
    a past time it has only what had been said by then and held then.
    """
    if common.as_json and form not in ("text", "json"):
        raise UsageError("--json", f"prints JSON; --format {form} is another form")
    form = "json" if common.as_json else form
    printer = common._replace(as_json=form == "json").printer()
    if form == "html" and out is None and printer.is_terminal:
        raise UsageError("--format", "a picture needs a file: add --out graph.html")
    found = common.opened()
    view = recall_command.view_of(found, common.time(found.zone), as_of, known_at)
    whole = graph_view.load(found, view)
    if whole.dangling:
        edges = count_noun(whole.dangling, "edge")
        printer.warn(f"{edges} left out, as the store does not hold both nodes")
    seeds = [node for each in nodes for node in graph_view.find_nodes(whole, each)]
    shown = graph_view.neighbourhood(whole, seeds, depth) if seeds else whole
    if limit is not None or form == "html":
        shown = graph_view.strongest_part(shown, limit or PICTURE_NODES, seeds)
    _put(printer, shown, form, out, seeds, found.root)


def _put(
    printer: Printer, shown: Graph, form: str, out: Path | None, seeds: Sequence[str], root: Path
) -> None:
    text = _rendered(shown, form, seeds)
    if out is None:
        show = printer.lines if form == "text" else printer.utf8
        show(text.split("\n"))
        return
    path = Path(os.path.realpath(out.expanduser()))
    if path.exists() and not path.is_file():
        raise BadInputError(str(out), "is not a regular file", "name another one with --out")
    if path.is_relative_to(root.resolve()):
        raise RefusedError(str(out), "lies inside the store", "name another one with --out")
    atomic.put(path, f"{text}\n".encode())
    if not printer.quiet:
        sizes = f"{count_noun(len(shown.nodes), 'node')}, {count_noun(len(shown.edges), 'edge')}"
        printer.lines([f"{out} written: {sizes}"])


def _rendered(shown: Graph, form: str, seeds: Sequence[str]) -> str:
    if form == "graphml":
        return graph_export.graphml(shown).removesuffix("\n")
    if form == "html":
        return graph_export.page(shown, next(iter(seeds), None)).removesuffix("\n")
    found = graph_view.statistics(shown, seeds)
    if form == "text":
        tables = _tables(shown, found, seeds)
        return safe("\n".join(table_lines(table for table in tables if table.rows)))
    mapping = {"schema": "clsm.graph/1", "total_nodes": shown.total, "statistics": found}
    return safe_json(json.dumps(mapping | plain(graph_export.mapping(shown)), ensure_ascii=False))


def _tables(graph: Graph, found: dict[str, Any], seeds: Sequence[str]) -> Iterator[Table]:
    ties = [(_edge_phrase(e), f"{e['weight']:.2f}", str(e["n"])) for e in found["strongest"]]
    if not seeds or not ties:
        yield from _figures(found, graph.total)
    yield Table("strongest edges", ("edge", "weight", "n"), ties)
    stated = [
        (_edge_phrase(e), (e["valid_from"] or "")[:10], shorten(e["sentence"], MAX_LABEL))
        for e in found["strongest"]
        if e["sentence"]
    ]
    yield Table("what states them", ("edge", "true from", "sentence"), stated)
    held = {row.id: row for node in seeds for row in graph.statements.get(node, ())}
    newest = sorted(held.values(), key=lambda row: (row.valid_from or "", row.id), reverse=True)
    said = [(shorten(s.text, MAX_LABEL), (s.valid_from or "")[:10], s.id) for s in newest]
    yield Table("what is held of it", ("statement", "true from", "id"), said)


def _figures(found: dict[str, Any], total_nodes: int) -> Iterator[Table]:
    part = "" if found["nodes"] == total_nodes else f" of {total_nodes}"
    figures = {name: v for name, v in found.items() if type(v) in (int, float)}
    sizes = {n: f"{v:.3g}" if type(v) is float else str(v) for n, v in figures.items()}
    sizes["nodes"] += part
    rows = [(name.replace("_", " "), value) for name, value in sizes.items()]
    yield Table("graph", ("measure", "value"), rows)
    for noun, of in (("edges", "type"), ("nodes", "kind"), ("nodes", "stream")):
        counts = found[f"{of}s"]
        total = sum(counts.values())
        shares = [
            (shorten(name, MAX_LABEL), str(n), f"{100 * n / total:.1f}")
            for name, n in counts.items()
        ]
        yield Table(f"{noun} by {of}", (of, noun, "%"), shares)
    hubs = [(shorten(hub["label"], MAX_LABEL), str(hub["degree"])) for hub in found["hubs"]]
    yield Table("hubs", ("node", "degree"), hubs)


def _edge_phrase(tie: dict[str, Any]) -> str:
    """One edge as a phrase.

    >>> _edge_phrase({"source": "Mara", "type": "reading", "target": "Tides", "directed": True})
    'Mara -reading-> Tides'
    """
    source, kind, target = (shorten(tie[name], MAX_LABEL) for name in ("source", "type", "target"))
    return f"{source} -{kind}-{'>' if tie['directed'] else ''} {target}"
