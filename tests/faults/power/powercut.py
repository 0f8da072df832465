"""Cut the power of a real file system while clsm works, and see what is left.

An image of ext4 (with its default options, without ``auto_da_alloc``, with a commit each second) or
xfs holds a store. Commands run on it one after the other, as in a busy day; at a random moment the
kernel is told to shut the file system down (xfstests' godown): what was not written is lost, also
in the journal. Then the command is killed, the image mounted again and its journal replayed, and

- all that any command promised before the cut is there, with its id, and all that was forgotten or
  undone is not, not even as bytes of a file;
- every file can be read, but for a torn line at the end of a log;
- recalls are in the log of activations, but for those of the last 5 s (xfs: 30 s, its own time);
- the next commands succeed: the store goes on from where it is, for 25 cuts;
- in the end the index, deleted and made anew, gives the same answers as the one that went through
  all that.

Not shown: a disk that lies when it is told to flush, or spoils blocks that nobody wrote to.
"""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

from faults.power import mounts
from faults.power.powerlife import HEAVY, LIGHT, Life, missing
from faults.rig import Outcome, Rig
from faults.running.laying import environment, ground
from faults.running.swarm import Ended, Forks, Running
from ingesting import scratch

VARIANTS = (("ext4", ""), ("ext4", "noauto_da_alloc"), ("ext4", "commit=1"), ("xfs", ""))
CUTS, LIFE = 125, 25
"""Cuts of a variant, and of one image."""
MIB = {"ext4": 64, "xfs": 300}
PATIENCE = {"ext4": 5.0, "xfs": 30.0}
"""Seconds after which what was only written survives."""
GRACE = 3.0
"""Seconds more that are granted: on a busy machine the kernel writes later."""
SYNCED = 3
"""One cut in so many comes right after all was written."""
IDLE = {"ext4": 3, "xfs": 1}
"""Lives in which nothing happens between a recall and the cut that it must survive."""


class Cutter:
    """One variant: an image with a store, and what happens to it."""

    def __init__(
        self, stack: ExitStack, kind: str, options: str, before: Callable[[], object] | None
    ) -> None:
        self.kind = kind
        self.disk = stack.enter_context(mounts.disk(kind, options))
        self.folder = stack.enter_context(scratch())
        self.forks = Forks(environment(self.folder, model=True), before)
        self.rng = random.Random(f"{kind} {options}")
        self.outcome = Outcome(f"{kind} {options}".strip(), "power cut")
        self.commands = self.promises = self.young = self.within = 0
        self.image = self.folder / "template"
        self.disk.make(MIB[kind])
        self.disk.mount()
        shutil.copytree(ground().before("slept"), self.disk.point / "memory")
        self.disk.unmount()
        self.disk.keep(self.image)

    def live(self, cuts: int, *, idle: bool) -> None:
        """A new image with a store, and some cuts of its power, until something is wrong."""
        self.disk.bring(self.image)
        self.disk.mount()
        sources = self.folder / "sources"
        shutil.rmtree(sources, ignore_errors=True)
        sources.mkdir()
        life = Life(self.disk.point / "memory", sources, self.rng)
        life.learn()
        for number in range(cuts):
            self.outcome.planned += 1
            is_heavy = self.rng.random() < 0.35
            kinds = iter([life.some(HEAVY) if is_heavy else "note"])
            seconds = self.rng.uniform(0.02, 2.2 if is_heavy else 0.5)
            if idle and number == cuts - 1:
                kinds, seconds = iter(["note", "recall", ""]), 60.0
            if not self._lives(life, kinds, time.monotonic() + seconds):
                break
        else:
            self._agree(life)
        self.promises += len(life.promised.texts)
        self.disk.unmount()

    def _lives(self, life: Life, kinds: Iterator[str], end: float) -> bool:
        """Run commands until the power is cut; whether all was well.

        Args:
            life: Chooses them.
            kinds: The first of them; "" waits until all must be safe, and cuts.
            end: When the power is cut, where it does not wait (``time.monotonic``).
        """
        while True:
            kind = next(kinds, None)
            if kind == "":
                time.sleep(PATIENCE[self.kind] + GRACE)
                return self._cut(life, "idleness", None)
            step = life.step(kind or life.some(LIGHT))
            running: Running | None = self.forks.start(step.words, step.stdin)
            for _, ended in self.forks.ended(end - time.monotonic()):
                running = None
                if ended.code == 0 or ended.code != step.refuses:
                    if not self._ended(step.kind, ended):
                        return False
                    step.kept(json.loads(ended.out))
            if time.monotonic() >= end:
                return self._cut(life, step.kind, running)

    def _cut(self, life: Life, kind: str, running: Running | None) -> bool:
        """Cut the power, bring it back, and look; whether all was well."""
        cut = time.monotonic()
        self.disk.cut(synced=self.rng.randrange(SYNCED) == 0)
        self.outcome.fired += 1
        if running is not None:  # what it did after the cut was never promised
            running.kill()
            list(self.forks.ended(60.0))
            self.within += 1
        self.disk.unmount()
        self.disk.mount()
        wrong, young = missing(life, cut, PATIENCE[self.kind] + GRACE)
        gc.collect()  # what maps a file of the disk
        self.young += young
        self.outcome.violations += [f"{self.outcome.fired}, in {kind}: {each}" for each in wrong]
        return not wrong

    def _ended(self, kind: str, ended: Ended) -> bool:
        """Whether a command ended well."""
        self.commands += 1
        if ended.code == 0 and not ended.has_traceback:
            return True
        text = ended.err.decode(errors="replace")[-300:]
        self.outcome.violations.append(f"{kind} ended with {ended.code}: {text!r}")
        return False

    def _agree(self, life: Life) -> None:
        """The index tells what one that is made anew does; a night completes what was begun."""
        texts = self.rng.sample([*life.promised.texts], min(3, len(life.promised.texts)))
        where = ("--store", str(life.root), "--json")
        self._ended("consolidate", self.forks.run(("consolidate", *where)))
        asked = [("recall", "--no-touch", "--now", "2030-01-01", text, *where) for text in texts]
        first = [self.forks.run(words) for words in asked]
        shutil.rmtree(life.root / ".clsm" / "index")
        for text, one, words in zip(texts, first, asked, strict=True):
            other = self.forks.run(words)
            if not (self._ended("recall", one) and self._ended("recall", other)):
                return
            if one.out != other.out:
                self.outcome.violations.append(f"another answer from a new index: {text}")
            if text not in one.out.decode():
                self.outcome.violations.append(f"not found: {text}")


def _cut(kind: str, options: str, cuts: int, before: Callable[[], object] | None = None) -> Outcome:
    began = time.monotonic()
    with ExitStack() as stack:
        cutter = Cutter(stack, kind, options, before)
        each = LIFE if before is None else 1  # what is broken begins anew after each cut
        for number in range(cuts // each):
            cutter.live(each, idle=before is None and number < IDLE[kind])
        found = cutter.outcome
    found.seconds = time.monotonic() - began
    found.more = (
        f"{cutter.within} in the middle of a command; {cutter.commands:,} commands ended before;"
        f" {cutter.promises:,} turns promised; {cutter.young} recalls of the last"
        f" {PATIENCE[kind]:g} s lost"
    )
    return found


def long() -> Iterator[Outcome]:
    """Every variant."""
    for kind, options in VARIANTS:
        yield _cut(kind, options, CUTS)


def _unsynced() -> None:
    """A bad habit: files are renamed, and nobody waits until they are on the disk."""

    def fsync(fd: int) -> None:
        """Nothing."""

    os.fsync = fsync  # type: ignore[assignment]  # also for files


def control() -> Iterator[Outcome]:
    """A clsm that renames without fsync."""
    for kind in ("ext4", "xfs"):
        found = _cut(kind, "", 10, _unsynced)
        found.fault = "power cut, without fsync"
        yield found


RIG = Rig(
    name="powercut",
    promises=(1, 3, 12),
    short=None,
    long=long,
    control=control,
    needs=("mount", "mkfs.ext4", "mkfs.xfs"),
    root=True,
)
