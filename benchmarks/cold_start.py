"""What a cold recall or context costs against importing numpy, by size; and where the time goes.

One command: ``python -m benchmarks.cold_start WORK``. Whole processes in turn, CPU seconds (user +
system) as the kernel counts them. The yardstick runs again before every fourth process, a ratio
is taken to its latest run, and the median over the rounds is kept. The stores are those of
``benchmarks.indexing`` after a ``clsm consolidate``, so that they have nodes, edges, mentions and
statements as a memory has that is in use. They are made in the folder WORK and stay there. The
figures go to ``benchmarks/results/cold_start.json``.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.indexing import INDEX, store_of
from benchmarks.measure import CLSM, NUMPY, PLAIN, answer, environment, run, save, spread
from benchmarks.stages import trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measure import Cost

SIZES = (1000, 10_000, 100_000)
SCRIPT = str(Path(sys.executable).with_name("clsm"))
"""The console script of the same environment."""
QUERIES = {
    "short": "{noun} {other}",
    "question": "why was the {noun} of the {other} {verb}?",
    "long": (
        "I would like to know what happened to the {noun} that we {verb} in the spring, whether the"
        " {other} is still {adjective}, who has been asked about the {rare}, and what was promised"
        " about the deadline of the report before the meeting with the council"
    ),
    "with a name": "what did {person} say about {project}",
    "with a date": "what was {verb} on 14 March 2024",
    "nonsense": "qwzx vlorbing hnnt 99817",
}
"""Made of words by their rank, so that every size of memory is asked alike."""
TRACED = "question"
EVERY = 4
"""Processes between two runs of the yardstick."""
NODES = 130
"""Nodes that the smallest memory has at least: the target speaks of so many."""
COUNTS = {
    "passages": "SELECT COUNT(*) FROM passages WHERE current",
    "nodes": "SELECT COUNT(*) FROM nodes WHERE label IS NOT NULL",
    "edges": "SELECT COUNT(DISTINCT edge) FROM links",
    "mentions": "SELECT COUNT(*) FROM noted",
}
"""What is counted in the index of a memory."""


def consolidated(work: Path, passages: int) -> Path:
    """The store of that size after a night; the ingested one stays as it is."""
    taken, store = store_of(work, passages), work / f"night-{passages}"
    of_what = store.with_suffix(".json")
    ingested = taken.with_suffix(".json").read_text()
    if not of_what.exists() or of_what.read_text() != ingested:
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(taken, store)
        of_what.write_text(ingested)
    print(f"{passages:,} passages: consolidating", file=sys.stderr)
    run([*CLSM, "consolidate", "--quiet"], environment(store))
    return store


def counts(store: Path) -> dict[str, int]:
    """What a store holds.

    Raises:
        RuntimeError: It has hardly a graph.
    """
    index = store / INDEX / "index.sqlite"
    with closing(sqlite3.connect(f"{index.as_uri()}?mode=ro", uri=True)) as connection:
        found = {name: int(connection.execute(sql).fetchone()[0]) for name, sql in COUNTS.items()}
    if found["nodes"] < NODES or not found["edges"] or not found["mentions"]:
        raise RuntimeError(f"{store} holds {found}")
    return found


def queries() -> dict[str, str]:
    """The queries by kind."""
    from benchmarks.corpus import SEED, Memory

    memory = Memory.of(1000, SEED)
    words, names = memory.vocabulary, memory.names
    slots = {
        "noun": words.nouns.words[3],
        "other": words.nouns.words[40],
        "rare": words.nouns.words[400],
        "verb": words.verbs.words[5],
        "adjective": words.adjectives.words[5],
        "person": names["p"].words[1],
        "project": names["j"].words[2],
    }
    return {kind: text.format(**slots) for kind, text in QUERIES.items()}


def commands(asked: dict[str, str], store: Path, empty: Path) -> dict[str, tuple[Any, Any]]:
    """Name to command and environment, of all that is run in a round on one store."""
    plain, text = environment(store), asked[TRACED]
    found: dict[str, tuple[Any, Any]] = {
        "python -c pass": (PLAIN, plain),
        'python -c "import numpy"': (NUMPY, plain),
        'OPENBLAS_NUM_THREADS=1 python -c "import numpy"': (
            NUMPY,
            environment(OPENBLAS_NUM_THREADS="1"),
        ),
    }
    clsm: dict[str, list[str]] = {
        "clsm --version": [SCRIPT, "--version"],
        "python -m clsm_cli --version": [*CLSM, "--version"],
    }
    for kind, query in asked.items():
        clsm[f"recall, {kind}"] = [*CLSM, "recall", query]
        clsm[f"recall --json, {kind}"] = [*CLSM, "recall", "--json", query]
    clsm["clsm recall"] = [SCRIPT, "recall", text]
    clsm["search"] = [*CLSM, "search", text]
    for form in ("text", "json", "prompt"):
        clsm[f"context, {form}"] = [*CLSM, "context", "--format", form]
    found |= {name: (command, plain) for name, command in clsm.items()}
    no_model = environment(store, CLSM_MODEL_DIR=str(empty))
    return found | {"recall, words only (no model)": ([*CLSM, "recall", text], no_model)}


def check(asked: dict[str, str], store: Path, passages: int) -> None:
    """Whether the recalls that are measured do their work.

    Raises:
        RuntimeError: An answer is empty where it should not be, or was found by words alone.
    """
    for kind, text in asked.items():
        found = answer([*CLSM, "recall", "--json", text], environment(store))
        if not found["engine"]["embedder"] or not (found["memories"] or kind == "nonsense"):
            raise RuntimeError(f"{passages} passages, {kind}: {found}")


class Run(NamedTuple):
    """A process, and the run of the yardstick just before it."""

    cost: Cost
    numpy: Cost


Runs = dict[str, list[Run]]
"""By command, one a round."""


def measure(stores: dict[int, Path], rounds: int, empty: Path) -> dict[int, Runs]:
    """Costs by size; a first round, not kept, warms the page cache."""
    asked = queries()
    found: dict[int, Runs] = {passages: {} for passages in stores}
    for number in range(rounds + 1):
        for passages, store in stores.items():
            for place, (name, command) in enumerate(commands(asked, store, empty).items()):
                if place % EVERY == 0:
                    numpy = run(NUMPY, environment())
                cost = run(*command)
                if number:
                    found[passages].setdefault(name, []).append(Run(cost, numpy))
        print(f"round {number} of {rounds}", file=sys.stderr)
    return found


def figures(runs: Runs) -> dict[str, dict[str, Any]]:
    """By command: milliseconds, MB and ratios, as quartiles."""
    plain = [found.cost.cpu for found in runs["python -c pass"]]
    result = {}
    for name, found in runs.items():
        cpus = [one.cost.cpu for one in found]
        result[name] = {
            "cpu_ms": spread(1000 * cpu for cpu in cpus),
            "wall_ms": spread(1000 * one.cost.wall for one in found),
            "peak_mb": round(max(one.cost.peak for one in found), 1),
            "by_numpy": spread(one.cost.cpu / one.numpy.cpu for one in found),
            "by_pass": spread(a / b for a, b in zip(cpus, plain, strict=True)),
        }
    return result


def means(runs: Runs, value: Callable[[Run], float]) -> list[float]:
    """By round, the mean of a value over the recalls that print text, one for each kind of query."""
    columns = ([value(one) for one in runs[f"recall, {kind}"]] for kind in QUERIES)
    return [statistics.mean(row) for row in zip(*columns, strict=True)]


def growth(runs: dict[int, Runs]) -> dict[str, list[float]]:
    """Quartiles of a larger memory's recalls to those of the smallest, within a round."""
    (smallest, base), *larger = sorted((n, means(found, _cpu)) for n, found in runs.items())
    return {
        f"{passages} / {smallest}": spread(a / b for a, b in zip(times, base, strict=True))
        for passages, times in larger
    }


def _cpu(one: Run) -> float:
    return one.cost.cpu


def main() -> None:
    """Make the stores, trace, measure, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    stores = {int(size): consolidated(work, int(size)) for size in given.sizes.split(",")}
    asked = queries()
    for passages, store in stores.items():
        check(asked, store, passages)
    stages = {
        str(passages): trace(["recall", asked[TRACED]], environment(store), given.rounds)
        for passages, store in stores.items()
    }
    with tempfile.TemporaryDirectory() as empty:
        runs = measure(stores, given.rounds, Path(empty))
    save(
        "cold_start",
        {
            "rounds": given.rounds,
            "queries": asked,
            "memories": {str(passages): counts(store) for passages, store in stores.items()},
            "sizes": {str(passages): figures(found) for passages, found in runs.items()},
            "recall_ms": {
                str(passages): spread(1000 * time for time in means(found, _cpu))
                for passages, found in runs.items()
            },
            "recall_by_numpy": {
                str(passages): spread(means(found, lambda one: one.cost.cpu / one.numpy.cpu))
                for passages, found in runs.items()
            },
            "growth": growth(runs),
            "stages": stages,
        },
    )


if __name__ == "__main__":
    main()
