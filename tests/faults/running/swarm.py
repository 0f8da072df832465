"""Commands of clsm at once, each in a process forked from this one, which must have imported it.

What a command prints and reads lies in memory of the kernel, so a reader of it cannot hold up a
command, and a kill takes back nothing of what was printed before it. No command may run in the
process that forks: libraries that start threads are loaded by the children alone.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import forking


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; negative: the signal that killed it.
        out: What it printed, and ``err``: what it complained of.
        seconds: From the fork until its end was seen.
    """

    code: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def has_traceback(self) -> bool:
        """Whether it ended by a bug."""
        return b"Traceback (most recent call last)" in self.err


@dataclass(frozen=True, slots=True)
class Running:
    """A command that was started."""

    pid: int
    pidfd: int
    out: int
    err: int
    began: float

    def kill(self) -> None:
        """SIGKILL; nothing happens where it has ended already."""
        signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


class Forks:
    """Starts commands and tells which of them ended.

    Args:
        before: Called in each child before the command: a control breaks something so.
    """

    def __init__(
        self, environment: Mapping[str, str], before: Callable[[], object] | None = None
    ) -> None:
        forking.prepare()
        gc.collect()
        gc.freeze()  # a child's collector would copy every page of what it shares
        self._environment = dict(environment)
        self._before = before or (lambda: None)
        self._selector = selectors.DefaultSelector()

    def start(self, words: Sequence[str], stdin: bytes = b"") -> Running:
        """Fork a command."""
        given, out, err = (os.memfd_create(name) for name in ("stdin", "stdout", "stderr"))
        os.write(given, stdin)
        os.lseek(given, 0, os.SEEK_SET)
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            forking.become(words, self._environment, (given, out, err), self._before)
        os.close(given)
        running = Running(pid, os.pidfd_open(pid), out, err, began)
        self._selector.register(running.pidfd, selectors.EVENT_READ, running)
        return running

    def ended(self, seconds: float) -> Iterator[tuple[Running, Ended]]:
        """The commands that have ended; waits at most ``seconds`` for the first."""
        for key, _ in self._selector.select(max(0.0, seconds)):
            running: Running = key.data
            self._selector.unregister(running.pidfd)
            _, status = os.waitpid(running.pid, 0)
            took = time.monotonic() - running.began
            streams = [os.pread(fd, os.fstat(fd).st_size, 0) for fd in (running.out, running.err)]
            for fd in (running.out, running.err, running.pidfd):
                os.close(fd)
            yield running, Ended(os.waitstatus_to_exitcode(status), streams[0], streams[1], took)

    def run(self, words: Sequence[str], stdin: bytes = b"") -> Ended:
        """Run a command while no other one does."""
        self.start(words, stdin)
        ((_, ended),) = self.ended(600.0)
        return ended
