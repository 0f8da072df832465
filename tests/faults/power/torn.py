"""Commands on a card that dies: a write that does half of its work, then everything that fails.

A store lies on a file system of our own (``tornfs``, through FUSE). ``torn``: the nth write of a
command writes half of its bytes and fails with EIO, as at a bad block. ``dead``: from its nth
operation on everything fails with EIO, reads too. About 40 places of each, spread over the command.
It must end with code 16 and one plain sentence, or have done all of its work; when the card works
again, all that was promised before is there, every file can be read, and the same command run again
leaves what it would have left at once.

A file that is mapped (the vectors, the database's own index of its log) and cannot be read is no error
that a program is told of: the kernel ends it with SIGBUS. That is counted, and leaves what a kill
leaves. Not shown: bytes that are read wrong without an error (see ``clsm doctor``).
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from faults.power import mounts
from faults.power.placed import DEAF, Placed
from faults.power.tornfs import ALL, AT, DEAD, FIRED, MODE, TORN, WHOLE, WRITES, plan
from faults.rig import Outcome, Rig
from faults.running.bench import Workers
from faults.running.scenarios import SCENARIOS, Scenario
from ingesting import scratch

POINTS = 40
"""Places of a command and fault."""
COMMANDS = (
    "note", "capture", "whole", "consolidate", "decay", "forget", "undo ingest", "correct",
    "feedback", "backup",
)  # fmt: skip
"""Of ``scenarios``; those that are not there are left out."""
FAULTS = {"torn write": (TORN, WRITES), "dead card": (DEAD, ALL)}
"""Fault → what breaks, and what is counted."""
TESTS = Path(__file__).parents[2]


@contextmanager
def card() -> Iterator[tuple[Path, memoryview[int]]]:
    """The folder where a card is seen, and the plan of what breaks; it is unmounted at the end."""
    with scratch() as folder:
        below, point, numbers = (folder / name for name in ("below", "card", "plan"))
        below.mkdir()
        point.mkdir()
        told = plan(numbers)
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "faults.power.tornfs", below, point, numbers],
            cwd=TESTS,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.monotonic() + mounts.PATIENCE
            while not mounts.is_mounted(point):
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError("FUSE cannot mount a file system")
                time.sleep(0.01)
            yield point, told
        finally:
            told[MODE] = WHOLE
            if mounts.is_mounted(point):
                subprocess.run(["umount", "-l", point], check=False)
            process.kill()
            process.wait()
            told.release()


class Broken:
    """A scenario on a card."""

    def __init__(self, scenario: Scenario, workers: Workers, stack: ExitStack) -> None:
        point, self._plan = stack.enter_context(card())
        self.bench = Placed(scenario, workers, point / "memory")
        self.buses = 0

    def count(self, what: int) -> int:
        """How many writes, or operations, an uninterrupted run makes."""
        self.bench.lay()
        self._plan[WRITES] = self._plan[ALL] = 0
        self.bench.forks.run(self.bench.command)
        return self._plan[what]

    def strike(self, mode: int, at: int) -> tuple[bool, list[str]]:
        """Whether it broke, and what is wrong then or afterwards."""
        self.bench.lay()
        self._plan[WRITES] = self._plan[ALL] = self._plan[FIRED] = 0
        self._plan[AT], self._plan[MODE] = at, mode
        ended = self.bench.forks.run(self.bench.command)
        self._plan[MODE] = WHOLE
        self.buses += ended.code == -signal.SIGBUS
        if not self._plan[FIRED]:
            return False, []
        return True, [*self.bench.wrong(ended), *self.bench.completed()]


def run(scenario: Scenario, fault: str, points: int, workers: Workers) -> Outcome:
    """One fault at some places of a command."""
    mode, counted = FAULTS[fault]
    began = time.monotonic()
    outcome = Outcome(scenario.name, fault)
    with ExitStack() as stack:
        broken = Broken(scenario, workers, stack)
        count = broken.count(counted)
        for at in sorted({1 + number * count // points for number in range(points)}):
            outcome.planned += 1
            fired, wrong = broken.strike(mode, at)
            outcome.fired += fired
            outcome.violations += [f"#{at}: {text}" for text in wrong]
    outcome.more = f"of {count:,} {'writes' if mode == TORN else 'operations'}"
    if broken.buses:
        outcome.more += f"; {broken.buses} ended by SIGBUS"
    outcome.seconds = time.monotonic() - began
    return outcome


def long() -> Iterator[Outcome]:
    """Every command and fault."""
    with Workers("cards") as workers:
        for scenario in SCENARIOS:
            for fault in FAULTS if scenario.name in COMMANDS else ():
                yield run(scenario, fault, POINTS, workers)


def control() -> Iterator[Outcome]:
    """A writer that goes on when a write fails."""
    with Workers("cards, control") as workers:
        for fault in FAULTS:
            yield run(DEAF, fault, 20, workers)


RIG = Rig(
    name="torn",
    promises=(2, 4),
    short=None,
    long=long,
    control=control,
    needs=("fuse", "fusermount3", "umount"),
    root=True,
)
