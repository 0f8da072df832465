"""What a cold recall costs, against importing numpy: on the sample memory and on 1,000 passages.

One command: ``python -m benchmarks.recall``. Whole processes in turn, CPU seconds as the kernel
counts them; the ratio is taken pair by pair and its median printed. The 1,000 passages have about
30 word pieces each and lie in 60 notes. No target in this release; the table is for comparison.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.capture import cpu

SAMPLE = Path(__file__).parents[1] / "fixtures" / "sample"
CLSM = (sys.executable, "-m", "clsm_cli")
QUERIES = ("delegation defect", "who is brian", "why did the backup fail?")
NAMES = [f"{a}{b}" for a in ("Har", "Mel", "Ost", "Zar", "Lin", "Bor", "Kel", "Dov", "Pim", "Rus",
         "Tam", "Wes", "Yar") for b in ("din", "kerbrug", "rom", "ilva", "deth", "gus", "mont",
         "aya", "tal", "enko")]  # fmt: skip
TEXT = (
    "the valve of the old pump holds again since the gauge was moved to the lock and the lamp"
    " burns on a fuse of its own while the ferry waits for nobody and the kettle has boiled twice"
    " a page about memory stakes letters trust bread stewards water levels and a winding key"
)


def write_notes(folder: Path) -> None:
    """1,000 paragraphs of about 30 word pieces in 60 files, with 130 names in links."""
    rng = random.Random(7)
    folder.mkdir()
    for number in range(60):
        count = 17 if number < 40 else 16
        parts = [f"# Page {number}"]
        for _ in range(count):
            words = rng.choices(TEXT.split(), k=24)
            words[rng.randrange(24)] = f"[[{rng.choice(NAMES)}]]"
            parts.append(" ".join(words).capitalize() + ".")
        (folder / f"page-{number:02}.md").write_text("\n\n".join(parts) + "\n")


def measure(root: Path, sources: list[Path], runs: int) -> tuple[list[float], list[float]]:
    """CPU seconds of recalls and of the reference, in turn."""
    environment = {**os.environ, "CLSM_STORE": str(root), "CLSM_DEVICE": "bench"}
    cpu([*CLSM, "init", str(root), "--quiet"], b"", environment)
    cpu([*CLSM, "ingest", *map(str, sources), "--quiet"], b"", environment)
    recalls, reference = [], []
    for number in range(runs + 1):
        query = QUERIES[number % len(QUERIES)]
        reference.append(cpu([sys.executable, "-c", "import numpy"], b"", environment))
        recalls.append(cpu([*CLSM, "recall", "--no-touch", "--json", query], b"", environment))
    return recalls[1:], reference[1:]


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    given = parser.parse_args()
    print("| cold recall on | CPU ms | numpy ms | ÷ import numpy |")
    print("|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_notes(folder / "notes")
        cases = {
            "the sample memory": [SAMPLE / "workspace", SAMPLE / "sessions"],
            "1,000 passages": [folder / "notes"],
        }
        for number, (case, sources) in enumerate(cases.items()):
            recalls, reference = measure(folder / f"memory-{number}", sources, given.runs)
            ratios = [a / b for a, b in zip(recalls, reference, strict=True)]
            spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
            print(
                f"| {case} | {1000 * statistics.median(recalls):.0f}"
                f" | {1000 * statistics.median(reference):.0f}"
                f" | {statistics.median(ratios):.2f} ({spread}) |"
            )


if __name__ == "__main__":
    main()
