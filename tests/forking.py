"""Commands of clsm as forks of one process that has imported the program.

A fresh Python takes longer to import clsm than clsm takes to answer. A fork is a process like any
other: it has streams, an environment, a working folder and locks of its own, and what kills it kills
nothing else. Nothing of clsm runs in the process that forks, so every command begins as new.

``Forks`` asks for such a process, for tests and for the fault rigs, which limit and listen to a
command (``faults.running.warm``) or let strace follow it (``faults.crashes.trace``). It is itself a
fork of ``python -m forking``, which imports for all of them.
"""

import atexit
import contextlib
import ctypes
import gc
import json
import os
import pkgutil
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, Self

CLSM = "clsm_cli.__main__:main"
"""The program as its users start it: module and function."""
TESTS = Path(__file__).parent
MOST_WORDS = 1 << 16
"""Characters of a command line that can be asked for."""
_REQUEST = 1 << 20
_NUMBER = 16
"""Characters of each of the three numbers that are told at a time."""
_PATIENCE, _UNTRACED = 30.0, 98
"""Seconds for which a command waits for its tracer, and its exit code when nobody came."""
_PR_SET_PTRACER = 0x59616D61
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


def become(
    words: Sequence[str],
    environment: Mapping[str, str],
    streams: Sequence[int],
    ready: Callable[[], object],
    program: str = CLSM,
) -> NoReturn:
    """Be a command; to be called in a process that was just forked.

    Args:
        streams: Descriptors that become standard input, output and error.
        program: Module and function that run; their end is told like the interpreter does.
    """
    code = 1
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        # Encoding and errors as the interpreter has them in the locale C.UTF-8. A fork of this one puts its
        # own in their place, which must not close what is below them.
        for fd, name in enumerate(("stdin", "stdout", "stderr")):
            errors = "backslashreplace" if name == "stderr" else "surrogateescape"
            opened = open(fd, "w" if fd else "r", encoding="utf-8", errors=errors, closefd=False)  # noqa: SIM115
            setattr(sys, name, opened)
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


def in_steps() -> None:
    """clsm whose nightly run forks its steps, where it would start a Python for each; a program."""
    from clsm_cli import __main__ as clsm
    from clsm_cli.commands import command_line, schedule

    def run(words: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        streams = in_memory()
        if (pid := os.fork()) == 0:
            given = words[len(command_line.program()) :]
            become(given, dict(os.environ), streams, lambda: None)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        out, err = (os.pread(fd, os.fstat(fd).st_size, 0).decode() for fd in streams[1:])
        return subprocess.CompletedProcess(words, code, out, err)

    vars(schedule)["subprocess"] = SimpleNamespace(run=run)
    clsm.main()


def prepare() -> None:
    """Import and build what commands need, once; without a thread, which a fork would not have."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as ``main`` does
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    for name in (*_modules(), "numpy", "onnxruntime", "sqlite3", "tokenizers", "zoneinfo"):
        import_module(name)
    import typer.main

    from clsm_cli.app import app

    typer.main.get_command = build = cache(typer.main.get_command)
    list(build(app).commands.values())  # type: ignore[attr-defined]  # that of a group


def _modules(package: str = "clsm_cli") -> Iterator[str]:
    found = import_module(package)
    for each in pkgutil.walk_packages(found.__path__, f"{package}."):
        yield each.name


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended.

    Attributes:
        code: Its exit code; negative: the signal that killed it.
        seconds: Processor time, and ``peak``: MiB that it had in memory at most.
        noted: What it opened or imported, a line each, where it was listened to.
        timed_out: It was killed as it did not end.
    """

    code: int
    out: bytes
    err: bytes
    seconds: float = 0.0
    peak: int = 0
    noted: bytes = b""
    timed_out: bool = False

    @property
    def heard(self) -> set[tuple[str, str]]:
        """Files, folders, programs and addresses that it opened: event and path."""
        return {(event, path) for event, path in map(json.loads, self.noted.splitlines())}

    @property
    def has_traceback(self) -> bool:
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


class Forks:
    """The process that forks commands, one at a time; for one thread.

    Args:
        imported: Modules that commands then share; None: all that they may need.
        program: Module and function that are run.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        imported: Sequence[str] | None = None,
        program: str = CLSM,
    ) -> None:
        self._program = program
        self._socket, end = socket.socketpair()
        self._pid = _nursery(environment, ("all",) if imported is None else imported).bear(end)
        self._streams: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        self._socket.close()

    def begin(
        self,
        words: Sequence[str | bytes | os.PathLike[str]],
        environment: Mapping[str, str],
        folder: Path | str,
        streams: Sequence[int],
        *,
        kept: bool = True,
        **more: Any,
    ) -> int:
        """Start a command; its process id, when it is about to begin.

        Args:
            streams: Descriptors of its standard input, output and error.
            kept: Whether they are files, which are read and closed at its end; else they are closed
                at once, and ``Ended`` has nothing of them.
            more: ``stdin``, a path that is opened to be read (a FIFO too); ``processor``,
                seconds of processor time that the kernel grants; ``umask``; ``hear``, whether to note the "files" that it opens or what it "imports",
                which the next command then shares; ``tracer``, a file that a tracer writes to as
                soon as it sees a call of the process, which does nothing before.
        """
        self._streams = [*streams, os.memfd_create("noted")]
        asked = {
            "words": [os.fsencode(word).decode("latin-1") for word in words],
            "environment": dict(environment),
            "folder": os.fspath(folder),
            "program": self._program,
            **more,
        }
        data = json.dumps(asked).encode() + b"\n"
        self._socket.settimeout(None)
        sent = socket.send_fds(self._socket, [data], self._streams)
        self._socket.sendall(data[sent:])
        if not kept:
            for fd in streams:
                os.close(fd)
            self._streams[:3] = []
        return self._told(None)[0]

    def end(self, seconds: float | None = None) -> Ended:
        """Wait for the command that was begun.

        Raises:
            TimeoutError: It has not ended; it may be waited for again.
        """
        code, used, peak = self._told(seconds)
        *_, out, err, noted = (
            b"",
            b"",
            *(os.pread(fd, os.fstat(fd).st_size, 0) for fd in self._streams[-3:]),
        )
        for fd in self._streams:
            os.close(fd)
        return Ended(code, out, err, used / 1000, peak >> 10, noted)

    def run(
        self,
        words: Sequence[str | bytes | os.PathLike[str]],
        environment: Mapping[str, str],
        folder: Path | str,
        stdin: bytes = b"",
        *,
        seconds: float,
        **more: Any,
    ) -> Ended:
        """Both; see ``begin``.

        Raises:
            TimeoutError: It took longer, and was killed.
        """
        pid = self.begin(words, environment, folder, in_memory(stdin), **more)
        try:
            return self.end(seconds)
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            self.end()
            raise

    def _told(self, seconds: float | None) -> tuple[int, int, int]:
        self._socket.settimeout(seconds)
        data = self._socket.recv(3 * _NUMBER, socket.MSG_WAITALL)
        if not data:
            raise RuntimeError("the process that forks commands has died")
        one, two, three = map(int, data.split())
        return one, two, three


def in_memory(stdin: bytes = b"") -> list[int]:
    """Descriptors for three streams in memory of the kernel, which no reader can hold up."""
    given, out, err = (os.memfd_create(name) for name in ("stdin", "stdout", "stderr"))
    with open(given, "r+b", closefd=False) as file:
        file.write(stdin)
    os.lseek(given, 0, os.SEEK_SET)
    return [given, out, err]


class Nursery:
    """A process that has imported what commands need, and of which those that fork them are forks."""

    def __init__(self, environment: Mapping[str, str], imported: Sequence[str]) -> None:
        self._socket, end = socket.socketpair()
        self._lock = threading.Lock()
        self._process = subprocess.Popen(  # ends with the socket
            [sys.executable, "-m", "forking", str(end.fileno()), *imported],
            env={**environment, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])},
            pass_fds=[end.fileno()],
            stdin=subprocess.DEVNULL,
        )
        end.close()

    def bear(self, end: socket.socket) -> int:
        """Hand the end of a socket to a new process that forks commands; its id."""
        with self._lock, end:
            socket.send_fds(self._socket, [b"!"], [end.fileno()])
            return int(self._socket.recv(_NUMBER, socket.MSG_WAITALL))


_nurseries: dict[tuple[object, ...], Nursery] = {}
_asking = threading.Lock()
_AT_ITS_BEGINNING = ("FAKETIME", "LC_", "LD_", "PYTHON")
"""What the names of variables begin with that a process obeys when it begins, and never again."""


def _nursery(environment: Mapping[str, str], imported: Sequence[str]) -> Nursery:
    """The one with these modules, where those variables are the same."""
    told = {n: value for n, value in environment.items() if n.startswith(_AT_ITS_BEGINNING)}
    key = (*imported, *sorted(told.items()))
    with _asking:
        if key not in _nurseries:
            _nurseries[key] = Nursery(environment, imported)
        return _nurseries[key]


_of_thread = threading.local()


def forks(environment: Mapping[str, str]) -> Forks:
    """The one of this thread; it ends with the tests."""
    if not hasattr(_of_thread, "forks"):
        _of_thread.forks = Forks(environment)
        atexit.register(_of_thread.forks.close)
    found: Forks = _of_thread.forks
    return found


def _nurse(asking: socket.socket, names: Sequence[str]) -> None:
    """Import, then fork a process for each socket that comes, and answer with its id."""
    if [*names] == ["all"]:
        prepare()
    else:
        for name in names:
            import_module(name)
    gc.collect()
    gc.freeze()  # a child's collector would copy every page of what it shares
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for these
    while True:
        _, ends, _, _ = socket.recv_fds(asking, 1, 1)
        if not ends:
            return
        pid = os.fork()
        if pid == 0:
            asking.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _serve(socket.socket(fileno=ends[0]))
            return
        os.close(ends[0])
        _tell(asking, pid)


def _serve(asking: socket.socket) -> None:
    """Answer requests: with the process id, then with how it ended."""
    while True:
        data, streams, _, _ = socket.recv_fds(asking, _REQUEST, 4)
        if not data:
            return
        while not data.endswith(b"\n"):
            data += asking.recv(_REQUEST) or b"\n"
        asked = json.loads(data)
        waiting, gate = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(waiting)
            asking.close()
            _begin(asked, streams, gate)
        os.close(gate)
        os.read(waiting, 1)  # what it does before is not its own, and not to be traced
        os.close(waiting)
        _tell(asking, pid, 0, 0)
        _, status, used = os.wait4(pid, 0)
        if asked.get("hear") == "imports":
            _learn(streams[3])
        for fd in streams:
            os.close(fd)
        seconds = used.ru_utime + used.ru_stime
        _tell(asking, os.waitstatus_to_exitcode(status), round(seconds * 1000), used.ru_maxrss)


def _tell(asking: socket.socket, *numbers: int) -> None:
    asking.sendall("".join(f"{number:{_NUMBER}}" for number in numbers).encode())


def _learn(noted: int) -> None:
    for name in os.pread(noted, os.fstat(noted).st_size, 0).decode().split():
        with contextlib.suppress(ImportError):
            import_module(name)


def _begin(asked: Mapping[str, Any], streams: Sequence[int], gate: int) -> NoReturn:
    """The child: with its limits, heard, and behind its gate."""
    os.setsid()

    def ready() -> None:
        for fd in streams[:3]:
            os.close(fd)
        os.chdir(asked["folder"])
        if "umask" in asked:
            os.umask(asked["umask"])
        if "processor" in asked:
            resource.setrlimit(resource.RLIMIT_CPU, (asked["processor"], asked["processor"] + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.write(gate, b"!")
        os.close(gate)
        if asked.get("stdin") is not None:
            os.dup2(os.open(asked["stdin"], os.O_RDONLY), 0)
        if "hear" in asked:
            _hear(asked["hear"], streams[3])
        else:
            os.close(streams[3])
        if "tracer" in asked:
            _await_tracer(asked["tracer"])

    words = [os.fsdecode(word.encode("latin-1")) for word in asked["words"]]
    become(words, asked["environment"], streams[:3], ready, asked["program"])


def _hear(what: str, noted: int) -> None:
    """Note what is imported, or what is done to files that are no code."""

    def hear(event: str, args: tuple[Any, ...]) -> None:
        if what == "imports":
            if event == "import":
                os.write(noted, f"{args[0]}\n".encode())
        elif event in _HEARD and args and isinstance(args[0], (str, bytes, os.PathLike)):
            path = os.fsencode(args[0]).decode(errors="backslashreplace")
            if not path.startswith(_CODE):
                os.write(noted, json.dumps([event, path]).encode() + b"\n")

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
    _nurse(socket.socket(fileno=int(sys.argv[1])), sys.argv[2:])
