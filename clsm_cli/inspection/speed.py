"""Benchmark clsm on this machine: whole processes, beside one that only imports numpy.

The yardstick is part of every round, so what else the machine does slows both; a ratio can be
compared between machines, milliseconds tell what a person or a hook waits.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import TYPE_CHECKING

from clsm_cli.errors import BadInputError
from clsm_cli.startup.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROUNDS = 20
"""Runs of each; the first round, which warms the disk's cache, is one more."""
YARDSTICK = "import numpy"
_CLSM = (sys.executable, "-m", "clsm_cli")
_QUESTION = "what did we decide about the heartbeat last week?"
_TURN = {"role": "user", "content": _QUESTION, "timestamp": "2026-02-24T08:15:00Z"}
_TIMEOUT = 120


class Speed(NamedTuple):
    """How long a process takes.

    Attributes:
        median: Milliseconds from its start to its end, and ``p95``: nineteen in twenty take less.
        ratio: Its median by that of the yardstick.
    """

    name: str
    median: float
    p95: float
    ratio: float


def measure_speed(
    root: Path, rounds: int, progress: Callable[[int, int], None] = lambda *_: None
) -> list[Speed]:
    """The yardstick, a recall and a context of a store, and a capture into one that is thrown away.

    Nothing is written to the store, not even that something was recalled; an index that is not
    fresh is brought up to date first, as any recall does.

    Args:
        root: Folder of the store.
        rounds: Runs of each.
        progress: Called with (done, all).

    Raises:
        BadInputError: One of them fails.
    """
    with tempfile.TemporaryDirectory(prefix="clsm-") as folder:
        other = Path(folder, "memory")
        _timed((*_CLSM, "init", str(other)))
        turn = json.dumps(_TURN).encode()
        commands: dict[str, tuple[tuple[str, ...], bytes]] = {
            YARDSTICK: ((sys.executable, "-c", YARDSTICK), b""),
            "recall": ((*_CLSM, "recall", "--no-touch", "--store", str(root), _QUESTION), b""),
            "context": ((*_CLSM, "context", "--store", str(root)), b""),
            "capture": ((*_CLSM, "ingest", "-", "--capture", "--store", str(other)), turn),
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for number in range(rounds + 1):
            progress(number, rounds + 1)
            for name, (words, stdin) in commands.items():
                took = _timed(words, stdin)
                times[name] += [took] if number else []
    return summarise(times)


def program_versions() -> dict[str, str]:
    """Versions of what the times depend on."""
    from importlib.metadata import version
    from sqlite3 import sqlite_version

    from clsm_cli import __version__

    return {"clsm": __version__, "onnxruntime": version("onnxruntime"), "SQLite": sqlite_version}


def memory_bytes() -> int:
    """Bytes of the machine's memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def store_sizes(root: Path) -> tuple[int, int]:
    """Bytes of the memory itself, and of what is derived from it (``.clsm``); links are not followed."""
    own = derived = 0
    for folder, _, names in os.walk(root):
        inside = Path(folder).relative_to(root).parts[:1]
        found = sum(os.lstat(os.path.join(folder, name)).st_size for name in names)
        if inside == (".clsm",):
            derived += found
        elif inside != (".git",):
            own += found
    return own, derived


def summarise(times: dict[str, list[float]]) -> list[Speed]:
    """Median, 95th percentile and ratio of each.

    >>> times = {"import numpy": [0.1, 0.1, 0.1], "recall": [0.1, 0.2, 0.3]}
    >>> [(each.name, each.median, each.ratio) for each in summarise(times)]
    [('import numpy', 100.0, 1.0), ('recall', 200.0, 2.0)]
    """
    unit = median(times[YARDSTICK])
    return [
        Speed(
            name,
            round(1000 * median(found), 1),
            round(1000 * quantiles(found, n=20, method="inclusive")[-1], 1),
            round(median(found) / unit, 2),
        )
        for name, found in times.items()
    ]


def _timed(words: Sequence[str], stdin: bytes = b"") -> float:
    """Seconds that a process takes."""
    began = perf_counter()
    try:
        done = subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
        )
    except subprocess.TimeoutExpired:
        raise _unmeasured(words, f"it does not end within {_TIMEOUT} s") from None
    took = perf_counter() - began
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise _unmeasured(words, said[-1] if said else f"it ends with {done.returncode}")
    return took


def _unmeasured(words: Sequence[str], reason: str) -> BadInputError:
    name = f"clsm {words[3]}" if words[1:3] == _CLSM[1:] else YARDSTICK
    return BadInputError(name, f"cannot be timed: {reason}", "see to that first")
