"""clsm with a bad habit, for a rig to catch: every clock is believed, and none counts as behind.

A program of its own; nothing here touches the program under test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli import __main__ as program
from clsm_cli.forgetting import clock

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date


def judge(today: date, stamps: Iterable[date], known: date | None, *, is_told: bool) -> clock.Clock:
    """As ``clock.judge``."""
    del stamps, is_told
    return clock.Clock(today, known, True, ())


def main() -> None:
    """Run the command line with that habit."""
    clock.judge = judge
    clock.behind = lambda *_: {}
    program.main()
