"""How fast a shard is read: ours against a round-trip YAML reader, on the same file.

One command: ``python benchmarks/shards.py``. A shard of 1,000 nodes and 6,000 edges is read into
records, and loaded by ruamel.yaml (round trip, as a program would that keeps a person's style), in
turn, so that a busy machine slows both. CPU time of one process; prints a Markdown table.
Target: at most 2 %.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ruamel.yaml import YAML

from clsm_cli.model.graph import Edge, Node
from clsm_cli.model.ids import digest, edge_id
from clsm_cli.store import shards

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.model.codec import Record

WORDS = ["delegation", "defect", "Hardin", "memory", "heartbeats", "alignment", "café", "naïve"]
TARGET = 0.02


def sample(nodes: int, edges: int) -> bytes:
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
            tags=("people",),
            n=rng.randint(1, 99),
            first="2026-02-10T10:00:00+01:00",
            last="2026-02-24T10:00:00+01:00",
        )
        for i in range(nodes)
    ]
    for i in range(edges):
        source, target = sorted(f"n-{rng.randrange(nodes)}" for _ in range(2))
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
    """Measure, print, and tell by the exit code whether the target was met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--edges", type=int, default=6000)
    options = parser.parse_args()
    data = sample(options.nodes, options.edges)
    shard = shards.parse(data, Path("a.yaml"))
    if len(shard.records) != options.nodes + options.edges or shard.problems:
        raise SystemExit("the sample does not read back")
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(cpu(lambda: shards.parse(data, Path("a.yaml"))))
        theirs.append(cpu(lambda: YAML().load(data)))
        ours.append(cpu(lambda: shards.fold([shards.parse(data, Path("a.yaml"))])))
    parse, join = statistics.median(ours[::2]), statistics.median(ours[1::2])
    yaml = statistics.median(theirs)
    print(f"{options.nodes} nodes, {options.edges} edges, {len(data):,} bytes; CPU, median of "
          f"{options.rounds}; Python {sys.version.split()[0]}\n")  # fmt: skip
    print("| reader | ms | share of ruamel.yaml |\n|---|---:|---:|")
    print(f"| ruamel.yaml round trip | {yaml * 1e3:.0f} | 100 % |")
    print(f"| clsm, into records | {parse * 1e3:.1f} | {parse / yaml:.2%} |")
    print(f"| clsm, into records and joined | {join * 1e3:.1f} | {join / yaml:.2%} |")
    print(f"\nTarget: at most {TARGET:.0%}: {'met' if join / yaml <= TARGET else 'MISSED'}")
    return 0 if join / yaml <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
