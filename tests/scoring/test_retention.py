import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.scoring import retention as module
from clsm_cli.scoring.retention import ARCHIVE_RETENTION, retention, stability

days = st.floats(0, 1e5)
stabilities = st.floats(0.1, 500)


@pytest.mark.parametrize(
    ("at", "lasts", "left"), [(3, 1, 0.5), (30, 10, 0.5), (99, 1, ARCHIVE_RETENTION)]
)
def test_worked_values(at: float, lasts: float, left: float) -> None:
    assert retention(at, lasts) == pytest.approx(left)


@given(days, days, stabilities)
@settings(deadline=None)
def test_it_falls_with_time_and_less_if_stable(one: float, other: float, lasts: float) -> None:
    early, late = sorted((one, other))
    left = retention(late, lasts)
    assert 0 <= left <= retention(early, lasts) <= 1
    assert left <= retention(late, 2 * lasts)


@given(st.floats(0.1, 100), st.integers(0, 10_000))
def test_stability_grows_less_and_less_up_to_a_bound(base: float, n: int) -> None:
    first, second, third = (stability(base, n + more) for more in range(3))
    assert base <= first <= second <= module.MAX_GROWTH * base
    assert third - second <= second - first + 1e-9 * base


@given(st.floats(0.01, 1.0), st.floats(0.5, 100.0))
def test_how_long_it_lasts_is_the_inverse(left: float, stable: float) -> None:
    found = module.days_until(left, stable)
    assert retention(found, stable) == pytest.approx(left, abs=1e-6)
