"""Commands on a disk that is full, or nearly, and again when there is room.

A tmpfs, an ext4 and a tmpfs with few inodes hold a store, and beside it as much ballast as leaves one
of 14 amounts of room, from none to more than any command needs. A command either does all of its
work, or it ends with code 16 and one plain sentence; then all that was promised before is there and
every file can be read, and when the ballast is gone the same command completes what it began: the
store is, byte for byte, what it would have become at once.

``forget`` works on a copy of the store, so it cannot do without room: up to three times the size of
the store, as its sentence says then. Nothing is forgotten by half.

Not shown: quotas; a disk that fills while a command works on it for another reason than that.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from faults.power import mounts
from faults.power.placed import DEAF, READERS, Placed
from faults.rig import Outcome, Rig
from faults.running.bench import Workers
from faults.running.scenarios import SCENARIOS, Scenario

LEVELS = (0, 4, 8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 2048, 8192)
"""KiB of room."""
INODES = tuple(range(14))
"""Files that can still be made."""
COMMANDS = (
    "note", "capture", "whole", "consolidate", "decay", "forget", "undo ingest", "correct",
    "feedback", "recall", "backup",
)  # fmt: skip
"""Of ``scenarios``; those that are not there are left out."""
DISKS = {
    "tmpfs": ("tmpfs", "", LEVELS),
    "ext4": ("ext4", "", LEVELS),
    "tmpfs, inodes": ("tmpfs", "nr_inodes=600", INODES),
}
MIB = 24


class Full:
    """A small disk, and a scenario on it."""

    def __init__(self, disk: mounts.Disk, scenario: Scenario, workers: Workers) -> None:
        self.disk = disk
        self.disk.make(MIB)
        self.disk.mount()
        place, self.ballast = disk.point / "place", disk.point / "ballast"
        place.mkdir()  # what lies beside a store is laid anew with it
        self.ballast.mkdir()
        self.bench = Placed(scenario, workers, place / "memory")

    def strike(self, room: int, *, of_inodes: bool) -> tuple[bool, list[str]]:
        """Whether the command found no room, and what is wrong then or afterwards."""
        self.bench.lay()
        self._fill(room, of_inodes=of_inodes)
        ended, is_hit = self.bench.attempt()
        wrong = self.bench.wrong(ended)
        self._empty()
        return is_hit, [*wrong, *self.bench.completed()]

    def _fill(self, room: int, *, of_inodes: bool) -> None:
        """Leave that many KiB, or inodes."""
        made: list[Path] = []
        with contextlib.suppress(OSError):
            while of_inodes:
                made.append(self.ballast / f"{len(made)}")
                made[-1].touch()
        for path in made[len(made) - 1 - room :]:
            path.unlink(missing_ok=True)
        if of_inodes:
            return
        fd = os.open(self.ballast / "filler", os.O_WRONLY | os.O_CREAT)
        size = 0
        for block in (1 << 20, 1 << 12):
            with contextlib.suppress(OSError):
                while True:
                    size += os.write(fd, bytes(block))
        os.fsync(fd)
        os.ftruncate(fd, max(0, size - (room << 10)))
        os.fsync(fd)
        os.close(fd)

    def _empty(self) -> None:
        for path in self.ballast.iterdir():
            path.unlink()


def run(name: str, scenario: Scenario, workers: Workers, levels: Sequence[int]) -> Outcome:
    """One command at all amounts of room."""
    kind, options, _ = DISKS[name]
    began = time.monotonic()
    outcome = Outcome(f"{scenario.name} on {name}", "no room")
    of_inodes = "inodes" in name
    with mounts.disk(kind, options) as disk:
        full = Full(disk, scenario, workers)
        hit = []
        for room in levels:
            outcome.planned += 1
            is_hit, wrong = full.strike(room, of_inodes=of_inodes)
            hit += [room] if is_hit else []
            unit = "inodes" if of_inodes else "KiB"
            outcome.violations += [f"{room} {unit} free: {text}" for text in wrong]
    outcome.fired = len(hit)
    outcome.more = f"no room up to {hit[-1]} {unit}" if hit else "needs none"
    outcome.seconds = time.monotonic() - began
    return outcome


def long() -> Iterator[Outcome]:
    """Every command on every disk at every level."""
    with Workers("full disks") as workers:
        for name, (_, _, levels) in DISKS.items():
            no_need = READERS if "inodes" in name else ()  # they make no file
            for scenario in SCENARIOS:
                if scenario.name in COMMANDS and scenario.name not in no_need:
                    yield run(name, scenario, workers, levels)


def control() -> Iterator[Outcome]:
    """A writer that goes on when the disk is full."""
    with Workers("full disks, control") as workers:
        for name in ("tmpfs", "ext4"):
            yield run(name, DEAF, workers, LEVELS[:4])


RIG = Rig(
    name="fulldisk",
    promises=(4,),
    short=None,
    long=long,
    control=control,
    needs=("mount", "mkfs.ext4"),
    root=True,
)
