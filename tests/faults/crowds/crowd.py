"""Many processes on one store at once, some of them killed, and what is acknowledged is there (promise 5).

Eight writers ask for one command after the other: notes, captures of a hook, recalls that are
logged, feedback, pins, corrections, ingests of a document, undos of a note, now and then a forget, a
consolidation, a dry decay. Each command is a process, forked from one that has imported clsm. About
four times a second one of them gets SIGKILL; half of those that were killed or locked out are asked
for again, word for word. What was acknowledged is written down outside. All the time a reader
recalls what was there before the crowd.

When the writers are done, one consolidation ends what was begun. Then every acknowledged text is
there once, none that was acknowledged as forgotten or undone, every corrected value and pin is the
last that was acknowledged or one asked for later, every acknowledged recall is logged, no more often
than it ran (a kill may come behind the line), and ``status`` finds nothing but torn ends of logs. No
process may end by a bug, nor with a code that its command does not justify; every reader found
everything, whole and once.

The stores lie in memory and there is no model, so that a process is short; the long form has a new
store every 500 acknowledged commands, as each of them reads the inbox. The crowd is driven by a
process of its own (``python -m faults.crowds.crowd``), as that forks every command. Not shown: two
machines on one folder, network file systems.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path

from faults.crowds import writers
from faults.crowds.writers import Asked, Writer
from faults.rig import Outcome, Rig
from faults.running.history import History
from faults.running.laying import environment
from faults.running.swarm import Ended, Forks, Running

from clsm_cli.store import layout, lock

PATIENCE = 4 * 3600
WRITERS = 8
ANCHORS = 12
"""Memories that are there from the beginning, which every reader must find."""
READ_EVERY = 0.25
"""Seconds between two readers at least."""
A_STORE = 500
"""Acknowledged commands, after which another store is begun."""
KILLED = 3
"""Processes that are killed at least."""
_READ = ("recall", "anchor", "--json", "--no-touch", "-k", "50", "--min-score", "0")


@dataclass(slots=True)
class Told:
    """What became of a crowd; all counts are of processes.

    Attributes:
        acknowledged: Commands that ended with 0; ``locked_out``: with 75.
        sent: Signals, and ``killed``: processes that died of one.
    """

    acknowledged: int = 0
    locked_out: int = 0
    sent: int = 0
    killed: int = 0
    readers: int = 0
    stores: int = 0
    violations: list[str] = field(default_factory=list)


class Herd:
    """A crowd on a store of its own.

    Args:
        seed: Of what is asked for, and who is killed.
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
        kill_at = time.monotonic() + self._rng.expovariate(1 / self._every)
        while not until() or self._busy or self._reader:
            if not until():
                self._start()
            for running, ended in self._forks.ended(max(0.0, kill_at - time.monotonic())):
                self._take(running, ended)
            if time.monotonic() >= kill_at:
                kill_at = time.monotonic() + self._rng.expovariate(1 / self._every)
                if self._busy:
                    self._told.sent += 1
                    self._rng.choice(list(self._busy)).kill()
        self._check()

    def _start(self) -> None:
        """Whoever has nothing to do gets a command."""
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
        if running == self._reader:
            self._reader = None
            told.readers += 1
            told.violations += _misread(ended)
            return
        writer, asked = self._busy.pop(running)
        told.killed += ended.code == -9
        told.locked_out += ended.code == 75
        told.acknowledged += ended.code == 0
        if wrong := writer.tell(asked, ended):
            self._wrong(wrong)

    def _check(self) -> None:
        """The store is quiet: end what was begun, and compare it with what was acknowledged."""
        self._told.stores += 1
        self._do("consolidate", "--now", "2026-03-20T09:00:00Z", *self._here)
        self._told.violations += _misread(self._do(*_READ, *self._here))
        told = json.loads(self._do("status", "--json", *self._here).out or b"{}")
        for each in told.get("problems") or []:
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


def _unlocked() -> None:
    """What the control breaks in each of its processes: everybody has the lock."""
    lock._acquire = lambda *_: True


def _drive(operations: int, seconds: float, every: float, *, is_broken: bool) -> Told:
    """Crowds one after the other, until it is enough, or until something broken is found out."""
    if is_broken:
        writers.MIX = {"correct": 1, "pin": 1}
    told = Told()
    root = Path(tempfile.mkdtemp(prefix="clsm-crowd-", dir="/dev/shm"))
    forks = Forks(environment(root, model=False), _unlocked if is_broken else None)

    def is_over() -> bool:
        is_late = time.monotonic() - began >= seconds
        if is_broken:
            return is_late or bool(told.violations)
        return is_late and told.killed >= KILLED and told.acknowledged >= operations

    try:
        first, folder = root / "first", root / "herd"
        first.mkdir()
        Herd(forks, first, told, 0, every).lay()
        began = time.monotonic()
        while not is_over():
            shutil.copytree(first, folder)
            most = told.acknowledged + A_STORE
            herd = Herd(forks, folder, told, 10_000 + told.stores, every)
            herd.work(lambda most=most: is_over() or told.acknowledged >= most)  # type: ignore[misc]
            shutil.rmtree(folder)
    finally:
        shutil.rmtree(root)
    return told


def _crowd(
    operations: int, seconds: float, every: float = 0.25, *, is_broken: bool = False
) -> Outcome:
    began = time.monotonic()
    options = {
        "operations": operations, "seconds": seconds, "every": every, "is_broken": is_broken
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-m", "faults.crowds.crowd", json.dumps(options)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        timeout=PATIENCE,
    )
    told = Told(**json.loads(done.stdout))
    return Outcome(
        "8 writers and a reader",
        "no lock" if is_broken else "SIGKILL",
        planned=told.acknowledged if is_broken else told.sent,
        fired=told.acknowledged if is_broken else told.killed,
        violations=told.violations,
        seconds=time.monotonic() - began,
        more=f"{told.acknowledged:,} acknowledged commands; {told.locked_out:,} locked out;"
        f" {told.stores:,} stores; {told.readers:,} readers",
    )


def _short() -> Iterator[Outcome]:
    yield _crowd(40, 4)


def _long() -> Iterator[Outcome]:
    yield _crowd(100_000, 0)


def _control() -> Iterator[Outcome]:
    """Writers for whom the lock is always free, until something is wrong."""
    yield _crowd(0, 60, 1000, is_broken=True)


RIG = Rig("crowd", promises=(5,), short=_short, long=_long, control=_control)

if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(_drive(**json.loads(sys.argv[1])))))
