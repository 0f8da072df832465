import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.scoring import retention as module
from clsm_cli.scoring.retention import ARCHIVE, DORMANT, Curve, retention, stability

CURVES: tuple[Curve, ...] = ("power", "exponential", "base-level")
days = st.floats(0, 1e5)
stabilities = st.floats(0.1, 500)
exponents = st.sampled_from([0.3, 0.5, 1.0, 2.0])
lists_of_ages = st.lists(st.floats(0.001, 1e5), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("curve", "at", "lasts", "left"),
    [
        ("power", 3, 1, 0.5),
        ("power", 30, 10, 0.5),
        ("power", 99, 1, 0.1),
        ("exponential", math.log(2), 1, 0.5),
        ("exponential", 20, 10, math.exp(-2)),
        ("base-level", 3, 1, 0.5),
    ],
)
def test_worked_values(curve: Curve, at: float, lasts: float, left: float) -> None:
    assert retention(curve, at, lasts) == pytest.approx(left)


@pytest.mark.parametrize(
    ("limit", "age"), [(DORMANT, 43), (ARCHIVE, 99)], ids=["dormant", "archive"]
)
@pytest.mark.parametrize("stream", module.STREAM_DAYS)
def test_when_each_stream_crosses_the_limits(limit: float, age: int, stream: str) -> None:
    lasts = module.STREAM_DAYS[stream]
    assert retention("power", (age - 1) * lasts, lasts) > limit
    assert retention("power", (age + 1) * lasts, lasts) < limit


@given(st.sampled_from(CURVES), days, days, stabilities, exponents)
@settings(deadline=None)
def test_it_falls_with_time_and_less_if_stable(
    curve: Curve, one: float, other: float, lasts: float, exponent: float
) -> None:
    early, late = sorted((one, other))
    left = retention(curve, late, lasts, exponent)
    assert 0 <= left <= retention(curve, early, lasts, exponent) <= 1
    assert left <= retention(curve, late, 2 * lasts, exponent)


@given(lists_of_ages, stabilities, exponents)
@settings(deadline=None)
def test_base_level_is_a_logistic_of_act_rs_b(
    ages: list[float], lasts: float, exponent: float
) -> None:
    b = math.log(sum(age**-exponent for age in ages))
    z = b / exponent + math.log(lasts)
    logistic = 1 / (1 + math.exp(-z)) if z > -500 else math.exp(z)
    found = retention("base-level", min(ages), lasts, exponent, ages)
    assert found == pytest.approx(logistic**exponent, rel=1e-9)


@given(st.floats(0.001, 1e5), stabilities, exponents)
@settings(deadline=None)
def test_base_level_of_one_use_is_the_power_law(age: float, lasts: float, exponent: float) -> None:
    one = retention("base-level", age, lasts, exponent, [age])
    assert one == pytest.approx(retention("power", age, lasts, exponent))


@given(lists_of_ages, st.floats(0.001, 1e5))
@settings(deadline=None)
def test_another_use_never_weakens_and_order_does_not_matter(
    ages: list[float], more: float
) -> None:
    before = retention("base-level", min(ages), 3.0, ages=ages)
    both = [*ages, more]
    after = retention("base-level", min(both), 3.0, ages=both)
    assert after >= before
    assert retention("base-level", min(both), 3.0, ages=both[::-1]) == after


@given(st.floats(0.1, 100), st.integers(0, 10_000))
def test_stability_grows_less_and_less_up_to_a_bound(base: float, n: int) -> None:
    first, second, third = (stability(base, n + more) for more in range(3))
    assert base <= first <= second <= module.MOST_GROWTH * base
    assert third - second <= second - first + 1e-9 * base


@settings(max_examples=200)
@given(
    st.sampled_from(CURVES),
    st.floats(0.01, 1.0),
    st.floats(0.5, 100.0),
    st.lists(st.integers(1, 400), max_size=5),
)
def test_how_long_it_lasts_is_the_inverse(
    curve: Curve, left: float, stable: float, before: list[int]
) -> None:
    gaps = [0.0, *map(float, before)]
    found = module.days_until(curve, left, stable, gaps=gaps)
    ages = [found + gap for gap in gaps]
    assert retention(curve, found, stable, ages=ages) == pytest.approx(left, abs=1e-6)
    assert found >= module.days_until(curve, left, stable) - 1e-9
