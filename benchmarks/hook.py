"""What the hooks of an agent cost at every turn, against importing numpy: their slow end, too.

One command: ``python -m benchmarks.hook``. The command lines are those of the OpenClaw plugin, on the
sample memory after a night; one of each in every round, so that a busy machine slows all alike. CPU
seconds are user and system time as the kernel counts them. The p95 of a command is held against that
of ``python -c "import numpy"`` in the same run. Targets: recall at most 1.0, capture at most 0.6.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import NUMPY, ROOT, Cost, make_sample, run, table

CLSM = str(Path(sys.executable).with_name("clsm"))
LISTS = ROOT / "fixtures" / "hook"
RECALL = ("recall", "--quiet", "--gate", "--format", "prompt", "-k", "8", "--budget", "500", "-")
CAPTURE = ("ingest", "--quiet", "--capture", "--format", "openclaw", "--session", "s", "--", "-")
CONTEXT = ("context", "--quiet", "--format", "prompt", "--budget", "600")
NAMES = {
    "numpy": '`python -c "import numpy"`',
    "question": "recall of a question",
    "small talk": "recall of small talk",
    "context": "context",
    "capture": "capture of a turn",
    "understood": "ingest behind it, when nobody waits",
}
TARGETS = {"question": 1.0, "capture": 0.6}
HEAD = ("command", "CPU ms p50", "p95", "÷ numpy", "wall ms p50", "p95", "÷ numpy")


def main() -> int:
    """Measure, print a Markdown table, and end with 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    rounds: int = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        here = make_sample(Path(scratch) / "memory")
        costs: dict[str, list[Cost]] = {name: [] for name in NAMES}
        for number in range(-1, rounds):
            for name, words, stdin in _round(number, Path(scratch)):
                cost = run(words, here, stdin)
                if number >= 0:  # the first round warms the disk's cache
                    costs[name].append(cost)
    return _report(costs)


def _round(number: int, folder: Path) -> list[tuple[str, list[str], Path | None]]:
    """The command lines of a round, and what each reads."""
    question, talk, turn = (folder / name for name in ("question", "talk", "turn.jsonl"))
    question.write_text(_line("memory_questions", number))
    talk.write_text(_line("small_talk", number))
    turn.write_text(_turn(number))
    return [
        ("numpy", list(NUMPY), None),
        ("question", [CLSM, *RECALL], question),
        ("small talk", [CLSM, *RECALL], talk),
        ("context", [CLSM, *CONTEXT], None),
        ("capture", [CLSM, *CAPTURE], turn),
        ("understood", [CLSM, "ingest", "--quiet"], None),
    ]


def _line(name: str, number: int) -> str:
    lines = (LISTS / f"{name}.txt").read_text("utf-8").splitlines()
    return lines[number % len(lines)]


def _turn(number: int) -> str:
    """What a person and the agent said, new every time."""
    said = (("user", f"Turn {number}: the ferry leaves at nine."), ("assistant", "Noted."))
    rows = [
        {"role": role, "content": text, "timestamp": 1_795_429_135_000 + 10_000 * number + place}
        for place, (role, text) in enumerate(said)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def _report(costs: dict[str, list[Cost]]) -> int:
    """Print medians and 95th percentiles, and the latter by those of numpy."""
    rows, is_met = [], True
    for name, told in NAMES.items():
        cells = [told]
        for of in ("cpu", "wall"):
            (median, slow), (_, yardstick) = (_ends(costs[n], of) for n in (name, "numpy"))
            cells += [f"{1000 * median:.0f}", f"{1000 * slow:.0f}", f"{slow / yardstick:.2f}"]
            is_met &= of == "wall" or slow <= TARGETS.get(name, 1e9) * yardstick
        rows.append(cells)
    print(table(HEAD, rows))
    return 0 if is_met else 1


def _ends(costs: list[Cost], of: str) -> tuple[float, float]:
    """The median and the 95th percentile of what processes cost."""
    values = [float(getattr(cost, of)) for cost in costs]
    return statistics.median(values), statistics.quantiles(values, n=20, method="inclusive")[-1]


if __name__ == "__main__":
    raise SystemExit(main())
