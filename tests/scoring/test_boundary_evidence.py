import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.config import BoundarySettings
from clsm_cli.scoring import boundary_evidence
from clsm_cli.scoring.boundary_evidence import (
    BACKGROUND,
    MIN_VARIANCE,
    UNSEEN_BITS,
    WordModel,
    deviations,
)

SETTINGS = BoundarySettings()


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [(0, 0), (5, 0), (30, 0.5), (math.sqrt(5 * 30), 0.25), (math.sqrt(30 * 240), 0.75), (240, 1)],
)
def test_a_gap_is_log_linear_between_its_three_marks(minutes: float, expected: float) -> None:
    found = boundary_evidence.gap_evidence(minutes, new_day=False, settings=SETTINGS)
    assert found == pytest.approx(expected)


def test_midnight_counts_only_after_half_an_hour() -> None:
    assert boundary_evidence.gap_evidence(2, True, SETTINGS) == 0.0
    assert boundary_evidence.gap_evidence(29, True, SETTINGS) < 0.5
    for ignored in (0.0, -5.0):
        changed = SETTINGS._replace(gap_ignored=ignored)
        assert boundary_evidence.gap_evidence(-3.0, False, changed) == 0.0
        assert boundary_evidence.gap_evidence(0.0005, False, changed) == 0.0
    assert boundary_evidence.gap_evidence(30, True, SETTINGS) == 1.0
    assert boundary_evidence.gap_evidence(-30, True, SETTINGS) == 0.0
    assert boundary_evidence.gap_evidence(None, True, SETTINGS) == 0.0


def test_subject_signs_alone_stay_below_the_threshold_without_surprise() -> None:
    assert SETTINGS.confidence > boundary_evidence.MAX_COHERENCE_EVIDENCE


words = st.lists(st.sampled_from(["apple", "pear", "great", "brake", "garag", "time"]), max_size=8)
numbers = st.floats(-1e3, 1e3, allow_nan=False)


def test_witten_bell_by_hand() -> None:
    # "a b", "a c": N = 4, T = 3; followers of a: c(a) = 2, T(a) = 2.
    model = WordModel()
    model.learn(["a", "b"])
    model.learn(["a", "c"])
    unseen = 2.0**-UNSEEN_BITS
    p_b = (1 + 3 * unseen) / 7
    p_a = (2 + 3 * unseen) / 7
    p_b_after_a = (1 + 2 * p_b) / 4
    expected = -(math.log2(p_a) + math.log2(p_b_after_a)) / 2
    assert model.bits(["a", "b"]) == pytest.approx(expected)


@given(st.lists(words, max_size=6))
@settings(deadline=None)
def test_the_model_is_a_distribution_over_what_it_knows(turns: list[list[str]]) -> None:
    model = WordModel()
    for turn in turns:
        model.learn(turn)
    known = {word for turn in turns for word in turn} | set(BACKGROUND)
    assert sum(2 ** -model.bits([word]) for word in known) <= 1.0 + 1e-9


@given(numbers, st.lists(numbers, max_size=20))
@settings(deadline=None)
def test_deviations_are_bounded_by_three_and_by_what_is_known(x: float, past: list[float]) -> None:
    z = deviations(x, past)
    assert abs(z) <= math.sqrt(min(len(past), 9)) + 1e-9
    assert z * (x - sum(past) / max(1, len(past))) >= -1e-6


def test_the_floor_keeps_an_even_past_calm() -> None:
    assert deviations(8.5, [8.0] * 9) < 0.5 / math.sqrt(MIN_VARIANCE)
