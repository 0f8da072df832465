"""P6: a killed process locks nobody out; waiting is bounded, and says who holds the lock.

The holder is a real ``clsm ingest -`` whose standard input stays open. It is killed, stopped and then
killed, crashed, ended; its store is moved or replaced by another while somebody holds or waits for
its lock. Around it real commands run as processes: hooks (``ingest - --capture``, ``recall``,
``context``), and a writer that may wait longer (``pin``). Who takes over must do so within a second
of its own start-up; a hook or a note puts aside what it is told; who gives up does so in its time,
with 75 and the holder's command and number, and leaves every byte as it was; who only reads never
waits.

Not shown: network file systems, where ``flock`` may hold nothing. A process that is forked without
another program being started would share the lock; clsm forks none.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import ExitStack
from itertools import count
from typing import TYPE_CHECKING

from faults.crowds.lock_scene import CLSM, LATE, STALE, Scene, Stage, row
from faults.rig import Outcome, Rig
from ingesting import scratch, tree

from clsm_cli.store.lock import try_locked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Situation = Callable[[Scene], list[str]]


def _killed(scene: Scene) -> list[str]:
    with scene.holder() as holder:
        holder.kill()
        holder.wait()
        return scene.taken_over()


def _crashed(scene: Scene) -> list[str]:
    with scene.holder() as holder:
        holder.send_signal(signal.SIGSEGV)
        holder.wait()
        return scene.taken_over()


def _ended(scene: Scene) -> list[str]:
    with scene.holder() as holder:
        holder.communicate(row("The end."))
        return scene.taken_over()


def _stopped(scene: Scene) -> list[str]:
    """A holder that sleeps: others give up; killed in its sleep, it lets go."""
    with scene.holder() as holder:
        holder.send_signal(signal.SIGSTOP)
        found = scene.given_up(holder.pid)
        holder.kill()
        holder.wait()
        return found + scene.taken_over()


def _busy(scene: Scene) -> list[str]:
    with scene.holder() as holder:
        return scene.given_up(holder.pid)


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


def _read_only(scene: Scene) -> list[str]:
    """A file system that is read-only: a writer says so, a reader answers."""
    mount = ["mount", "--bind", str(scene.root), str(scene.root)]
    subprocess.run(mount, check=True)
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(scene.root)], check=True)
        code, _, err, _ = scene.run("note", "No.")
        found = [] if code == 16 else [f"note ended with {code}: {err.strip()}"]
        code, out, err, _ = scene.run("recall", "anchor", "--no-touch")
        if code != 0 or "Anchor one" not in out:
            found.append(f"recall ended with {code}: {err.strip()}")
        return found
    finally:
        subprocess.run(["umount", str(scene.root)], check=True)


_SHORT: dict[str, Situation] = {
    "holder killed": _killed,
    "holder stopped, then killed": _stopped,
    "store moved while held": _moved,
    "store replaced while held": _replaced,
}
_LONG: dict[str, Situation] = {
    **_SHORT,
    "holder crashed": _crashed,
    "holder ended": _ended,
    "holder at work": _busy,
    "read-only file system": _read_only,
}


def _outcomes(
    situations: dict[str, Situation], times: int, program: tuple[str, ...], wait: float | None
) -> Iterator[Outcome]:
    with scratch() as folder, ExitStack() as stack:
        stage = Stage(folder, stack, program, wait)
        numbers = count()
        for what, situation in situations.items():
            outcome = Outcome(what, "lock", planned=times)
            began = time.monotonic()
            for _ in range(times):
                outcome.violations += _tried(stage, situation, numbers)
                outcome.fired += 1
            outcome.seconds = time.monotonic() - began
            yield outcome


def _tried(stage: Stage, situation: Situation, numbers: Iterator[int]) -> list[str]:
    """What is wrong each time: one of three may be late because the machine does something else."""
    found: list[str] = []
    for _ in range(3):
        found = situation(stage.scene(next(numbers)))
        if not found or stage.program != CLSM:
            break
    return found


def _short() -> Iterator[Outcome]:
    yield from _outcomes(_SHORT, 1, CLSM, 0.3)


def _long() -> Iterator[Outcome]:
    can_mount = os.geteuid() == 0
    situations = {w: s for w, s in _LONG.items() if s is not _read_only or can_mount}
    yield from _outcomes(situations, 20, CLSM, None)


def _control() -> Iterator[Outcome]:
    """A lock that stays when its holder is killed."""
    yield from _outcomes({"a file as lock, holder killed": _killed}, 1, STALE, 0.3)


RIG = Rig("locks", promises=(6,), short=_short, long=_long, control=_control)
