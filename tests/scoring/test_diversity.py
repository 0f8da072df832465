import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from clsm_cli.scoring.diversity import LAMBDA, mmr

shares = st.floats(0, 1)
OVERTAKING = (2 * LAMBDA - 1) / LAMBDA
"""Share of an item's relevance that another needs to pass it, even if it is a copy."""


def unlike(_i: int, _j: int) -> float:
    return 0.0


@st.composite
def alike(draw: st.DrawFn) -> tuple[list[float], dict[frozenset[int], float]]:
    """Scores, and the similarity of each pair."""
    scores = draw(st.lists(shares, min_size=1, max_size=8))
    pairs = [frozenset((i, j)) for i in range(len(scores)) for j in range(i)]
    return scores, {pair: draw(st.floats(-1, 1)) for pair in pairs}


@examples(300)
@given(alike())
def test_no_item_falls_behind_an_irrelevant_one(
    drawn: tuple[list[float], dict[frozenset[int], float]],
) -> None:
    scores, similar = drawn
    order = mmr(scores, lambda i, j: similar[frozenset((i, j))], k=len(scores))
    assert sorted(order) == list(range(len(scores)))
    for place, later in enumerate(order):
        for earlier in order[:place]:
            assert scores[earlier] >= scores[later] * OVERTAKING - 1e-9


@examples(300)
@given(st.floats(0.1, 1), st.floats(0.6, 1), st.floats(0.95, 1), shares)
def test_a_near_duplicate_falls_behind_a_different_relevant_item(
    best: float, share: float, similarity: float, irrelevant: float
) -> None:
    scores = [best, best, best * share, best * irrelevant * 0.5]
    order = mmr(scores, lambda i, j: similarity if {i, j} == {0, 1} else 0.0, k=4)
    assert order == [0, 2, 1, 3]


@examples(200)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=8), st.sampled_from([2.0**-6, 4.0]))
def test_the_scale_of_the_scores_does_not_matter(scores: list[int], scale: float) -> None:
    def near(i: int, j: int) -> float:
        return 1 / (1 + abs(i - j))

    scaled = [score * scale for score in scores]
    assert mmr(scaled, near, k=8) == mmr([float(score) for score in scores], near, k=8)


@examples(200)
@given(st.lists(shares, max_size=8), st.integers(0, 9))
def test_without_similarity_or_with_lambda_one_the_scores_decide(
    scores: list[float], k: int
) -> None:
    ranked = sorted(range(len(scores)), key=lambda i: (-scores[i], i))[:k]
    assert mmr(scores, unlike, k=k) == ranked
    assert mmr(scores, lambda _i, _j: 1.0, 1.0, k=k) == ranked


def test_fused_ranks_do_not_drown_in_similarity() -> None:
    scores = [1 / (60 + rank) for rank in range(1, 51)]
    order = mmr(scores, lambda i, j: float({i, j} == {0, 1}), k=50, floor=scores[-1])
    assert order[0] == 0
    assert 1 < order.index(1) < 30


def test_the_floor_says_what_is_irrelevant() -> None:
    def copies(i: int, j: int) -> float:
        return float({i, j} == {0, 1})

    assert mmr([0.9, 0.8, 0.7], copies, k=3) == [0, 2, 1]
    assert mmr([0.9, 0.8, 0.7], copies, k=3, floor=0.7) == [0, 1, 2]


@pytest.mark.parametrize("wrong", [0.49, 1.01, float("nan")])
def test_a_lambda_that_would_prefer_the_irrelevant_is_refused(wrong: float) -> None:
    with pytest.raises(ValueError, match="lambda"):
        mmr([1.0], unlike, wrong, k=1)
