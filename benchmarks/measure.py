"""Whole processes, measured; the machine they ran on; tables, and the files that keep the figures."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

RESULTS = Path(__file__).with_name("results")
ROOT = Path(__file__).parents[1]
OUTSIDE = ROOT.anchor
CLSM = (sys.executable, "-m", "clsm_cli")
PLAIN = (sys.executable, "-c", "pass")
NUMPY = (sys.executable, "-c", "import numpy")
SAMPLE = ROOT / "fixtures" / "sample"
AFTER_SAMPLE = "2026-02-25T08:00:00+01:00"
"""The morning after the last day of the sample memory."""
PACKAGES = ("numpy", "onnxruntime", "tokenizers", "typer", "rich", "ruamel.yaml")
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ORT_DISABLE_TELEMETRY")


class Cost(NamedTuple):
    """What a process took.

    Attributes:
        cpu: User and system time of the process, seconds.
        wall: Seconds from start to end.
        peak: Largest resident memory, MB of 10^6 bytes; never less than what the measuring process
            itself has, about 20 MB, because the kernel counts from the fork on.
    """

    cpu: float
    wall: float
    peak: float


def environment(store: Path | None = None, **more: str) -> dict[str, str]:
    """The user's environment without what would change the number of threads, for a memory."""
    kept = {name: value for name, value in os.environ.items() if name not in _THREADS}
    if store is not None:
        kept |= {"CLSM_STORE": str(store), "CLSM_DEVICE": "bench"}
    return kept | more


def run(command: Sequence[str], variables: dict[str, str], stdin: Path | None = None) -> Cost:
    """Run a process to its end, its output thrown away.

    It runs outside of the project's folder, so that ``clsm`` is what is installed.

    Raises:
        RuntimeError: It failed; with what it said on stderr.
    """
    start = time.perf_counter()
    with (
        (stdin or Path(os.devnull)).open("rb") as given,
        subprocess.Popen(
            command,
            cwd=OUTSIDE,
            env=variables,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stderr is not None
        said = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}: {said.decode()[-2000:]}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * unit / 1e6)


def answer(command: Sequence[str], variables: dict[str, str]) -> Any:
    """The JSON that a process prints.

    Raises:
        RuntimeError: It failed; with what it said on stderr.
    """
    done = subprocess.run(
        command, cwd=OUTSIDE, env=variables, capture_output=True, check=False, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def make_sample(store: Path) -> dict[str, str]:
    """Make a memory of the sample's notes and talks, after a night; the environment for it."""
    here, now = environment(store), ("--now", AFTER_SAMPLE, "--quiet")
    run([*CLSM, "init", str(store), "--quiet"], here)
    run([*CLSM, "ingest", str(SAMPLE / "workspace"), str(SAMPLE / "sessions"), *now], here)
    run([*CLSM, "consolidate", *now], here)
    return here


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A Markdown table, the first column left, the others right.

    Example:
        >>> table(["a", "b"], [["1", "2"]])
        '| a | b |\n|---|---:|\n| 1 | 2 |'
    """
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    lines.insert(1, "|---" + "|---:" * (len(head) - 1) + "|")
    return "\n".join(lines)


def spread(values: Iterable[float]) -> list[float]:
    """First quartile, median and third quartile.

    Example:
        >>> spread([4, 1, 3, 2, 5])
        [2.0, 3.0, 4.0]
    """
    ordered = list(values)
    if len(ordered) < 2:
        return ordered * 3
    return [round(cut, 4) for cut in statistics.quantiles(ordered, n=4, method="inclusive")]


def machine() -> dict[str, str]:
    """What the figures depend on: processor, cores, and versions."""
    found = {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": str(os.cpu_count()),
        "system": platform.system(),
        "Python": platform.python_version(),
        "SQLite": sqlite3.sqlite_version,
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found | {"installation": _installation()}


def _processor() -> str:
    """Its name as the kernel has it; on ARM, where that has none, the model of the board."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    named = [line for key in ("model name", "Model") for line in lines if line.startswith(key)]
    return named[0].partition(":")[2].strip() if named else platform.processor() or "unknown"


def _installation() -> str:
    """Whether Python starts with the finder of an editable installation, which costs 9 ms."""
    return "editable" if any(name.startswith("__editable__") for name in sys.modules) else "plain"


def save(name: str, figures: dict[str, Any]) -> None:
    """Keep the figures of one benchmark as ``results/<name>.json``, with the machine."""
    RESULTS.mkdir(exist_ok=True)
    whole = {"schema": f"clsm.benchmark.{name}/1", "machine": machine(), **figures}
    text = json.dumps(whole, indent=1, ensure_ascii=False)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def load(name: str) -> dict[str, Any]:
    """The kept figures of one benchmark."""
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found
