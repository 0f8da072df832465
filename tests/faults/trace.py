"""strace as a tool: which system calls of a command change a folder, and a fault at one of them.

``--seccomp-bpf`` is not used: with it ``signal=KILL`` silently never fires (strace 6.1).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CHANGING = (
    "openat", "write", "pwrite64", "writev", "pwritev2", "fsync", "fdatasync",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
    "ftruncate", "truncate", "fallocate", "chmod", "fchmod", "fchmodat", "link", "linkat",
)  # fmt: skip
"""System calls that change a file or folder, or make a change last."""
_CALL = re.compile(r"(?P<pid>\d+) +(?P<name>\w+)\((?P<rest>.*)")
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")


@dataclass(frozen=True)
class Point:
    """The ``nth`` call of a system call by the main thread; ``path`` inside the folder."""

    name: str
    nth: int
    path: str


@dataclass(frozen=True)
class Ended:
    """How a traced command ended; ``fired``: the fault struck, at the planned kind of call."""

    fired: bool
    code: int
    out: str
    err: str


def points(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: bytes = b""
) -> list[Point]:
    """Run a command and list every call that changes ``folder``, in order.

    Raises:
        RuntimeError: The command failed.
    """
    with tempfile.NamedTemporaryFile("r") as log:
        done = _strace(command, environment, stdin, log.name, [f"trace={','.join(CHANGING)}"])
        if done.returncode:
            raise RuntimeError(f"{command} ended with {done.returncode}: {done.stderr.decode()}")
        return _parse(log.read().splitlines(), folder)


def strike(
    command: Sequence[str],
    environment: Mapping[str, str],
    point: Point,
    fault: str,
    stdin: bytes = b"",
) -> Ended:
    """Run a command with a fault (``signal=KILL``, ``error=EIO``) at a point."""
    with tempfile.NamedTemporaryFile("r") as log:
        wanted = [f"trace={point.name}", f"inject={point.name}:{fault}:when={point.nth}"]
        done = _strace(command, environment, stdin, log.name, wanted)
        traced = log.read()
    if fault == "signal=KILL":
        fired = done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    else:
        fired = "(INJECTED)" in traced
    return Ended(fired, done.returncode, done.stdout.decode(), done.stderr.decode())


def _strace(
    command: Sequence[str], environment: Mapping[str, str], stdin: bytes, log: str, how: list[str]
) -> subprocess.CompletedProcess[bytes]:
    options = [word for each in how for word in ("-e", each)]
    return subprocess.run(
        ["strace", "-f", "-qq", "-y", "-s", "0", "-o", log, *options, *command],
        env=dict(environment),
        input=stdin,
        capture_output=True,
        check=False,
        timeout=300,
    )


def _parse(lines: list[str], folder: Path) -> list[Point]:
    inside = os.fspath(folder)
    pattern = re.compile(re.escape(inside) + r"(?P<path>/[^\"<>]*)?[\">]")
    counts: Counter[tuple[str, str]] = Counter()
    main = ""
    found = []
    for line in lines:
        match = _CALL.match(line)
        if match is None:  # a resumed call, an exit
            continue
        main = main or match["pid"]
        counts[match["pid"], match["name"]] += 1
        touched = pattern.search(match["rest"])
        if match["pid"] != main or touched is None:
            continue
        if match["name"] == "openat" and not _WRITES.search(match["rest"]):
            continue
        path = (touched["path"] or "").lstrip("/")
        found.append(Point(match["name"], counts[main, match["name"]], path))
    return found
