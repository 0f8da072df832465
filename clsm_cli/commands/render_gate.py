"""A run against an earlier one, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.commands.tables import Table
from clsm_cli.evaluation.compare import ALL
from clsm_cli.evaluation.reporting import grids

if TYPE_CHECKING:
    from clsm_cli.evaluation.gate import Gate, GateRow


def tables(gate: Gate) -> list[Table]:
    """What changed, set by set, and whether that is good enough; shares in per cent."""
    found = []
    for name in dict.fromkeys(row.set for row in gate.rows):
        rows = [row for row in gate.rows if row.set == name]
        found.append(
            Table(
                f"{name}: clsm against the baseline",
                ("measure", "queries", "before", "now", "diff.", "95 %", "p"),
                tuple(_row(row) for row in rows),
            )
        )
    found += [Table(sentence, (), ()) for sentence in gate.sentences]
    return [*found, Table("FAILED" if gate.failed else "passed", (), ())]


def _row(row: GateRow) -> tuple[str, ...]:
    what = grids.heading(row.measure)
    low, high = (100 * end for end in row.interval)
    return (
        what if row.group == ALL else f"{what}, {row.group}",
        str(row.queries),
        f"{100 * row.before:.1f}",
        f"{100 * row.now:.1f}",
        f"{100 * row.difference:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        f"{row.p:.3f}",
    )
