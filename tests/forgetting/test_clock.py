"""When a clock is believed."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.forgetting.clock import AHEAD, BEHIND, check_clock

START = date(2026, 1, 1)


def day(number: int) -> date:
    return START + timedelta(number)


@pytest.mark.parametrize(
    ("stamps", "known", "newest"),
    [
        ([], None, None),
        ([0, 30, 90], None, 90),
        ([0, 30, 91], None, 30),  # a gap of 61 days
        ([0, 60, 120, 15_000], None, 120),
        ([0, 400, 430], 400, 430),  # what was believed before bridges a gap
        ([0, 30], 100, 100),
        ([-1800, 0, 30], 0, 30),  # one that lies before is passed over
        ([-1800, 0, 30], None, -1800),  # the oldest is a wrong one: the user is asked once
    ],
)
def test_the_newest_day_is_reached_without_a_gap(
    stamps: list[int], known: int | None, newest: int | None
) -> None:
    base = None if known is None else day(known)
    clock = check_clock(day(30), map(day, stamps), base, is_told=False)
    assert clock.newest == (None if newest is None else day(newest))


@pytest.mark.parametrize(
    ("today", "is_believed"),
    [(-1800, False), (28, False), (29, True), (30, True), (90, True), (91, False), (15_000, False)],
)
def test_the_clock_may_be_a_day_behind_and_sixty_ahead(today: int, is_believed: bool) -> None:
    stamps = [day(0), day(30)]
    assert check_clock(day(today), stamps, None, is_told=False).is_believed is is_believed
    assert check_clock(day(today), stamps, None, is_told=True).is_believed


@examples(200)
@given(st.lists(st.integers(-3000, 20_000), max_size=12), st.integers(-3000, 20_000))
def test_a_wrong_stamp_alone_never_makes_a_clock_right(stamps: list[int], today: int) -> None:
    """Against a search over all chains of small steps from the oldest stamp."""
    reached = {min(stamps)} if stamps else set()
    for _ in stamps:
        reached |= {s for s in stamps for r in reached if r <= s <= r + AHEAD}
    newest = max(reached, default=None)
    clock = check_clock(day(today), map(day, stamps), None, is_told=False)
    assert clock.newest == (None if newest is None else day(newest))
    assert clock.is_believed is (newest is None or newest - BEHIND <= today <= newest + AHEAD)
