"""strace as a tool: which system calls of a command change a folder, and a fault at one of them.

Only the command itself is traced, none that it starts. ``--seccomp-bpf`` is not used: with it
``signal=KILL`` silently never fires (strace 6.1). The output of a command is a file that strace can
name, and the process that forks commands imports what one had to import, so that the next one opens
the same files each time, and the third call of a kind is the same call.
"""

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import forking
from forking import Ended

TRACED = "sched_yield"
"""The call by which a process that waits for its tracer shows itself to it."""
_FILES = ("in", "out", "err")


@dataclass(frozen=True, slots=True)
class Command:
    words: Sequence[str]
    environment: Mapping[str, str]
    stdin: bytes = b""


class Forks(forking.Forks):
    """Starts commands whose standard streams are files in ``folder``, which nobody else uses."""

    def __init__(
        self, folder: Path, environment: Mapping[str, str], program: str = forking.CLSM
    ) -> None:
        super().__init__(environment, program=program)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def do(self, command: Command) -> Ended:
        self.start(command)
        return self.end()

    def start(self, command: Command, log: Path | None = None) -> int:
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
        return self.begin(command.words, command.environment, home, streams, **more)


CHANGING = (
    "openat", "write", "pwrite64", "writev", "pwritev2", "fsync", "fdatasync",
    "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat",
    "ftruncate", "truncate", "fallocate", "chmod", "fchmod", "fchmodat", "link", "linkat",
    "symlink", "symlinkat", "sendfile", "copy_file_range", "utimensat",
)  # fmt: skip
"""System calls that change a file or folder, or make a change last."""
KILL = "signal=KILL"
_CALL = re.compile(r"(?P<name>\w+)\((?P<rest>.*)")
_WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
_RANDOM = re.compile(r"(?<=/rehearsal-)\w{8}")
"""The part of a temporary folder's name that is another in every run."""


@dataclass(frozen=True, slots=True)
class Point:
    """The ``nth`` call of a system call by a command; ``path`` inside the folder."""

    name: str
    nth: int
    path: str


def points(forks: Forks, command: Command, folder: Path) -> list[Point]:
    """Run a command and list every call that changes ``folder``, in order.

    Raises:
        RuntimeError: The command failed.
    """
    ended, lines = traced(forks, command, ["-e", f"trace={TRACED},{','.join(CHANGING)}"])
    if ended.code:
        raise RuntimeError(f"{command.words} ended with {ended.code}: {ended.err!r}")
    counts: Counter[str] = Counter()
    found = []
    for line in lines:
        match = _CALL.match(line)
        if match is None:  # how it ended
            continue
        name = match["name"]
        counts[name] += 1
        path = _inside(match["rest"], folder)
        is_read = name == "openat" and not _WRITES.search(match["rest"])
        if path is not None and not is_read:
            found.append(Point(name, counts[name], path))
    return found


def strike(
    forks: Forks, command: Command, folder: Path, point: Point, fault: str
) -> tuple[Ended, bool]:
    """Run a command with a fault (``signal=KILL``, ``error=EIO``) at a point.

    Returns:
        How it ended, and whether the fault struck where it was planned.
    """
    wanted = [f"trace={TRACED},{point.name}", f"inject={point.name}:{fault}:when={point.nth}"]
    ended, lines = traced(forks, command, [word for each in wanted for word in ("-e", each)])
    calls = [line for line in lines if line.startswith(f"{point.name}(")]
    struck = calls[point.nth - 1] if len(calls) >= point.nth else ""
    fired = ended.code == -signal.SIGKILL if fault == KILL else "(INJECTED)" in struck
    return ended, fired and _inside(struck, folder) == point.path


def traced(forks: Forks, command: Command, options: list[str]) -> tuple[Ended, list[str]]:
    """Run a command under strace; how it ended, and the lines that strace wrote."""
    log = forks.folder / "log"
    log.unlink(missing_ok=True)
    process = forks.start(command, log)
    strace = subprocess.Popen(
        ["strace", "-qq", "-y", "-s", "0", "-o", log, *options, "-p", str(process)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    ended = forks.end()
    _, told = strace.communicate()
    if not log.exists() or not log.stat().st_size:
        raise RuntimeError(f"strace could not trace: {told.decode()}")
    return ended, log.read_text("utf-8", "replace").splitlines()


def _inside(rest: str, folder: Path) -> str | None:
    """The path of a call inside a folder, "" for itself; None when it names none there."""
    pattern = re.escape(os.fspath(folder)) + r"(?P<path>/[^\"<>]*)?[\">]"
    touched = re.search(pattern, rest)
    return None if touched is None else _RANDOM.sub("*", (touched["path"] or "").lstrip("/"))
