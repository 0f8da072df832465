"""Eight processes append to one log without a lock, and are killed at random.

Each calls ``atomic.append``, then says in memory that outlives it that the line is written. Some
are killed by SIGKILL from outside, wherever they are; the others end with half of a write, as a
kill inside a long one or a full disk leaves it. Then the log is read as clsm reads it
(``logs.rows``): every line that was acknowledged is there, once and whole.

Not shown: a power cut (rig ``crashstates``).
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from faults.rig import Outcome, Rig
from ingesting import scratch

from clsm_cli.store import atomic, logs

AT_ONCE = 8
"""Writers."""
MOST = 4096
"""Writers in all, dead ones included."""
PAUSE = 0.05
"""Seconds between two kills, the mean."""
ENOUGH = 1_000_000
"""Acknowledged lines of the long form."""
_SECONDS = 10.0
"""How long one log is written to: reading it takes about as long."""
_COUNT = struct.Struct("<Q")


def _whole(path: Path, record: bytes, *, durable: bool) -> None:
    """As clsm appends."""
    atomic.append(path, record, durable=durable)


def _glued(path: Path, record: bytes, *, durable: bool) -> None:
    """Without the newline before it, as most programs do."""
    _write(path, record + b"\n", durable=durable)


def _piecemeal(path: Path, record: bytes, *, durable: bool) -> None:
    """In two writes, as a buffered file does."""
    _write(path, record[: len(record) // 2], durable=False)
    _write(path, record[len(record) // 2 :] + b"\n", durable=durable)


def _write(path: Path, data: bytes, *, durable: bool) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, data)
    if durable:
        os.fsync(fd)
    os.close(fd)


_HOW: dict[str, tuple[Callable[..., None], bytes]] = {
    "whole": (_whole, b"\n"),
    "glued": (_glued, b""),
    "piecemeal": (_piecemeal, b""),
}
"""How a line is appended, and what comes before it in its first write."""


@dataclass(frozen=True, slots=True)
class Swarm:
    """What the writers did.

    Attributes:
        acknowledged: Lines that each writer had acknowledged, by its number.
        killed: Writers that were killed from outside; ``torn``: those that ended in a write.
    """

    acknowledged: list[int]
    killed: int
    torn: int


def _record(writer: int, number: int) -> bytes:
    return json.dumps({"writer": writer, "n": number, "pad": "x" * (number % 90)}).encode()


def _writer(path: Path, how: str, writer: int, acks: mmap.mmap, *, durable: bool) -> None:
    """Append until killed, or until half of a write is the last that this process does."""
    append, first = _HOW[how]
    last = random.Random(writer).choice([8, 200, 1 << 40])
    number = 0
    while number < last:
        append(path, _record(writer, number), durable=durable)
        number += 1
        _COUNT.pack_into(acks, writer * _COUNT.size, number)
    whole = first + _record(writer, number)
    _write(path, whole[: len(whole) // 2], durable=durable)
    os.kill(os.getpid(), signal.SIGKILL)


def _swarm(path: Path, how: str, seconds: float, seed: int, *, durable: bool) -> Swarm:
    """Let writers append for some seconds, and kill them one after the other."""
    rng = random.Random(seed)
    acks = mmap.mmap(-1, MOST * _COUNT.size)
    running: dict[int, int] = {}  # process → writer
    begun = killed = torn = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        while len(running) < AT_ONCE and begun < MOST:
            process = os.fork()
            if process == 0:
                try:
                    _writer(path, how, begun, acks, durable=durable)
                finally:
                    os._exit(1)
            running[process] = begun
            begun += 1
        time.sleep(rng.uniform(0, 2 * PAUSE))
        for process in list(running):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL
                del running[process]
                torn += 1
        if running:
            victim = rng.choice(sorted(running))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            del running[victim]
            killed += 1
    for process in running:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    counts = [_COUNT.unpack_from(acks, n * _COUNT.size)[0] for n in range(begun)]
    return Swarm(counts, killed + len(running), torn)


def run(how: str, seconds: float, seed: int, *, durable: bool) -> Outcome:
    """Write to one log and read it."""
    began = time.monotonic()
    outcome = Outcome("synced" if durable else "not synced", f"SIGKILL, appended {how}")
    with tempfile.TemporaryDirectory() if durable else scratch() as folder:
        path = Path(folder) / "activation.jsonl"
        words = [str(path), how, str(seconds), str(seed), str(int(durable))]
        tests = Path(__file__).parents[2]
        paths = os.pathsep.join([str(tests), str(tests.parent)])
        done = subprocess.run(
            [sys.executable, "-m", "faults.crashes.appends", *words],
            env={**os.environ, "PYTHONPATH": paths},
            check=True,
            capture_output=True,
        )
        swarm = Swarm(**json.loads(done.stdout))
        rows, problems = logs.rows(path)
    found = Counter((row.get("writer"), row.get("n")) for _, row in rows)
    lost = sum(
        (writer, n) not in found for writer, k in enumerate(swarm.acknowledged) for n in range(k)
    )
    twice = sum(count > 1 for count in found.values())
    outcome.planned = outcome.fired = swarm.killed + swarm.torn
    if lost or twice:
        outcome.violations.append(f"{lost} acknowledged lines lost, {twice} there twice")
    if not swarm.torn:
        outcome.missed.append("a write that ends in the middle")
    lines = sum(swarm.acknowledged)
    outcome.more = f"{lines:,} lines acknowledged; {len(problems)} torn; {lost} lost"
    outcome.seconds = time.monotonic() - began
    return outcome


def _short() -> Iterator[Outcome]:
    yield run("whole", 1.2, 0, durable=False)
    yield run("whole", 0.6, 1, durable=True)


def _long() -> Iterator[Outcome]:
    """Logs one after the other until enough lines were acknowledged; every fifth is synced."""
    lines, seed = 0, 0
    while lines < ENOUGH:
        outcome = run("whole", _SECONDS, seed, durable=seed % 5 == 4)
        lines += int(outcome.more.split()[0].replace(",", ""))
        seed += 1
        yield outcome


def _control() -> Iterator[Outcome]:
    for how in ("glued", "piecemeal"):
        yield run(how, 0.8, 0, durable=False)


RIG = Rig(name="appends", promises=(3, 5), short=_short, long=_long, control=_control)


if __name__ == "__main__":
    log, manner, how_long, chosen, is_durable = sys.argv[1:]
    done_ = _swarm(Path(log), manner, float(how_long), int(chosen), durable=is_durable == "1")
    sys.stdout.write(
        json.dumps({"acknowledged": done_.acknowledged, "killed": done_.killed, "torn": done_.torn})
    )
