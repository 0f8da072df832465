"""Imported before the commands of a control: every clock is believed, and none counts as behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clsm_cli.forgetting import clock

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date


def judge(today: date, stamps: Iterable[date], known: date | None, *, is_told: bool) -> clock.Clock:
    """As ``clock.judge``."""
    del stamps, is_told
    return clock.Clock(today, known, True, ())


clock.judge = judge
clock.behind = lambda *_: {}
