from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring.thompson_sampling import (
    MAX_MULTIPLIER,
    MIN_MULTIPLIER,
    Beta,
    Feedback,
    multipliers,
)

PRIORS = {"cosine": Beta(2, 1), "graph": Beta(1.5, 1), "text": Beta(1.2, 1)}
told = st.lists(
    st.tuples(st.sampled_from([*PRIORS, "other"]), st.booleans(), st.floats(-5, 400)),
    max_size=30,
)


def times(count: int, signal: str, is_good: bool, age: float = 0.0) -> list[Feedback]:
    return [(signal, is_good, age)] * count


def test_twenty_times_good_raises_and_bad_lowers_within_bounds() -> None:
    learnt = multipliers(PRIORS, [*times(20, "text", True), *times(500, "cosine", False)])
    assert 1.0 < learnt["text"] <= MAX_MULTIPLIER
    assert learnt["cosine"] == MIN_MULTIPLIER


@examples(200)
@given(told, st.randoms(use_true_random=False))
def test_the_order_of_feedback_does_not_matter(feedback: list[Feedback], random: Random) -> None:
    shuffled = list(feedback)
    random.shuffle(shuffled)
    found = multipliers(PRIORS, feedback)
    assert multipliers(PRIORS, shuffled) == found
    assert all(MIN_MULTIPLIER <= each <= MAX_MULTIPLIER for each in found.values())


def test_draws_come_from_the_posterior() -> None:
    feedback = [*times(12, "graph", True), *times(6, "graph", False)]
    wide = {"graph": Beta(10, 10)}
    expected = multipliers(wide, feedback)["graph"]  # of the mean: (10 + 12) / (20 + 18)
    drawn = [multipliers(wide, feedback, seed=seed)["graph"] for seed in range(400)]
    assert sum(drawn) / len(drawn) == pytest.approx(expected, rel=0.02)
    assert max(drawn) > expected > min(drawn)
