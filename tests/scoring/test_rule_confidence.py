from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring.rule_confidence import confidence, faded, holds_for

days = st.lists(st.dates(date(2020, 1, 1), date(2030, 1, 1)).map(str), max_size=8)


@examples(200)
@given(days, st.integers(0, 9), st.booleans())
def test_it_is_a_share_and_knows_no_order(
    shown: list[str], contradictions: int, is_correction: bool
) -> None:
    sure = confidence(shown, contradictions=contradictions, is_correction=is_correction)
    assert 0 <= sure <= 1
    assert sure == confidence(
        shown[::-1], contradictions=contradictions, is_correction=is_correction
    )


@examples(200)
@given(days.filter(bool), st.dates(date(2020, 1, 1), date(2030, 1, 1)).map(str))
def test_more_evidence_never_makes_less_sure(shown: list[str], another: str) -> None:
    sure = confidence(shown)
    assert confidence([*shown, another]) > sure
    assert confidence(shown, is_correction=True) > sure
    assert confidence(shown, contradictions=1) == pytest.approx(max(0.0, sure - 0.15))


def test_spaced_days_say_more_than_a_row_and_a_row_more_than_one_day() -> None:
    start = date(2026, 3, 1)
    steps = {step: [str(start + timedelta(step * i)) for i in range(4)] for step in (0, 1, 5, 10)}
    sure = [confidence(shown) for shown in steps.values()]
    assert sure == sorted(set(sure))
    assert sure[0] == pytest.approx(2.5 / 4.5)
    assert sure[-1] == pytest.approx(6 / 8)


@examples(200)
@given(st.floats(0, 1), st.floats(0.01, 0.9))
def test_it_holds_until_the_day_before_it_is_below_the_floor(sure: float, floor: float) -> None:
    days = holds_for(sure, floor)
    assert faded(sure, days + 1) < floor + 1e-9
    assert days == -1 or faded(sure, days) >= floor - 1e-9
