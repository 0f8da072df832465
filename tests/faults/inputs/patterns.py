"""How long a regular expression takes on what it may like least."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Sequence
from typing import NamedTuple

SIZES = (4_000, 30_000, 100_000)
"""Characters: what is quick on few is not tried on more."""
SUSPECT = (0.001, 0.015)
"""Seconds from which the next size is tried."""
MOST = 0.1
"""Seconds that a pattern may take on the largest."""
PATIENCE = 1
"""Seconds after which a pattern is taken to hang."""


class Slow(NamedTuple):
    """A pattern that takes too long on a text."""

    pattern: str
    filler: str
    seconds: float


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
