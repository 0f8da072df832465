"""Commands of clsm as forks of one process that has imported the program.

A fresh Python takes longer to import clsm than clsm takes to answer. A fork is a process like any
other: it has streams, an environment, a working folder and locks of its own, and what kills it kills
nothing else. Nothing of clsm runs in the process that forks, so every command begins as new.

``python -m forking`` is that process; ``Forks`` starts it. The fault rigs have others, which limit
and listen to a command (``faults.running.warm``), run many at once (``swarm``) or let strace follow
one (``traceable``); all of them ``become`` it here.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

CLSM = "clsm_cli.__main__:main"
"""The program as its users start it: module and function."""
TESTS = Path(__file__).parent
_LIMIT = 1 << 20
"""Bytes of a request; longer ones are for a process of their own."""
_NUMBER = 16
"""Characters of a number that is told."""


def become(
    words: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
    ready: Callable[[], object],
    program: str = CLSM,
) -> NoReturn:
    """Be a command; to be called in a process that was just forked.

    Args:
        words: Of the command line, without the program.
        environment: All that it sees.
        streams: Descriptors that become standard input, output and error.
        ready: Called last before the program.
        program: Module and function that run; their end is told like the interpreter does.
    """
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        # Encoding and errors as the interpreter has them in the locale C.UTF-8.
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape")  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        sys.argv = ["clsm", *words]
        module, _, function = program.partition(":")
        main = getattr(import_module(module), function)
        ready()
        main()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:  # noqa: BLE001  # as the interpreter does
        traceback.print_exc()
    finally:
        for printed in (sys.stdout, sys.stderr):
            printed.flush()
        os._exit(code)


def modules(package: str = "clsm_cli") -> Iterator[str]:
    """The names of all modules of a package but those that run when they are imported."""
    found = import_module(package)
    for each in pkgutil.walk_packages(found.__path__, f"{package}."):
        if not each.name.endswith("__main__"):
            yield each.name


def prepare() -> None:
    """Import and build what commands need, once; without a thread, which a fork would not have."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as ``main`` does
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    for name in (*modules(), "numpy", "onnxruntime", "sqlite3", "tokenizers", "clsm_cli.__main__"):
        import_module(name)
    import typer.main

    from clsm_cli.app import app

    typer.main.get_command = build = cache(typer.main.get_command)
    list(build(app).commands.values())  # type: ignore[attr-defined]  # that of a group
    gc.collect()
    gc.freeze()  # a child's collector would copy every page of what it shares


class Forks:
    """The process that forks commands, one at a time, for one thread of the tests."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._socket, end = socket.socketpair()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "forking", str(end.fileno())],
            env={**environment, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])},
            pass_fds=[end.fileno()],
            stdin=subprocess.DEVNULL,
        )
        end.close()
        atexit.register(self.close)

    def close(self) -> None:
        """End it."""
        self._socket.close()
        self._process.wait()

    def run(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        stdin: bytes,
        seconds: float,
    ) -> tuple[int, bytes, bytes]:
        """Exit code (negative: the signal that ended it), standard output and error.

        Raises:
            subprocess.TimeoutExpired: It took longer, and was killed.
        """
        streams = [os.memfd_create(name) for name in ("stdin", "stdout", "stderr")]
        try:
            with open(streams[0], "r+b", closefd=False) as given:
                given.write(stdin)
            os.lseek(streams[0], 0, os.SEEK_SET)
            asked = {
                "words": [os.fsencode(word).decode("latin-1") for word in words],
                "environment": dict(environment),
                "folder": str(folder),
            }
            socket.send_fds(self._socket, [json.dumps(asked).encode() + b"\n"], streams)
            pid = self._told(None)
            try:
                code = self._told(seconds)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._told(None)
                raise subprocess.TimeoutExpired(list(words), seconds) from None
            out, err = (os.pread(fd, os.fstat(fd).st_size, 0) for fd in streams[1:])
        finally:
            for fd in streams:
                os.close(fd)
        return code, out, err

    def _told(self, seconds: float | None) -> int:
        """The next number that the process tells."""
        self._socket.settimeout(seconds)
        data = self._socket.recv(_NUMBER)
        if not data:
            raise RuntimeError("the process that forks commands has died")
        return int(data)


_of_thread = threading.local()


def forks(environment: Mapping[str, str]) -> Forks:
    """The one of this thread; it ends with the tests."""
    if not hasattr(_of_thread, "forks"):
        _of_thread.forks = Forks(environment)
    found: Forks = _of_thread.forks
    return found


def fits(words: Sequence[str]) -> bool:
    """Whether a command line can be asked for in one message."""
    return sum(map(len, words)) < _LIMIT // 16


def _serve(asking: socket.socket) -> None:
    """Answer requests: with the process id, then with how it ended."""
    prepare()
    while True:
        data, streams, _, _ = socket.recv_fds(asking, _LIMIT, 3)
        if not data:
            return
        while not data.endswith(b"\n"):
            data += asking.recv(_LIMIT)
        asked = json.loads(data)
        pid = os.fork()
        if pid == 0:
            asking.close()
            words = [os.fsdecode(word.encode("latin-1")) for word in asked["words"]]
            os.chdir(asked["folder"])
            become(words, asked["environment"], streams, lambda: None)
        for fd in streams:
            os.close(fd)
        asking.sendall(b"%*d" % (_NUMBER, pid))
        status = os.waitpid(pid, 0)[1]
        asking.sendall(b"%*d" % (_NUMBER, os.waitstatus_to_exitcode(status)))


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
