"""Commands that strace may follow, and whose output is a file that it can name.

The process that forks them imports what a command had to import, so that the next one opens the same
files each time, and the third call of a kind is the same call.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import forking
from forking import Ended

TRACED = "sched_yield"
"""The call by which a process that waits for its tracer shows itself to it."""
_FILES = ("in", "out", "err")


@dataclass(frozen=True, slots=True)
class Command:
    """What is run."""

    words: Sequence[str]
    environment: Mapping[str, str]
    stdin: bytes = b""


class Forks:
    """Starts commands, one at a time; a context manager that ends the process which forks them.

    Args:
        folder: For the standard streams; nobody else uses it.
    """

    def __init__(
        self, folder: Path, environment: Mapping[str, str], program: str = forking.CLSM
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._program = program
        self._forks = forking.Forks(environment)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._forks.close()

    def run(self, command: Command) -> Ended:
        """Run a command to its end."""
        self.begin(command)
        return self.end()

    def begin(self, command: Command, log: Path | None = None) -> int:
        """Start a command; its process id.

        Args:
            log: It does nothing before a tracer has written to this file, see ``TRACED``.
        """
        (self.folder / "in").write_bytes(command.stdin)
        how = (os.O_RDONLY, *[os.O_RDWR | os.O_CREAT | os.O_TRUNC] * 2)
        names = zip(_FILES, how, strict=True)
        streams = [os.open(self.folder / name, flags, 0o600) for name, flags in names]
        more: dict[str, Any] = {"hear": "imports"} if log is None else {"tracer": os.fspath(log)}
        home = command.environment["HOME"]
        return self._forks.begin(
            command.words, command.environment, home, streams, program=self._program, **more
        )

    def end(self) -> Ended:
        """How the command ended that was begun last; waits for it."""
        return self._forks.end()
