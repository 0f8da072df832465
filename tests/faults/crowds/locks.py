"""A killed process locks nobody out; waiting is bounded, and says who holds the lock (promise 6).

The holder is a real ``clsm ingest -`` whose standard input stays open. It is killed, or stopped and
then killed; its store is moved, or replaced by another, while somebody holds or waits for its lock. Around it real commands run as processes: hooks (``ingest - --capture``, ``recall``,
``context``), and a writer that may wait longer (``pin``). Who takes over must do so within a second
of its own start-up; a hook or a note puts aside what it is told; who gives up does so in its time,
with 75 and the holder's command and number, and leaves every byte as it was; who only reads never
waits.

Not shown: network file systems, where ``flock`` may hold nothing. A process that is forked without
another program being started would share the lock; clsm forks none.
"""

import json
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from faults.rig import Outcome, Rig
from faults.running.laying import environment
from faults.running.warm import Warm
from forking import CLSM
from ingesting import new_store, scratch, take, tree

from clsm_cli.store.layout import SIDE_MARK
from clsm_cli.store.lock import holder, try_locked

STALE = "faults.broken:stale"
"""clsm with a lock as git's: a file that is there or not."""
SLACK = 1.0
"""Seconds that a take-over, or giving up, may take beyond what it must."""
HOOK = 0.2
"""Seconds that a hook waits (``store.capture_wait``)."""
PATIENCE = 0.5
"""Seconds that other writers wait in these stores (``store.lock_wait``)."""
LATE = 120.0
ITEM = "f-0123456789ab"
_TURN = {"role": "user", "session": "main", "timestamp": "2026-03-01T12:00:00Z"}


class Place:
    """A store as it is before each situation, and what starts commands.

    Args:
        wait: Seconds that a hook waits; None: as long as it does by itself.
    """

    def __init__(self, folder: Path, clsm: Warm, program: str, wait: float | None) -> None:
        self.folder, self.clsm, self.program = folder, clsm, program
        self.wait = HOOK if wait is None else wait
        made = new_store(folder / "before")
        take(made, stdin=row("Anchor one lies deep."), capture_only=True)
        (made.root / "tasks/list.md").write_text(f"- Mend the stove.  ^{ITEM}\n")
        with (made.root / "clsm.yaml").open("a") as config:
            config.write(f"settings:\n  store.lock_wait: {PATIENCE:g}\n")
            config.write(f"  store.capture_wait: {wait:g}\n" if wait is not None else "")
        scene = Scene(self, "before")
        self.idle = 0.0
        """Seconds of a command that has nothing to wait for."""
        for words in (("pin", ITEM), ("recall", "anchor"), ("status",)):
            code, err, took = scene.run(*words)  # they make what any run makes
            assert code == 0, err
            self.idle = max(self.idle, took)

    def scene(self, number: int) -> "Scene":
        shutil.copytree(self.folder / "before", self.folder / f"{number}" / "memory")
        return Scene(self, f"{number}/memory")


def row(text: str) -> bytes:
    return json.dumps({**_TURN, "content": text}).encode()


class Scene:
    """A store, and commands around its lock."""

    def __init__(self, place: Place, name: str) -> None:
        self.place = place
        self.root = place.folder / name
        self.folder = self.root.parent

    def run(self, *words: str, stdin: bytes = b"") -> tuple[int, str, float]:
        """Exit code and errors of a command, and how long it took."""
        began = time.monotonic()
        told = self.place.clsm(*words, "--store", self.root, stdin=stdin, seconds=LATE)
        return told.code, told.err.decode().strip(), time.monotonic() - began

    @contextmanager
    def holder(self) -> Iterator[subprocess.Popen[bytes]]:
        """A clsm that holds the lock for as long as its input is open."""
        module, _, function = self.place.program.partition(":")
        start = ["-m", "clsm_cli"]
        if self.place.program != CLSM:
            start = ["-c", f"import {module} as program; program.{function}()"]
        words = ("ingest", "-", "--capture", "--store", str(self.root))
        process = subprocess.Popen(
            [sys.executable, *start, *words],
            env=environment(self.place.folder, model=False) | {"PYTHONPATH": ":".join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        end = time.monotonic() + LATE
        while not self.is_held(process.pid):
            assert time.monotonic() < end
            time.sleep(0.02)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def is_held(self, pid: int) -> bool:
        if self.place.program == STALE:
            return (self.root / "lock").exists()
        return f"(process {pid})" in (holder(self.root) or "")

    def taken_over(self) -> list[str]:
        """A writer comes after the holder has gone: it must have the lock at once."""
        code, err, took = self.run("pin", ITEM)
        if code != 0:
            return [f"who comes after ended with {code}: {err}"]
        return [f"the take-over took {took:.1f} s"] if took > self.latest else []

    @property
    def latest(self) -> float:
        """Seconds that a command may take that waits for nothing: this machine may be busy."""
        return SLACK + 3 * self.place.idle

    def given_up(self, pid: int) -> list[str]:
        """What others do while the lock is held: give up in time, put aside, read without it."""
        found = []
        before = tree(self.root, derived=True)
        hook = self.place.wait
        for words, wait, ends in (
            (("ingest", "-", "--capture"), hook, 0),
            (("note", "Put aside, too."), hook, 0),
            (("pin", ITEM), PATIENCE, 75),
        ):
            code, err, took = self.run(*words, stdin=row("This is put aside."))
            if code != ends or (code and f"clsm ingest (process {pid})" not in err):
                found.append(f"{words[0]} ended with {code}: {err}")
            if not wait <= took <= wait + self.latest:
                found.append(f"{words[0]} waited for {took:.1f} s, not {wait:g}")
        for read in ("recall anchor --no-touch", "context", "status"):
            code, err, took = self.run(*read.split())
            if code != 0 or took > self.latest:
                found.append(f"{read} ended with {code} after {took:.1f} s: {err}")
        after = tree(self.root, derived=True)
        changed = sorted(n for n in before.keys() | after.keys() if before.get(n) != after.get(n))
        aside = [name for name in changed if SIDE_MARK in name and name not in before]
        told = b"".join(after[name] for name in aside)
        if b"This is put aside." not in told or b"Put aside, too." not in told:
            found.append("what a hook told was lost")
        rest = [name for name in changed if name not in aside]
        return found + [f"{name} was written without the lock" for name in rest]


Situation = Callable[[Scene], list[str]]


def _killed(scene: Scene) -> list[str]:
    with scene.holder() as holder:
        holder.kill()
        holder.wait()
        return scene.taken_over()


def _stopped(scene: Scene) -> list[str]:
    """A holder that sleeps: others give up; killed in its sleep, it lets go."""
    with scene.holder() as holder:
        holder.send_signal(signal.SIGSTOP)
        found = scene.given_up(holder.pid)
        holder.kill()
        holder.wait()
        return found + scene.taken_over()


def _moved(scene: Scene) -> list[str]:
    """The store is moved away while somebody writes to it: nothing is made where it was."""
    with scene.holder() as holder:
        elsewhere = scene.folder / "elsewhere"
        scene.root.rename(elsewhere)
        holder.communicate(row("Written after the move."), timeout=LATE)
        found = [] if holder.returncode in (16, 17) else [f"ended with {holder.returncode}"]
        if scene.root.exists():
            found.append("a second store was begun where it had been")
        return found


def _replaced(scene: Scene) -> list[str]:
    """A backup is put in place of the store: its holder writes no more, and who waits takes the new."""
    shutil.copytree(scene.root, scene.folder / "backup")
    with scene.holder() as holder:
        scene.root.rename(scene.folder / "old")
        (scene.folder / "backup").rename(scene.root)
        with try_locked(scene.root) as is_held:
            found = [] if is_held else ["the new folder is locked by the old one's holder"]
            before = tree(scene.root)
            holder.communicate(row("Written to the old one."), timeout=LATE)
            if tree(scene.root) != before:
                found.append("the holder of the old folder wrote to the new one")
        if holder.returncode not in (0, 17):
            found.append(f"ended with {holder.returncode}")
        return found + scene.taken_over()


_SITUATIONS: dict[str, Situation] = {
    "holder killed": _killed,
    "holder stopped, then killed": _stopped,
    "store moved while held": _moved,
    "store replaced while held": _replaced,
}


def _outcomes(
    situations: dict[str, Situation], times: int, wait: float | None, program: str = CLSM
) -> Iterator[Outcome]:
    with scratch() as folder, Warm(environment(folder, model=False), program=program) as clsm:
        place = Place(folder, clsm, program, wait)
        numbers = count()
        for what, situation in situations.items():
            outcome = Outcome(what, "lock")
            for _ in range(times):
                found: list[str] = []
                for _ in range(3 if program == CLSM else 1):  # one may be late on a busy machine
                    found = situation(place.scene(next(numbers)))
                    if not found:
                        break
                outcome.tried(found)
            yield outcome


RIG = Rig(
    "locks",
    promises=(6,),
    short=lambda: _outcomes(_SITUATIONS, 1, 0.3),
    long=lambda: _outcomes(_SITUATIONS, 20, None),
    control=lambda: _outcomes({"a file as lock, holder killed": _killed}, 1, 0.3, STALE),
)
