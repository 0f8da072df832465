"""Stop clsm at every system call that changes a store, and see what is left.

``cd tests && python -m faults.kill`` tries every point of every scenario (about 15 minutes);
``--every 20`` a sample, ``--fault error=EIO`` lets the call fail instead, ``--scenario note`` is for
one of them, ``--control`` runs a writer with bad habits that must be caught. Ends with 1 when
something was lost, differs, or nothing fired.

After each fault: whatever was promised before is there, every file can be read, the same command
run again succeeds, and the store then holds what an uninterrupted run leaves.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faults import trace
from faults.scenarios import CLSM, CONTROL, SCENARIOS, Scenario, environment
from ingesting import new_store, scratch, state_of, tree

from clsm_cli.errors import ClsmError
from clsm_cli.inspection.overview import overview
from clsm_cli.store import inbox

if TYPE_CHECKING:
    from collections.abc import Sequence

KILL = "signal=KILL"
WORKERS = 2


@dataclass
class Outcome:
    """What the faults of one scenario did."""

    scenario: str
    fault: str
    planned: int = 0
    fired: int = 0
    violations: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """Points at which nothing fired: the command did not come there again."""
    seconds: float = 0.0

    @property
    def told(self) -> list[str]:
        return [*self.violations, *(f"did not fire: {point}" for point in self.missed)]

    def row(self) -> str:
        return (
            f"| {self.scenario} | {self.fault} | {self.planned} | {self.fired} |"
            f" {len(self.violations)} | {self.seconds:.0f} |"
        )


class Rig:
    """One scenario in a folder of its own: the store before, and what it must become."""

    def __init__(self, scenario: Scenario, folder: Path) -> None:
        self.scenario = scenario
        self.folder = folder
        self.environment = environment(folder, model=scenario.model)
        self.sources = folder / "sources"
        self.before = folder / "before"
        scenario.prepare(self.before, self.sources)
        self.promised = _keys(self.before)
        self.store = folder / "run" / "memory"  # one path for all runs: calls are the same
        good = replace(scenario, program=CLSM)
        self.again = good.command(self.store, self.sources, self.before)
        self._lay()
        self._run(self.again)
        self.golden = essence(self.store)
        self.reached = _keys(self.store)
        if scenario.takes_away:
            self.promised &= self.reached

    def points(self) -> list[trace.Point]:
        """Every call of the command that changes the store, traced in an uninterrupted run."""
        self._lay()
        command = self.scenario.command(self.store, self.sources, self.before)
        return trace.points(command, self.store, self.environment, self.scenario.stdin)

    def strike(self, point: trace.Point, fault: str) -> tuple[bool, list[str]]:
        """Whether the fault fired, and what is wrong afterwards."""
        self._lay()
        command = self.scenario.command(self.store, self.sources, self.before)
        ended = trace.strike(command, self.environment, point, fault, self.scenario.stdin)
        wrong = list(self._after(ended, fault)) if ended.fired else []
        return ended.fired, [f"{point.name} #{point.nth} {point.path}: {text}" for text in wrong]

    def _after(self, ended: trace.Ended, fault: str) -> list[str]:
        found = self._unpromised(self.promised, "was promised before")
        if ended.out.strip():  # it told of success
            found += self._unpromised(self.reached, "was reported")
        if fault != KILL:
            found += self._honest(ended)
        found += self._readable()
        try:
            self._run(self.again, self.scenario.again)
        except subprocess.CalledProcessError as error:
            return [*found, f"running again ends with {error.returncode}: {error.stderr[-300:]!r}"]
        now = essence(self.store)
        if now != self.golden:
            names = sorted(
                n for n in now.keys() | self.golden.keys() if now.get(n) != self.golden.get(n)
            )
            found.append(f"running again leaves other {names}")
        return found

    def _unpromised(self, keys: set[str], what: str) -> list[str]:
        try:
            missing = keys - _keys(self.store)
        except (AssertionError, ClsmError, OSError) as error:
            return [f"cannot be read: {error!r}"]
        return [f"{len(missing)} turns or blocks lost, {what}"] if missing else []

    def _honest(self, ended: trace.Ended) -> list[str]:
        """An error is told in one sentence with code 16; a success is one."""
        if ended.code == 0:
            done = essence(self.store) == self.golden
            return [] if done else ["said it succeeded, and did not"]
        said = ended.err.strip().splitlines()
        if ended.code != 16 or len(said) != 1 or not said[0].startswith("clsm: "):
            return [f"ended with {ended.code} and said {ended.err[-200:]!r}"]
        return []

    def _readable(self) -> list[str]:
        """``clsm status`` has nothing to say but of torn lines at the end of logs."""
        if not (self.store / "clsm.yaml").exists():
            return []
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.store, copy)
        problems = overview(new_store(copy)).problems
        return [f"status: {p}" for p in problems if not p.path.endswith(".jsonl")]

    def _lay(self) -> None:
        shutil.rmtree(self.store, ignore_errors=True)
        self.store.parent.mkdir(exist_ok=True)
        if self.before.exists():
            shutil.copytree(self.before, self.store)

    def _run(self, command: Sequence[str], codes: Sequence[int] = (0,)) -> None:
        done = subprocess.run(
            command,
            env=self.environment,
            input=self.scenario.stdin,
            check=False,
            capture_output=True,
        )
        if done.returncode not in codes:
            done.check_returncode()
            raise AssertionError(f"{command} succeeded")


def essence(root: Path) -> dict[str, object]:
    """What must be the same: all but the index, the ledger, torn lines and left-over temp files."""
    found: dict[str, object] = {
        name: data
        for name, data in tree(root).items()
        if not Path(name).name.startswith(".tmp-") and not name.endswith(".jsonl")
    }
    for path in inbox.files(new_store(root).inbox) if (root / "clsm.yaml").exists() else []:
        box = inbox.read(path)
        found[f"inbox/{path.name}"] = (box.items, box.calls)
    return found


def _keys(root: Path) -> set[str]:
    return set(state_of(new_store(root)).keys()) if (root / "clsm.yaml").exists() else set()


def run(scenario: Scenario, fault: str = KILL, every: int = 1, *, only: str = "") -> Outcome:
    """Try every ``every``-th point of a scenario whose path begins with ``only``."""
    began = time.monotonic()
    outcome = Outcome(scenario.name, fault)
    with scratch() as folder:
        rigs = []
        for number in range(WORKERS):
            (folder / f"{number}").mkdir()
            rigs.append(Rig(scenario, folder / f"{number}"))

        def work(number: int) -> list[tuple[trace.Point, bool, list[str]]]:
            rig = rigs[number]  # its own points: ids come from paths, so shards may differ
            points = [each for each in rig.points() if each.path.startswith(only)][::every]
            mine = points[number::WORKERS]
            return [(point, *rig.strike(point, fault)) for point in mine]

        with ThreadPoolExecutor(WORKERS) as pool:
            for done in pool.map(work, range(WORKERS)):
                outcome.planned += len(done)
                outcome.fired += sum(fired for _, fired, _ in done)
                outcome.missed += [str(point) for point, fired, _ in done if not fired]
                outcome.violations += [text for _, _, wrong in done for text in wrong]
    outcome.seconds = time.monotonic() - began
    return outcome


def main() -> int:
    """Run the rig and print a Markdown table; 1 when it found something, or found nothing to do."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--fault", action="append", help=f"{KILL}, error=EIO, error=ENOSPC")
    parser.add_argument("--scenario", action="append", choices=[s.name for s in SCENARIOS])
    parser.add_argument("--control", action="store_true")
    given = parser.parse_args()
    chosen = [s for s in SCENARIOS if s.name in (given.scenario or [s.name])]
    bad = False
    tell = sys.stdout.write
    tell("| command | fault | planned | fired | violations | s |\n|---|---|---:|---:|---:|---:|\n")
    for scenario in [CONTROL] if given.control else chosen:
        for fault in given.fault or [KILL]:
            outcome = run(scenario, fault, given.every)
            tell(outcome.row() + "\n")
            sys.stdout.flush()
            sys.stderr.writelines(f"    {text}\n" for text in outcome.told[:20])
            bad |= outcome.fired == 0 or bool(outcome.violations) != given.control
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main())
