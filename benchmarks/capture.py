"""What a hook pays to write down one turn, and what a cold recall costs: against importing numpy.

One command: ``python benchmarks/capture.py``. Whole processes in turn, CPU seconds (user + system)
as the kernel counts them; the ratio is taken pair by pair and its median printed, so a busy machine
slows both sides. The store holds 3,000 episodes of two turns.
Target: capture at most 1.0 times ``python -c "import numpy"``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from clsm_cli.model.episodes import Episode, Turn
from clsm_cli.model.ids import episode_id, turn_key
from clsm_cli.store import episodes, layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clsm_cli.model.episodes import Role

TARGET = 1.0
WORDS = [
    "harbour",
    "gauge",
    "lantern",
    "winding key",
    "delegation",
    "reading club",
    "river",
    "stove",
]


def fill(root: Path, count: int) -> None:
    """A store with ``count`` episodes; written directly, since only their number matters."""
    layout.create(root, "UTC")
    store = layout.open_store(root, {"CLSM_DEVICE": "bench"})
    rng = random.Random(3)
    for number in range(count):
        time = f"2026-{1 + number % 12:02}-{1 + number % 28:02}T08:{number % 60:02}:00+00:00"
        turns = []
        speakers: tuple[Role, ...] = ("user", "assistant")
        for speaker in speakers:
            text = f"{number} {' '.join(rng.choices(WORDS, k=12))}"
            key = turn_key("bench", speaker, time, text)
            turns.append(Turn(key=key, speaker=speaker, role=speaker, text=text, time=time))
        episode = Episode(
            id=episode_id(turns[0].key),
            session="bench",
            turns=tuple(turns),
            recorded_at="2026-12-01T00:00:00Z",
            start=time,
            end=time,
        )
        path = episodes.file_of(episode, store.flow)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(episodes.render(episode))


def cpu(command: Sequence[str], stdin: bytes, environment: dict[str, str]) -> float:
    """CPU seconds of a whole process.

    Raises:
        RuntimeError: It failed.
    """
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def turn(number: int) -> bytes:
    """One turn of generic JSON lines, new every time."""
    row = {
        "role": "user",
        "content": f"Turn {number}: the ferry leaves at nine and Brian brings the lantern.",
        "timestamp": f"2026-11-20T10:{number // 60:02}:{number % 60:02}Z",
        "session": "main",
    }
    return json.dumps(row).encode() + b"\n"


def main() -> int:
    """Measure, print a Markdown table, and end with 1 when the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--episodes", type=int, default=3000)
    given = parser.parse_args()
    clsm = [sys.executable, "-m", "clsm_cli"]
    numpy = [sys.executable, "-c", "import numpy"]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "memory"
        fill(root, given.episodes)
        environment = {**os.environ, "CLSM_STORE": str(root), "CLSM_DEVICE": "bench"}
        cpu(
            [*clsm, "recall", "lantern", "--quiet", "--no-touch"], b"", environment
        )  # makes the index
        capture, recall, reference = [], [], []
        for number in range(given.runs + 1):
            reference.append(cpu(numpy, b"", environment))
            capture.append(cpu([*clsm, "ingest", "-", "--capture"], turn(number), environment))
            recall.append(
                cpu([*clsm, "recall", "lantern", "--quiet", "--no-touch"], b"", environment)
            )
    print("| command | CPU ms | ÷ import numpy |")
    print("|---|---:|---:|")
    print(f"| python -c 'import numpy' | {1000 * statistics.median(reference[1:]):.0f} | 1 |")
    met = True
    for name, values in (("ingest --capture", capture), ("recall, cold", recall)):
        ratios = [a / b for a, b in zip(values[1:], reference[1:], strict=True)]
        ratio = statistics.median(ratios)
        spread = f"{min(ratios):.2f}–{max(ratios):.2f}"
        print(
            f"| clsm {name} | {1000 * statistics.median(values[1:]):.0f} | {ratio:.2f} ({spread}) |"
        )
        met = met and (name != "ingest --capture" or ratio <= TARGET)
    print(f"\nTarget: capture ≤ {TARGET}: {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
