"""A command whose three streams are one terminal, as a person has it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = 240
"""Seconds without a byte after which the command hangs; tests run beside each other."""


class Terminal:
    """A terminal with a command in it."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        # Tests that a shell runs in the background ignore Ctrl-C; what they start would inherit that.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.handle, theirs = pty.openpty()
        self.process = subprocess.Popen(
            words,
            cwd=folder,
            env={"TERM": "xterm", **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self.shown = b""

    def type(self, text: str) -> None:
        """Press keys, whether they are asked for or not."""
        os.write(self.handle, text.encode())

    def ended(self, more: Callable[[], None] = lambda: None) -> tuple[int, str]:
        """The exit code, and all that was shown; ``more`` is called whenever there is more of it."""
        while data := self._read():
            self.shown += data
            more()
        os.close(self.handle)
        return self.process.wait(60), self.shown.decode().replace("\r\n", "\n")

    def _read(self) -> bytes:
        assert select.select([self.handle], [], [], PATIENCE)[0], self.shown
        try:
            return os.read(self.handle, 1 << 16)
        except OSError:  # the other end is closed
            return b""
