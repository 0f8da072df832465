"""Commands of clsm by the hundred, limited, measured and listened to.

What a command may use is limited, what it used is measured, and every file, folder, program and
address that its Python code opens is noted by an audit hook: so a rig knows that the file it
planted was really read, and that nothing else was. (A library in C opens the database and the model
without that hook; of the database the hook tells the name.) The memory of the process that forks
counts in what a command used.
"""

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import forking
from faults.running.laying import NOW, environment
from forking import Ended
from ingesting import new_store, scratch, take
from pseudo_terminal import read_terminal
from sleeping import sleep


class Warm(forking.Forks):
    """Starts commands; a context manager that ends the process which forks them."""

    def __init__(self, environment: Mapping[str, str], program: str = forking.CLSM) -> None:
        # What is broken on purpose is put in place before others take it by name.
        imported = None if program == forking.CLSM else ("clsm_cli.app",)
        super().__init__(environment, imported, program)
        self._environment = dict(environment)

    def __call__(
        self,
        *words: str | Path,
        stdin: bytes | Path = b"",
        cwd: Path | str = "/",
        seconds: float = 60.0,
        processor: int = 120,
        terminal: bool = False,
        environment: Mapping[str, str] | None = None,
        **variables: str,
    ) -> Ended:
        """Run ``clsm WORDS``.

        Args:
            stdin: Bytes, or the path of what is read (a FIFO too).
            processor: Seconds of processor time that the kernel grants.
            terminal: Its standard streams are a terminal (``out`` has both then).
            environment: What differs from that of the others; so do ``variables``.
        """
        end = time.monotonic() + seconds
        master, slave = os.openpty() if terminal else (-1, -1)
        path = os.fspath(stdin) if isinstance(stdin, Path) else None
        given = b"" if isinstance(stdin, Path) else stdin
        pid = self.begin(
            words,
            {**self._environment, **(environment or {}), **variables},
            cwd,
            [os.dup(slave) for _ in range(3)] if terminal else forking.in_memory(given),
            kept=not terminal,
            stdin=path,
            processor=int(processor),
            hear="files",
        )
        shown = read_terminal(master, slave, end) if terminal else b""
        try:
            ended = self.end(max(0.0, end - time.monotonic()))
        except TimeoutError:
            os.kill(pid, signal.SIGKILL)
            ended = replace(self.end(), timed_out=True)
        return replace(ended, out=shown or ended.out)


class Stage:
    """A store, an empty folder to work in, and the process that runs commands."""

    def __init__(self, folder: Path, clsm: Warm) -> None:
        self.folder, self.clsm = folder, clsm
        self.store, self.cwd = folder / "memory", folder / "cwd"
        self.cwd.mkdir()

    def __call__(
        self, *words: str | Path, stdin: bytes | Path = b"", seconds: float = 200.0, **more: Any
    ) -> Ended:
        """A command on the store; see ``Warm``."""
        more.setdefault("CLSM_STORE", str(self.store))
        return self.clsm(*words, cwd=self.cwd, stdin=stdin, seconds=seconds, **more)


_Made = TypeVar("_Made", bound=Stage)


@contextlib.contextmanager
def stage(
    made: Callable[[Path, Warm], _Made],
    texts: Sequence[str] = (),
    *,
    model: bool = False,
    **variables: str,
) -> Iterator[_Made]:
    """Some kind of stage, whose store was told some texts and slept over them; removed afterwards."""
    with scratch() as folder, Warm(environment(folder, model=model) | variables) as clsm:
        store = new_store(folder / "memory")
        if texts:
            take(store, stdin=rows_of(texts))
            sleep(store, NOW)
        yield made(folder, clsm)


def rows_of(texts: Sequence[str]) -> bytes:
    """What a person said, as a hook pipes it in."""
    rows = [
        {"speaker": "Mara", "session": "main", "content": text, "timestamp": f"2026-02-24T08:0{n}:00Z"}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
