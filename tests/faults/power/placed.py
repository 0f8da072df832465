"""A command on a store that lies on a disk with a fault, and what may be said of it afterwards."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

from faults.power.powerlife import turns
from faults.running.bench import DISK, Bench, Workers
from faults.running.laying import opened
from faults.running.scenarios import SCENARIOS, Scenario
from faults.running.traceable import Ended

from clsm_cli.errors import ClsmError

READERS = ("recall", "context")
"""Commands that must answer on any disk; that a memory was used may go unrecorded there."""
_NOTE = next(each for each in SCENARIOS if each.name == "note")
DEAF = replace(
    _NOTE,
    name="long note",
    words=("note", "The stove needs a new grate. " * 300, *_NOTE.words[2:]),
    program="faults.broken:deaf",
)
"""A writer with a habit that must be caught, see ``broken``."""
MOST = 1000
"""Characters of what a command complains of."""
_USES = "leaves other ['flow/pi/activation.jsonl']"


class Placed(Bench):
    """A scenario with its store at a place of its own.

    Args:
        scenario: The command.
        workers: Who runs it.
        store: The place.
    """

    def __init__(self, scenario: Scenario, workers: Workers, store: Path) -> None:
        super().__init__(scenario, workers, store)
        self._held = set(turns(opened(self.before)).values())
        if scenario.takes_away:
            self._held &= set(turns(opened(self.store)).values())

    def attempt(self) -> tuple[Ended, bool]:
        """Run the command on the store as it was laid; also whether something kept it from its end."""
        ended = self.forks.run(self.command)
        return ended, ended.code == DISK or not self._is_done()

    def _is_done(self) -> bool:
        try:
            return self.essence() == self.golden
        except (ClsmError, OSError):
            return False

    def wrong(self, ended: Ended) -> list[str]:
        """What is wrong once the disk can be read again; a line of a log may be torn."""
        try:
            lost = self._held - set(turns(opened(self.store)).values())
        except (ClsmError, OSError) as error:
            return [f"cannot be read: {error!r}"]
        found = [f"{len(lost)} turns or blocks lost"] if lost else []
        if "[Errno" in ended.err or len(ended.err) > MOST:
            found.append(f"no plain sentence: {ended.err[:200]!r}")
        if ended.code == -signal.SIGBUS:  # it read a mapped file; see the rig ``torn``
            return [*found, *self.readable()]
        if self.scenario.name not in READERS:
            return [*found, *self.readable(), *self._honest(ended)]
        if ended.code or not ended.out:
            found.append(f"no answer: {ended.err[-300:]!r}")
        return [*found, *self.readable()]

    def completed(self) -> list[str]:
        """What is wrong when the command is run again on a disk that is whole."""
        return [text for text in super().completed() if not text.endswith(_USES)]
