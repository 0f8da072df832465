"""Forty small sabotages of clsm, each with the tests that must notice: ``cd tests && python -m mutants``.

A suite that became faster or shorter may have lost what it protected. Here a line is broken in a
copy of the program, and the nearest tests are run on it: they must fail. Names choose some of them,
``--list`` shows them all. Ends with 1 when one survives, or its line is not there any more.

Each test that is named runs clsm in its own process or in forks of one: a program that is found by
its name would be the installed one.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
_COPIED = ("clsm_cli", "tests", "fixtures", "docs", "man", "scripts", "README.md", "pyproject.toml")
_FAILED = 1
"""What pytest ends with when tests failed; any other code tells nothing of the mutant."""


class Mutant(NamedTuple):
    """A sabotage.

    Attributes:
        file: Below ``clsm_cli``.
        old: A text that stands there once, and ``new``: what takes its place.
        tests: What is given to pytest, below ``tests``; quick ones that shrink no example.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def load() -> list[Mutant]:
    """All of them, in the order of ``mutants.tsv``."""
    found = []
    for row in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines():
        if not row.startswith("#"):
            name, file, old, new, tests = row.split("\t")
            old, new = old.replace("⏎", "\n"), new.replace("⏎", "\n")
            found.append(Mutant(name, file, old, new, tuple(tests.split())))
    return found


def _fate(mutant: Mutant, folder: Path) -> str:
    """What became of a mutant in a copy of the program: "killed", or what is wrong."""
    path = folder / "clsm_cli" / mutant.file
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    if text.count(mutant.old) != 1:
        return f"its line stands {text.count(mutant.old)} times in {mutant.file}"
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        code = _tested(folder, mutant.tests)
    finally:
        path.write_text(text, encoding="utf-8")
    if code == _FAILED:
        return "killed"
    return "SURVIVED" if not code else f"pytest ended with {code}"


def _tested(folder: Path, tests: Iterable[str]) -> int:
    """How pytest ends in a copy of the program."""
    words = ("-q", "-x", "-p", "no:cacheprovider", *(f"tests/{each}" for each in tests))
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    ).returncode


def main() -> int:
    """Try the mutants that were asked for; 1 when one of them was not killed."""
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument("name", nargs="*", help="part of the names of those to try; else all")
    parser.add_argument("--list", action="store_true", help="only show them")
    given = parser.parse_args()
    chosen = [m for m in load() if not given.name or any(part in m.name for part in given.name)]
    alive = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        for name in _COPIED if not given.list else ():
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(scratch) / name)
        tests = dict.fromkeys(each for mutant in chosen for each in mutant.tests)
        if not given.list and _tested(Path(scratch), tests):
            sys.stderr.write("without a mutant the tests must pass, and they do not\n")
            return 1
        for mutant in chosen:
            began = time.monotonic()
            fate = mutant.file if given.list else _fate(mutant, Path(scratch))
            alive += fate != "killed" and not given.list
            sys.stdout.write(f"{mutant.name}: {fate} ({time.monotonic() - began:.0f} s)\n")
            sys.stdout.flush()
    return int(alive > 0)


if __name__ == "__main__":
    raise SystemExit(main())
