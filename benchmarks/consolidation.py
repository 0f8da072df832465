"""What a night costs: consolidating against embedding, and weighing a large graph against reading it.

One command: ``python -m benchmarks.consolidation WORK``. Whole processes, CPU seconds (user +
system) as the kernel counts them; the ratio is taken pair by pair and its median printed, so a busy
machine slows both sides. Stores are made in the folder WORK.

- *pending*: ``clsm consolidate`` over a generated memory that was ingested but never consolidated,
  against a process that embeds the same passages. Target: at most 2.
- *nothing pending*: ``clsm consolidate`` over a graph that is up to date, which weighs all edges
  anew, against a process that reads and joins the shards. Targets: at most 5, and 300 MB.

The graph is made by ``clsm consolidate`` itself from episodes that link names in groups, two turns
a group. Figures go to ``benchmarks/results/consolidation.json``.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import report
from benchmarks.corpus import vocabulary
from benchmarks.indexing import build
from benchmarks.measure import CLSM, answer, environment, run, save, spread
from clsm_cli.model.episodes import Episode, EpisodeRecord, Turn
from clsm_cli.model.ids import turn_key
from clsm_cli.model.tombstones import episode_ids
from clsm_cli.store import atomic, episode_files, layout, record_files

if TYPE_CHECKING:
    from collections.abc import Callable

    from clsm_cli.store.layout import Store

CONSOLIDATING, WEIGHING, PEAK = 2.0, 5.0, 300.0
"""Targets: two ratios, and MB of 10^6 bytes."""
GROUP, SPELT = 6, 2
"""Names of a group, and turns that name them all: an edge needs two."""
DEVICE = "bench"
NOWHERE = "/nonexistent"
"""Folder of a model that is not installed: nothing is pending, so nothing is to be embedded."""
EMBED = """
import sys
from pathlib import Path
from clsm_cli.embedding import weights
from clsm_cli.embedding.encoder import Encoder
from clsm_cli.store import layout
from clsm_cli.store.index import database
from clsm_cli.store.index.index_queries import Index
store = layout.open_store(Path(sys.argv[1]), {"CLSM_DEVICE": "bench"})
index = Index(database.open_to_read(store.derived), store)
passages = index.current_passages()
Encoder.open(weights.default_folder()).encode([each.embedded_text for each in passages.values()])
"""
READ = """
import sys
from pathlib import Path
from clsm_cli.store import layout, shards
store = layout.open_store(Path(sys.argv[1]), {"CLSM_DEVICE": "bench"})
shards.load_graph(store.graphs())
"""


def pending(work: Path, passages: int, rounds: int) -> dict[str, Any]:
    """Consolidate a memory for the first time, and embed its passages."""
    build(work, passages)

    def fresh() -> Path:
        store = _fresh(work / f"pending-{passages}")
        return Path(shutil.copytree(work / f"store-{passages}", store))

    return {"passages": passages, **_paired("pending", fresh, EMBED, rounds, {}, CONSOLIDATING)}


def weighing(work: Path, nodes: int, edges: int, rounds: int) -> dict[str, Any]:
    """Consolidate a large graph with nothing pending, and read its shards.

    Raises:
        RuntimeError: The graph is not as large as it should be.
    """
    root, no_model = _fresh(work / f"graph-{nodes}-{edges}"), {"CLSM_MODEL_DIR": NOWHERE}
    variables = environment(root, **no_model)
    print(f"weighing: writing {nodes:,} names", file=sys.stderr)
    write(root, nodes, edges)
    made = run([*CLSM, "consolidate", "--quiet"], variables)
    print(f"weighing: made in {made.cpu:.0f} s of CPU, {made.peak:.0f} MB", file=sys.stderr)
    counts = answer([*CLSM, "consolidate", "--json"], variables)
    found = {name: counts[name]["total"] for name in ("nodes", "edges")}
    if found["nodes"] < 0.99 * nodes or found["edges"] < 0.9 * edges:
        raise RuntimeError(f"the graph holds {found}")
    costs = _paired("weighing", lambda: root, READ, rounds, no_model, WEIGHING)
    return {**found, "made in": round(made.cpu, 1), **costs}


def _paired(
    name: str,
    make: Callable[[], Path],
    reference: str,
    rounds: int,
    variables: dict[str, str],
    target: float,
) -> dict[str, Any]:
    """What consolidating a store costs, in turn with a reference program that gets its path."""
    pairs = []
    for number in range(rounds):
        print(f"{name}: round {number + 1} of {rounds}", file=sys.stderr)
        store = make()
        here = environment(store, **variables)
        theirs = run([sys.executable, "-c", reference, str(store)], here)
        pairs.append((run([*CLSM, "consolidate", "--quiet"], here), theirs))
    return {
        "cpu": spread(ours.cpu for ours, _ in pairs),
        "reference": spread(theirs.cpu for _, theirs in pairs),
        "ratio": spread(ours.cpu / theirs.cpu for ours, theirs in pairs),
        "target": target,
        "peak": max(ours.peak for ours, _ in pairs),
    }


def write(root: Path, nodes: int, edges: int) -> None:
    """A store whose consolidated episodes name things in groups, their pairs being the edges."""
    atomic.make_folder(root)
    layout.create(root, "UTC")
    store = layout.open_store(root, {"CLSM_DEVICE": DEVICE})
    rng = random.Random(5)
    names = _names(nodes, rng)
    groups = max(1, round(edges / (GROUP * (GROUP - 1) / 2)))
    drawn = [rng.sample(names, GROUP) for _ in range(groups - nodes // GROUP)]
    # Everything is named somewhere: first each name once, in groups of neighbours.
    drawn += [names[at : at + GROUP] for at in range(0, nodes, GROUP)]
    records = [_episode(store, number, group, rng) for number, group in enumerate(drawn)]
    for planned in record_files.plan_records(store, "flow", records):
        atomic.put(planned.path, getattr(planned, "data"))  # noqa: B009  # shards are always put


def _episode(store: Store, number: int, group: list[str], rng: random.Random) -> EpisodeRecord:
    """Write an episode in which each turn links all names of a group; its record."""
    turns = []
    for spelt in range(SPELT):
        time = f"2025-{1 + number % 12:02}-{1 + number % 28:02}T{8 + spelt:02}:{number % 60:02}:00+00:00"
        order = rng.sample(group, len(group))
        text = f"Note {number}: " + ", then ".join(f"[[{name}]]" for name in order) + "."
        key = turn_key(f"s-{number}", "user", time, text)
        turns.append(Turn(key=key, speaker="user", role="user", text=text, time=time))
    episode = Episode(
        id=next(episode_ids(turns[0].key)),
        session=f"s-{number}",
        turns=tuple(turns),
        recorded_at="2026-01-01T00:00:00Z",
        start=turns[0].time,
        end=turns[-1].time,
    )
    path = episode_files.file_of(episode, store.flow)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = episode_files.render(episode)
    path.write_bytes(data)
    return EpisodeRecord(
        id=episode.id, rev=(1, DEVICE), stage="consolidated", digest=atomic.sha256(data)[:12]
    )


def _names(count: int, rng: random.Random) -> list[str]:
    """Made-up names, each once, one in three of two words."""
    words = [word.title() for word in vocabulary(rng).nouns.words if len(word) > 8]
    return [f"{words[-at]} {words[at]}" if at % 3 == 0 else words[at] for at in range(1, count + 1)]


def _fresh(place: Path) -> Path:
    shutil.rmtree(place, ignore_errors=True)
    return place


def main() -> int:
    """Measure, print a Markdown table, and end with 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--edges", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    found = {
        "pending": pending(work, given.passages, given.rounds),
        "weighing": weighing(work, given.nodes, given.edges, given.rounds),
    }
    save("consolidation", found)
    print(report.consolidation(found))
    met = all(row["ratio"][1] <= row["target"] for row in found.values())
    met = met and found["weighing"]["peak"] <= PEAK
    print(f"\nTargets, and {PEAK:.0f} MB for weighing: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
