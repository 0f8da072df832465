"""What a recall costs while a run is at work, against what it costs when nothing else is.

One command: ``python -m benchmarks.during WORK NOTES``. A memory that holds the sample's workspace
and sessions, slept on, takes in the folder NOTES (``ingest``) and sleeps (``consolidate``); at an
even pace, from the first second of each run to its last, recalls are asked as processes of their
own. CPU seconds are user and system time of the recall alone, as the kernel counts them: a hook pays
them, however busy the machine is. They are held against the same questions asked with nothing at
work, before the run or after it, whichever is the dearer (after an ingest there is more to search).
Target: the worst at most 1.3 times the median of those. During ``consolidate`` an answer must be, to
the byte, what it was before or is behind it; of ``ingest`` the new notes may show as soon as they are indexed.
The night is then slept again (``--rebuild``) with a turn captured at its beginning, which each recall
adds by its words; such an answer says so, and is not compared.

WORK/memory is kept, so that ``--sleep`` can measure the second run alone on a copy of a memory that
was made before. Figures go to ``benchmarks/results/during.json``.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import time
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import (
    AFTER_SAMPLE,
    CLSM,
    OUTSIDE,
    environment,
    make_sample,
    run,
    save,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = 1.3
IDLE = 24
"""Recalls with nothing at work, on either side of a run."""
NOW = ("--now", AFTER_SAMPLE)
TURN = '{"role": "user", "session": "talk", "content": "The theremin is out of tune."}'
ASKED = ("recall", "--quiet", "--no-touch", "--json", *NOW)
QUESTIONS = (
    "What did we decide last week?",
    "Which rules do I have for the deployment?",
    "Who should be asked about the invoice?",
    "What is still open?",
    "What went wrong with the backup, and how was it mended?",
    "Where are the keys kept?",
)


def main() -> int:
    """Measure, print a Markdown table, and end with 1 when a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("notes", type=Path, help="a folder of notes; with --sleep, a memory")
    parser.add_argument("--sleep", action="store_true", help="measure consolidate alone")
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two recalls")
    given = parser.parse_args()
    memory = given.work.resolve() / "memory"
    if memory.exists():
        shutil.rmtree(memory)
    figures: dict[str, Any] = {}
    if given.sleep:
        shutil.copytree(given.notes, memory)
    else:
        make_sample(memory)
        words = ("ingest", str(given.notes.resolve()))
        figures["ingest"] = _during(memory, words, given.pause)
    figures["consolidate"] = _during(memory, ("consolidate",), given.pause)
    figures["the same, and a turn is captured"] = _during(
        memory, ("consolidate", "--rebuild"), given.pause, captured=TURN
    )
    lines = _table(figures, sum(path.stat().st_size for path in given.notes.rglob("*.md")) / 1e6)
    print("\n".join(lines))
    save("during", {"lines": lines, **figures})
    is_met = all(each["worst"] <= TARGET * each["idle"] for each in figures.values())
    return 0 if is_met and not figures["consolidate"]["other answers"] else 1


def _during(
    memory: Path, words: tuple[str, ...], pause: float, captured: str = ""
) -> dict[str, Any]:
    """The costs of recalls before, during and after a run; in which a turn may be captured."""
    here = environment(memory)
    questions = cycle(QUESTIONS)
    before = [_asked(next(questions), here) for _ in range(IDLE)]
    known = {question: {_answered(question, here)} for question in QUESTIONS}
    costs: list[float] = []
    answers: list[tuple[str, bytes]] = []
    with subprocess.Popen(
        [*CLSM, *words, "--quiet", *NOW], cwd=OUTSIDE, env=here, stdout=subprocess.DEVNULL
    ) as night:
        for question in _while(night, pause):
            if captured and not costs:
                time.sleep(pause)  # the run has the lock
                command = [*CLSM, "ingest", "--capture", "--quiet", "-", *NOW]
                subprocess.run(command, cwd=OUTSIDE, env=here, check=True, input=captured.encode())
            costs.append(_asked(question, here))
            if not captured:
                answers.append((question, _answered(question, here)))
    if night.returncode:
        raise RuntimeError(f"clsm {words[0]} ended with {night.returncode}")
    for question, found in known.items():
        found.add(_answered(question, here))
    after = [_asked(next(questions), here) for _ in range(IDLE)]
    idle = max(map(statistics.median, (before, after)))
    return {
        "recalls": len(costs),
        "idle": round(idle, 4),
        "median": round(statistics.median(costs), 4),
        "worst": round(max(costs), 4),
        "worst idle": round(max(*before, *after), 4),
        "other answers": sum(answer not in known[question] for question, answer in answers),
    }


def _while(night: subprocess.Popen[bytes], pause: float) -> Iterator[str]:
    """A question now and then, as long as a process runs."""
    for question in cycle(QUESTIONS):
        if night.poll() is not None:
            return
        yield question
        time.sleep(pause)


def _asked(question: str, here: dict[str, str]) -> float:
    return run([*CLSM, *ASKED, question], here).cpu


def _answered(question: str, here: dict[str, str]) -> bytes:
    command = [*CLSM, *ASKED, question]
    return subprocess.run(command, cwd=OUTSIDE, env=here, check=True, capture_output=True).stdout


def _table(figures: dict[str, Any], megabytes: float) -> list[str]:
    """A Markdown table."""
    ratios = ("median", "worst", "worst idle")
    head = [f"while, {megabytes:.1f} MB of notes", "recalls", "idle CPU ms"]
    head += [*(f"{which} ÷ idle" for which in ratios), "target", "other answers"]
    rows = []
    for name, each in figures.items():
        shown = [f"{each[which] / each['idle']:.2f}" for which in ratios]
        row = [name, str(each["recalls"]), f"{1000 * each['idle']:.0f}", *shown, f"≤ {TARGET:g}"]
        rows.append([*row, str(each["other answers"])])
    return table(head, rows).splitlines()


if __name__ == "__main__":
    sys.exit(main())
