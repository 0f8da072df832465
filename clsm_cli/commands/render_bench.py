"""The block that ``clsm status --bench`` prints: names no folder, no owner, no content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clsm_cli.commands.output import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clsm_cli.inspection.speed import Speed

MIB = 1 << 20
COUNTED = ("turns", "blocks", "episodes", "statements", "concepts")
"""What of a store is told."""


def mapping(
    machine: Mapping[str, str],
    programs: Mapping[str, str],
    store: Mapping[str, Any],
    speeds: Sequence[Speed],
) -> dict[str, Any]:
    """The block as data."""
    return {
        "schema": "clsm.bench/1",
        "programs": dict(programs),
        "machine": dict(machine),
        "store": dict(store),
        "times": {
            each.name: {"median_ms": each.median, "p95_ms": each.p95, "ratio": each.ratio}
            for each in speeds
        },
    }


def lines(block: Mapping[str, Any]) -> list[str]:
    """The block as text."""
    machine, store = block["machine"], block["store"]
    first = " · ".join(
        [
            *(f"{name} {version}" for name, version in block["programs"].items()),
            f"Python {machine['Python']}",
        ]
    )
    second = (
        f"{machine['processor']}, {machine['architecture']}, {counted(int(machine['cores']), 'core')},"
        f" {machine['memory_mib']} MiB, {machine['system']}"
    )
    held = ", ".join(counted(store[name], name[:-1]) for name in COUNTED)
    third = (
        f"{held}; {store['bytes'] / MIB:.1f} MiB, index {store['index_bytes'] / MIB:.1f} MiB,"
        f" {'with' if store['model'] else 'without'} the model"
    )
    rows = [
        f"{name:<14}{found['median_ms']:>10.1f}{found['p95_ms']:>10.1f}{found['ratio']:>8.2f}"
        for name, found in block["times"].items()
    ]
    return [first, second, third, f"{'':14}{'median ms':>10}{'95th':>10}{'ratio':>8}", *rows]
