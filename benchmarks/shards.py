"""How fast a shard is read: ours against a round-trip YAML reader, on the same file.

One command: ``python -m benchmarks.shards``. A shard of 1,000 nodes and 6,000 edges is read into
records, and loaded by ruamel.yaml (round trip, as a program would that keeps a person's style), in
turn, so that a busy machine slows both. CPU time of one process; prints a Markdown table and keeps it
in ``benchmarks/results/shards.json``. Target: at most 2 %.
"""

from __future__ import annotations

import platform
import random
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from benchmarks.measure import save, table
from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import digest, edge_id
from clsm_cli.store import shards

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.model.codec import Record

WORDS = ["delegation", "defect", "Hardin", "memory", "heartbeats", "alignment", "café", "naïve"]
NODES, EDGES, ROUNDS = 1000, 6000, 3
TARGET = 0.02


def sample() -> bytes:
    """A shard like those of a real memory: summaries, aliases, sources, dates."""
    rng = random.Random(7)

    def words(count: int) -> str:
        return " ".join(rng.choices(WORDS, k=count))

    found: list[Record] = [
        Node(
            id=f"n-{i}",
            rev=(rng.randint(1, 9), "pi-ab12"),
            label=words(2),
            kind="person",
            aliases=tuple(sorted({words(1), words(2)})),
            summary=f"{words(20).capitalize()}.",
            n=rng.randint(1, 99),
            first="2026-02-10T10:00:00+01:00",
            last="2026-02-24T10:00:00+01:00",
        )
        for i in range(NODES)
    ]
    for i in range(EDGES):
        source, target = sorted(f"n-{rng.randrange(NODES)}" for _ in range(2))
        found.append(
            Edge(
                id=edge_id(source, "co_occurs", target, str(i)),
                rev=(rng.randint(1, 9), "pi-ab12"),
                source=source,
                target=target,
                n=rng.randint(1, 30),
                weight=round(rng.random(), 4),
                recorded_at="2026-02-24T22:00:00Z",
                sources=tuple(sorted(digest(str(i), str(j)) for j in range(rng.randint(1, 4)))),
            )
        )
    return shards.render(found)


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> int:
    """Measure, print and keep; tell by the exit code whether the target was met."""
    data, path = sample(), Path("a.yaml")
    shard = shards.parse(data, path)
    if len(shard.records) != NODES + EDGES or shard.problems:
        raise SystemExit("the sample does not read back")
    readers: dict[str, Callable[[], object]] = {
        "ruamel.yaml round trip": lambda: YAML().load(data),
        "clsm, into records": lambda: shards.parse(data, path),
        "clsm, into records and joined": lambda: shards.fold([shards.parse(data, path)]),
    }
    rounds = [[cpu(read) for read in readers.values()] for _ in range(ROUNDS)]
    whole, *ours = map(statistics.median, zip(*rounds, strict=True))
    rows = [
        [name, f"{1e3 * took:.1f}", f"{took / whole:.2%}"]
        for name, took in zip(readers, (whole, *ours), strict=True)
    ]
    is_met = ours[-1] <= TARGET * whole
    size = f"{NODES} nodes, {EDGES} edges, {len(data):,} bytes"
    lines = [
        f"{size}; CPU, median of {ROUNDS}; Python {platform.python_version()}",
        "",
        *table(["reader", "ms", "share of ruamel.yaml"], rows).splitlines(),
        "",
        f"Target: at most {TARGET:.0%}: {'met' if is_met else 'MISSED'}",
    ]
    print(*lines, sep="\n")
    save("shards", {"lines": lines})
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
