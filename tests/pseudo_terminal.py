"""A command whose three streams are one terminal, as a person has it."""

import contextlib
import os
import select
import time

import forking
from processes import TIMEOUT, Cli


def at_a_terminal(cli: Cli, *words: str, answer: str = "", **environment: str) -> tuple[int, str]:
    """Run a command; its exit code and all it shows.

    ``answer`` is what the person types, whether it is asked for or not.
    """
    handle, theirs = os.openpty()
    os.write(handle, answer.encode())
    values = {"TERM": "xterm", **cli.environment, **environment}
    forks = forking.forks(cli.environment)
    streams = [os.dup(theirs) for _ in range(3)]
    forks.begin(words, values, cli.folder, streams, kept=False)
    shown = read_terminal(handle, theirs, time.monotonic() + TIMEOUT)
    return forks.end(TIMEOUT).code, shown.decode().replace("\r\n", "\n")


def read_terminal(handle: int, theirs: int, until: float) -> bytes:
    """All that is written to a terminal, until nobody else has it open; both ends are closed."""
    os.close(theirs)
    shown = []
    with contextlib.suppress(OSError):  # nobody has
        while (left := until - time.monotonic()) > 0 and select.select([handle], [], [], left)[0]:
            shown.append(os.read(handle, 65536))
    os.close(handle)
    return b"".join(shown)
