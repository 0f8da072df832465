"""Keys of a person at a terminal, one at a time; lines where standard input is no terminal."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from clsm_cli.commands.output import is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

END = "\x04"
"""What the end of input reads as: Ctrl-D."""
ENTER = "\n"
BACK, ON = "left", "right"
_ARROWS = {b"A": BACK, b"D": BACK, b"B": ON, b"C": ON}
_WAIT = 0.05
"""Seconds in which the rest of an escape sequence arrives, over a slow line too."""


class Keyboard:
    """Reads keys; ``line`` reads a whole line, with the terminal's own editing."""

    def __init__(self) -> None:
        self._is_terminal = is_terminal(sys.stdin)
        self._waiting = ""

    def key(self) -> str:
        """The next key: a character, ``left``, ``right``, or ``END``.

        Of a pipe each character of a line is a key, an empty line is Enter.
        """
        if self._is_terminal:
            with self._single():
                return _pressed(sys.stdin.fileno())
        while not self._waiting:
            line = sys.stdin.readline() if sys.stdin is not None else ""
            if not line:
                return END
            self._waiting = line.rstrip("\r\n") or ENTER
        key, self._waiting = self._waiting[0], self._waiting[1:]
        return key

    def line(self) -> str:
        """A line of text without its end; empty at the end of input."""
        self._waiting = ""
        return sys.stdin.readline().strip() if sys.stdin is not None else ""

    @contextlib.contextmanager
    def _single(self) -> Iterator[None]:
        """Keys arrive without Enter and are not shown; Ctrl-C still interrupts."""
        import termios
        import tty

        handle = sys.stdin.fileno()
        before = termios.tcgetattr(handle)
        try:
            tty.setcbreak(handle, termios.TCSADRAIN)
            yield
        finally:
            termios.tcsetattr(handle, termios.TCSADRAIN, before)


def _pressed(handle: int) -> str:
    data = os.read(handle, 1)
    if not data:
        return END
    if data == b"\x1b":
        return _escaped(handle)
    text = data.decode("utf-8", "replace")
    return ENTER if text == "\r" else text


def _escaped(handle: int) -> str:
    """What an escape sequence stands for; empty for one that means nothing here."""
    import select

    sequence = b""
    while select.select([handle], [], [], _WAIT)[0] and len(sequence) < 8:
        sequence += os.read(handle, 1)
        if sequence[-1:].isalpha() or sequence[-1:] == b"~":
            break
    return _ARROWS.get(sequence[-1:], "") if sequence[:1] in (b"[", b"O") else ""
