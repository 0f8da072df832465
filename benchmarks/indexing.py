"""What it costs to take in a memory: passages per CPU second, peak memory, and size on disk.

One command: ``python -m benchmarks.indexing WORK``. For each size a memory is generated, a store is
made in the folder WORK, and one ``clsm ingest`` takes everything in. The stores stay there for
``benchmarks.cold_start``. The figures go to ``benchmarks/results/indexing.json``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.measure import CLSM, ROOT, answer, environment, load, run, save

SIZES = (1000, 10_000)
INDEX = Path(".clsm") / "index"


def build(work: Path, passages: int) -> dict[str, Any]:
    """Generate a memory and take it in, into a store that is made anew.

    Returns:
        The measures of the text, and what the one ``clsm ingest`` cost.
    """
    corpus, store = work / f"corpus-{passages}", work / f"store-{passages}"
    for old in (corpus, store):
        shutil.rmtree(old, ignore_errors=True)
    print(f"{passages:,} passages: writing the text", file=sys.stderr)
    # A process of its own: the peak memory of a child is counted from its parent's on.
    module = [sys.executable, "-m", "benchmarks.corpus", str(corpus)]
    run([*module, "--passages", str(passages)], environment(PYTHONPATH=str(ROOT)))
    run([*CLSM, "init", str(store), "--time-zone", "UTC", "--quiet"], environment(store))
    print(f"{passages:,} passages: taking it in", file=sys.stderr)
    paths = [str(corpus / "notes"), str(corpus / "sessions")]
    cost = run([*CLSM, "ingest", *paths, "--quiet"], environment(store))
    print(f"{passages:,} passages: {passages / cost.cpu:.0f} per CPU second", file=sys.stderr)
    figures = {**json.loads((corpus / "corpus.json").read_text()), **cost._asdict()}
    store.with_suffix(".json").write_text(json.dumps(figures))
    return figures


def store_of(work: Path, passages: int) -> Path:
    """The store of that size, made if it is not there yet, its index up to date."""
    store = work / f"store-{passages}"
    if not store.with_suffix(".json").exists():
        build(work, passages)
    run([*CLSM, "ingest", "--quiet"], environment(store))
    return store


def sizes_on_disk(store: Path) -> dict[str, int]:
    """Bytes by part: each table of the index with its own indexes, other index files, the memory."""
    parts: dict[str, int] = {}
    for path in sorted((store / INDEX).iterdir()):
        if path.suffix == ".sqlite":
            parts |= {f"{path.name}: {name}": size for name, size in tables(path).items()}
        elif path.stat().st_size and not path.name.endswith("-shm"):
            parts[path.name] = path.stat().st_size
    files = [path for path in store.rglob("*") if path.is_file() and ".clsm" not in path.parts]
    parts["memory"] = sum(path.stat().st_size for path in files)
    parts["memory files"] = len(files)
    return parts


def tables(database: Path) -> dict[str, int]:
    """Bytes of each table and its indexes; of the whole where SQLite was built without dbstat."""
    query = (
        "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat s JOIN sqlite_schema m ON m.name = s.name"
        " GROUP BY m.tbl_name ORDER BY 2 DESC"
    )
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return {str(name): int(size) for name, size in connection.execute(query)}
        except sqlite3.OperationalError:
            return {"all tables": database.stat().st_size}


def measure(work: Path, passages: int) -> dict[str, Any]:
    """Take in a memory of that size and look at what has become of it.

    Raises:
        RuntimeError: The store does not hold what was written.
    """
    figures = build(work, passages)
    store = work / f"store-{passages}"
    status = answer([*CLSM, "status", "--json"], environment(store))
    counts = status["counts"]
    if counts["turns"] + counts["blocks"] != passages or status["unembedded"]:
        raise RuntimeError(f"the store of {passages} passages holds {status}")
    return {**figures, "counts": counts, "bytes": sizes_on_disk(store)}


def main() -> None:
    """Measure the sizes that are asked for, and keep the figures with those of other sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    kept = load("indexing")["sizes"]
    for size in given.sizes.split(","):
        kept[size] = measure(work, int(size))
        save("indexing", {"sizes": {name: kept[name] for name in sorted(kept, key=int)}})
    print(f"kept in {(ROOT / 'benchmarks/results/indexing.json').relative_to(ROOT)}")


if __name__ == "__main__":
    main()
