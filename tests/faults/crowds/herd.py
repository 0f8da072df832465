"""Drives a crowd of writers on one store, kills some of them, and checks what is left.

``python -m faults.crowds.herd`` is a process of its own, as it forks every command: see ``faults.crowds.crowd``.
It prints one JSON object.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from itertools import count
from pathlib import Path

from faults.crowds import writers
from faults.crowds.writers import Asked, Writer
from faults.running.history import History
from faults.running.laying import environment
from faults.running.swarm import Ended, Forks, Running

from clsm_cli.store import layout, lock

WRITERS = 8
ANCHORS = 12
"""Memories that are there from the beginning, which every reader must find."""
READ_EVERY = 0.25
"""Seconds between two readers at least."""
_READ = ("recall", "anchor", "--json", "--no-touch", "-k", "50", "--min-score", "0")
_BURN = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"
KILLED = 3
"""Processes that are killed at least."""
_MANY = 40
"""Violations that are told in full."""


@dataclass(slots=True)
class Told:
    """What became of a crowd; all counts are of processes.

    Attributes:
        acknowledged: Commands that ended with 0, and ``by_kind``.
        sent: Signals, and ``killed``: processes that died of one.
        locked_out: Commands that gave up waiting for the lock (75).
        tracebacks: Processes that ended by a bug.
        readings: Seconds that each reader took beside the writers; ``alone``: where nothing else
            ran; ``beside``: where as many processes as writers did nothing but use the processors.
    """

    acknowledged: int = 0
    by_kind: Counter[str] = field(default_factory=Counter)
    sent: int = 0
    killed: int = 0
    locked_out: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    tracebacks: int = 0
    readings: list[float] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    seconds: float = 0.0
    stores: int = 0


class Herd:
    """A crowd on a store of its own.

    Args:
        forks: Starts the commands.
        folder: For the store and the writers' documents.
        told: Added to.
        seed: Of what is asked for, and who is killed.
        every: Seconds between two kills on average.
    """

    def __init__(self, forks: Forks, folder: Path, told: Told, seed: int, every: float) -> None:
        self._forks, self._folder, self._told = forks, folder, told
        self._history = History()
        self._rng = random.Random(seed)
        self._every = every
        clock = count()
        self._writers = [
            Writer(number, folder, self._history, lambda: next(clock), seed)
            for number in range(WRITERS)
        ]
        self._busy: dict[Running, tuple[Writer, Asked]] = {}
        self._reader: Running | None = None
        self._store = folder / "memory"
        self._read_at = 0.0

    def lay(self) -> None:
        """The store before: something to recall, and statements to correct and to pin."""
        self._do("init", str(self._store), "--time-zone", "UTC")
        for number in range(ANCHORS):
            moment = f"2026-02-{number + 1:02}T09:00:00Z"
            self._do("note", f"Anchor {number} lies deep.", "--now", moment, *self._here)
        lines = [
            f"- The crate {n} holds 0 bolts.\n- The shelf {n} is blue.\n" for n in range(WRITERS)
        ]
        head = "---\ntitle: Crowd\nstream: projects\ntopic: crowd\n---\n"
        (self._store / "projects/crowd.md").write_text(head + "".join(lines))
        self._do("consolidate", "--now", "2026-02-20T09:00:00Z", *self._here)

    @property
    def _here(self) -> tuple[str, str]:
        return ("--store", str(self._store))

    def _do(self, *words: str) -> Ended:
        ended = self._forks.run(words)
        if ended.code != 0:
            self._wrong(f"{words[0]}, alone, ended with {ended.code}: {ended.err[-200:]!r}")
        return ended

    def _wrong(self, text: str) -> None:
        self._told.violations.append(text)

    def work(self, until: Callable[[], bool]) -> None:
        """Let them write and read until it is enough, then until all have ended; and check."""
        kill_at = time.monotonic() + self._pause()
        while not until() or self._busy or self._reader:
            self._start(is_over=until())
            for running, ended in self._forks.ended(max(0.0, kill_at - time.monotonic())):
                self._take(running, ended)
            if time.monotonic() >= kill_at:
                kill_at = time.monotonic() + self._pause()
                if self._busy:
                    self._told.sent += 1
                    self._rng.choice(list(self._busy)).kill()
        self._check()

    def read(self, times: int) -> list[float]:
        """Seconds of readers, one after the other."""
        ended = [self._do(*_READ, *self._here) for _ in range(times)]
        self._told.violations += [text for each in ended for text in _misread(each)]
        return [each.seconds for each in ended]

    def _pause(self) -> float:
        return self._rng.expovariate(1 / self._every)

    def _start(self, *, is_over: bool) -> None:
        """Whoever has nothing to do gets a command, unless it is enough."""
        if is_over:
            return
        at_work = {id(writer) for writer, _ in self._busy.values()}
        for writer in self._writers:
            if id(writer) not in at_work:
                asked = writer.next()
                self._busy[self._forks.start(asked.words, asked.stdin)] = (writer, asked)
        if self._reader is None and time.monotonic() >= self._read_at:
            self._read_at = time.monotonic() + READ_EVERY
            self._reader = self._forks.start((*_READ, *self._here))

    def _take(self, running: Running, ended: Ended) -> None:
        told = self._told
        told.tracebacks += ended.has_traceback
        if running == self._reader:
            self._reader = None
            told.readings.append(ended.seconds)
            told.violations += _misread(ended)
            return
        writer, asked = self._busy.pop(running)
        told.killed += ended.code == -9
        told.locked_out += ended.code == 75
        told.acknowledged += ended.code == 0
        told.by_kind[asked.kind] += ended.code == 0
        if ended.code not in (0, 75, -9):
            told.refused[f"{asked.kind} {ended.code}"] += 1
        if wrong := writer.tell(asked, ended):
            self._wrong(wrong)

    def _check(self) -> None:
        """The store is quiet: end what was begun, and compare it with what was acknowledged."""
        self._told.stores += 1
        self._do("consolidate", "--now", "2026-03-20T09:00:00Z", *self._here)
        self._told.violations += _misread(self._do(*_READ, *self._here))
        problems = json.loads(self._do("status", "--json", *self._here).out or b"{}").get(
            "problems"
        )
        for each in problems or []:
            if not each["path"].endswith(".jsonl"):
                self._wrong(f"status: {each}")
        store = layout.open_store(self._store, {"CLSM_DEVICE": "pi"})
        self._told.violations += self._history.wrong(store)


def _misread(ended: Ended) -> list[str]:
    """What is wrong with what a reader was answered: every anchor is there, whole and once."""
    if ended.code != 0 or ended.has_traceback:
        return [f"a reader ended with {ended.code}: {ended.err[-300:]!r}"]
    texts = Counter(memory["text"] for memory in json.loads(ended.out)["memories"])
    wanted = [f"Anchor {number} lies deep." for number in range(ANCHORS)]
    return [f"a reader saw {text!r} {texts[text]} times" for text in wanted if texts[text] != 1]


def _readings(herd: Herd, told: Told, times: int) -> None:
    """Readers of a store whose writers have ended: alone, and beside as many who use the processors."""
    told.alone = herd.read(times)
    burners = [subprocess.Popen([sys.executable, "-c", _BURN]) for _ in range(WRITERS)]
    try:
        told.beside = herd.read(times)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _progress(told: Told) -> None:
    """A line for whoever watches."""
    counts = f"{told.acknowledged} acknowledged, {told.killed} killed, {told.locked_out} locked out"
    sys.stderr.write(f"{counts}, {len(told.violations)} wrong\n")


def _is_enough(told: Told, most: int, is_over: Callable[[], bool]) -> bool:
    return is_over() or told.acknowledged >= most


def _unlocked() -> None:
    """What the control breaks in each of its processes: everybody has the lock."""
    lock._acquire = lambda *_: True


def main() -> int:
    """Run a crowd and tell what became of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=0, help="acknowledged ones, at least")
    parser.add_argument("--seconds", type=float, default=0.0, help="at least")
    parser.add_argument("--a-store", type=int, default=500, help="acknowledged ones, each store")
    parser.add_argument("--every", type=float, default=0.25, help="seconds between two kills")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--readings", type=int, default=0, help="of readers without writers")
    parser.add_argument("--unlocked", action="store_true", help="until something is wrong")
    given = parser.parse_args()
    if given.unlocked:
        writers.MIX = {"correct": 1, "pin": 1}
    told = Told()
    root = Path(tempfile.mkdtemp(prefix="clsm-crowd-", dir="/dev/shm"))
    forks = Forks(environment(root, model=False), _unlocked if given.unlocked else None)

    def is_over() -> bool:
        is_late = time.monotonic() - began >= given.seconds
        if given.unlocked:
            return is_late or bool(told.violations)
        return is_late and told.killed >= KILLED and told.acknowledged >= given.operations

    try:
        first = root / "first"
        first.mkdir()
        Herd(forks, first, told, 0, given.every).lay()
        began = time.monotonic()
        while not is_over():
            folder = root / "herd"
            shutil.copytree(first, folder)
            herd = Herd(forks, folder, told, given.seed * 10_000 + told.stores, given.every)
            most = told.acknowledged + given.a_store
            herd.work(partial(_is_enough, told, most, is_over))
            if is_over() and given.readings:
                _readings(herd, told, given.readings)
            shutil.rmtree(folder)
            _progress(told)
    finally:
        shutil.rmtree(root)
    told.seconds = time.monotonic() - began
    more = len(told.violations) - _MANY
    told.violations[_MANY:] = [f"{more} more"] if more > 0 else []
    sys.stdout.write(json.dumps({each.name: getattr(told, each.name) for each in fields(told)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
