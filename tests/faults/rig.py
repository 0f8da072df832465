"""What every fault rig is: what it tries, how often that really happened, and what was wrong then.

A rig that silently does nothing finds nothing, so one that planned or fired nothing has failed; and
a rig that cannot catch a bad habit proves nothing, so each has a positive control: the same rig on
something broken on purpose, which it must catch.
"""

import importlib
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache

MODULES = (
    "crashes.kill", "crashes.crashstates", "crowds.crowd", "crowds.locks", "crowds.merges",
    "inputs.hostile", "inputs.paths", "stores.cache", "stores.clocks", "stores.canary",
    "stores.mutate", "inputs.terminal", "inputs.injection", "inputs.secrets_found", "stores.massloss",
)  # fmt: skip
"""Modules of this package in the order of the promises; each has one rig, ``RIG``, or several, ``RIGS``."""


@dataclass(slots=True)
class Outcome:
    """What one series of faults did.

    Attributes:
        what: The command, file system or input that was tried.
        planned: How many faults were to happen, and ``fired``: how many did.
        missed: Faults that were planned and did not happen, where that is no chance.
        more: Other figures, for the reader: acknowledged operations, slowest input …
    """

    what: str
    fault: str
    planned: int = 0
    fired: int = 0
    violations: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    more: str = ""

    def tried(self, wrong: Iterable[str] = (), *, fired: bool = True) -> None:
        """Count one more fault, and what was wrong then."""
        self.planned += 1
        self.fired += fired
        self.violations += wrong

    @property
    def told(self) -> list[str]:
        """All that a reader of a failure needs."""
        return [*self.violations, *(f"did not fire: {point}" for point in self.missed)]

    def row(self, seconds: float = 0.0) -> str:
        """A row of a Markdown table under ``HEAD``."""
        return (
            f"| {self.what} | {self.fault} | {self.planned:,} | {self.fired:,} |"
            f" {len(self.violations)} | {seconds:.0f} | {self.more} |"
        )


HEAD = "| what | fault | planned | fired | violations | s | |\n|---|---|---:|---:|---:|---:|---|\n"


@dataclass(frozen=True, slots=True)
class Rig:
    """A rig with its forms; each gives its outcomes one after the other, as they are had.

    Attributes:
        promises: Numbers of the promises in docs/promises.md that it tests.
        short: A sample, in about ten seconds of two cores.
        control: The same on something broken: every outcome must have violations.
    """

    name: str
    promises: tuple[int, ...]
    short: Callable[[], Iterable[Outcome]]
    long: Callable[[], Iterable[Outcome]]
    control: Callable[[], Iterable[Outcome]]
    needs: tuple[str, ...] = ()

    @property
    def lacking(self) -> str:
        """Why it cannot run here; "" when it can."""
        missing = [name for name in self.needs if shutil.which(name) is None]
        return f"needs {' and '.join(missing)}" if missing else ""


@cache
def rigs() -> tuple[Rig, ...]:
    """Every rig; imported only when asked for."""
    found: list[Rig] = []
    for name in MODULES:
        module = importlib.import_module(f"faults.{name}")
        found += getattr(module, "RIGS", None) or [module.RIG]
    return tuple(found)
