from math import fsum

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring import transport
from clsm_cli.scoring.transport import PRESERVATION, share, sinkhorn

OWN = [[1.0 if i == j else 0.1 for j in range(4)] for i in range(4)]
"""Four sources, each with a stream of its own."""


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[int], list[float], list[list[float]], int]:
    """Sizes, demands, affinities and a limit."""
    rows, columns = draw(st.integers(0, 5)), draw(st.integers(1, 4))
    some = st.lists(st.floats(0.05, 1), min_size=columns, max_size=columns)
    return (
        draw(st.lists(st.integers(0, 3000), min_size=rows, max_size=rows)),
        draw(st.lists(st.floats(0, 100), min_size=columns, max_size=columns)),
        draw(st.lists(some, min_size=rows, max_size=rows)),
        draw(st.integers(0, 5000)),
    )


@examples(300)
@given(cases())
def test_budgets_sum_exactly_and_marginals_are_met(
    case: tuple[list[int], list[float], list[list[float]], int],
) -> None:
    sizes, demands, affinity, limit = case
    found = share(sizes, demands, affinity, limit)
    given_out = min(limit, sum(sizes))
    assert sum(found.budgets) == given_out
    assert all(0 <= each <= size for each, size in zip(found.budgets, sizes, strict=True))
    asked = fsum(demands)
    for column, demand in enumerate(demands):
        mean = given_out * (demand / asked if asked else 1 / len(demands))
        assert fsum(row[column] for row in found.plan) == pytest.approx(mean, rel=1e-4, abs=1e-3)
    for row, size in zip(found.plan, sizes, strict=True):
        assert fsum(row) <= size + 1e-6


@examples(200)
@given(cases())
def test_the_plan_meets_rows_exactly_and_columns_soon(
    case: tuple[list[int], list[float], list[list[float]], int],
) -> None:
    sizes, demands, affinity, _ = case
    total, asked = sum(sizes), fsum(demands)
    columns = [total * each / asked for each in demands] if asked else []
    assume(columns and sizes)
    plan = sinkhorn(affinity, sizes, columns)
    for row, size in zip(plan, sizes, strict=True):
        assert fsum(row) == pytest.approx(size)
    for place, mass in enumerate(columns):
        assert fsum(row[place] for row in plan) == pytest.approx(mass, rel=1e-4, abs=1e-3)


def test_an_affinity_changes_a_budget() -> None:
    alike = share([1000] * 4, [1.0] * 4, OWN, 2000)
    assert alike.budgets == (500,) * 4
    closer = [list(row) for row in OWN]
    closer[1][0] = 1.0
    assert share([1000] * 4, [1.0] * 4, closer, 2000).budgets[1] > alike.budgets[1]


def test_a_demand_changes_budgets() -> None:
    budgets = share([1000] * 4, list(PRESERVATION.values()), OWN, 2000).budgets
    assert list(budgets) == sorted(budgets, reverse=True)
    assert budgets[0] > 1.5 * budgets[3]


def test_what_a_stream_does_not_need_flows_on() -> None:
    full = share([3000] * 4, [1.0] * 4, OWN, 2000).budgets
    little = share([3000, 3000, 3000, 20], [1.0] * 4, OWN, 2000).budgets
    assert little[3] <= 20
    assert all(more > less for more, less in zip(little[:3], full[:3], strict=True))
    assert sum(little) == 2000
    assert share([0, 0, 0, 3000], [1.0, 1.0, 1.0, 0.0], OWN, 2000).budgets == (0, 0, 0, 2000)


def test_everything_is_given_where_everything_fits() -> None:
    assert share([10, 20, 30, 0], [9.0, 0.0, 0.0, 0.0], OWN, 60).budgets == (10, 20, 30, 0)
    assert share([10, 20, 30, 0], [0.0] * 4, OWN, 9999).budgets == (10, 20, 30, 0)


def test_nothing_to_share() -> None:
    assert share([5] * 4, [1.0] * 4, OWN, 0).budgets == (0,) * 4
    assert share([], [1.0], [], 100) == ((), ())


def test_affinities_of_nothing_still_have_a_plan() -> None:
    found = share([100, 100], [1.0, 1.0], [[0.0, 0.0], [0.0, 0.0]], 50)
    assert found.budgets == (25, 25)


def test_few_rounds_do(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = 0
    real = transport._factors

    def counted(*arguments: list[list[float]]) -> list[float]:
        nonlocal rounds
        rounds += 1
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(transport, "_factors", counted)
    share([1200, 5000, 800, 20_000], list(PRESERVATION.values()), OWN, 2000)
    assert rounds <= 2 * 25 + 1


@pytest.mark.parametrize(
    ("sizes", "demands", "affinity", "limit"),
    [
        ([-1], [1.0], [[1.0]], 5),
        ([1], [-1.0], [[1.0]], 5),
        ([1], [1.0], [[1.0]], -5),
        ([1], [1.0], [], 5),
        ([1], [1.0], [[1.0, 1.0]], 5),
    ],
)
def test_what_cannot_be_shared_is_refused(
    sizes: list[int], demands: list[float], affinity: list[list[float]], limit: int
) -> None:
    with pytest.raises(ValueError, match=r"affinities|negative"):
        share(sizes, demands, affinity, limit)
