"""Commands that strace may follow: each a process, forked from one that has imported the program.

A fresh Python takes 0.2 s to import what a command needs, which is most of what a small command
takes; a fork of one that has done so begins at ``main``. It is a process like any other: it has a
lock, files and a memory of its own, and what kills it kills nothing else. Nothing of clsm runs in
the process that forks; but it imports what a command had to import, so that the next one opens the
same files each time, and the third call of a kind is the same call.

``python -m faults.running.traceable MODULE:FUNCTION`` is that process.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import forking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

TESTS = Path(__file__).parents[2]
TRACED = "sched_yield"
"""The call by which a process that waits for its tracer shows itself to it."""
_FILES = ("in", "out", "err", "imported")
_PATIENCE = 30.0
"""Seconds it waits."""
_UNTRACED = 98
"""Its exit code when nobody came."""
_PR_SET_PTRACER = 0x59616D61


@dataclass(frozen=True, slots=True)
class Command:
    """What is run.

    Attributes:
        words: Of the command line, without the program.
        environment: All that it sees.
    """

    words: Sequence[str]
    environment: Mapping[str, str]
    stdin: bytes = b""


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended; a negative code is the signal that killed it."""

    code: int
    out: str
    err: str


class Forks:
    """Starts commands, one at a time; a context manager that ends the process which forks them.

    Args:
        folder: For the standard streams; nobody else uses it.
        environment: Of the process which forks.
        program: Module and function that is run.
    """

    def __init__(
        self, folder: Path, environment: Mapping[str, str], program: str = forking.CLSM
    ) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.running.traceable", program],
            env={**environment, "PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def run(self, command: Command) -> Ended:
        """Run a command to its end."""
        self.begin(command)
        return self.end()

    def begin(self, command: Command, log: Path | None = None) -> int:
        """Start a command; its process id.

        Args:
            command: What is run.
            log: It does nothing before a tracer has written to this file, see ``TRACED``.
        """
        (self.folder / "in").write_bytes(command.stdin)
        asked = {
            "words": list(command.words),
            "environment": dict(command.environment),
            "log": None if log is None else os.fspath(log),
            **{name: os.fspath(self.folder / name) for name in _FILES},
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def end(self) -> Ended:
        """How the command ended that was begun last; waits for it."""
        code = self._answer()
        out, err = (
            (self.folder / name).read_bytes().decode("utf-8", "replace") for name in ("out", "err")
        )
        return Ended(code, out, err)

    def _answer(self) -> int:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that forks commands has died")
        return int(line)


def _serve(program: str) -> None:
    """Answer requests, a line each: first with the process id, then with how it ended."""
    module = program.partition(":")[0]
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as ``main`` does; a fork has no threads
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    for name in (*forking.modules(), "numpy", "onnxruntime", "sqlite3", "tokenizers", module):
        import_module(name)
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        ready, gate = os.pipe()
        pid = os.fork()
        if pid == 0:
            _become(program, asked, gate)
        os.close(gate)
        os.read(ready, 1)  # what it does before is not its own, and not to be traced
        os.close(ready)
        _tell(pid)
        status = os.waitpid(pid, 0)[1]
        if asked["log"] is None:
            _learn(asked["imported"])
        _tell(os.waitstatus_to_exitcode(status))


def _learn(names: str) -> None:
    """Import what a command imported."""
    for name in Path(names).read_text().split():
        with contextlib.suppress(ImportError):
            import_module(name)


def _tell(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


def _become(program: str, asked: dict[str, Any], gate: int) -> None:
    """The child: it waits for its tracer where there is one. Does not return."""
    os.setsid()
    how = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2)
    streams = [os.open(asked[name], flags, 0o600) for name, flags in zip(_FILES, how, strict=False)]

    def ready() -> None:
        for stream in streams:
            os.close(stream)
        os.chdir(asked["environment"]["HOME"])
        if asked["log"] is None:
            _note_imports(asked["imported"])
        os.write(gate, b"!")
        os.close(gate)
        if asked["log"] is not None:
            _await_tracer(asked["log"])

    forking.become(asked["words"], asked["environment"], streams, ready, program)


def _note_imports(names: str) -> None:
    fd = os.open(names, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if event == "import":
            os.write(fd, f"{args[0]}\n".encode())

    sys.addaudithook(hear)


def _await_tracer(log: str) -> None:
    """Wait until a tracer has seen a call of this process, and so will see the next."""
    libc = ctypes.CDLL(None, use_errno=True)
    anybody = ctypes.c_ulong(-1)
    libc.prctl(_PR_SET_PTRACER, anybody, 0, 0, 0)  # else some systems let only parents trace
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        os.sched_yield()
        if os.path.exists(log) and os.path.getsize(log):
            return
        time.sleep(0.0005)
    os._exit(_UNTRACED)


if __name__ == "__main__":
    _serve(sys.argv[1])
