"""Runs the benchmarks that print their own table, and keeps what they print for the report.

One command: ``python -m benchmarks.keep capture shards``. ``embedding`` needs an environment that
has the reference too: ``--python`` names its interpreter. What follows ``--`` goes to the benchmark.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.measure import OUTSIDE, ROOT, answer, environment, save

NAMES = ("capture", "embedding", "shards")
MACHINE = "import json; from benchmarks.measure import machine; print(json.dumps(machine()))"


def printed(command: list[str], variables: dict[str, str]) -> list[str]:
    """The lines for people that a benchmark prints; its JSON is left out.

    Raises:
        RuntimeError: It ended otherwise than with 0 (targets met) or 1 (missed).
    """
    done = subprocess.run(
        command, cwd=OUTSIDE, env=variables, capture_output=True, check=False, text=True
    )
    if done.returncode not in {0, 1} or not done.stdout:
        raise RuntimeError(f"{command}: {done.returncode}: {done.stdout}{done.stderr[-2000:]}")
    return [line for line in done.stdout.strip().splitlines() if not line.startswith("{")]


def main() -> None:
    """Run the named benchmarks, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that runs them")
    given, more = parser.parse_known_args()
    more = [argument for argument in more if argument != "--"]
    for name in given.names:
        # Here clsm is installed; another interpreter has it from the project's folder.
        here = environment(PYTHONPATH=str(ROOT))
        variables = environment() if given.python == sys.executable else here
        script = str(ROOT / "benchmarks" / f"{name}.py")
        lines = printed([given.python, script, *more], variables)
        machine = answer([given.python, "-c", MACHINE], here)
        save(name, {"machine": machine, "options": more, "lines": lines})


if __name__ == "__main__":
    main()
