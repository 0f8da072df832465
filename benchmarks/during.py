"""What a recall costs while a run is at work, against what it costs when nothing else is.

One command: ``python -m benchmarks.during WORK NOTES``. A memory that holds the sample's workspace
and sessions, slept on, takes in the folder NOTES (``ingest``) and sleeps (``consolidate``); at an
even pace, from the first second of each run to its last, a question is put to it and twice to a copy
from before the run, one right after the other and in turn first, each as a process of its own: so all
meet the same machine. CPU seconds are user and system time of the recall alone, as the kernel counts
them: a hook pays them, however busy the machine is. Target: no recall costs more than 1.3 times the first
of the copy's; the copy's second against its first is the control, which shows what is noise. During
``consolidate`` an answer must be, to the byte, what it was before or is behind it; of ``ingest`` the new
notes may show as soon as they are indexed. The night is then slept again (``--rebuild``) with a turn
captured at its beginning, which each recall adds by its words; such an answer says so, and is not compared.

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
from typing import TYPE_CHECKING, Any, Literal

from benchmarks.measure import (
    AFTER_SAMPLE,
    CLSM,
    OUTSIDE,
    Cost,
    environment,
    make_sample,
    run,
    save,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET = 1.3  # of the worst CPU ratio
UNITS: tuple[Literal["cpu", "wall"], ...] = ("cpu", "wall")
RATIOS = tuple(
    f"{name} {unit}"
    for unit in UNITS
    for name in ("median", "worst", "control's median", "control's worst")
)
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
    is_met = all(each["worst cpu"] <= TARGET for each in figures.values())
    return 0 if is_met and not figures["consolidate"]["other answers"] else 1


def _during(
    memory: Path, words: tuple[str, ...], pause: float, captured: str = ""
) -> dict[str, Any]:
    """The costs of recalls during a run, in which a turn may be captured, beside those on a copy."""
    copy = memory.with_name("idle")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(memory, copy)
    here, aside = environment(memory), environment(copy)
    known = {
        question: {_answered(question, each) for each in (here, aside)} for question in QUESTIONS
    }
    asked: list[tuple[Cost, Cost, Cost]] = []
    answers: list[tuple[str, bytes]] = []
    with subprocess.Popen(
        [*CLSM, *words, "--quiet", *NOW], cwd=OUTSIDE, env=here, stdout=subprocess.DEVNULL
    ) as night:
        for question in _while(night, pause):
            if captured and not asked:
                time.sleep(pause)  # the run has the lock
                command = [*CLSM, "ingest", "--capture", "--quiet", "-", *NOW]
                subprocess.run(command, cwd=OUTSIDE, env=here, check=True, input=captured.encode())
            costs = _costs(question, (here, aside, aside), first=len(asked) % 3)
            if night.poll() is not None:
                break  # the last may have been asked behind the run
            asked.append(costs)
            if not captured:
                answers.append((question, _answered(question, here)))
    if night.returncode:
        raise RuntimeError(f"clsm {words[0]} ended with {night.returncode}")
    for question, found in known.items():
        found.add(_answered(question, here))
    return {
        "recalls": len(asked),
        "idle": round(statistics.median(idle.cpu for _, idle, _ in asked), 4),
        **_ratios(asked),
        "other answers": sum(answer not in known[question] for question, answer in answers),
    }


def _costs(
    question: str, memories: tuple[dict[str, str], ...], *, first: int
) -> tuple[Cost, Cost, Cost]:
    """What a question costs in each of three environments, asked one after the other from the first on."""
    order = [(first + step) % 3 for step in range(3)]
    costs = {each: run([*CLSM, *ASKED, question], memories[each]) for each in order}
    return costs[0], costs[1], costs[2]


def _ratios(asked: list[tuple[Cost, Cost, Cost]]) -> dict[str, float]:
    """The median and the worst of memory ÷ copy, and of copy ÷ copy, in CPU and in wall time."""
    ratios: list[float] = []
    for unit in UNITS:
        for which in (0, 2):
            each = [getattr(costs[which], unit) / getattr(costs[1], unit) for costs in asked]
            ratios += [statistics.median(each), max(each)]
    return dict(zip(RATIOS, (round(ratio, 3) for ratio in ratios), strict=True))


def _while(night: subprocess.Popen[bytes], pause: float) -> Iterator[str]:
    """A question now and then, as long as a process runs."""
    for question in cycle(QUESTIONS):
        if night.poll() is not None:
            return
        yield question
        time.sleep(pause)


def _answered(question: str, here: dict[str, str]) -> bytes:
    command = [*CLSM, *ASKED, question]
    return subprocess.run(command, cwd=OUTSIDE, env=here, check=True, capture_output=True).stdout


def _table(figures: dict[str, Any], megabytes: float) -> list[str]:
    """A Markdown table."""
    head = [f"while, {megabytes:.1f} MB of notes", "recalls", "idle CPU ms"]
    head += [*(f"{each} ÷ idle" for each in RATIOS), "target", "other answers"]
    rows = []
    for name, each in figures.items():
        shown = [f"{each[which]:.2f}" for which in RATIOS]
        row = [name, str(each["recalls"]), f"{1000 * each['idle']:.0f}", *shown, f"≤ {TARGET:g}"]
        rows.append([*row, str(each["other answers"])])
    return table(head, rows).splitlines()


if __name__ == "__main__":
    sys.exit(main())
