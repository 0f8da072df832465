"""Commands of clsm by the hundred, limited, measured and listened to.

What a command may use is limited, what it used is measured, and every file, folder, program and
address that its Python code opens is noted by an audit hook: so a rig knows that the file it
planted was really read, and that nothing else was. (A library in C opens the database and the model
without that hook; of the database the hook tells the name.) The memory of the process that forks
counts in what a command used.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import forking

_IMPORTED = (
    "clsm_cli.app",
    "clsm_cli.commands.fast_parser",
    "clsm_cli.store.runs",
    "sqlite3",
    "zoneinfo",
)


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; negative: the signal that killed it.
        seconds: Processor time, and ``peak``: MiB that it had in memory at most.
        timed_out: It was killed as it did not end.
    """

    code: int
    out: bytes
    err: bytes
    seconds: float
    peak: int
    timed_out: bool
    heard: frozenset[tuple[str, str]]

    @property
    def opened(self) -> frozenset[str]:
        """The paths of the files that it opened."""
        return frozenset(path for event, path in self.heard if event == "open")

    @property
    def has_traceback(self) -> bool:
        """Whether it ended by a bug."""
        told = self.err + self.out
        return b"Traceback (most recent call last)" in told or b"clsm itself failed" in told

    def faults(self, codes: frozenset[int]) -> list[str]:
        """What no input may bring about; ``codes`` are the exit codes that may come."""
        found = []
        if self.timed_out:
            found.append("hangs")
        elif self.code < 0:
            found.append(f"was killed by {signal.Signals(-self.code).name}")
        elif self.code not in codes:
            found.append(f"ended with {self.code}: {self.err[-200:].decode(errors='replace')!r}")
        if self.has_traceback:
            last = self.err.decode(errors="replace").strip().rsplit("\n", 1)[-1]
            found.append(f"traceback: {last[:200]}")
        return found


class Warm:
    """Starts commands; a context manager that ends the process which forks them."""

    def __init__(
        self,
        environment: Mapping[str, str],
        imported: tuple[str, ...] = (),
        program: str = forking.CLSM,
    ) -> None:
        self._environment = dict(environment)
        self._program = program
        self._forks = forking.Forks(environment, (*_IMPORTED, *imported))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._forks.close()

    def __call__(
        self,
        *words: str | Path,
        stdin: bytes | Path = b"",
        cwd: Path | str = "/",
        seconds: float = 60.0,
        processor: int = 120,
        data: int = 0,
        terminal: bool = False,
        environment: Mapping[str, str] | None = None,
        **variables: str,
    ) -> Ended:
        """Run ``clsm WORDS``.

        Args:
            stdin: Bytes, or the path of what is read (a FIFO too).
            processor: Seconds of processor time that the kernel grants.
            data: MiB of private memory that the kernel grants; 0: any.
            terminal: Its standard streams are a terminal (``out`` has both then).
            environment: What differs from that of the others; so do ``variables``.
        """
        end = time.monotonic() + seconds
        master, slave = os.openpty() if terminal else (-1, -1)
        path = os.fspath(stdin) if isinstance(stdin, Path) else None
        given = b"" if isinstance(stdin, Path) else stdin
        pid = self._forks.begin(
            words,
            {**self._environment, **(environment or {}), **variables},
            cwd,
            [os.dup(slave) for _ in range(3)] if terminal else forking.in_memory(given),
            kept=not terminal,
            program=self._program,
            stdin=path,
            processor=int(processor),
            data=data,
            hear="files",
        )
        shown = _read_terminal(master, slave, end) if terminal else b""
        timed_out = False
        try:
            ended = self._forks.end(max(0.0, end - time.monotonic()))
        except TimeoutError:
            timed_out = True
            os.kill(pid, signal.SIGKILL)
            ended = self._forks.end()
        return Ended(
            ended.code,
            shown or ended.out,
            ended.err,
            ended.seconds,
            ended.peak,
            timed_out,
            frozenset((e, path) for e, path in map(json.loads, ended.noted.splitlines())),
        )


def _read_terminal(master: int, slave: int, until: float) -> bytes:
    """All that is written to a terminal, until nobody else has it open."""
    os.close(slave)
    shown = []
    with contextlib.suppress(OSError):  # nobody has
        while (left := until - time.monotonic()) > 0 and select.select([master], [], [], left)[0]:
            shown.append(os.read(master, 65536))
    os.close(master)
    return b"".join(shown)
