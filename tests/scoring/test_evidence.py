import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clsm_cli.config import BoundarySettings
from clsm_cli.scoring import boundary_evidence

SETTINGS = BoundarySettings()
shares = st.lists(st.floats(0, 1), max_size=6)


@given(shares)
@settings(deadline=None)
def test_signs_only_add(signs: list[float]) -> None:
    whole = boundary_evidence.combine(signs)
    assert 0.0 <= whole <= 1.0
    assert whole >= max(signs, default=0.0) - 1e-12
    assert boundary_evidence.combine([*signs, 0.0]) == whole


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
    assert boundary_evidence.gap_evidence(30, True, SETTINGS) == 1.0
    assert boundary_evidence.gap_evidence(-30, True, SETTINGS) == 0.0
    assert boundary_evidence.gap_evidence(None, True, SETTINGS) == 0.0


def test_coherence_is_judged_by_the_segments_own_figures() -> None:
    alike, unlike = [0.7] * 12, [0.3, 0.5] * 6
    assert boundary_evidence.coherence_evidence(0.4, alike) > boundary_evidence.coherence_evidence(
        0.4, unlike
    )


def test_subject_signs_alone_stay_below_the_threshold_without_surprise() -> None:
    most = boundary_evidence.combine([boundary_evidence.COHERENCE_MOST, 0.2, 0.15])
    assert most < SETTINGS.confidence


@given(st.floats(-9, 9), st.floats(0, 3))
@settings(deadline=None)
def test_surprise_speaks_only_above_gamma(z: float, gamma: float) -> None:
    found = boundary_evidence.surprise_evidence(z, gamma)
    assert (found > 0.0) == (z > gamma)
    assert found <= boundary_evidence.SURPRISE_MOST
