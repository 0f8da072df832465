"""Every regular expression that clsm compiles, and how long it takes on what it may like least.

The patterns are noted while all modules are imported and a sample is taken in, slept over and
asked: those that are compiled at first need too.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import clsm_cli

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import FrameType

ROOT = str(Path(clsm_cli.__file__).parent)
SIZES = (4_000, 30_000, 100_000)
"""Characters: what is quick on few is not tried on more."""
SUSPECT = (0.001, 0.015)
"""Seconds from which the next size is tried."""
MOST = 0.1
"""Seconds that a pattern may take on the largest."""
PATIENCE = 5
"""Seconds after which a pattern is taken to hang."""


class Slow(NamedTuple):
    """A pattern that takes too long on a text."""

    pattern: str
    filler: str
    seconds: float


@contextmanager
def noted() -> Iterator[dict[tuple[str, int], re.Pattern[str]]]:
    """Collects what code of clsm compiles meanwhile, by pattern and flags; of text alone."""
    found: dict[tuple[str, int], re.Pattern[str]] = {}
    compiled = re._compile  # type: ignore[attr-defined]

    def note(pattern: Any, flags: int) -> Any:
        made = compiled(pattern, flags)
        caller: FrameType | None = sys._getframe(1)
        while caller is not None and caller.f_code.co_filename == re.__file__:
            caller = caller.f_back
        named = caller is not None and caller.f_code.co_filename.startswith(ROOT)
        if named and isinstance(made.pattern, str):
            found[made.pattern, made.flags] = made
        return made

    re._compile = note  # type: ignore[attr-defined]
    try:
        yield found
    finally:
        re._compile = compiled  # type: ignore[attr-defined]


def import_all() -> None:
    """Import every module of clsm."""
    for module in pkgutil.walk_packages(clsm_cli.__path__, "clsm_cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def slow(pattern: re.Pattern[str], fillers: Sequence[str]) -> list[Slow]:
    """The fillers on which a pattern takes too long, worst first."""
    found = []
    for filler in fillers:
        for size, limit in zip(SIZES, (*SUSPECT, MOST), strict=True):
            seconds = _seconds(pattern, (filler * (size // len(filler) + 1))[:size])
            if seconds < limit:
                break
        else:
            found.append(Slow(pattern.pattern, filler, seconds))
    return sorted(found, key=lambda each: -each.seconds)


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    """Of processor time for all matches in a text; a hanging one counts as ``PATIENCE``."""

    def stop(*_: object) -> None:
        raise TimeoutError

    old = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    begin = time.process_time()
    try:
        for _ in pattern.finditer(text):
            pass
    except TimeoutError:
        return float(PATIENCE)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, old)
    return time.process_time() - begin
