"""What every fault rig is: what it tries, how often that really happened, and what was wrong then.

A rig that silently does nothing finds nothing, so one that planned or fired nothing has failed; and
a rig that cannot catch a bad habit proves nothing, so each has a positive control: the same rig on
something broken on purpose, which it must catch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field


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
    seconds: float = 0.0
    more: str = ""

    @property
    def told(self) -> list[str]:
        """All that a reader of a failure needs."""
        return [*self.violations, *(f"did not fire: {point}" for point in self.missed)]

    @property
    def is_clean(self) -> bool:
        """Whether something happened, all that was planned for certain, and nothing was wrong."""
        return self.fired > 0 and not self.told

    def row(self) -> str:
        """A row of a Markdown table under ``HEAD``."""
        return (
            f"| {self.what} | {self.fault} | {self.planned:,} | {self.fired:,} |"
            f" {len(self.violations)} | {self.seconds:.0f} | {self.more} |"
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
