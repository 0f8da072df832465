"""A command, the store it begins from and what it must become: run, strike, and look at what is left.

Whatever state a fault left: what was promised before is there, every file can be read, the same
command run again succeeds, and the store then holds what an uninterrupted run leaves.
"""

import shutil
from functools import cache, cached_property
from pathlib import Path
from typing import Self

from faults.crashes import trace
from faults.crashes.trace import Forks
from faults.running.laying import ground, turns_of
from faults.running.scenarios import Scenario
from forking import CLSM, Ended
from ingesting import opened, tree

from clsm_cli.errors import ClsmError
from clsm_cli.forgetting import selection
from clsm_cli.inspection.overview import overview
from clsm_cli.store import atomic, inbox

DISK, DAMAGED = 16, 13
"""The exit codes of a command that the disk refused something, and of damage that doctor found."""
USES = "flow/pi/activation.jsonl"
"""The log of recalls."""
_DERIVED = frozenset({"index", "runs", "device", "context.json", "consolidated.json", "edit"})
"""In ``.clsm``: what may differ. A draft that a person had open is kept."""


class Workers:
    """A folder of its own with the processes that run commands; for one thread.

    Args:
        alone: Whether no other works at the same time: the process that made the stores runs
            commands too.
    """

    def __init__(self, name: str, *, alone: bool = True) -> None:
        self._alone = alone
        self.ground = ground()
        self.folder = self.ground.folder / name
        self.folder.mkdir()
        self._running: dict[str, Forks] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for forks in self._running.values():
            forks.close()
        shutil.rmtree(self.folder)

    def forks(self, program: str) -> Forks:
        if self._alone and program == CLSM:
            return self.ground.forks
        if program not in self._running:
            folder = self.folder / f"of {program}"
            self._running[program] = Forks(folder, self.ground.environments[True], program)
        return self._running[program]


@cache
def lone_worker() -> Workers:
    """Of the short forms, which so share what their benches have found out; it goes with its ground."""
    return Workers("short")


@cache
def bench_of(scenario: Scenario, workers: Workers) -> "Bench":
    return Bench(scenario, workers)


class Bench:
    """One scenario: the store before, and what it must become.

    Args:
        store: Where it is run; None: in the folder of the workers.
    """

    def __init__(self, scenario: Scenario, workers: Workers, store: Path | None = None) -> None:
        self.scenario = scenario
        self.before = workers.ground.before(scenario.state)
        self.store = store or workers.folder / ("place/memory" if scenario.beside else "memory")
        self.place = self.store.parent if scenario.beside else self.store
        self.laid = self.before.parent if scenario.beside else self.before
        self._copy = workers.folder / "copy"
        self.forks = workers.forks(scenario.program)
        self._good = workers.forks(CLSM)
        self.command = scenario.command(workers.ground, self.store)
        self.promised = _keys(self.before)
        self._known = frozenset[str]()
        self.lay()
        self._known = frozenset(self.readable())
        self.lay()
        ended = self.run()
        assert ended.code == 0, ended.err
        self.golden = self.essence()
        self.reached = _keys(self.store)
        self.forgotten = self._texts(self.promised - self.reached) if scenario.forgets else []
        assert not self._traces()
        if scenario.takes_away:
            self.promised &= self.reached

    def run(self) -> Ended:
        return self._good.do(self.command)

    @cached_property
    def points(self) -> list[trace.Point]:
        """Every call of the command that changes the store, traced in an uninterrupted run."""
        self.lay()
        return trace.points(self.forks, self.command, self.place)

    def strike(self, point: trace.Point, fault: str) -> tuple[bool, list[str]]:
        """Whether the fault fired, and what is wrong afterwards."""
        self.lay()
        ended, fired = trace.strike(self.forks, self.command, self.place, point, fault)
        wrong = self._after(ended, fault) if fired else []
        return fired, [f"{point.name} #{point.nth} {point.path}: {text}" for text in wrong]

    def lay(self) -> None:
        """The store as it was before, in the one place where all runs have it."""
        shutil.rmtree(self.place, ignore_errors=True)
        if self.laid.exists():
            shutil.copytree(self.laid, self.place, dirs_exist_ok=True)  # it may be a mounted disk

    def essence(self) -> dict[str, object]:
        """What must be the same, see ``essence``; with the files beside the store if they count."""
        found = essence(self.store)
        if self.scenario.beside:
            beside = [n for n in tree(self.place, derived=True) if not n.startswith("memory/")]
            temp = atomic.TEMP_PREFIX
            found |= {f"../{n}": (self.place / n).read_bytes() for n in beside if temp not in n}
        return found

    def _after(self, ended: Ended, fault: str) -> list[str]:
        found = [*self.kept(is_reported=bool(ended.out.strip())), *self.readable()]
        if fault == trace.KILL:
            return [*found, *self.completed()]
        found += [*self._honest(ended), *self.completed()]
        if self.scenario.answers:  # by words alone, where the index cannot be written
            found = [each for each in found if not each.endswith(f"leaves other ['{USES}']")]
        return found

    def kept(self, *, is_reported: bool) -> list[str]:
        """What is lost of what was promised; also of what the command had told of."""
        try:
            now = _keys(self.store)
        except (ClsmError, OSError) as error:
            return [f"cannot be read: {error!r}"]
        lost = {"promised before": self.promised - now}
        lost |= {"reported": self.reached - now} if is_reported else {}
        return [f"{len(keys)} turns or blocks lost, {why}" for why, keys in lost.items() if keys]

    def readable(self) -> list[str]:
        """``clsm status`` has nothing to say but of torn lines at the end of logs."""
        if not (self.store / "clsm.yaml").exists():
            return []
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(self.store, self._copy)
        return self.problems(self._copy)

    def problems(self, root: Path) -> list[str]:
        """What ``clsm status`` says of a store, and did not say of the one before."""
        found = [f"status: {p}" for p in overview(opened(root)).problems]
        return [each for each in found if each not in self._known and ".jsonl'" not in each]

    def completed(self) -> list[str]:
        """What is wrong when the command is run again, or the store then is another than it must be."""
        ended = self.run()
        if ended.code not in self.scenario.again:
            return [f"running again ends with {ended.code}: {ended.err[-300:]!r}"]
        now = self.essence()
        names = sorted(n for n in now | self.golden if now.get(n) != self.golden.get(n))
        found = [f"running again leaves other {names}"] if names else []
        return found + [f"a forgotten text is in {name}" for name in self._traces()]

    def _honest(self, ended: Ended) -> list[str]:
        """An error is told in one sentence with its code; a success is one."""
        said = ended.err.strip().splitlines()
        if ended.code == 0:
            is_so = (self.scenario.answers and ended.out) or self.essence() == self.golden
            return [] if is_so else [f"said it succeeded, and did not: {ended.err[-200:]!r}"]
        if self.scenario.name == "doctor" and ended.code == DAMAGED and ended.out:
            return []  # it tells of a disk that fails as of all else, on standard output
        is_plain = 0 < len(said) <= 1 + self.scenario.lines
        if ended.code != DISK or not is_plain or not all(s.startswith(b"clsm: ") for s in said):
            return [f"ended with {ended.code} and said {ended.err[-300:]!r}"]
        return []

    def _texts(self, keys: set[str]) -> list[bytes]:
        held = selection.read_store(opened(self.before), "2026-03-01T11:00:00Z").turns
        return [held[key].turn.text.encode() for key in sorted(keys)]

    def _traces(self) -> list[str]:
        """Files in which something stands that was forgotten."""
        files = tree(self.store, derived=True) if self.forgotten else {}
        return [name for name, data in files.items() if any(t in data for t in self.forgotten)]


def essence(root: Path) -> dict[str, object]:
    """What must be the same: all but what is derived, the ledger, torn lines, left-over temp files.

    A log is the set of its lines: who appended, was killed and appends again wrote one twice.
    """
    found: dict[str, object] = {
        name: lines_of(data) if name.endswith(".jsonl") else data
        for name, data in tree(root, derived=True).items()
        if not _may_differ(Path(name))
    }
    for path in inbox.files(opened(root).inbox) if (root / "clsm.yaml").exists() else []:
        box = inbox.read(path)
        found[f"inbox/{path.name}"] = (box.items, box.calls)
    return found


def _may_differ(path: Path) -> bool:
    is_derived = path.parts[0] == ".clsm" and path.parts[1] in _DERIVED
    is_elsewhere = path.name == "runs.jsonl" or path.parent.name == "inbox"
    # A line of the ledger that the fault tore, as ``doctor --fix`` keeps it.
    is_torn = path.parts[0] == "quarantine" and "-runs-" in path.name
    is_temp = any(part.startswith(atomic.TEMP_PREFIX) for part in path.parts)
    return is_derived or is_elsewhere or is_torn or is_temp


def lines_of(log: bytes) -> set[bytes]:
    return {line for line in log.split(b"\n") if line.endswith(b"}")}


def _keys(root: Path) -> set[str]:
    """Keys of all turns and blocks; a line that was torn, and so never told of, holds none."""
    if not (root / "clsm.yaml").exists():
        return set()
    return {turn.key for turn in turns_of(opened(root))}
