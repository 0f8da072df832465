"""Commands of clsm by the hundred: each a process, forked from one that has imported the program.

What a command may use is limited, what it used is measured, and every file, folder, program and
address that its Python code opens is noted by an audit hook: so a rig knows that the file it
planted was really read, and that nothing else was. (A library in C opens the database and the model
without that hook; of the database the hook tells the name.)

``python -m faults.running.warm`` is the process that forks. Its own memory counts in what a command used.
"""

from __future__ import annotations

import base64
import json
import os
import resource
import select
import signal
import subprocess
import sys
import tempfile
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
MIB = 1 << 20
_HEARD = frozenset(
    {"open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir",
     "os.link", "os.symlink", "os.truncate", "os.chmod", "os.posix_spawn", "os.exec", "os.system",
     "subprocess.Popen", "sqlite3.connect", "socket.connect", "shutil.rmtree"}
)  # fmt: skip
"""Events of ``sys.addaudithook`` that are noted."""
_CODE = tuple(
    os.path.realpath(path) + os.sep
    for path in (sys.prefix, sys.base_prefix, TESTS.parent / "clsm_cli")
)
"""Where Python's own code and that of clsm lie: what is opened there is not noted."""
_IMPORTED = ("clsm_cli.app", "clsm_cli.fastpath", "clsm_cli.store.runs", "sqlite3", "zoneinfo")


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; negative: the signal that killed it.
        seconds: Processor time, and ``peak``: MiB that it had in memory at most.
        timed_out: It was killed as it did not end.
        heard: What it opened: (event, path or name).
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
        """Start the process that forks.

        Args:
            environment: Of it and of the commands.
            imported: Modules that commands then share.
            program: Module and function that each runs.
        """
        self._environment = dict(environment)
        paths = [str(TESTS), str(TESTS.parent)]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "faults.running.warm", program, *imported],
            env={**self._environment, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

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
            words: Of the command.
            stdin: Bytes, or the path of what is read (a FIFO too).
            cwd: Working folder.
            seconds: It is killed after so many.
            processor: Seconds of processor time that the kernel grants.
            data: MiB of private memory that the kernel grants; 0: any.
            terminal: Its standard streams are a terminal (``out`` has both then).
            environment: What differs from that of the others; so do ``variables``.
        """
        asked = {
            "words": [os.fsencode(word).decode("latin-1") for word in words],
            "path": os.fspath(stdin) if isinstance(stdin, Path) else None,
            "stdin": "" if isinstance(stdin, Path) else base64.b64encode(stdin).decode(),
            "cwd": os.fspath(cwd),
            "seconds": seconds,
            "processor": processor,
            "data": data,
            "terminal": terminal,
            "environment": {**self._environment, **(environment or {}), **variables},
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked).encode() + b"\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        heard = frozenset((event, path) for event, path in told.pop("heard"))
        out, err = (base64.b64decode(told.pop(name)) for name in ("out", "err"))
        return Ended(out=out, err=err, heard=heard, **told)


def _serve(program: str, imported: Sequence[str]) -> None:
    """Answer requests, a line each, until there are no more."""
    for name in (*_IMPORTED, *imported):
        import_module(name)
    for line in sys.stdin.buffer:
        told = _run(program, json.loads(line))
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()


def _run(program: str, asked: dict[str, Any]) -> dict[str, Any]:
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryFile() as heard,
    ):
        given.write(base64.b64decode(asked["stdin"]))
        given.seek(0)
        streams = [given.fileno(), out.fileno(), err.fileno()]
        master = -1
        if asked["terminal"]:
            master, end = os.openpty()
            streams = [end, end, end]
        pid = os.fork()
        if pid == 0:
            _become(program, asked, streams, heard.fileno())
        shown = b""
        if master >= 0:
            os.close(streams[0])
            shown = _read_terminal(master, time.monotonic() + asked["seconds"])
        status, used, timed_out = _wait(pid, asked["seconds"])
        for file in (out, err, heard):
            file.seek(0)
        lines = [json.loads(line) for line in heard.read().splitlines()]
        return {
            "code": os.waitstatus_to_exitcode(status),
            "out": base64.b64encode(shown or out.read()).decode(),
            "err": base64.b64encode(err.read()).decode(),
            "seconds": used.ru_utime + used.ru_stime,
            "peak": used.ru_maxrss >> 10,
            "timed_out": timed_out,
            "heard": sorted({(event, path) for event, path in lines}),
        }


def _become(program: str, asked: dict[str, Any], streams: list[int], heard: int) -> None:
    """The child: with its limits, and heard. Does not return."""
    os.setsid()
    if asked["path"] is not None:
        streams[0] = os.open(asked["path"], os.O_RDONLY)

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if event in _HEARD and args and isinstance(args[0], (str, bytes, os.PathLike)):
            path = os.fsencode(args[0]).decode(errors="backslashreplace")
            if not path.startswith(_CODE):
                os.write(heard, json.dumps([event, path]).encode() + b"\n")

    def ready() -> None:
        os.chdir(asked["cwd"])
        limit = int(asked["processor"])
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if asked["data"]:
            resource.setrlimit(resource.RLIMIT_DATA, (asked["data"] * MIB,) * 2)
        sys.addaudithook(hear)

    words = [os.fsdecode(word.encode("latin-1")) for word in asked["words"]]
    forking.become(words, asked["environment"], streams, ready, program)


def _read_terminal(master: int, until: float) -> bytes:
    """All that is written to a terminal, until nobody has it open."""
    shown = []
    while (left := until - time.monotonic()) > 0 and select.select([master], [], [], left)[0]:
        try:
            shown.append(os.read(master, 65536))
        except OSError:
            break
    os.close(master)
    return b"".join(shown)


def _wait(process: int, seconds: float) -> tuple[int, resource.struct_rusage, bool]:
    """Status and resources of a child; it is killed when it takes longer."""
    end = time.monotonic() + seconds
    pause = 0.001
    while time.monotonic() < end:
        pid, status, used = os.wait4(process, os.WNOHANG)
        if pid:
            return status, used, False
        time.sleep(pause)
        pause = min(pause * 1.5, 0.02)
    os.kill(process, signal.SIGKILL)
    _, status, used = os.wait4(process, 0)
    return status, used, True


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])
