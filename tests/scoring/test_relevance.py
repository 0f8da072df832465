"""The probability of a concept, and how many of the best are returned."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clsm_cli.config import RecallSettings
from clsm_cli.scoring.relevance import (
    MIN_PROBABILITY,
    MIN_TOP_PROBABILITY,
    ConceptEvidence,
    concept_probability,
    cut_size,
)

BETA = RecallSettings().concept_beta
NOTHING = ConceptEvidence(*[0.0] * 7)
FALLING = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=30).map(
    lambda each: sorted(each)[::-1]
)


def expected(probabilities: list[float], count: int) -> float:
    """F_β of the first ``count``, as the ratio of expectations."""
    right = sum(probabilities[:count])
    return (1 + BETA**2) * right / (count + BETA**2 * sum(probabilities))


def test_of_a_note_what_is_rare_and_near_counts() -> None:
    block = NOTHING._replace(mentioned=1.0, best=0.9, mass=0.3, meaning=0.5, common=4.0)
    as_note = block._replace(note_meaning=block.meaning, note_common=block.common)
    assert concept_probability(as_note, is_named=False) < concept_probability(block, is_named=False)
    rare = as_note._replace(common=1.0, note_common=1.0)
    assert concept_probability(rare, is_named=False) > concept_probability(as_note, is_named=False)


@given(FALLING, st.integers(1, 12))
def test_the_cut_is_where_f_is_highest_unless_even_the_best_is_unsure(
    probabilities: list[float], most: int
) -> None:
    kept = cut_size(probabilities, most, BETA)
    counts = range(1, min(most, len(probabilities)) + 1)
    if probabilities[0] < MIN_TOP_PROBABILITY:
        assert kept == sum(p >= MIN_PROBABILITY for p in probabilities[:most])
    else:
        best = max(expected(probabilities, count) for count in counts)
        assert kept in counts
        assert expected(probabilities, kept) == pytest.approx(best)
