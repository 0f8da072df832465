"""The graph as tables and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import plain
from clsm_cli.commands.tables import Table
from clsm_cli.inspection import graph_export

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clsm_cli.inspection.graph import Graph
    from clsm_cli.inspection.graph_statistics import Statistics, Tie

LONGEST = 60
"""Characters of a label in a table."""


def graph_mapping(graph: Graph, found: Statistics) -> dict[str, Any]:
    """Schema ``clsm.graph/1``: statistics, nodes with their statements, edges."""
    return {
        "schema": "clsm.graph/1",
        "total_nodes": graph.total,
        "statistics": plain(found),
        **graph_export.mapping(graph),
    }


def tables(graph: Graph, found: Statistics) -> list[Table]:
    """What a person reads: sizes, types, kinds, streams, hubs and the strongest edges."""
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
    ]
    return [table for table in shown if table.rows]


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
