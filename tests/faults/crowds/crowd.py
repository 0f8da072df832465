"""Many processes on one store at once, some of them killed, and what is acknowledged is there (promise 5).

Eight writers ask for one command after the other: notes, captures of a hook, recalls that are
logged, corrections, ingests of a document, undos of a note, now and then a forget or a consolidation.
Each command is a process. About four times a second one of them gets SIGKILL; half of those that were
killed or locked out are asked for again, word for word. What was acknowledged is written down outside.
All the time a reader recalls what was there before the crowd.

When the writers are done, one consolidation ends what was begun and moves all turns to episodes, while
the reader goes on. Then every acknowledged text is there once, none that was acknowledged as forgotten
or undone, every corrected value is the last that was acknowledged or one asked for later, every
acknowledged recall is logged, no more often than it ran (a kill may come behind the line), and
``status`` finds nothing but torn ends of logs. No process may end by a bug, nor with a code that its
command does not justify; every reader found everything, whole and once.

The stores lie in memory and there is no model, so that a process is short; the long form has a new
store every 500 acknowledged commands, as each of them reads the inbox. Not shown: two machines on one
folder, network file systems.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import forking
from faults.crowds import writers
from faults.crowds.writers import History, Writer
from faults.rig import Outcome, Rig
from faults.running.laying import environment
from faults.running.wording import opened
from forking import Ended
from ingesting import scratch

WRITERS = 8
ANCHORS = 12
"""Memories that are there from the beginning, which every reader must find."""
READ_EVERY = 0.25
"""Seconds between two readers at least."""
A_STORE = 500
"""Acknowledged commands, after which another store is begun."""
KILLED = 3
"""Processes that are killed at least."""
LATE = 600.0
_READ = ("recall", "anchor", "--json", "--no-touch", "-k", "50", "--min-score", "0")


@dataclass(slots=True)
class Told:
    """What became of a crowd: how commands ended, readers, and how many signals were sent."""

    ended: Counter[int] = field(default_factory=Counter)
    sent: int = 0
    readers: int = 0
    stores: int = 0
    violations: list[str] = field(default_factory=list)


class Herd:
    """A crowd on a store of its own, a thread each.

    Args:
        forks: A process that forks commands for each writer, for what is done alone, and the reader.
        every: Seconds between two kills, in the mean.
    """

    def __init__(
        self, forks: list[forking.Forks], folder: Path, told: Told, every: float, program: str
    ) -> None:
        self._forks, self._folder, self._told = forks, folder, told
        self._store = folder / "memory"
        self._environment = environment(folder.parent, model=False)
        self._history = History()
        self._every, self._program = every, program
        self._busy: dict[int, int] = {}
        self._is_over = threading.Event()
        self._is_quiet = threading.Event()

    def _run(self, number: int, *words: str, stdin: bytes = b"") -> Ended:
        """A command of a writer, which may be killed, or of somebody whom nobody disturbs."""
        streams, program = forking.in_memory(stdin), self._program
        pid = self._forks[number].begin(
            words, self._environment, "/", streams, program=program, hear="imports"
        )
        if number < WRITERS:
            self._busy[number] = pid
        ended = self._forks[number].end(LATE)
        self._busy.pop(number, None)
        return ended

    def _do(self, *words: str) -> Ended:
        """A command that must succeed."""
        ended = self._run(WRITERS, *words, "--store", str(self._store))
        if ended.code != 0:
            self._told.violations.append(f"{words[0]}, alone: {ended.code}: {ended.err[-200:]!r}")
        return ended

    def lay(self) -> None:
        """The store before: statements to correct, and something to recall, whose turns wait."""
        self._run(WRITERS, "init", str(self._store), "--time-zone", "UTC")
        lines = [f"- The crate {number} holds 0 bolts.\n" for number in range(WRITERS)]
        head = "---\ntitle: Crowd\nstream: projects\ntopic: crowd\n---\n"
        (self._store / "projects/crowd.md").write_text(head + "".join(lines))
        self._do("consolidate", "--now", "2026-02-20T09:00:00Z")
        for number in range(ANCHORS):
            now = f"2026-03-01T11:00:{number:02}Z"
            self._do("note", f"Anchor {number} lies deep.", "--now", now)

    def work(self, until: Callable[[], bool], seed: int) -> None:
        """Let them write and read until it is enough, then until all have ended; and check."""
        rng, clock = random.Random(seed), count()
        crowd = [Writer(n, self._folder, self._history, clock, seed) for n in range(WRITERS)]
        with ThreadPoolExecutor(WRITERS + 1) as pool, ExitStack() as at_end:
            at_end.callback(self._is_quiet.set)
            at_end.callback(self._is_over.set)
            at_work = [pool.submit(self._write, *each) for each in enumerate(crowd)]
            reader = pool.submit(self._read)
            while not until() and not any(each.done() for each in (*at_work, reader)):
                time.sleep(min(1.0, rng.expovariate(1 / self._every)))
                if self._busy and self._every < LATE:
                    with suppress(IndexError, ProcessLookupError):  # it has just ended
                        os.kill(rng.choice([*self._busy.values()]), signal.SIGKILL)
                        self._told.sent += 1
            self._is_over.set()
            for each in at_work:
                each.result()
            self._do("consolidate", "--now", "2026-03-20T09:00:00Z")
            self._is_quiet.set()
            reader.result()
        self._check()

    def _write(self, number: int, writer: Writer) -> None:
        while not self._is_over.is_set():
            asked = writer.next()
            ended = self._run(number, *asked.words, stdin=asked.stdin)
            self._told.ended[ended.code] += 1
            writer.tell(asked, ended)

    def _read(self) -> None:
        """Every anchor is there, whole and once."""
        wanted = [f"Anchor {number} lies deep." for number in range(ANCHORS)]
        while not self._is_quiet.wait(READ_EVERY):
            self._told.readers += 1
            ended = self._run(WRITERS + 1, *_READ, "--store", str(self._store))
            if ended.code != 0 or ended.has_traceback:
                found = [f"a reader ended with {ended.code}: {ended.err[-300:]!r}"]
            else:
                seen = Counter(memory["text"] for memory in json.loads(ended.out)["memories"])
                found = [f"a reader saw {t!r} {seen[t]} times" for t in wanted if seen[t] != 1]
            self._told.violations += found

    def _check(self) -> None:
        """Compare the store with what was acknowledged."""
        self._told.stores += 1
        told = json.loads(self._do("status", "--json").out or b"{}")
        found = [f"status: {p}" for p in told.get("problems") or () if ".jsonl" not in p["path"]]
        self._told.violations += [*found, *self._history.compare(opened(self._store))]


def _crowd(
    operations: int, seconds: float, every: float = 0.25, program: str = forking.CLSM
) -> Outcome:
    """Crowds one after the other, until it is enough, or until something broken is found out."""
    told = Told()
    is_broken = program != forking.CLSM

    def is_over() -> bool:
        if is_broken:
            return time.monotonic() > end or bool(told.violations)
        is_enough = told.ended[-9] >= KILLED and told.ended[0] >= operations
        return time.monotonic() > end and is_enough

    with scratch() as root, ExitStack() as stack:
        env = environment(root, model=False)
        made = (forking.Forks(env, ("clsm_cli.app",)) for _ in range(WRITERS + 2))
        forks = [stack.enter_context(each) for each in made]
        first, folder = root / "first", root / "herd"
        first.mkdir()
        Herd(forks, first, told, every, program).lay()
        end = time.monotonic() + seconds
        while not is_over():
            shutil.copytree(first, folder)
            most = told.ended[0] + A_STORE
            Herd(forks, folder, told, every, program).work(
                lambda most=most: is_over() or told.ended[0] >= most,  # type: ignore[misc]
                10_000 + told.stores,
            )
            shutil.rmtree(folder)
    return Outcome(
        "8 writers and a reader",
        "no lock" if is_broken else "SIGKILL",
        planned=told.ended[0] if is_broken else told.sent,
        fired=told.ended[0] if is_broken else told.ended[-9],
        violations=told.violations,
        more=f"{told.ended[0]:,} acknowledged commands; {told.ended[75]:,} locked out;"
        f" {told.stores:,} stores; {told.readers:,} readers",
    )


def _control() -> Iterator[Outcome]:
    """Writers for whom the lock is always free, until something is wrong."""
    mix, writers.MIX = writers.MIX, {"correct": 1}
    try:
        yield _crowd(0, 60, LATE, "faults.broken:unlocked")
    finally:
        writers.MIX = mix


RIG = Rig(
    "crowd",
    promises=(5,),
    short=lambda: [_crowd(40, 4)],
    long=lambda: [_crowd(100_000, 0)],
    control=_control,
)
